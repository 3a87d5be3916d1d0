import CSV
import Foundation
import SystemSupport
import PersistentStores

/// The files of one export: written one after the other, and renamed to their final names together when all are
/// complete.
///
/// Noncopyable because it has the writer of the current file.
struct ExportFiles: ~Copyable {
  /// A file and its state.
  private struct File {
    let path: String
    let sink: ByteSink
    var month: String?
    var records = 0
    /// The checksum file next to it.
    var checksumFile: ByteSink?
  }

  /// The writer of a file, in its format.
  private enum Writer: ~Copyable {
    case csv(CSVWriter)
    case jsonLines(JSONLinesWriter)
  }

  private let export: ExportDefinition
  private let template: OutputTemplate
  private let names: [String]
  /// What the run reads.
  private let storePath: String
  /// The path of the store whose rights new files get.
  private let rightsPath: String
  private let startedAt: Date
  private let isCancelled: () -> Bool
  /// The attribute that determines the month.
  private let monthAttribute: String?
  private var months = MonthNames()
  /// The writer of the current file, which is the last one; nil between files.
  private var writer: Writer?
  private var files: [File] = []

  init(
    _ export: ExportDefinition, _ template: OutputTemplate, names: [String], storePath: String,
    rightsOf original: String? = nil, startedAt: Date, unless isCancelled: @escaping () -> Bool
  ) {
    self.isCancelled = isCancelled
    self.export = export
    self.template = template
    self.names = names
    if case .month(let attribute)? = export.split { monthAttribute = attribute } else { monthAttribute = nil }
    (self.storePath, rightsPath) = (storePath, original ?? storePath)
    self.startedAt = startedAt
  }

  /// The current file, for progress.
  var path: String { files.last?.path ?? template.path(OutputTemplate.Values(start: startedAt)) }

  var storedBytes: Int { files.reduce(0) { $0 + $1.sink.storedBytes } }

  /// Opens the file that exists even without entries. Months without entries have no file, and where nothing is new
  /// there is no file at all.
  mutating func begin() throws(CSVError) {
    removeLeftovers()
    if monthAttribute == nil, !export.incremental { try open(month: nil) }
  }

  /// What a killed run has left may have another name than any file of this one.
  private func removeLeftovers() {
    OutputFile.removeLeftovers(besides: path) { [template, export] name in
      let output =
        export.hash && name.hasSuffix(ChecksumFile.nameEnd) ? name.dropLast(ChecksumFile.nameEnd.count) : name[...]
      return template.matches(String(output))
    }
  }

  /// Writes the entries of a batch; calls `refuse` with the row of each that the output can't represent.
  mutating func write(
    _ batch: ObjectBatch, with formatter: inout EntryFormatter, _ refuse: (Int, EntryFormatter.Refusal) -> Void
  ) throws(CSVError) {
    let monthSlot = monthAttribute.flatMap { batch.entity.slot(named: $0) }
    var row = 0
    while row < batch.count {
      let end = try openFile(for: row, of: batch, monthSlot)
      // Moved out of the optional because the writer is accessed for every field.
      // `openFile` throws where it opens none.
      guard let writer = writer.take() else { preconditionFailure("a file was opened for the row") }
      switch consume writer {
      case .csv(var writer):
        files[files.count - 1].records += try formatter.write(row..<end, of: batch, to: &writer, refuse)
        self.writer = .csv(writer)
      case .jsonLines(var writer):
        files[files.count - 1].records += try formatter.write(row..<end, of: batch, to: &writer, refuse)
        self.writer = .jsonLines(writer)
      }
      row = end
    }
  }

