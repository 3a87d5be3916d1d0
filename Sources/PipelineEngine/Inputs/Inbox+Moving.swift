import Foundation

extension Inbox {
  enum Outcome: Sendable {
    case processed, failed
  }

  enum Move: Sendable, Equatable {
    /// The file's new path.
    case moved(to: String)
    /// Another program removed it.
    case gone
    /// Another file has its name now, or it was written to since it was listed: it is an input of the next run.
    case changed
  }

  /// Moves a finished file into the day's folder (UTC), under its name or a numbered one; nothing is overwritten. The
  /// move is durable when this returns. A link is replaced by a new one in the target folder that leads to the same
  /// file, which stays where it is.
  ///
  /// - Throws: 77, 73 or 74 where it can't be moved; it then has a name nevertheless, the old or the new one.
  func move(_ file: File, to outcome: Outcome, on date: Date) throws(RunFailure) -> Move {
    if let change = change(of: file) { return change }
    let root = outcome == .processed ? processed : failed
    let folder = "\(root)/\(Self.day(of: date))"
    try Self.makeFolder(folder)
    let target = try Self.claim(file.name, in: folder)
    // Only the claim itself: the file at the path may be another program's by then.
    defer { Self.giveUp(target) }
    if let change = try put(file, at: target.path) { return change }
    // The new name before the removal of the old one: after a crash the file has at least one name.
    try Self.sync(folder)
    try Self.sync(self.folder)
    return .moved(to: target.path)
  }

  /// Nil while the file is as it was listed.
  private func change(of file: File) -> Move? {
    guard let status = stat.of(file.path) else { return .gone }
    return FileIdentity(status) == file.identity ? nil : .changed
  }

  static func day(of date: Date) -> String {
    let days = (date.timeIntervalSinceReferenceDate / Double(CivilCalendar.secondsPerDay)).rounded(.down)
    let day = CivilCalendar.date(days: Int(days))
    return String(format: "%04d-%02d-%02d", day.year, day.month, day.day)
  }

  // MARK: A name

  /// `log.csv`, `log.2.csv`, …; `log.csv.gz`, `log.2.csv.gz`, …
  static func numbered(_ name: String, _ number: Int) -> String {
    if number == 1 { return name }
    var base = Substring(name)
    var ending = ""
    if base.hasSuffix(".gz") {
      base = base.dropLast(3)
      ending = ".gz"
    }
    if let dot = base.lastIndex(of: "."), dot > base.startIndex {
      ending = base[dot...] + ending
      base = base[..<dot]
    }
    return "\(base).\(number)\(ending)"
  }

  /// A name that is held by an empty file of this run.
  private struct Claim {
    let path: String
    let identity: FileIdentity
  }

  /// Creates an empty file under the first free name; a rename onto it then replaces no other file, on every file
  /// system.
  private static func claim(_ name: String, in folder: String) throws(RunFailure) -> Claim {
    var number = 1
    while true {
      let path = "\(folder)/\(numbered(name, number))"
      if let claim = try claim(path) { return claim }
      number += 1
    }
  }

  /// Nil where the name is taken.
  private static func claim(_ path: String) throws(RunFailure) -> Claim? {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor < 0, errno == EEXIST { return nil }
    guard descriptor >= 0 else { throw RunFailure(path, "can't be made", errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw RunFailure(path, "can't be made", errno: errno) }
    return Claim(path: path, identity: FileIdentity(status))
  }

  /// Frees the name, unless a file was moved there.
  private static func giveUp(_ claim: Claim) {
    if let status = stat.of(claim.path, followingLinks: false), FileIdentity(status) == claim.identity {
      unlink(claim.path)
    }
  }

  // MARK: Moving to a path

  /// - Returns: Nil when done; otherwise what has intervened, with everything as it was.
  private func put(_ file: File, at target: String) throws(RunFailure) -> Move? {
    guard let own = stat.of(file.path, followingLinks: false) else { return .gone }
    if own.type == S_IFLNK { return try putLink(file, at: target) }
    guard rename(file.path, target) == 0 else {
      switch errno {
      case ENOENT: return .gone
      case EXDEV: return try copy(file, to: target)
      case let code: throw RunFailure(file.path, "can't be moved to \(target)", errno: code)
      }
    }
    // Between the check and the rename a new file may have got the name: that one is moved back.
    guard let status = stat.of(target), FileIdentity(status) != file.identity else { return nil }
    guard try Self.claim(file.path) != nil, rename(target, file.path) == 0 else {
      throw RunFailure(
        code: nil, exitCode: .ioError,
        message: "\(target) replaced \(file.name) meanwhile and was not imported; move it back to the inbox"
      )
    }
    return .changed
  }

  private func putLink(_ file: File, at target: String) throws(RunFailure) -> Move? {
    let original = URL(fileURLWithPath: file.path).resolvingSymlinksInPath().path
    let temporary = target + ".partial"
    unlink(temporary)
    guard symlink(original, temporary) == 0, rename(temporary, target) == 0 else {
      let code = errno
      unlink(temporary)
      throw RunFailure(target, "can't be made a link to \(original)", errno: code)
    }
    return try remove(file, copiedTo: target)
  }

  /// For a target on another file system: a complete copy first, then the removal of the original.
  private func copy(_ file: File, to target: String) throws(RunFailure) -> Move? {
    let temporary = target + ".partial"
    defer { unlink(temporary) }
    try FileCopy.copy(file.path, to: temporary)
    guard rename(temporary, target) == 0 else { throw RunFailure(target, "can't be made", errno: errno) }
    return try remove(file, copiedTo: target)
  }

  /// Removes the original if it is still what was copied; otherwise removes the copy, which is useless then.
  private func remove(_ file: File, copiedTo copy: String) throws(RunFailure) -> Move? {
    if let change = change(of: file) {
      unlink(copy)
      return change
    }
    guard unlink(file.path) == 0 || errno == ENOENT else {
      let code = errno
      unlink(copy)
      throw RunFailure(file.path, "can't be removed from the inbox", errno: code)
    }
    return nil
  }

  // MARK: Folders

  /// Creates a folder and those above it, durably.
  private static func makeFolder(_ path: String) throws(RunFailure) {
    if stat.of(path)?.type == S_IFDIR { return }
    let parent = OutputPath.folder(of: path)
    if parent != path { try makeFolder(parent) }
    guard mkdir(path, 0o777) == 0 || errno == EEXIST && stat.of(path)?.type == S_IFDIR else {
      throw RunFailure(path, "can't be made", errno: errno)
    }
    try sync(parent)
  }

  /// Makes the names in a folder durable.
  private static func sync(_ folder: String) throws(RunFailure) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A folder that may be written but not read can't be opened; the names exist nevertheless.
    if descriptor < 0 { return }
    defer { close(descriptor) }
    if fsync(descriptor) != 0, errno != EINVAL { throw RunFailure(folder, "can't be synced", errno: errno) }
  }
}
