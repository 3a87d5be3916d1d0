import CSV
import Foundation
import SystemSupport

/// Imports a corrected file of rejects with the pipeline that rejected its records.
///
/// The ledger ensures that each of its records is imported once, as for any input. When it is complete, the records
/// that were rejected again replace the file, so that only these remain to be corrected; the original file is kept
/// under a name ending in `.replayed`.
public enum Replay {
  /// Where the records of a file of rejects came from; the first line of the file next to it.
  public struct Origin: Sendable, Decodable {
    /// The name or path by which the program was given the pipeline. Nil where the columns were those of an entity.
    public let pipeline: String?
    /// The entity and the model that the program was given instead of a pipeline.
    public let entity: String?
    /// The model, as its name or path; nil where the rejects name none.
    public let model: String?
    /// The input with the original records.
    public let input: String
    /// The store's file.
    public let store: String?
    /// The options that said how the input is read.
    public let options: [String: [String]]?
    /// The labels of the input's header; nil without one, and in rejects of an earlier version of this program.
    let labels: [String]?
    /// The run that rejected the records.
    let run: String?
    /// The seed that lacks the records; nil for the rejects of other imports.
    let seed: String?
    /// The layout of the lines that follow.
    let rejects: Int?

    /// The store or seed that the rejects belong to.
    var owner: String? { store ?? seed }
  }

  /// Reads the first line of the file next to `rejects`; nil where there is none, for example because only `rejects`
  /// was moved.
  public static func origin(of rejects: String) -> Origin? { try? readOrigin(of: rejects) }

  /// `origin(of:)` that distinguishes a file that can't be read from one that does not exist.
  package static func readOrigin(of rejects: String) throws(RejectsError) -> Origin? {
    try readOrigin(inDetails: RejectsFile.detailsPath(of: rejects))
  }

  /// Nil also for a file that can't be read.
  static func origin(inDetails path: String) -> Origin? { try? readOrigin(inDetails: path) }

  private static func readOrigin(inDetails path: String) throws(RejectsError) -> Origin? {
    let start: [UInt8]
    do throws(RegularFileError) {
      start = try RegularFile.read(path, bytesMax: 64 << 10)
    } catch {
      if [ENOENT, ENOTDIR].contains(error.code) { return nil }
      let failure = RunFailure(path, "can't be read", for: error)
      throw RejectsError(message: failure.message, exitCode: failure.exitCode)
    }
    guard let line = start.split(separator: UInt8(ascii: "\n")).first else { return nil }
    return try? JSONDecoder().decode(Origin.self, from: Data(line))
  }

  /// Finishes a replay that was killed after its input had been moved away and before what belongs to it had followed.
  /// The file then has the records that still need correction; without such records there is none.
  ///
  /// - Parameters:
  ///   - rejects: The path of the rejects file that was replayed.
  ///   - vocabulary: The words of the store's ledger.
  /// - Returns: Whether there was something to finish.
  /// - Throws: ``RejectsError`` for a file that can't be moved, and for a store that another run uses.
  public static func finishInterrupted(
    _ rejects: String, vocabulary: DefinitionVocabulary
  ) throws(RejectsError) -> Bool {
    guard try isInterrupted(rejects) else {
      removeLockOfEnded(rejects)
      return false
    }
    let (next, details) = (RejectsMark.pathOfRest(of: rejects), RejectsFile.detailsPath(of: rejects))
    // By how far it came, the details of the rest or those of the replayed file have one of these names.
    var lock: StoreLock?
    for path in [RejectsFile.detailsPath(of: next), details, replayedPath(of: details)] {
      guard let store = try readOrigin(inDetails: path)?.store else { continue }
      lock = try lockOfKilled(StoreLocation(store), vocabulary)
      break
    }
    defer { lock?.release() }
    // A replay that had the lock may have ended meanwhile.
    guard try isInterrupted(rejects) else { return false }
    do throws(RunFailure) {
      try replace(rejects, by: next)
    } catch {
      throw RejectsError(message: error.message, exitCode: error.exitCode)
    }
    return true
  }

  /// Whether a replay has moved the file away, and not yet what belongs to it.
  private static func isInterrupted(_ rejects: String) throws(RejectsError) -> Bool {
    let details = RejectsFile.detailsPath(of: rejects)
    do throws(RunFailure) {
      if try RunFailure.exists(rejects) { return false }
      if try RunFailure.exists(RejectsMark.pathOfRest(of: rejects)) { return true }
      guard try RunFailure.exists(details) else { return false }
      return try RunFailure.exists(replayedPath(of: rejects))
    } catch {
      throw RejectsError(message: error.message, exitCode: error.exitCode)
    }
  }

