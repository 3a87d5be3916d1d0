import CSV
import Foundation
import OpenCoreData

/// The records of one input that could not be imported, as their original bytes under the input's own header. A file of
/// JSON lines next to it has the issues of each record.
///
/// Both are written under names ending in `.part`, in step with the checkpoints, so that an interrupted run can
/// continue them; they get their final names when the input is complete.
final class RejectsFile {
  /// The first JSON line, in addition to the issues.
  struct Context: Sendable, Encodable {
    /// The layout of the file.
    var rejects = 1
    var run: String
    /// The name or path by which the program was given the pipeline. Nil for an import of all attributes of an entity.
    var pipeline: String?
    /// The entity and the model that the program was given with it.
    var entity: String?
    var model: String?
    var input: String
    var store: String?
    /// The options of the program that say how the input is read; nil if there were none.
    var options: [String: [String]]?
  }

  /// Nil until there is a reject.
  private(set) var path: String?
  private(set) var mark = RejectsMark()
  private let choosePath: () -> String
  private let header: [UInt8]
  private let context: Context
  private var records: FileHandle?
  private var details: FileHandle?
  /// Set while the last record that was written has no line end: of a record over the limits only the start is known.
  private var needsLineEnd = false

  /// `choosePath` is called at the first reject.
  init(header: [UInt8], context: Context, choosePath: @escaping () -> String) {
    self.header = header
    self.context = context
    self.choosePath = choosePath
  }

  static func detailsPath(of path: String) -> String { path + ".jsonl" }
  static func partPath(of path: String) -> String { path + ".part" }

  /// Continues the files of an interrupted run, truncated to its last checkpoint.
  ///
  /// - Throws: `RunFailure` where the files are gone or shorter than they were.
  func resume(at mark: RejectsMark) throws(RunFailure) {
    guard let path = mark.path else { return }
    self.path = path
    do {
      try Self.unname(path)
      records = try Self.reopen(Self.partPath(of: path), at: mark.bytes)
      details = try Self.reopen(Self.partPath(of: Self.detailsPath(of: path)), at: mark.detailBytes)
    } catch {
      throw RunFailure(
        code: nil, exitCode: .ioError,
        message: "the rejects of the interrupted run can't be continued: \(Self.partPath(of: path)) "
          + "\((error as? ReopenError)?.reason ?? "can't be opened: \(error)"). Put it back, or import all of the "
          + "input again with --again")
    }
    self.mark = mark
    needsLineEnd = !Self.endsLine(Self.partPath(of: path))
  }

  /// Adds the rejected records of a chunk. Afterwards `mark` has the new lengths of the files.
  func append(_ plan: ChunkPlan, of chunk: ParsedChunk) throws(RunFailure) {
    guard !plan.rejected.isEmpty else { return }
    do {
      try open()
      var text: [UInt8] = []
      for index in plan.rejected {
        if needsLineEnd { text.append(UInt8(ascii: "\n")) }
        let bytes = chunk.block.bytes[chunk.block.records[index].range]
        text += bytes
        needsLineEnd = bytes.last != UInt8(ascii: "\n") && bytes.last != UInt8(ascii: "\r")
      }
      try records?.write(contentsOf: Data(text))
      let lines = detailLines(plan, of: chunk)
      try details?.write(contentsOf: lines)
      mark.bytes += text.count
      mark.detailBytes += lines.count
      mark.count += plan.rejected.count
    } catch {
      throw Self.failure(error, path ?? "")
    }
  }

  /// Removes what was added since `mark`, because the chunk was not saved.
  func cutBack(to mark: RejectsMark) throws(RunFailure) {
    guard mark != self.mark, let path else { return }
    do {
      try records?.truncate(atOffset: UInt64(mark.bytes))
      try details?.truncate(atOffset: UInt64(mark.detailBytes))
    } catch {
      throw Self.failure(error, path)
    }
    self.mark = mark
    if mark.path == nil {
      // Only the header is left; the next reject creates the files again.
      removeParts(of: path)
      self.path = nil
      needsLineEnd = false
    }
  }

  /// Starts to sync what was written to the disk; the returned closure waits for it.
  func startSync() -> (@Sendable () throws -> Void)? {
    guard let records, let details else { return nil }
    let sync = DiskSync([records.fileDescriptor, details.fileDescriptor])
    sync.start()
    return { try sync.wait() }
  }

