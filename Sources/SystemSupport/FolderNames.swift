import Foundation

/// Lists the names in a folder, and brings them to the disk.
package enum FolderNames {
  /// Lists a folder in the order of names. A folder that does not exist has none.
  ///
  /// - Throws: The system's error for a folder that can't be listed, which may have names nevertheless.
  package static func sorted(in folder: String) throws(POSIXError) -> [String] {
    try bytes(in: folder).map { String(decoding: $0, as: UTF8.self) }.sorted()
  }

  /// The names in a folder that are not UTF-8, as `escaped(_:)` shows them and in that order. ``sorted(in:)`` has them with
  /// replacement characters, and they do not lead to the files.
  package static func notUTF8(in folder: String) throws(POSIXError) -> [String] {
    try bytes(in: folder).filter { String(validating: $0, as: UTF8.self) == nil }.map(escaped).sorted()
  }

  /// A name with `\xNN` for each byte that is not of a character in UTF-8.
  package static func escaped(_ name: [UInt8]) -> String {
    var text = ""
    var rest = name[...]
    while let byte = rest.first {
      // The shortest beginning that is valid is one character of Unicode.
      let character = (1...4).compactMap { String(validating: rest.prefix($0), as: UTF8.self) }.first
      let hex = String(byte, radix: 16, uppercase: true)
      text += character ?? "\\x\(byte < 16 ? "0" : "")\(hex)"
      rest = rest.dropFirst(character?.utf8.count ?? 1)
    }
    return text
  }

  private static func bytes(in folder: String) throws(POSIXError) -> [[UInt8]] {
    guard let listing = opendir(folder) else {
      if [ENOENT, ENOTDIR].contains(errno) { return [] }
      throw .last
    }
    defer { closedir(listing) }
    var names: [[UInt8]] = []
    while true {
      // readdir(3) returns NULL at the end and for an error, which only errno distinguishes. (POSIX: readdir.)
      errno = 0
      guard let item = readdir(listing) else {
        if errno != 0 { throw .last }
        return names
      }
      let name = withUnsafeBytes(of: item.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
      if name != Array(".".utf8), name != Array("..".utf8) { names.append(name) }
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
