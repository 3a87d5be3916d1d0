#if canImport(Darwin)
  import Darwin
#else
  import CWriteback
  import Glibc
#endif

/// What a file's access control list (acl(5)) says in addition to its permission bits.
///
/// Linux keeps a list as an extended attribute: a version, then for each entry a tag, permissions and an ID
/// (linux/posix_acl_xattr.h). Elsewhere files have none here.
package enum AccessList {
  private static let name = "system.posix_acl_access"
  /// The list that new files in a folder get.
  private static let inheritedName = "system.posix_acl_default"
  /// The tag of the file's group, and that of the most that any group and any named user has.
  private static let (groupTag, maskTag): (UInt16, UInt16) = (0x04, 0x10)
  private static let (headerBytes, entryBytes) = (4, 8)

  /// The list of a file in the system's form; nil where it has none.
  static func ofFile(_ path: String) -> [UInt8]? { attribute(name, of: path) }

  /// Whether new files in a folder get a list from it, whatever the umask is.
  package static func isInherited(in folder: String) -> Bool { attribute(inheritedName, of: folder) != nil }

  /// What the group of a file may do with it, from 0 to 7. With a list the permission bits say something else: the most
  /// that any group has.
  package static func groupRights(of path: String, mode: UInt32) -> UInt32 {
    guard let list = ofFile(path) else { return mode >> 3 & 7 }
    var (group, mask): (UInt32, UInt32) = (0, 7)
    for start in stride(from: headerBytes, through: list.count - entryBytes, by: entryBytes) {
      let tag = UInt16(list[start]) | UInt16(list[start + 1]) << 8
      if tag == groupTag { group = UInt32(list[start + 2]) }
      if tag == maskTag { mask = UInt32(list[start + 2]) }
    }
    return group & mask & 7
  }

  /// Gives an open file a list, with the permission bits that belong to it; without one it loses what it inherited.
  ///
  /// - Returns: Whether the file has the list now.
  @discardableResult
  static func set(_ list: [UInt8]?, on descriptor: Int32) -> Bool {
    #if os(Linux)
      guard let list else { return fremovexattr(descriptor, name) == 0 }
      return fsetxattr(descriptor, name, list, list.count, 0) == 0
    #else
      return list == nil
    #endif
  }

  private static func attribute(_ name: String, of path: String) -> [UInt8]? {
    #if os(Linux)
      let count = getxattr(path, name, nil, 0)
      guard count > 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: count)
      // A list that has grown since counts as one that can't be read.
      return getxattr(path, name, &bytes, count) == count ? bytes : nil
    #else
      return nil
    #endif
  }
}
