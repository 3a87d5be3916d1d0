import CSV
import Foundation
import SystemSupport

extension RunFailure {
  /// A system call that failed for a file; `what` says what could not be done, such as "can't be locked".
  init(_ path: String, _ what: String, errno code: Int32) {
    let exitCode: ExitCode =
      switch code {
      case EACCES, EPERM: .noPermission
      case ENOENT, ENOTDIR, EISDIR, EROFS, ELOOP, ENAMETOOLONG: .cannotCreate
      default: .ioError
      }
    self.init(code: nil, exitCode: exitCode, message: "\(path) \(what): \(systemMessage(code))")
  }

  /// A file that can't be used because it is not a regular one, or because the system refuses it.
  init(_ path: String, _ what: String, for error: RegularFileError) {
    switch error {
    case .system(let code): self.init(path, what, errno: code)
    case .otherKind:
      self.init(
        code: nil, exitCode: .noInput, message: "\(path) \(what): \(error.reason). Move it away, or name another file")
    }
  }

  /// The status of the file that a path leads to, or of the link itself; nil where the path leads nowhere.
  static func status(of path: String, followingLinks: Bool = true) throws(RunFailure) -> stat? {
    if let status = stat.of(path, followingLinks: followingLinks) { return status }
    if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
    throw RunFailure(path, "can't be examined", errno: errno)
  }

  /// Whether something has the path, be it a link that leads nowhere.
  static func exists(_ path: String) throws(RunFailure) -> Bool {
    try status(of: path, followingLinks: false) != nil
  }

  /// Lists a folder in the order of names. A folder that does not exist has none.
  static func names(in folder: String) throws(RunFailure) -> [String] {
    do throws(POSIXError) {
      return try FolderNames.sorted(in: folder)
    } catch {
      throw RunFailure(folder, "can't be listed", errno: error.code.rawValue)
    }
  }
}

/// Distinguishes a file from another that has its name later, and from itself after it was written to.
struct FileIdentity: Sendable, Hashable {
  let device: UInt64
  let inode: UInt64
  let bytes: Int64
  let modifiedSeconds: Int
  let modifiedNanoseconds: Int

  init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    bytes = Int64(status.st_size)
    modifiedSeconds = status.st_mtim.tv_sec
    modifiedNanoseconds = status.st_mtim.tv_nsec
  }

  /// Whether length and time are those of the other.
  func isSameContent(as other: FileIdentity) -> Bool {
    bytes == other.bytes && modifiedSeconds == other.modifiedSeconds
      && modifiedNanoseconds == other.modifiedNanoseconds
  }

  /// Whether it is the same file, regardless of its content.
  func isSameFile(as other: FileIdentity) -> Bool { device == other.device && inode == other.inode }
}

extension stat {
  /// The status of the file that a path leads to, or of the link itself; nil, with `errno`, where the path leads
  /// nowhere.
  static func of(_ path: String, followingLinks: Bool = true) -> stat? {
    var status = stat()
    return (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 ? status : nil
  }

  /// Whether something has the path, be it a link that leads nowhere; also where the system can't tell.
  static func exists(_ path: String) -> Bool { mayExist(path, followingLinks: false) }

  /// Such as `S_IFREG`.
  var type: mode_t { st_mode & S_IFMT }
}