  /// Gives the files their final names when the input is complete.
  func commit() throws(RunFailure) {
    guard let path else { return }
    do {
      for handle in [details, records].compactMap({ $0 }) {
        try handle.synchronize()
        try handle.close()
      }
      for target in [Self.detailsPath(of: path), path] { try DurableRename.move(Self.partPath(of: target), to: target) }
      (records, details) = (nil, nil)
    } catch {
      throw Self.failure(error, path)
    }
  }

  // MARK: Files

  private func open() throws {
    guard records == nil else { return }
    let path = choosePath()
    self.path = path
    var head = header
    if let last = head.last, last != 0x0A, last != 0x0D { head.append(0x0A) }
    records = try Self.create(Self.partPath(of: path), Data(head))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let first = try encoder.encode(context) + Data("\n".utf8)
    details = try Self.create(Self.partPath(of: Self.detailsPath(of: path)), first)
    mark = RejectsMark(path: path, bytes: head.count, detailBytes: first.count)
  }

  /// A line for each issue of a rejected record: both lists are in the order of the records.
  private func detailLines(_ plan: ChunkPlan, of chunk: ParsedChunk) -> [UInt8] {
    func number(_ offset: Int) -> UInt64 { UInt64(chunk.block.number(ofRecordAt: plan.rejected[offset])) }
    var lines = RejectDetails(run: context.run)
    var offset = 0
    for issue in plan.issues where issue.severity == .error {
      while offset < plan.rejected.count, number(offset) < issue.record { offset += 1 }
      if offset == plan.rejected.count { break }
      if number(offset) == issue.record { lines.append(issue, reject: mark.count + offset + 1) }
    }
    return lines.bytes
  }

  private static func create(_ path: String, _ content: Data) throws -> FileHandle {
    try content.write(to: URL(fileURLWithPath: path))
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seekToEnd()
    return handle
  }

  /// Renames the files back if a run was interrupted after it had renamed them and before it recorded the end of the
  /// input.
  private static func unname(_ path: String) throws {
    for target in [path, detailsPath(of: path)] where !FileManager.default.fileExists(atPath: partPath(of: target)) {
      if FileManager.default.fileExists(atPath: target) { try DurableRename.move(target, to: partPath(of: target)) }
    }
  }

  private static func reopen(_ path: String, at length: Int) throws -> FileHandle {
    guard FileManager.default.fileExists(atPath: path) else { throw ReopenError(reason: "is gone") }
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    guard try handle.seekToEnd() >= UInt64(length) else {
      throw ReopenError(reason: "is shorter than it was at the last checkpoint")
    }
    try handle.truncate(atOffset: UInt64(length))
    return handle
  }

  private static func endsLine(_ path: String) -> Bool {
    guard let handle = FileHandle(forReadingAtPath: path), let end = try? handle.seekToEnd(), end > 0 else {
      return true
    }
    try? handle.seek(toOffset: end - 1)
    let last = (try? handle.read(upToCount: 1))?.first
    return last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r")
  }

  private struct ReopenError: Error {
    let reason: String
  }

  private func removeParts(of path: String) {
    (records, details) = (nil, nil)
    Self.remove(Self.partPath(of: path))
  }

  /// Removes a file of rejects, with its final or temporary name, and the file of JSON lines next to it.
  static func remove(_ path: String) {
    let ending = partPath(of: "")
    let isPart = path.hasSuffix(ending)
    let details = isPart ? partPath(of: detailsPath(of: String(path.dropLast(ending.count)))) : detailsPath(of: path)
    for file in [path, details] { try? FileManager.default.removeItem(atPath: file) }
  }

  private static func failure(_ error: any Error, _ path: String) -> RunFailure {
    let number = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code ?? (error as NSError).code
    let isPermission =
      number == Int(EACCES) || number == Int(EPERM) || number == CocoaError.fileWriteNoPermission.rawValue
    return RunFailure(
      code: nil, exitCode: isPermission ? .noPermission : .ioError,
      message: "the rejects can't be written to \(path): \((error as NSError).localizedDescription); check the "
        + "permissions and the free space on the disk")
  }
}
