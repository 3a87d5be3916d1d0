import Foundation

/// The beginning of a file. Foundation's file handle does not say why it could not be opened, and gives up where a signal
/// interrupts it.
enum FileStart {
  static func read(_ path: String, bytesMax: Int) throws(POSIXError) -> Data {
    var descriptor: Int32
    repeat { descriptor = open(path, O_RDONLY | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else { throw POSIXError.last }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      return try file.read(upToCount: bytesMax) ?? Data()
    } catch {
      throw POSIXError(.EIO)
    }
  }
}
