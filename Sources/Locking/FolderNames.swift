import Foundation

/// The names in a folder.
package enum FolderNames {
  /// Brings the names in a folder to the disk.
  ///
  /// - Returns: 0, or an error number.
  package static func sync(_ folder: String) -> Int32 {
    let descriptor = uninterrupted { open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    guard descriptor >= 0 else {
      // This user may change the folder and not read it, so it can't be opened; the changed names stand.
      return [EACCES, EPERM].contains(errno) ? 0 : errno
    }
    defer { close(descriptor) }
    // Some file systems can't sync a folder, and say EINVAL.
    return uninterrupted { fsync(descriptor) } == 0 || errno == EINVAL ? 0 : errno
  }
}
