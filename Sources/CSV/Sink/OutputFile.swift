import SystemSupport

#if canImport(Darwin)
  import Darwin
#else
  import CWriteback
  import Glibc
#endif

/// A file that is written under a temporary name in the same folder and renamed when it is complete.
package final class OutputFile {
  package let path: String
  private let temporaryPath: String
  /// Negative once closed.
  private var descriptor: Int32
  /// Nil once the temporary file does not exist any more.
  private var folder: OutputFolder?
  private var writtenBytes = 0
  /// The offset up to which writeback to the disk was started.
  private var startedBytes = 0
  /// Large, so that there are few requests, and none for small files.
  private static let bytesPerStart = 4 << 20

  private init(path: String, temporaryPath: String, descriptor: Int32, folder: OutputFolder) {
    self.path = path
    self.folder = folder
    self.temporaryPath = temporaryPath
    self.descriptor = descriptor
  }

  deinit { abandon() }

  /// Creates a temporary file next to the target, or opens the target itself if it is not a regular file.
  ///
  /// - Parameters:
  ///   - limit: The permissions of a new file, less the umask.
  ///   - isCancelled: Ends the wait for the reader of a FIFO.
  static func open(
    path: String, permissions limit: UInt32, unless isCancelled: @escaping () -> Bool = { false }
  ) throws(CSVError) -> RawOutput {
    let permissions = mode_t(limit)
    var status = stat()
    try checkLink(path)
    if stat(path, &status) != 0 {
      let code = errno
      guard code == ENOENT else { throw writeFailure(code, path) }
      if lstat(path, &status) == 0 {
        throw CSVError(
          .write, "is a symbolic link to nothing; remove it or make its target", path: path, errnoCode: code)
      }
      return .file(try create(for: path, permissions: permissions, messagePath: path))
    }
    try checkOwner(status, of: path)
    switch status.st_mode & S_IFMT {
    case S_IFDIR: throw writeFailure(EISDIR, path)
    case S_IFREG:
      // A rename would replace a file that its owner has write-protected.
      if access(path, W_OK) != 0 { throw writeFailure(errno, path) }
      let target = resolved(path) ?? path
      let file = try create(for: target, permissions: S_IRUSR | S_IWUSR, messagePath: path)
      file.takeRights(of: status)
      return .file(file)
    case S_IFIFO: return .pipe(try PipeOutput(path: path, unless: isCancelled))
    default:
      let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
      if descriptor < 0 { throw writeFailure(errno, path) }
      return .descriptor(descriptor, name: path, closes: true)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(CSVError) {
    try writeAll(bytes, to: descriptor, name: path)
    writtenBytes += bytes.count
    if writtenBytes - startedBytes >= Self.bytesPerStart { startWriteback() }
  }

  /// Starts writing to the disk while more bytes are produced, so that `finish` waits only for the end of the file.
  /// Errors are ignored here: `finish` reports them again.
  private func startWriteback() {
    #if os(Linux)
      _ = sync_file_range(descriptor, startedBytes, writtenBytes - startedBytes, UInt32(CWRITEBACK_START))
    #endif
    startedBytes = writtenBytes
  }

  /// Makes the bytes durable under the temporary name and closes the file.
  func finish() throws(CSVError) {
    if uninterrupted({ fsync(descriptor) }) != 0 { throw writeFailure(errno, path) }
    let closing = close(descriptor)
    descriptor = -1
    if closing != 0 { throw writeFailure(errno, path) }
  }

  /// Renames the finished file to its final path.
  func publish() throws(CSVError) {
    if rename(temporaryPath, path) != 0 { throw writeFailure(errno, path) }
    folder = nil
  }

  /// Removes the temporary file; does nothing after the rename.
  func abandon() {
    if descriptor >= 0 {
      close(descriptor)
      descriptor = -1
    }
    if folder != nil { unlink(temporaryPath) }
    folder = nil
  }

  /// The name is stored in the folder, so the folder must reach the disk too.
  func syncFolder() throws(CSVError) {
    let code = FolderNames.sync(Self.split(path).folder)
    if code != 0 { throw writeFailure(code, path) }
  }

  // MARK: Files of other users

  /// Refuses what another user may have made to get what is written, or to have it written elsewhere: in a folder like the
  /// system's temporary one a link is followed, and a file or FIFO is written to, only if its owner is this user or the
  /// folder's. Linux does so where its settings `protected_symlinks`, `protected_regular` and `protected_fifos` are on.
  package static func checkOwner(of path: String) throws(CSVError) {
    try checkLink(path)
    var status = stat()
    if stat(path, &status) == 0 { try checkOwner(status, of: path) }
  }

  /// - Parameter status: That of the file to which the path leads.
  package static func checkOwner(_ status: stat, of path: String) throws(CSVError) {
    guard [S_IFREG, S_IFIFO].contains(status.st_mode & S_IFMT) else { return }
    try check(status, at: path, in: split(resolved(path) ?? path).folder, "belongs to another user")
  }

  private static func checkLink(_ path: String) throws(CSVError) {
    var link = stat()
    guard lstat(path, &link) == 0, link.st_mode & S_IFMT == S_IFLNK else { return }
    try check(link, at: path, in: split(path).folder, "is a symbolic link of another user")
  }

  private static func check(
    _ status: stat, at path: String, in folder: String, _ problem: String
  ) throws(CSVError) {
    guard isOfOther(status, in: folder) else { return }
    throw CSVError(
      .write, "\(problem) in a folder that everyone may write to; name another file", path: path, errnoCode: EACCES)
  }

  /// Whether something in a folder that everyone may write to, and remove only their own from, belongs to neither this
  /// user nor the folder's owner.
  package static func isOfOther(_ status: stat, in path: String) -> Bool {
    var folder = stat()
    guard stat(path, &folder) == 0, folder.st_mode & (S_ISVTX | S_IWOTH) == S_ISVTX | S_IWOTH else { return false }
    return status.st_uid != geteuid() && status.st_uid != folder.st_uid
  }

  /// Gives the temporary file the owner, the group and the rights of the file that it will replace, as far as this user
  /// may. If the group can't be kept, the members of the new one get no more than others had.
  private func takeRights(of replaced: stat) {
    var mode = replaced.st_mode & 0o777
    var list = AccessList.ofFile(path)
    let keepsGroup =
      fchown(descriptor, replaced.st_uid, replaced.st_gid) == 0
      || fchown(descriptor, uid_t.max, replaced.st_gid) == 0
    if !keepsGroup { list = nil }
    if AccessList.set(list, on: descriptor), list != nil { return }
    let group = keepsGroup ? mode_t(AccessList.groupRights(of: path, mode: UInt32(mode))) : mode & 0o007
    mode = mode & 0o707 | group << 3
    fchmod(descriptor, mode)
  }

  private static func create(
    for path: String, permissions: mode_t, messagePath: String
  ) throws(CSVError) -> OutputFile {
    let (folder, name) = split(path)
    if name.isEmpty { throw writeFailure(EISDIR, messagePath) }
    removeLeftovers(of: path)
    let use = OutputFolder(folder)
    while true {
      let temporaryPath = temporaryPath(for: name, in: folder)
      let descriptor = open(
        temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, permissions: permissions)
      if descriptor >= 0 {
        // The advisory lock shows other processes that the file is being written; the system releases it with the
        // process. Some file systems do not support locks.
        let isTaken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
        if isTaken || !isLinked(descriptor) {
          unlink(temporaryPath)
          close(descriptor)
          continue
        }
        return OutputFile(path: path, temporaryPath: temporaryPath, descriptor: descriptor, folder: use)
      }
      if errno != EEXIST { throw writeFailure(errno, messagePath) }
    }
  }

  /// A long name plus the suffix could exceed the system's limit of 255 bytes.
  private static func stem(of name: String) -> String { name.utf8.count > 200 ? "output" : name }

  /// A name that can't be guessed, for what gets another one when it is complete.
  package static func temporaryPath(for name: String, in folder: String) -> String {
    "\(folder)/.\(stem(of: name)).\(String(UInt64.random(in: .min ... .max), radix: 36)).partial"
  }

  /// The name, or its stem, of the file that a temporary file is for; nil for other files.
  static func target(ofTemporary name: String) -> String? {
    guard name.hasPrefix("."), name.hasSuffix(".partial") else { return nil }
    let rest = name.dropFirst().dropLast(".partial".count)
    guard let dot = rest.lastIndex(of: "."), dot > rest.startIndex else { return nil }
    let unique = rest[rest.index(after: dot)...]
    guard !unique.isEmpty, unique.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isLowercase) }) else { return nil }
    return String(rest[..<dot])
  }

  /// Removes the temporary files that killed processes left for the same target.
  package static func removeLeftovers(of path: String) {
    let (folder, name) = split(path)
    let stem = stem(of: name)
    OutputFolder.removeLeftovers(in: folder) { $0 == stem }
  }

  /// Removes the temporary files that killed processes left for targets with some name in the folder of `path`.
  package static func removeLeftovers(besides path: String, where isOurs: (_ name: String) -> Bool) {
    OutputFolder.removeLeftovers(in: split(path).folder, where: isOurs)
  }

  /// False if another process removed the new file as a leftover before it was locked.
  private static func isLinked(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_nlink > 0
  }

  static func open(_ path: String, _ flags: Int32, permissions: mode_t = 0) -> Int32 {
    var descriptor: Int32
    repeat {
      #if canImport(Darwin)
        descriptor = Darwin.open(path, flags, permissions)
      #else
        descriptor = Glibc.open(path, flags, permissions)
      #endif
    } while descriptor < 0 && errno == EINTR
    return descriptor
  }

  private static func resolved(_ path: String) -> String? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer)
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = path[..<slash]
    return (folder.isEmpty ? "/" : String(folder), String(path[path.index(after: slash)...]))
  }
}
