import CSQLite
import Glibc

/// Makes SQLite wait for other processes hardly at all while a body runs.
///
/// A reader that meets locks of the log's index which are held for moments only tries again a hundred times and waits
/// longer each time, ten seconds in all, whatever its timeout is (SQLite's wal.c, walTryBeginRead). What a process holds
/// that stands still is the same at each of these times.
enum ShortWaits {
  @TaskLocal private static var areShort = false

  static func during<Result>(_ body: () throws -> Result) rethrows -> Result {
    _ = isInstalled
    return try $areShort.withValue(true) { try body() }
  }

  /// The sleep of SQLite's file system is replaced once; outside of `during` it sleeps as before.
  private static let isInstalled: Bool = {
    guard let system = sqlite3_vfs_find(nil) else { return false }
    system.pointee.xSleep = { _, microseconds in
      usleep(useconds_t(max(0, areShort ? min(microseconds, 100) : microseconds)))
      return microseconds
    }
    return true
  }()
}
