import Foundation

/// Lists the names in a folder, and brings them to the disk.
package enum FolderNames {
  /// Lists a folder in the order of names. A folder that does not exist has none.
  ///
  /// - Throws: The system's error for a folder that can't be listed, which may have names nevertheless.
  package static func sorted(in folder: String) throws(POSIXError) -> [String] {
    guard let listing = opendir(folder) else {
      if [ENOENT, ENOTDIR].contains(errno) { return [] }
      throw .last
    }
    defer { closedir(listing) }
    var names: [String] = []
    while true {
      // readdir(3) returns NULL at the end and for an error, which only errno distinguishes. (POSIX: readdir.)
      errno = 0
      guard let item = readdir(listing) else {
        if errno != 0 { throw .last }
        return names.sorted()
      }
      let name = withUnsafeBytes(of: item.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
  }

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
