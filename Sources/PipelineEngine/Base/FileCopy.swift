import CSV
import Foundation
import SystemSupport

/// Copies a file with its mode and times into a new one, and syncs the copy to the disk.
enum FileCopy {
  private static let bufferBytes = 1 << 20

  /// - Parameter whileOpen: Called when the copy is on the disk, and still locked as one in progress.
  /// - Throws: 77, 73 or 74; the caller then removes what was written so far.
  static func copy<Result>(
    _ source: String, to target: String, _ whileOpen: () throws(RunFailure) -> Result
  ) throws(RunFailure) -> Result {
    let input = uninterrupted { open(source, O_RDONLY | O_CLOEXEC) }
    guard input >= 0 else { throw RunFailure(source, "can't be read", errno: errno) }
    defer { close(input) }
    let output = uninterrupted { open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
    guard output >= 0 else { throw RunFailure(target, "can't be made", errno: errno) }
    defer { close(output) }
    _ = flock(output, LOCK_EX | LOCK_NB)
    var buffer = [UInt8](repeating: 0, count: bufferBytes)
    while true {
      let count = read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw RunFailure(source, "can't be read", errno: errno) }
      if count == 0 { break }
      do throws(CSVError) {
        try writeAll(Array(buffer[..<count]), to: output, name: target)
      } catch {
        throw RunFailure(target, "can't be written", errno: error.errnoCode ?? EIO)
      }
    }
    var status = stat()
    guard fstat(input, &status) == 0 else { throw RunFailure(source, "can't be read", errno: errno) }
    let times = [status.st_atim, status.st_mtim]
    guard fchmod(output, status.st_mode & 0o777) == 0, futimens(output, times) == 0,
      uninterrupted({ fsync(output) }) == 0
    else {
      throw RunFailure(target, "can't be written", errno: errno)
    }
    return try whileOpen()
  }

  /// Whether a file has the content and the time of another.
  static func isCopy(_ copy: String, of original: String) -> Bool {
    guard let first = stat.of(copy, followingLinks: false), let second = stat.of(original),
      FileIdentity(first).isSameContent(as: FileIdentity(second))
    else { return false }
    return FileManager.default.contentsEqual(atPath: copy, andPath: original)
  }
}
