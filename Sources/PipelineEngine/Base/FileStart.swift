import Foundation
import Locking

/// The beginning of a file. Foundation's file handle does not say why it could not be opened, and gives up where a signal
/// interrupts it.
package enum FileStart {
  package static func read(_ path: String, bytesMax: Int) throws(POSIXError) -> [UInt8] {
    let descriptor = uninterrupted { open(path, O_RDONLY | O_CLOEXEC) }
    guard descriptor >= 0 else { throw POSIXError.last }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: bytesMax)
    while bytes.count < bytesMax {
      let count = pread(descriptor, &piece, bytesMax - bytes.count, off_t(bytes.count))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw POSIXError.last }
      if count == 0 { break }
      bytes += piece[..<count]
    }
    return bytes
  }
}
