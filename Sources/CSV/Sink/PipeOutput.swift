#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A FIFO, or another descriptor with a reader. Waiting for the reader, or for the reader to go on, can be cancelled.
final class PipeOutput {
  let path: String
  private let isCancelled: () -> Bool
  /// Negative once closed.
  private var descriptor: Int32
  /// False for a descriptor that others have too: a mode that they would notice is not changed, and it remains open.
  private let isOwn: Bool
  /// Between two looks whether the wait is cancelled.
  private static let millisecondsPerWait: Int32 = 50

  /// Opens it when it has a reader.
  init(path: String, unless isCancelled: @escaping () -> Bool) throws(CSVError) {
    (self.path, self.isCancelled, isOwn) = (path, isCancelled, true)
    while true {
      // ENXIO: no reader. Without O_NONBLOCK the call would wait for one.
      descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
      if descriptor >= 0 { return }
      let code = errno
      guard code == ENXIO || code == EINTR else { throw writeFailure(code, path) }
      if isCancelled() { throw Self.cancelled(path, "it has no reader") }
      if code == ENXIO { usleep(UInt32(Self.millisecondsPerWait) * 1000) }
    }
  }

  /// Writes to an open descriptor; see `hasReader`.
  init(descriptor: Int32, name: String, unless isCancelled: @escaping () -> Bool) {
    (path, self.descriptor, self.isCancelled, isOwn) = (name, descriptor, isCancelled, false)
  }

  /// Whether a write to the descriptor may have to wait for a reader: a pipe, a socket, a terminal.
  static func hasReader(_ descriptor: Int32) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) || isatty(descriptor) == 1
  }

  deinit { abandon() }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CSVError) {
    if isOwn {
      return try writeAll(bytes, to: descriptor, name: path) { [self] () throws(CSVError) in try waitForReader() }
    }
    // The descriptor may block. A pipe that is ready takes as many bytes as this at once (POSIX, write).
    var rest = bytes[...]
    while !rest.isEmpty {
      try waitForReader()
      try writeAll(UnsafeRawBufferPointer(rebasing: rest.prefix(Int(PIPE_BUF))), to: descriptor, name: path)
      rest = rest.dropFirst(Int(PIPE_BUF))
    }
  }

  private func waitForReader() throws(CSVError) {
    while !isReady(descriptor, for: Int16(POLLOUT), milliseconds: Self.millisecondsPerWait) {
      if isCancelled() { throw Self.cancelled(path, "its reader does not read on") }
    }
  }

  func finish() throws(CSVError) {
    guard isOwn else { return }
    let closing = close(descriptor)
    descriptor = -1
    if closing != 0 { throw writeFailure(errno, path) }
  }

  func abandon() {
    if isOwn, descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  private static func cancelled(_ path: String, _ reason: String) -> CSVError {
    CSVError(.write, "was not written to its end: \(reason)", path: path, errnoCode: ECANCELED)
  }
}
