#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A FIFO that is written to. Waiting for its reader, or for the reader to go on, can be cancelled.
final class PipeOutput {
  let path: String
  private let isCancelled: () -> Bool
  /// Negative once closed.
  private var descriptor: Int32
  /// Between two looks whether the wait is cancelled.
  private static let millisecondsPerWait: Int32 = 50

  /// Opens it when it has a reader.
  init(path: String, unless isCancelled: @escaping () -> Bool) throws(CSVError) {
    (self.path, self.isCancelled) = (path, isCancelled)
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

  deinit { abandon() }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CSVError) {
    try writeAll(bytes, to: descriptor, name: path) { [self] () throws(CSVError) in
      while !isReady(descriptor, for: Int16(POLLOUT), milliseconds: Self.millisecondsPerWait) {
        if isCancelled() { throw Self.cancelled(path, "its reader does not read on") }
      }
    }
  }

  func finish() throws(CSVError) {
    let closing = close(descriptor)
    descriptor = -1
    if closing != 0 { throw writeFailure(errno, path) }
  }

  func abandon() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  private static func cancelled(_ path: String, _ reason: String) -> CSVError {
    CSVError(.write, "was not written to its end: \(reason)", path: path, errnoCode: ECANCELED)
  }
}
