import CSV
import Foundation
import OpenCoreData

/// The records of one input that could not be imported, as their original bytes under the input's own header. A file of
/// JSON lines next to it, the *details*, has the issues of each record.
///
/// Both are written under names ending in `.part`, in step with the checkpoints, so that an interrupted run can
/// continue them. They get their final names when the store is on the disk: what was rolled back, or lost with the
/// power, never has a name that the next run would have to avoid.
final class RejectsFile {
  /// The first JSON line, in addition to the issues.
  struct Context: Sendable, Encodable {
    /// The layout of the lines that follow, up to the next line of this kind. In layout 1 each issue had a line with all
    /// its members.
    var rejects = Self.layout
    static let layout = 2
    var run: String
    /// The name or path by which the program was given the pipeline. Nil for an import of all attributes of an entity.
    var pipeline: String?
    /// The entity and the model that the program was given with it.
    var entity: String?
    var model: String?
    var input: String
    /// Nil for a seed and for a copy: no replay imports into their stores.
    var store: String?
    /// The seed that lacks the records; nil for the rejects of other imports.
    var seed: String?
    /// The options of the program that say how the input is read; nil if there were none.
    var options: [String: [String]]?
    /// The labels of the input's header, by which a replay finds the delimiter of a spreadsheet; nil without a header.
    var labels: [String]?
  }

  /// Nil until there is a reject.
  private(set) var path: String?
  private(set) var mark = RejectsMark()
  /// The path that the rejects have unless something else has it.
  let requestedPath: String
  private let choosePath: (() -> String)?
  private let kept: Set<String>
  /// The path that was chosen, also while the rejects of a refused chunk are taken back.
  private var chosenPath: String?
  private let header: [UInt8]
  private var context: Context
  private let permissions: UInt32
  private var records: GrowingFile?
  private var details: GrowingFile?
  /// Set while the last record that was written has no line end: of a record over the limits only the start is known.
  private var needsLineEnd = false

  /// - Parameters:
  ///   - permissions: Those of the files, less the umask.
  ///   - requestedPath: The path that they have unless something else has it.
  ///   - choosePath: Called at the first reject, and again where another process has taken the path. Nil to replace what has
  ///     the requested path, unless it is one of `kept`.
  init(
    header: [UInt8], context: Context, permissions: UInt32, requestedPath: String, kept: Set<String> = [],
    choosePath: (() -> String)?
  ) {
    self.kept = kept
    self.requestedPath = requestedPath
    self.header = header
    self.context = context
    self.permissions = permissions
    self.choosePath = choosePath
  }

  static func detailsPath(of path: String) -> String { path + ".jsonl" }
  static func partPath(of path: String) -> String { path + ".part" }

  /// The inverse of `detailsPath(of:)`; nil for a name that is none of details.
  static func withoutDetails(_ path: String) -> String? {
    path.hasSuffix(".jsonl") ? String(path.dropLast(".jsonl".count)) : nil
  }

  /// Continues the files of an interrupted run, truncated to its last checkpoint.
  ///
  /// - Throws: `RunFailure` where the files are gone or shorter than they were.
  func resume(at mark: RejectsMark) throws(RunFailure) {
    guard let path = mark.path else { return }
    self.path = path
    do throws(CSVError) {
      try Self.restorePartNames(path)
      // A run may have been killed between `link(to:)` and the commit of the new path.
      Self.removeSecondNames(of: path)
      let records = try GrowingFile.reopen(Self.partPath(of: path), at: mark.bytes)
      details = try GrowingFile.reopen(Self.partPath(of: Self.detailsPath(of: path)), at: mark.detailBytes)
      needsLineEnd = !records.endsLine
      self.records = records
    } catch {
      throw RunFailure(
        code: nil, exitCode: .ioError,
        message:
          "the rejects of the interrupted run can't be continued: \(error.path ?? path) \(error.message). Put it "
          + "back, or import all of the input again with --again")
    }
    self.mark = mark
    try noteLayout()
  }

