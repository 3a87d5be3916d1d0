import Foundation

/// Copies a file with its mode and times, and syncs the copy to the disk.
enum FileCopy {
  private static let bufferBytes = 1 << 20

  /// - Throws: 77, 73 or 74; the caller then removes what was written so far.
  static func copy(_ source: String, to target: String) throws(RunFailure) {
    let input = open(source, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw RunFailure(source, "can't be read", errno: errno) }
    defer { close(input) }
    let output = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw RunFailure(target, "can't be made", errno: errno) }
    defer { close(output) }
    var buffer = [UInt8](repeating: 0, count: bufferBytes)
    while true {
      let count = read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw RunFailure(source, "can't be read", errno: errno) }
      if count == 0 { break }
      try write(buffer[..<count], to: output, target)
    }
    var status = stat()
    guard fstat(input, &status) == 0 else { throw RunFailure(source, "can't be read", errno: errno) }
    let times = [status.st_atim, status.st_mtim]
    guard fchmod(output, status.st_mode & 0o777) == 0, futimens(output, times) == 0, fsync(output) == 0 else {
      throw RunFailure(target, "can't be written", errno: errno)
    }
  }

  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ path: String) throws(RunFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let part = Array(rest)
      let count = Foundation.write(descriptor, part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw RunFailure(path, "can't be written", errno: errno) }
      rest = rest.dropFirst(count)
    }
  }
}
