import CSV
import Foundation
import OpenCoreData

/// The files of one export: written one after the other, and given their names together when all are complete.
///
/// A value without copies, for it holds the writer of the file under way.
struct ExportFiles: ~Copyable {
  /// A file, and what it holds so far.
  private struct File {
    let path: String
    let sink: ByteSink
    var month: String?
    var records = 0
    /// The hash file beside it.
    var seal: ByteSink?
  }

  private let export: ExportDefinition
  private let template: OutputTemplate
  private let names: [String]
  /// What the run reads.
  private let storePath: String
  private let startedAt: Date
  /// The attribute that tells the month.
  private let monthAttribute: String?
  private var months = MonthNames()
  /// The file under way is the last one; nil between files.
  private var writer: CSVWriter?
  private var files: [File] = []

  init(
    _ export: ExportDefinition, _ template: OutputTemplate, names: [String], storePath: String, startedAt: Date
  ) {
    self.export = export
    self.template = template
    self.names = names
    if case .month(let attribute)? = export.split { monthAttribute = attribute } else { monthAttribute = nil }
    self.storePath = storePath
    self.startedAt = startedAt
  }

  /// The file under way, for progress.
  var path: String { files.last?.path ?? template.path(OutputTemplate.Values(start: startedAt)) }

  var storedBytes: Int { files.reduce(0) { $0 + $1.sink.storedBytes } }

  /// Opens the file that is there even if no entry is. Months without an entry have no file, and where nothing is new
  /// there is none at all.
  mutating func begin() throws(CSVError) {
    if monthAttribute == nil, !export.incremental { try open(month: nil) }
  }

  /// Writes the entries of a batch; `refuse` is told the row of each that the output can't carry.
  mutating func write(
    _ batch: ObjectBatch, with formatter: inout EntryFormatter, _ refuse: (Int, EntryFormatter.Refusal) -> Void
  ) throws(CSVError) {
    let monthSlot = monthAttribute.flatMap { batch.entity.slot(named: $0) }
    var row = 0
    while row < batch.count {
      let end = try openFile(for: row, of: batch, monthSlot)
      // Out of the optional meanwhile: a writer is touched for every field.
      guard var writer = writer.take() else { preconditionFailure("a file was opened for the row") }
      files[files.count - 1].records += try formatter.write(row..<end, of: batch, to: &writer, refuse)
      self.writer = consume writer
      row = end
    }
  }

  /// Sees to it that the file under way is that of the row; answers up to which row it takes.
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
      try OutputPlace.check(path, key: "export.output", isNoneOf: [storePath])
    } catch {
      throw CSVError(.write, error.message)
    }
    let isGzip = path == "-" ? export.gzip ?? false : export.isGzip(path)
    let sink = try ByteSink(path: path, compression: isGzip ? .gzip() : .none)
    sink.contentHash = ContentHash()
    // What is not compressed is stored as it is.
    if export.hash, isGzip { sink.storedHash = ContentHash() }
    files.append(File(path: path, sink: sink, month: month))
    var writer = try CSVWriter(sink, dialect: export.dialect.csv)
    if export.dialect.header { try writer.write(names) }
    self.writer = consume writer
  }

  /// Completes the file under way, if there is one; it has no name yet.
  private mutating func close() throws(CSVError) {
    guard var writer = writer.take(), let file = files.last else { return }
    try writer.flush()
    try file.sink.finish()
    guard export.hash, let content = file.sink.contentHash else { return }
    let seal = OutputSeal(
      stored: (file.sink.storedHash ?? content).digest, records: file.records, content: content.digest,
      contentBytes: file.sink.writtenBytes)
    files[files.count - 1].seal = try seal.write(for: file.path)
  }

  /// Completes the last file and gives all of them their names.
  ///
  /// - Throws: `write-error`; of the files that had a name by then those are removed that did not replace another.
  mutating func place() throws(CSVError) -> [RunSummary.File] {
    try close()
    var added: [String] = []
    var folders: Set<String> = []
    do throws(CSVError) {
      for file in files {
        try place(file.sink, file.path, &added)
        if let seal = file.seal { try place(seal, OutputSeal.path(for: file.path), &added) }
      }
      // Links lead elsewhere: a sink's own name is where the file really is.
      for sink in files.flatMap({ [$0.sink, $0.seal].compactMap(\.self) })
      where folders.insert(OutputPlace.folder(of: sink.name)).inserted { try sink.syncFolder() }
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

  private func place(_ sink: ByteSink, _ path: String, _ added: inout [String]) throws(CSVError) {
    if path != "-", !FileManager.default.fileExists(atPath: path) { added.append(path) }
    try sink.commit(syncsFolder: false)
  }

  /// Gives up everything that has no name yet.
  func cancel() {
    for file in files {
      file.sink.cancel()
      file.seal?.cancel()
    }
  }
}
