import Foundation
import SystemSupport

/// Brings files and names to the disk.
enum DiskSync {
  /// Syncs a file.
  static func sync(_ path: String) throws(POSIXError) {
    let descriptor: Int32
    do throws(RegularFileError) {
      descriptor = try RegularFile.open(path)
    } catch {
      throw POSIXError(error.code)
    }
    defer { close(descriptor) }
    try sync(descriptor)
  }

  /// A file system that can't sync is not a failure of it.
  static func sync(_ descriptor: Int32) throws(POSIXError) {
    if uninterrupted({ fsync(descriptor) }) != 0, errno != EINVAL { throw .last }
  }

  /// Syncs the names in a folder.
  static func syncFolder(_ path: String) throws(POSIXError) {
    let code = FolderNames.sync(path)
    if code != 0 { throw POSIXError(code) }
  }
}