  /// Removes the lock's file that a replay has left which was killed after all of its files had moved away. Its details
  /// still name the store.
  private static func removeLockOfEnded(_ rejects: String) {
    guard !mayExist(rejects) else { return }
    let details = replayedPath(of: RejectsFile.detailsPath(of: rejects))
    guard let store = origin(inDetails: details)?.store, let path = StoreLocation(store).path else { return }
    RunLock.removeLeft(storePath: path)
  }

  /// The lock of the store of a killed replay, which may have left its file. One that still runs has it, and is not
  /// interrupted.
  private static func lockOfKilled(
    _ store: StoreLocation, _ vocabulary: DefinitionVocabulary
  ) throws(RejectsError) -> StoreLock? {
    do throws(RunFailure) {
      if let path = store.path, try RunFailure.status(of: path) == nil { return nil }
      return try StoreLock(store, vocabulary, pipeline: "replay", now: Date(), onlyLooks: true)
    } catch {
      // Only files next to the rejects are changed, which needs no right to the store's folder.
      guard store.isServer || error.exitCode == .temporaryFailure else { return nil }
      throw RejectsError(message: error.message, exitCode: error.exitCode)
    }
  }

  private static func replayedPath(of rejects: String) -> String { rejects + ".replayed" }

  /// An error concerning the files of a replay.
  public struct RejectsError: Error, Sendable {
    /// What is wrong, and a remedy.
    public let message: String
    /// The exit status for it.
    public let exitCode: ExitCode
  }

  /// Whether an earlier replay was killed before the records that it rejected again replaced the file.
  static func hasRest(of rejects: String) -> Bool {
    mayExist(RejectsMark.pathOfRest(of: rejects))
  }

  /// An unknown input with the remainder of an earlier replay next to it was changed after that replay: it is unknown
  /// which of its records are in the store.
  static func checkFresh(_ rejects: String) throws(RunFailure) {
    let next = RejectsMark.pathOfRest(of: rejects)
    guard try RunFailure.exists(next) else { return }
    throw RunFailure(
      code: .inputRefused, exitCode: .dataError,
      message: "\(rejects) was changed after a replay that was interrupted at its very end. What still has to be "
        + "corrected is in \(next): correct that file, remove \(rejects), and replay again")
  }

  /// Moves the details of a rest away to which a person has given the name of what was replayed, as the message of
  /// `checkFresh` advises: the records that are rejected now get their name.
  static func setDetailsAside(ofRestOf rejects: String) throws(RunFailure) {
    let next = RejectsMark.pathOfRest(of: rejects)
    let details = RejectsFile.detailsPath(of: next)
    guard !hasRest(of: rejects), !RejectsFile.isHalfPublished(next),
      try RunFailure.status(of: details, followingLinks: false) != nil
    else { return }
    guard origin(inDetails: details) != nil else {
      throw RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "\(details) was made by another program, and has the name that the details of what is rejected again "
          + "get. Move it away, and replay again")
    }
    do throws(POSIXError) {
      try DurableRename.move(details, to: try freeName(replayedPath(of: RejectsFile.detailsPath(of: rejects))))
    } catch {
      throw RunFailure(details, "can't be moved", errno: error.code.rawValue)
    }
  }

  /// Replaces an imported input by its records that were rejected again, or moves it away if there are none. What was
  /// done before a kill is not repeated.
  static func replace(_ input: String, by rejects: String?) throws(RunFailure) {
    do {
      let next = try rejects.flatMap { try exists($0) ? $0 : nil }
      // The details of the rest are moved before the rest: without them, those that are there are already the rest's.
      let isDetailsOld = try next.map { try exists(RejectsFile.detailsPath(of: $0)) } ?? true
      for path in [input, RejectsFile.detailsPath(of: input)] where try exists(path) {
        if path != input, !isDetailsOld { continue }
        // Its age counts from now, wherever it is removed by age. Where the time can't be set, it counts as older.
        utimensat(AT_FDCWD, path, nil, 0)
        try DurableRename.move(path, to: try freeName(replayedPath(of: path)))
      }
      if let next { try put(next, inPlaceOf: input) }
    } catch {
      throw failure(error, input)
    }
  }

  private static func put(_ rejects: String, inPlaceOf input: String) throws(POSIXError) {
    let details = RejectsFile.detailsPath(of: rejects)
    if try exists(details) { try DurableRename.move(details, to: RejectsFile.detailsPath(of: input)) }
    try DurableRename.move(rejects, to: input)
  }

  private static func freeName(_ path: String) throws(POSIXError) -> String {
    var candidate = path
    var number = 1
    while try exists(candidate) {
      number += 1
      candidate = "\(path).\(number)"
    }
    return candidate
  }

  private static func failure(_ error: any Error, _ input: String) -> RunFailure {
    RunFailure(
      code: nil, exitCode: .ioError,
      message: "\(input) is imported, but could not be replaced by its records that were rejected again: "
        + "\((error as NSError).reason). Replay it once more to finish")
  }
}
