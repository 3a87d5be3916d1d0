import Foundation
import SystemSupport
import ManagedObjectModel

/// A store's file with its WAL or journal, copied into a folder that goes with this object.
///
/// Large values stay in the files next to the original, which other programs may remove.
package final class PrivateCopy: CheckedSource {
  private let folder: PrivateFolder
  package let path: String
  private let original: String
  /// The state of the files that were copied.
  private let states: [FileState]

  /// The files that belong together, without the -shm: SQLite creates a new one for the copy.
  private static let suffixes = ["", "-wal", "-journal"]
  private static let triesMax = 5

  /// - Throws: `NSError` 134090 if other programs keep writing, 134080 if it can't be copied.
  package init(of original: String) throws {
    self.original = original
    do {
      folder = try PrivateFolder()
      path = folder.url.appendingPathComponent("copy.sqlite").path
      states = try Self.copy(original, to: path)
    } catch {
      throw (error as? CocoaError).map { Self.refusal(original, $0) } ?? error
    }
  }

  // MARK: One copy for several readers

  private struct Kept {
    var scopes = 0
    /// By the paths of the originals.
    var copies: [String: PrivateCopy] = [:]
  }
  private static let kept = Locked(Kept())

  /// Runs `body`, in which a store that is opened several times is copied once, unless it changes.
  package static func keeping<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    kept.withLock { $0.scopes += 1 }
    defer {
      let released = kept.withLock { kept in
        defer { if kept.scopes == 0 { kept.copies = [:] } }
        kept.scopes -= 1
        return kept.scopes == 0 ? kept.copies : [:]
      }
      // Their folders are removed outside of the lock.
      withExtendedLifetime(released) {}
    }
    return try body()
  }

  /// A copy of the store as it is now.
  static func current(of original: String) throws -> PrivateCopy {
    if let known = kept.withLock({ $0.copies[original] }), try states(of: original) == known.states { return known }
    let copy = try PrivateCopy(of: original)
    kept.withLock { kept in if kept.scopes > 0 { kept.copies[original] = copy } }
    return copy
  }

  /// Called when the copy is about to change.
  static func forget(_ original: String) { kept.withLock { $0.copies[original] = nil } }

  // MARK: Copying

  func checking<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as NSError where error.isOfMissingValue && (try? Self.states(of: original)) != states {
      throw NSError.coreData(
        .timeout,
        "The store \(original) was written to by another program since it was copied for reading, and the file of a "
          + "large value is gone. Add the store again to read what it has now.", userInfo: [NSUnderlyingErrorKey: error]
      )
    }
  }

  /// - Returns: The state of the files that were copied.
  private static func copy(_ original: String, to path: String) throws -> [FileState] {
    for attempt in 1...triesMax {
      let before = try states(of: original)
      // A write during the copy would not be noticed.
      if before.contains(where: \.isTooFresh) {
        usleep(UInt32(FileState.clockTickNanoseconds / 1000 * attempt))
        continue
      }
      do {
        for suffix in suffixes { try copyIfPresent(original + suffix, to: path + suffix) }
      } catch let error as CocoaError {
        // A WAL may disappear during the copy; other errors recur.
        if attempt == triesMax { throw error }
      }
      if try before == states(of: original) { return before }
    }
    throw NSError.coreData(
      .timeout,
      "The store \(original) was written to each time that a copy of it was made for reading (\(triesMax) times). "
        + "Another program is writing to it: try again when it has finished.")
  }

  private static func copyIfPresent(_ original: String, to copy: String) throws {
    let files = FileManager.default
    if mayExist(copy) { try files.removeItem(atPath: copy) }
    guard try StorePath.exists(original) else { return }
    try files.copyItem(atPath: original, toPath: copy)
    // The original's permissions may forbid writing, and SQLite rolls back and recovers in the copy.
    try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
  }

  private static func refusal(_ original: String, _ error: CocoaError) -> NSError {
    .coreData(
      .open,
      "The store \(original) can't be read in place without changing it, and no copy could be made in "
        + "\(FileManager.default.temporaryDirectory.path): \((error as NSError).reason). Set TMPDIR to a folder with "
        + "room for the store.",
      userInfo: [NSUnderlyingErrorKey: error])
  }

  /// The state of the existing files.
  private static func states(of original: String) throws(SQLiteError) -> [FileState] {
    var states: [FileState] = []
    for suffix in suffixes {
      if let state = try FileState(original + suffix) { states.append(state) }
    }
    return states
  }
}
