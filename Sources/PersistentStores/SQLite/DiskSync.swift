import Foundation

/// Brings files and names to the disk.
enum DiskSync {
  /// Syncs a file, or the names in a folder.
  static func sync(_ path: String) throws(POSIXError) {
    var descriptor: Int32
    repeat { descriptor = open(path, O_RDONLY | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
    guard descriptor >= 0 else { throw .last }
    defer { close(descriptor) }
    try sync(descriptor)
  }

  /// A file system that can't sync is not a failure of it.
  static func sync(_ descriptor: Int32) throws(POSIXError) {
    if fsync(descriptor) != 0, errno != EINVAL { throw .last }
  }
}
