import CSV
import Foundation
import SystemSupport

/// The file with the records of a pipeline's runs, the oldest first, a line of JSON each. It is apart from the ledger,
/// which has no exports and no dry runs, and no run that could not open the store.
struct RunRecords {
  let path: String
  /// The path of the store, whose rights the file gets; nil for one of a server.
  private let store: String?

  /// The file has at most twice as many lines.
  static let keptMax = 2000

  /// In the folder of the pages that have one for each run, or of the first report, or of the store. Nil where nothing
  /// needs records, or where there is no such folder.
  init?(_ definition: PipelineDefinition, _ options: RunOptions) {
    let series = Self.series(definition)
    guard !series.isEmpty || definition.notify != nil else { return nil }
    store = definition.storeLocation(options)?.path
    let path = (series.first ?? definition.report.first).map(definition.path) ?? store
    guard let path, !OutputPath.isSpecial(path), path != "-" else { return nil }
    self.path = "\(OutputPath.folder(of: path))/\(Self.name(of: definition.name))"
  }

  init(path: String, store: String? = nil) { (self.path, self.store) = (path, store) }

  /// The names of the pages that have one for each run.
  static func series(_ definition: PipelineDefinition) -> [String] {
    definition.report.filter { ReportFormat(path: $0) == .html && (try? ReportName($0))?.isSeries == true }
  }

  private static let nameEnding = ".runs.jsonl"
  private static func name(of pipeline: String) -> String { ".\(ReportName.fileName(pipeline))\(nameEnding)" }

  /// The files of all pipelines whose runs are recorded in a folder.
  static func all(in folder: String) -> [RunRecords] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix(".") && $0.hasSuffix(nameEnding) }.sorted().map {
      RunRecords(path: "\(folder)/\($0)")
    }
  }

  /// The records, the oldest first. A line that a killed run has left unfinished is left out.
  var records: [RunRecord] {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let data = Data((try? RegularFile.read(path)) ?? [])
    return data.split(separator: UInt8(ascii: "\n")).compactMap { try? decoder.decode(RunRecord.self, from: $0) }
  }

  /// Appends a record; `then` is called while no other run appends one.
  func append(_ record: RunRecord, then: () throws -> Void) throws {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let line = RawText.json(try encoder.encode(record)) + Data("\n".utf8)
    let file = try opened()
    defer { try? file.close() }
    let size = try file.seekToEnd()
    var isTorn = false
    if size > 0 {
      try file.seek(toOffset: size - 1)
      isTorn = try file.read(upToCount: 1) != Data("\n".utf8)
    }
    try file.seekToEnd()
    try file.write(contentsOf: (isTorn ? Data("\n".utf8) : Data()) + line)
    unlink(markPath)
    try shorten()
    try then()
  }

  // MARK: A failure without a record

  /// A file without content, which a full disk mostly still takes: the last run has failed and could not be recorded.
  private var markPath: String { path + ".failed" }

  /// When the last run has failed, if it could not be recorded.
  var unrecordedFailure: Date? {
    stat.of(markPath).map { Date(timeIntervalSince1970: Double($0.st_mtim.tv_sec)) }
  }

  /// Called where a failed run can't be recorded.
  func markFailure() {
    let descriptor = uninterrupted { open(markPath, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o644) }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Opens the file and locks it. A file that was replaced meanwhile is opened again.
  private func opened() throws -> FileHandle {
    while true {
      let mode = mode_t(FileRights.ofFile(path, near: store))
      let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
      let descriptor = uninterrupted { open(path, flags, mode) }
      guard descriptor >= 0 else { throw RunFailure(path, "can't be opened", errno: errno) }
      let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      var status = stat()
      if fstat(descriptor, &status) == 0, let kind = RegularFile.kind(status) {
        throw RunFailure(path, "can't be opened", for: .otherKind(kind))
      }
      try OutputPath.checkOwner(ofOpen: descriptor, path)
      while flock(descriptor, LOCK_EX) != 0 {
        if errno != EINTR { return file }
      }
      if fstat(descriptor, &status) == 0, let named = stat.of(path), named.st_ino == status.st_ino { return file }
    }
  }

  private func shorten() throws {
    let data = Data((try? RegularFile.read(path)) ?? [])
    let lines = data.split(separator: UInt8(ascii: "\n"))
    guard lines.count > 2 * Self.keptMax else { return }
    let sink = try ByteSink(path: path, permissions: FileRights.ofFile(path, near: store))
    for line in lines.suffix(Self.keptMax) { try sink.write(Array(line) + [UInt8(ascii: "\n")]) }
    try sink.commit()
  }
}
