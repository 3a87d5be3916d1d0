import ManagedObjectModel
import CSQLite
import Foundation
import SystemSupport

/// What a store is read from where nothing keeps other programs from changing what it refers to.
protocol CheckedSource: Sendable {
  /// Runs `body`, which reads.
  ///
  /// - Throws: The errors of `body`, and `NSError` 134090 if they come from what other programs have written meanwhile.
  func checking<Result>(_ body: () throws -> Result) throws -> Result
}

/// A store's file that is read alone and without SQLite's locks, because no program has it open. Nothing keeps another
/// program from opening it afterwards, so each answer counts only if the file is still the same.
struct UnlockedFile: CheckedSource {
  private let path: String
  private let state: FileState?
  /// The state of a WAL without frames; nil if there is none.
  private let walState: FileState?

  init(_ path: String) throws(SQLiteError) {
    self.path = path
    var state = try FileState(path)
    // A write that follows too soon after the last one could have the same time.
    for _ in 0..<Self.looksMax where state?.isTooFresh == true {
      usleep(UInt32(FileState.clockTickNanoseconds / 1000))
      state = try FileState(path)
    }
    self.state = state
    walState = try FileState(path + "-wal")
  }
  private static let looksMax = 5

  /// Whether the file has all that is committed: it is the same, and no program has begun a WAL.
  var isCurrent: Bool {
    get throws(SQLiteError) {
      guard try isUnchanged else { return false }
      return try FileState(path + "-wal") == walState
    }
  }

  var isUnchanged: Bool {
    get throws(SQLiteError) { try FileState(path) == state }
  }

  /// Runs `body`, which reads the file. The file's pages may have changed under it.
  ///
  /// - Throws: The errors of `body`, or those of `check`.
  func checking<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      let result = try body()
      try check()
      return result
    } catch {
      // Pages of different times look damaged.
      try check()
      throw error
    }
  }

  /// - Throws: `NSError`: 134090 if the file was written to, 134080 where the system can't tell.
  func check() throws {
    do throws(SQLiteError) {
      if try isUnchanged { return }
    } catch {
      throw NSError.sqlite(error, .open, message: "The store \(path) can't be read")
    }
    throw NSError.coreData(
      .timeout,
      "The store \(path) was written to by another program while it was read. Try again: a program that has the store "
        + "open does not disturb a reader that comes later.")
  }

  /// Whether another process has one of SQLite's locks on the file. Call it only if this process does not have the file
  /// open: closing any descriptor of it drops all locks that the process has on it.
  static func isLocked(_ path: String) -> Bool {
    guard let descriptor = try? RegularFile.open(path) else { return false }
    defer { close(descriptor) }
    // The pending byte, the reserved byte and the 510 bytes of readers. (SQLite: os.h, PENDING_BYTE.)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 0x4000_0000
    lock.l_len = 512
    return withUnsafeMutablePointer(to: &lock) { fcntl(descriptor, F_GETLK, $0) == 0 }
      && lock.l_type != Int16(F_UNLCK)
  }
}
