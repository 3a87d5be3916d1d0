import SystemSupport

#if canImport(Darwin)
  import Darwin
#else
  import CWriteback
  import Glibc
#endif

/// A file that is written in steps, can be cut back to an earlier length, and is continued by a later run.
///
/// A later run finds it by its name, which others can therefore guess: a link with that name is never followed. It is
/// locked while it is open, so that a run can distinguish the file of a dead process from that of a living one.
package final class GrowingFile {
  package let path: String
  /// Negative once closed.
  private(set) package var descriptor: Int32

  private init(path: String, descriptor: Int32) {
    self.path = path
    self.descriptor = descriptor
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Creates an empty file, in place of what has its name and is not being written.
  ///
  /// - Parameters:
  ///   - permissions: Those of the file, less the umask.
  ///   - mayReplace: Whether what has the name may be removed. No process begins to write it meanwhile.
  /// - Returns: Nil where it may not be removed, or a living process is writing it.
  package static func create(
    _ path: String, permissions: UInt32, replacing mayReplace: () -> Bool
  ) throws(CSVError) -> GrowingFile? {
    while true {
      let flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
      let descriptor = openFile(path, flags, permissions: mode_t(permissions))
      if descriptor >= 0 {
        let file = GrowingFile(path: path, descriptor: descriptor)
        // Another process may have removed it as a dead one's before it was locked.
        if file.lock(), file.hasName { return file }
        continue
      }
      if errno != EEXIST { throw writeFailure(errno, path) }
      guard try remove(path, if: mayReplace) else { return nil }
    }
  }

  /// Removes what has a name, unless a living process is writing it.
  ///
  /// - Parameter mayRemove: Called while no process can begin to write it.
  /// - Returns: Whether it was removed, or was not there.
  @discardableResult
  package static func remove(_ path: String, if mayRemove: () -> Bool) throws(CSVError) -> Bool {
    while true {
      let descriptor = openFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      if descriptor < 0 {
        if errno == ENOENT { return true }
        // No process writes to a link or a socket. A file that may not be read belongs to another user.
        guard [ELOOP, ENXIO].contains(errno) else {
          if errno == EACCES { return false }
          throw writeFailure(errno, path)
        }
      }
      let file = descriptor < 0 ? nil : GrowingFile(path: path, descriptor: descriptor)
      if let file {
        if isLockedByOther(descriptor) { return false }
        if !file.hasName { continue }
      }
      guard mayRemove() else { return false }
      if unlink(path) != 0, errno != ENOENT { throw writeFailure(errno, path) }
      return true
    }
  }

  /// A process that looks whether a file is being written holds its lock for a moment.
  private static let attemptsMax = 100
  private static let microsecondsBetweenAttempts: UInt32 = 1000

  /// - Returns: False where another process goes on holding the lock.
  private func lock() -> Bool {
    for _ in 1..<Self.attemptsMax {
      if !Self.isLockedByOther(descriptor) { return true }
      usleep(Self.microsecondsBetweenAttempts)
    }
    return !Self.isLockedByOther(descriptor)
  }

  /// Locks the file of a descriptor where no other descriptor has locked it. Some file systems do not support locks.
  private static func isLockedByOther(_ descriptor: Int32) -> Bool {
    uninterrupted { flock(descriptor, LOCK_EX | LOCK_NB) } != 0 && errno == EWOULDBLOCK
  }

  /// Whether the path still leads to this file.
  private var hasName: Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && lstat(path, &named) == 0
      && (own.st_dev, own.st_ino) == (named.st_dev, named.st_ino)
  }

  /// Opens the file of an earlier run and cuts it back to a length.
  ///
  /// - Throws: `write-error` with `ENOENT` where it is gone, and where it is shorter, a link, or has other names.
  package static func reopen(_ path: String, at length: Int) throws(CSVError) -> GrowingFile {
    let descriptor = openFile(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 {
      let code = errno
      if code == ENOENT { throw CSVError(.write, "is gone", path: path, errnoCode: code) }
      if code == ELOOP { throw CSVError(.write, "is a symbolic link now", path: path, errnoCode: code) }
      throw writeFailure(code, path)
    }
    let file = GrowingFile(path: path, descriptor: descriptor)
    _ = file.lock()
    var status = stat()
    if fstat(descriptor, &status) != 0 { throw writeFailure(errno, path) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
      throw CSVError(.write, "is another file now", path: path)
    }
    guard status.st_size >= length else {
      throw CSVError(.write, "is shorter than it was at the last checkpoint", path: path)
    }
    try file.cutBack(to: length)
    return file
  }

  /// Whether a living process is writing a file with this name.
  package static func isBeingWritten(_ path: String) -> Bool {
    let descriptor = openFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    return isLockedByOther(descriptor)
  }

  package func append(_ bytes: [UInt8]) throws(CSVError) {
    try writeAll(bytes, to: descriptor, name: path)
  }

  package func cutBack(to length: Int) throws(CSVError) {
    while ftruncate(descriptor, off_t(length)) != 0 {
      if errno != EINTR { throw writeFailure(errno, path) }
    }
  }

  /// Whether it is empty or its last byte ends a line.
  package var endsLine: Bool {
    let length = lseek(descriptor, 0, SEEK_END)
    var last: UInt8 = 0
    guard length > 0, pread(descriptor, &last, 1, length - 1) == 1 else { return true }
    return last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r")
  }

  /// Makes the bytes durable and closes the file.
  package func finish() throws(CSVError) {
    if uninterrupted({ fsync(descriptor) }) != 0 { throw writeFailure(errno, path) }
    let closing = close(descriptor)
    descriptor = -1
    if closing != 0 { throw writeFailure(errno, path) }
  }

  private static func openFile(_ path: String, _ flags: Int32, permissions: mode_t = 0) -> Int32 {
    while true {
      #if canImport(Darwin)
        let descriptor = Darwin.open(path, flags, permissions)
      #else
        let descriptor = Glibc.open(path, flags, permissions)
      #endif
      if descriptor >= 0 || errno != EINTR { return descriptor }
    }
  }
}

/// Writes all bytes to a descriptor, in as many system calls as needed.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32, name: String) throws(CSVError) {
  try bytes.withUnsafeBufferPointer { buffer throws(CSVError) in
    try writeAll(UnsafeRawBufferPointer(buffer), to: descriptor, name: name)
  }
}

/// Renames a file unless something has the new name already.
///
/// - Returns: 0, or an error number: `EEXIST`; `EINVAL` or `ENOSYS` where the file system can't do it.
package func renameExclusively(_ source: String, to target: String) -> Int32 {
  #if canImport(Darwin)
    return renamex_np(source, target, UInt32(RENAME_EXCL)) == 0 ? 0 : errno
  #else
    return renameat2(AT_FDCWD, source, AT_FDCWD, target, UInt32(CWRITEBACK_NO_REPLACE)) == 0 ? 0 : errno
  #endif
}
