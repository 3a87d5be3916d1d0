import SystemSupport

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A folder in which this process has unfinished files: other processes do not take them for those of a killed one.
///
/// The process holds a shared flock(2) on the folder. A file that is written has a lock of its own; one that is finished
/// and waits for its name has none, because a run may have thousands of them, and only so many files can be open.
final class OutputFolder: Sendable {
  private struct Use {
    /// Negative where the folder can't be opened or locked.
    var descriptor: Int32
    var filesCount = 0
  }

  /// The uses of this process, by path.
  private static let uses = Locked<[String: Use]>([:])
  private let path: String

  init(_ path: String) {
    self.path = path
    // Opened outside of the lock, which all outputs of the process need.
    let descriptor = Self.lockShared(path)
    let isSpare = Self.uses.withLock { uses in
      defer { uses[path, default: Use(descriptor: descriptor)].filesCount += 1 }
      return uses[path] != nil
    }
    if isSpare, descriptor >= 0 { close(descriptor) }
  }

  deinit {
    Self.uses.withLock { uses in
      uses[path]?.filesCount -= 1
      guard let use = uses[path], use.filesCount == 0 else { return }
      // The lock ends with its descriptor.
      if use.descriptor >= 0 { close(use.descriptor) }
      uses[path] = nil
    }
  }

  /// Another process that asks whether the folder is free holds its lock for a moment.
  private static let attemptsMax = 100
  private static let microsecondsBetweenAttempts: UInt32 = 1000

  private static func lockShared(_ path: String) -> Int32 {
    let descriptor = OutputFile.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { return -1 }
    for _ in 0..<attemptsMax {
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return descriptor }
      if errno == EWOULDBLOCK { usleep(microsecondsBetweenAttempts) } else if errno != EINTR { break }
    }
    close(descriptor)
    return -1
  }

  // MARK: Leftovers

  /// Removes the temporary files that killed processes left in a folder.
  ///
  /// - Parameter isOurs: Whether a file with this name is one of the caller's, without its folder.
  static func removeLeftovers(in folder: String, where isOurs: (_ name: String) -> Bool) {
    if uses.withLock({ $0[folder] != nil }) { return }
    // All of them are older than the question whether the folder is free, and their names do not come again.
    let found = ((try? FolderNames.sorted(in: folder)) ?? []).filter { file in
      OutputFile.target(ofTemporary: file).map(isOurs) == true && isUnlocked("\(folder)/\(file)")
    }
    if found.isEmpty || !isFree(folder) { return }
    for name in found { unlink("\(folder)/\(name)") }
  }

  /// Whether no process writes the file.
  private static func isUnlocked(_ path: String) -> Bool {
    let descriptor = OutputFile.open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0
  }

  /// Whether no process has unfinished files there. Some file systems lock files and no folders.
  private static func isFree(_ folder: String) -> Bool {
    let descriptor = OutputFile.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if descriptor < 0 { return false }
    defer { close(descriptor) }
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }
}
