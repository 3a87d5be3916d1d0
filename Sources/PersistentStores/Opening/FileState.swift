import Foundation

/// What of a file changes with each write to it.
struct FileState: Equatable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int
  private let seconds: Int
  private let nanoseconds: Int

  /// Writes within a shorter interval may have the same time in the file system.
  static let clockTickNanoseconds = 20_000_000

  /// Nil if there is no such file.
  ///
  /// - Throws: The system's error where it can't tell.
  init?(_ path: String) throws(SQLiteError) {
    var state = stat()
    guard stat(path, &state) == 0 else {
      if [ENOENT, ENOTDIR].contains(errno) { return nil }
      throw SQLiteError(.last, "\(path) can't be examined")
    }
    device = UInt64(state.st_dev)
    inode = UInt64(state.st_ino)
    size = Int(state.st_size)
    seconds = state.st_mtim.tv_sec
    nanoseconds = state.st_mtim.tv_nsec
  }

  /// Whether a later write might keep the same time.
  var isTooFresh: Bool {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let age = (now.tv_sec - seconds) * 1_000_000_000 + now.tv_nsec - nanoseconds
    return age < Self.clockTickNanoseconds
  }
}
