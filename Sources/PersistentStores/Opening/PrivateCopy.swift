import ManagedObjectModel
import Foundation

/// A store's file with its WAL or journal, copied into a temporary folder that this object removes when it is released.
final class PrivateCopy: Sendable {
  private let folder: URL
  let path: String

  /// The files that belong together, without the -shm: SQLite creates a new one for the copy.
  private static let suffixes = ["", "-wal", "-journal"]
  private static let triesMax = 5
  /// Writes within a shorter interval may have the same time in the file system.
  private static let clockTickNanoseconds = 20_000_000

  /// - Throws: `NSError` 134090 if other programs keep writing, 134080 if it can't be copied.
  init(of original: String) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "OpenCoreData-\(UUID().uuidString)", isDirectory: true)
    path = folder.appendingPathComponent("copy.sqlite").path
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try Self.copy(original, to: path)
    } catch {
      try? FileManager.default.removeItem(at: folder)
      throw (error as? CocoaError).map { Self.refusal(original, $0) } ?? error
    }
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private static func copy(_ original: String, to path: String) throws {
    for attempt in 1...triesMax {
      let before = states(of: original)
      do {
        for suffix in suffixes { try copyIfPresent(original + suffix, to: path + suffix) }
      } catch let error as CocoaError {
        // A WAL may disappear during the copy; other errors recur.
        if attempt == triesMax { throw error }
      }
      if before == states(of: original), !before.contains(where: \.isTooFresh) { return }
      usleep(UInt32(clockTickNanoseconds / 1000 * attempt))
    }
    throw NSError.coreData(
      .timeout,
      "The store \(original) was written to each time that a copy of it was made for reading (\(triesMax) times). "
        + "Another program is writing to it: try again when it has finished.")
  }

  private static func copyIfPresent(_ original: String, to copy: String) throws {
    let files = FileManager.default
    if files.fileExists(atPath: copy) { try files.removeItem(atPath: copy) }
    guard files.fileExists(atPath: original) else { return }
    try files.copyItem(atPath: original, toPath: copy)
    // The original's permissions may forbid writing, and SQLite rolls back and recovers in the copy.
    try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy)
  }

  private static func refusal(_ original: String, _ error: CocoaError) -> NSError {
    .coreData(
      .open,
      "The store \(original) can't be read in place without changing it, and no copy could be made in "
        + "\(FileManager.default.temporaryDirectory.path): \(error.localizedDescription) Set TMPDIR to a folder with "
        + "room for the store.",
      userInfo: [NSUnderlyingErrorKey: error])
  }

  // MARK: State that must not change during the copy

  private struct FileState: Equatable {
    let inode: UInt64
    let size: Int
    let seconds: Int
    let nanoseconds: Int

    /// Whether a later write might keep the same time.
    var isTooFresh: Bool {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      let age = (now.tv_sec - seconds) * 1_000_000_000 + now.tv_nsec - nanoseconds
      return age < PrivateCopy.clockTickNanoseconds
    }
  }

  /// The state of the existing files.
  private static func states(of original: String) -> [FileState] {
    suffixes.compactMap { suffix in
      var state = stat()
      guard stat(original + suffix, &state) == 0 else { return nil }
      return FileState(
        inode: UInt64(state.st_ino), size: Int(state.st_size), seconds: state.st_mtim.tv_sec,
        nanoseconds: state.st_mtim.tv_nsec)
    }
  }
}