  /// The records that follow are those of another input, with the same header.
  func begin(_ input: String) throws(RunFailure) {
    guard context.input != input else { return }
    context.input = input
    try appendContext()
  }

  /// Says that the lines that follow have another layout than those of an earlier version of this program.
  private func noteLayout() throws(RunFailure) {
    guard let details, let origin = Replay.origin(inDetails: details.path), origin.rejects ?? 1 < Context.layout
    else { return }
    try appendContext()
  }

  private func appendContext() throws(RunFailure) {
    guard let path, let details else { return }
    let line = context.line
    do throws(CSVError) {
      try details.append(line)
    } catch {
      throw Self.failure(error, path)
    }
    mark.detailBytes += line.count
  }

  /// Adds the rejected records of a chunk. Afterwards `mark` has the new lengths of the files.
  func append(_ rejected: RejectedRecords) throws(RunFailure) {
    guard rejected.count > 0 else { return }
    do throws(CSVError) {
      try open()
      let text = (needsLineEnd ? [UInt8(ascii: "\n")] : []) + rejected.records
      try records?.append(text)
      try details?.append(rejected.details)
      needsLineEnd = rejected.needsLineEnd
      mark.bytes += text.count
      mark.detailBytes += rejected.details.count
      mark.count += rejected.count
    } catch {
      throw Self.failure(error, path ?? "")
    }
  }

  /// Removes what was added since `mark`, because the chunk was not saved.
  func cutBack(to mark: RejectsMark) throws(RunFailure) {
    guard mark != self.mark, let path else { return }
    do throws(CSVError) {
      try records?.cutBack(to: mark.bytes)
      try details?.cutBack(to: mark.detailBytes)
    } catch {
      throw Self.failure(error, path)
    }
    self.mark = mark
    if mark.path == nil {
      // Only the header is left; the next reject creates the files again.
      (records, details) = (nil, nil)
      Self.removeParts(of: path)
      self.path = nil
      needsLineEnd = false
    }
  }

  /// Starts to sync what was written to the disk; the returned closure waits for it.
  func startSync() -> (@Sendable () throws -> Void)? {
    guard let path, let records, let details else { return nil }
    let sync = DiskSync([records.descriptor, details.descriptor])
    sync.start()
    return { if let code = sync.wait() { throw Self.failure(code, path) } }
  }

  /// Completes the files at the end of the input, still under their temporary names.
  func finish() throws(RunFailure) {
    guard let path else { return }
    do throws(CSVError) {
      try details?.finish()
      try records?.finish()
      (records, details) = (nil, nil)
    } catch {
      throw Self.failure(error, path)
    }
  }

  /// Gives the completed files another final path. Under the present one they stay too, for a run that goes on from the
  /// last checkpoint; its names are removed at the end.
  ///
  /// - Returns: False where the file system has no second names for a file: the path is as it was.
  func link(to path: String) -> Bool {
    guard let old = self.path else { return false }
    Self.removeParts(of: path, ownedBy: context.owner)
    let details = (Self.partPath(of: Self.detailsPath(of: old)), Self.partPath(of: Self.detailsPath(of: path)))
    guard Foundation.link(details.0, details.1) == 0 else { return false }
    guard Foundation.link(Self.partPath(of: old), Self.partPath(of: path)) == 0 else {
      unlink(details.1)
      return false
    }
    guard (try? DurableRename.syncFolder(of: path)) != nil else { return false }
    (self.path, mark.path) = (path, path)
    return true
  }

