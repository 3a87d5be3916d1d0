import CSV
import Foundation
import OpenCoreData

/// The records of one input that could not be imported, as their original bytes under the input's own header, and
/// beside them what is wrong with each: a file of JSON lines.
///
/// Both grow under names ending in `.part`, as far as the checkpoints say, so that an interrupted run can go on with
/// them; they get their names when the input is done.
final class RejectsFile {
  /// What the JSON lines say besides the issues.
  struct Context: Sendable, Encodable {
    /// The layout of the file.
    var rejects = 1
    var run: String
    /// How the pipeline was named to the program: a name, or the path of its definition. Nil for all attributes of an
    /// entity.
    var pipeline: String?
    /// The entity and the model that were named beside it.
    var entity: String?
    var model: String?
    var input: String
    var store: String?
    /// The options of the program that say how the input is read; nil if there were none.
    var options: [String: [String]]?
  }

  /// Nil until there is something to reject.
  private(set) var path: String?
  private(set) var mark = RejectsMark()
  private let choosePath: () -> String
  private let header: [UInt8]
  private let context: Context
  private var records: FileHandle?
  private var details: FileHandle?
  /// Set while what was written last has no line end: of a record over the limits only the front is known.
  private var needsLineEnd = false

  /// `choosePath` is asked at the first reject.
  init(header: [UInt8], context: Context, choosePath: @escaping () -> String) {
    self.header = header
    self.context = context
    self.choosePath = choosePath
  }

  static func detailsPath(of path: String) -> String { path + ".jsonl" }
  static func partPath(of path: String) -> String { path + ".part" }

  /// Goes on with what an interrupted run has written, cut back to its last checkpoint.
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
        message: "the rejects of the interrupted run can't be gone on with: \(Self.partPath(of: path)) "
          + "\((error as? ReopenError)?.reason ?? "can't be opened: \(error)"). Put it back, or import all of the "
          + "input again with --again")
    }
    self.mark = mark
    needsLineEnd = !Self.endsLine(Self.partPath(of: path))
  }

  /// Adds the rejected records of a chunk. `mark` says how far the files go then.
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
      let lines = try detailLines(plan, of: chunk)
      try details?.write(contentsOf: lines)
      mark.bytes += text.count
      mark.detailBytes += lines.count
      mark.count += plan.rejected.count
    } catch {
      throw Self.failure(error, path ?? "")
    }
  }

  /// Takes back what was added since `mark`: the chunk was not saved.
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
      // Nothing but the header is left; the next reject begins anew.
      removeParts(of: path)
      self.path = nil
      needsLineEnd = false
    }
  }

  /// Has the disk take what was written, beside other work; the answer waits for it.
  func startSync() -> (@Sendable () throws -> Void)? {
    guard let records, let details else { return nil }
    let sync = DiskSync([records.fileDescriptor, details.fileDescriptor])
    sync.start()
    return { try sync.wait() }
  }

  /// Gives the files their names: the input is done.
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

  private func detailLines(_ plan: ChunkPlan, of chunk: ParsedChunk) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var ordinals: [UInt64: Int] = [:]
    for (offset, index) in plan.rejected.enumerated() {
      ordinals[UInt64(chunk.block.number(ofRecordAt: index))] = mark.count + offset + 1
    }
    var lines = Data()
    for issue in plan.issues where issue.severity == .error {
      guard let ordinal = ordinals[issue.record] else { continue }
      lines += try encoder.encode(RejectDetail(issue: issue, run: context.run, reject: ordinal))
      lines.append(UInt8(ascii: "\n"))
    }
    return lines
  }

  private static func create(_ path: String, _ content: Data) throws -> FileHandle {
    try content.write(to: URL(fileURLWithPath: path))
    let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try handle.seekToEnd()
    return handle
  }

  /// A run that was interrupted after it had given the files their names has not noted the end of the input.
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

  /// Removes the file with this name, or with this name of one that is not done, and the one beside it.
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
        + "permissions and the room on the disk")
  }
}

/// One issue of a rejected record, as a line of the file beside the rejects.
private struct RejectDetail: Encodable {
  let issue: RecordIssue
  let run: String
  /// Number of the record in the file of rejects, from 1.
  let reject: Int

  private enum ExtraKeys: String, CodingKey {
    case run, reject
  }

  func encode(to encoder: any Encoder) throws {
    try issue.encode(to: encoder)
    var container = encoder.container(keyedBy: ExtraKeys.self)
    try container.encode(run, forKey: .run)
    try container.encode(reject, forKey: .reject)
  }
}