  /// Makes the row's file the current one; returns the end of the range of rows that belong to it.
  private mutating func openFile(for row: Int, of batch: ObjectBatch, _ monthSlot: Int?) throws(CSVError) -> Int {
    if let monthSlot {
      let month = months.name(of: batch.cell(row: row, slot: monthSlot))
      if files.last?.month != month { try open(month: month) }
      var end = row + 1
      while end < batch.count, months.name(of: batch.cell(row: end, slot: monthSlot)) == month { end += 1 }
      return end
    }
    guard case .rows(let most)? = export.split else {
      if writer == nil { try open(month: nil) }
      return batch.count
    }
    if writer == nil || files.last?.records == most { try open(month: nil) }
    return min(batch.count, row + most - (files.last?.records ?? 0))
  }

  private mutating func open(month: String?) throws(CSVError) {
    try close()
    let path = template.path(OutputTemplate.Values(part: files.count + 1, month: month ?? "", start: startedAt))
    do throws(PipelineError) {
      try OutputPath.check([path], key: "export.output", filesRead: [], store: storePath)
    } catch {
      throw CSVError(.write, error.message)
    }
    if export.hash { try ChecksumFile.check(for: path) }
    let isGzip = path == "-" ? export.gzip ?? false : export.isGzip(path)
    let sink = try ByteSink(
      path: path, compression: isGzip ? .gzip : .none, permissions: FileRights.ofFile(path, near: rightsPath),
      unless: isCancelled)
    sink.contentHash = ContentHash()
    // Uncompressed content is stored as it is, so one hash suffices.
    if export.hash, isGzip { sink.storedHash = ContentHash() }
    files.append(File(path: path, sink: sink, month: month))
    if export.format == .jsonl {
      writer = .jsonLines(JSONLinesWriter(sink, names: names))
      return
    }
    var writer = try CSVWriter(sink, dialect: export.dialect.csv)
    if export.dialect.header { try writer.write(export.guardFormulas ? names.map(FormulaGuard.guarded) : names) }
    self.writer = .csv(writer)
  }

  /// Completes the current file, if there is one, still under a temporary name.
  private mutating func close() throws(CSVError) {
    guard let writer = writer.take(), let file = files.last else { return }
    switch consume writer {
    case .csv(var writer): try writer.flush()
    case .jsonLines(var writer): try writer.flush()
    }
    try file.sink.finish()
    guard export.hash, let content = file.sink.contentHash else { return }
    let checksumFile = ChecksumFile(
      stored: (file.sink.storedHash ?? content).digest, records: file.records, content: content.digest,
      contentBytes: file.sink.writtenBytes)
    files[files.count - 1].checksumFile = try checksumFile.write(
      for: file.path, permissions: FileRights.ofFile(file.path, near: rightsPath))
  }

  /// Completes the last file and gives all files their final names.
  ///
  /// - Throws: `write-error`; files that were already renamed are removed, unless they replaced another.
  mutating func commit() throws(CSVError) -> [RunSummary.File] {
    try close()
    var added: [String] = []
    var folders: Set<String> = []
    do throws(CSVError) {
      for file in files {
        try commit(file.sink, to: file.path, added: &added)
        if let checksumFile = file.checksumFile {
          try commit(checksumFile, to: ChecksumFile.path(for: file.path), added: &added)
        }
      }
      // A path may be a link: the sink's own name is that of the file itself.
      for sink in files.flatMap({ [$0.sink, $0.checksumFile].compactMap(\.self) })
      where folders.insert(OutputPath.folder(of: sink.name)).inserted { try sink.syncFolder() }
    } catch {
      for path in added { try? FileManager.default.removeItem(atPath: path) }
      throw error
    }
    return files.map { file in
      RunSummary.File(
        path: file.path, bytes: file.sink.storedBytes, records: file.records,
        contentHash: file.sink.contentHash?.digest.hex)
    }
  }

  private func commit(_ sink: ByteSink, to path: String, added: inout [String]) throws(CSVError) {
    if path != "-", !mayExist(path) { added.append(path) }
    try sink.commit(syncsFolder: false)
  }

  /// Discards everything that has no final name yet.
  func cancel() {
    for file in files {
      file.sink.cancel()
      file.checksumFile?.cancel()
    }
  }
}