  /// Gives completed files their final names, if they do not have them. Called when the store that lists them is on the
  /// disk.
  ///
  /// - Parameter replaces: Whether older files of that name are replaced.
  /// - Throws: 73 where another program has made a file of that name meanwhile.
  static func publish(_ path: String, replaces: Bool = false) throws(RunFailure) {
    for target in [detailsPath(of: path), path] {
      let part = partPath(of: target)
      guard try RunFailure.exists(part) else { continue }
      if !replaces, try RunFailure.exists(target) {
        throw RunFailure(
          code: nil, exitCode: .cannotCreate,
          message: "\(target) was made by another program meanwhile; the rejects stay in \(part). Move it "
            + "away, and run again")
      }
      removeOtherNames(ofPart: part)
      do throws(POSIXError) {
        try DurableRename.move(part, to: target)
      } catch {
        throw failure(error.code.rawValue, path)
      }
    }
  }

  // MARK: Files

  private func open() throws(CSVError) {
    guard records == nil else { return }
    var path = chosenPath ?? choosePath?() ?? requestedPath
    (self.path, chosenPath) = (path, path)
    var head = header
    if let last = head.last, last != 0x0A, last != 0x0D { head.append(0x0A) }
    let first = context.line
    // Another process may have taken the path since it was chosen.
    while try !create(at: path, head, details: first) {
      guard let choosePath else { throw CSVError(.write, "is being written", path: path, errnoCode: EWOULDBLOCK) }
      path = choosePath()
      (self.path, chosenPath) = (path, path)
    }
    do throws(POSIXError) {
      try DurableRename.syncFolder(of: path)
    } catch {
      throw CSVError(.write, "can't be synced", path: path, errnoCode: error.code.rawValue)
    }
    mark = RejectsMark(path: path, bytes: head.count, detailBytes: first.count)
  }

  /// - Returns: False where the files of another process have the names, with nothing created.
  private func create(at path: String, _ head: [UInt8], details first: [UInt8]) throws(CSVError) -> Bool {
    if kept.contains(path) { return false }
    let (owner, replacesAll) = (context.owner, choosePath == nil)
    // The details are first: they say which store the files belong to.
    let details = try GrowingFile.create(
      Self.partPath(of: Self.detailsPath(of: path)), permissions: permissions
    ) { Self.mayRemoveParts(of: path, ownedBy: owner) }
    guard let details else { return false }
    try details.append(first)
    // Where the details of others have their name, their records are about to get it.
    let records = try GrowingFile.create(Self.partPath(of: path), permissions: permissions) {
      replacesAll ? Self.mayRemoveParts(of: path, ownedBy: owner) : !stat.exists(Self.detailsPath(of: path))
    }
    // A process that had the path may have given its files their names since the path was found to be free.
    guard let records, replacesAll ? true : try RejectsDestination.isFree(path) else {
      for case let file? in [records, details] { unlink(file.path) }
      return false
    }
    try records.append(head)
    (self.details, self.records) = (details, records)
    return true
  }

  /// Renames the files back if an earlier version of this program was interrupted after it had renamed them and before
  /// it recorded the end of the input.
  private static func restorePartNames(_ path: String) throws(CSVError) {
    for target in [path, detailsPath(of: path)] where !stat.exists(partPath(of: target)) {
      guard stat.exists(target) else { continue }
      do throws(POSIXError) {
        try DurableRename.move(target, to: partPath(of: target))
      } catch {
        throw CSVError(.write, "can't be renamed back", path: target, errnoCode: error.code.rawValue)
      }
    }
  }

  /// Whether the details were published and the records could not be.
  static func isHalfPublished(_ path: String) -> Bool {
    let details = detailsPath(of: path)
    return stat.exists(partPath(of: path)) && !stat.exists(path) && !stat.exists(partPath(of: details))
      && stat.exists(details)
  }

  /// Removes the temporary files of rejects with a final path.
  ///
  /// - Returns: Whether there was one.
  @discardableResult static func removeParts(of path: String) -> Bool {
    // Details that stay would look like those of another program.
    if isHalfPublished(path), (try? restorePartNames(path)) == nil { return false }
    return [path, detailsPath(of: path)].map { unlink(partPath(of: $0)) == 0 }.contains(true)
  }

  /// Removes the other names that `link(to:)` gave a temporary file, of a run that was killed before it removed them.
  private static func removeOtherNames(ofPart part: String) {
    guard let own = stat.of(part, followingLinks: false), own.st_nlink > 1 else { return }
    let folder = OutputPath.folder(of: part)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasSuffix(".part") {
      let path = folder + (folder.hasSuffix("/") ? "" : "/") + name
      guard name != URL(fileURLWithPath: part).lastPathComponent, let other = stat.of(path, followingLinks: false),
        (other.st_dev, other.st_ino) == (own.st_dev, own.st_ino)
      else { continue }
      unlink(path)
    }
  }

  /// Removes the temporary files of rejects with a final path, under all their names, so that they stay removed after a
  /// power cut.
  static func removeAllNames(of path: String) {
    removeSecondNames(of: path)
    // Where the folder can't be synced, the next run or undo removes what is there again.
    if removeParts(of: path) { try? DurableRename.syncFolder(of: path) }
  }

  /// Removes the other names of the temporary files of rejects with a final path.
  private static func removeSecondNames(of path: String) {
    for target in [path, detailsPath(of: path)] { removeOtherNames(ofPart: partPath(of: target)) }
  }

  /// Whether there are temporary files of rejects with this final path.
  static func hasParts(_ path: String) -> Bool {
    [path, detailsPath(of: path)].contains { stat.exists(partPath(of: $0)) }
  }

  /// Whether the temporary files are being written, or are those of another store or seed; not if they were killed before
  /// they said so.
  static func isInUse(_ path: String, byOtherThan owner: String?) -> Bool {
    for target in [detailsPath(of: path), path] where GrowingFile.isBeingWritten(partPath(of: target)) { return true }
    return !mayRemoveParts(of: path, ownedBy: owner)
  }

  /// Removes the temporary files of rejects with a final path, unless they are in use by another store or seed.
  static func removeParts(of path: String, ownedBy owner: String?) {
    if isInUse(path, byOtherThan: owner) { return }
    if isHalfPublished(path) {
      removeParts(of: path)
      return
    }
    for target in [path, detailsPath(of: path)] {
      // Others may have begun to write them. What can't be removed stays for the next run.
      _ = try? GrowingFile.remove(partPath(of: target)) { mayRemoveParts(of: path, ownedBy: owner) }
    }
  }

  /// Whether temporary files that are not being written are the owner's, or do not say whose they are.
  private static func mayRemoveParts(of path: String, ownedBy owner: String?) -> Bool {
    originOfParts(of: path).map { $0.owner == owner } ?? true
  }

  /// Where the records of temporary files of rejects with this final path came from; nil if they do not say it.
  static func originOfParts(of path: String) -> Replay.Origin? {
    let details = detailsPath(of: path)
    return Replay.origin(inDetails: isHalfPublished(path) ? details : partPath(of: details))
  }

  /// Removes the files of a run that was killed, under whichever names, unless they are another run's.
  static func remove(_ path: String, ofRun run: String) {
    if let origin = Replay.origin(of: path), origin.run == run {
      for target in [path, detailsPath(of: path)] { unlink(target) }
    }
    if originOfParts(of: path).map({ $0.run == run }) ?? true { removeParts(of: path) }
  }

  private static func failure(_ error: CSVError, _ path: String) -> RunFailure {
    failure(error.errnoCode ?? EIO, error.path ?? path)
  }

  private static func failure(_ code: Int32, _ path: String) -> RunFailure {
    if code == EWOULDBLOCK {
      return RunFailure(
        code: nil, exitCode: .temporaryFailure,
        message: "the rejects can't be written to \(path): another run, or an import that was interrupted, has its "
          + "unfinished rejects there; complete that one, or name another file with --rejects")
    }
    return RunFailure(
      code: nil, exitCode: [EACCES, EPERM].contains(code) ? .noPermission : .ioError,
      message: "the rejects can't be written to \(path): \(systemMessage(code))")
  }
}
