import CSV
import Foundation
import SystemSupport

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
  /// move is durable when `syncMoves(to:on:)` has returned. A link is replaced by a new one in the target folder that
  /// leads to the same file, which stays where it is.
  ///
  /// - Throws: 77, 73 or 74 where it can't be moved; it then has a name nevertheless, the old or the new one.
  func move(_ file: File, to outcome: Outcome, on date: Date) throws(RunFailure) -> Move {
    if let change = try change(of: file) { return change }
    let folder = folder(of: outcome, on: date)
    try Self.makeFolder(folder)
    let (target, change) = try put(file, in: folder)
    return change ?? .moved(to: target)
  }

  /// Makes moves durable.
  ///
  /// - Throws: 74 where a folder can't be synced.
  func syncMoves(to outcomes: Set<Outcome>, on date: Date) throws(RunFailure) {
    // The new names before the removal of the old ones: after a crash each file has at least one name.
    for outcome in outcomes { try Self.sync(folder(of: outcome, on: date)) }
    try Self.sync(folder)
  }

  /// Where the file will be, unless another program takes the name before.
  func path(of file: File, movedTo outcome: Outcome, on date: Date) -> String {
    let folder = folder(of: outcome, on: date)
    var number = 1
    while stat.of("\(folder)/\(Self.numbered(file.name, number))", followingLinks: false) != nil { number += 1 }
    return "\(folder)/\(Self.numbered(file.name, number))"
  }

  private func folder(of outcome: Outcome, on date: Date) -> String {
    "\(outcome == .processed ? processed : failed)/\(Self.day(of: date))"
  }

  /// Nil while the file is as it was listed.
  private func change(of file: File) throws(RunFailure) -> Move? {
    guard let status = try RunFailure.status(of: file.path) else { return .gone }
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

  /// The names that a file with this name may have had in the inbox: this one, and those that it is a numbered one of.
  static func originals(of name: String) -> [String] {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    let numbered = parts.indices.dropFirst().compactMap { index -> String? in
      guard let number = Int(parts[index]), number > 1 else { return nil }
      let original = (parts[..<index] + parts[(index + 1)...]).joined(separator: ".")
      return self.numbered(original, number) == name ? original : nil
    }
    return [name] + numbered
  }

  /// Creates something under the first free name in a folder; no other file is replaced.
  ///
  /// - Parameter put: Returns 0 or an error number, `EEXIST` where the path is taken.
  /// - Returns: The new path.
  private static func createAtFreeName(
    _ name: String, in folder: String, _ put: (String) -> Int32
  ) throws(RunFailure) -> String {
    var number = 1
    while true {
      let target = "\(folder)/\(numbered(name, number))"
      switch put(target) {
      case 0: return target
      case EEXIST: number += 1
      case let code: throw RunFailure(target, "can't be made", errno: code)
      }
    }
  }

  /// Some file systems can only rename with replacing. There an empty file reserves the name; it is locked by its
  /// process, and that of a dead one is free.
  private static func renameWithoutReplacing(_ path: String, to target: String) -> Int32 {
    let code = renameExclusively(path, to: target)
    guard code == EINVAL || code == ENOSYS || code == EOPNOTSUPP else { return code }
    removeReservation(target)
    let reservation = uninterrupted {
      open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, reservedMode)
    }
    guard reservation >= 0 else { return errno }
    defer { close(reservation) }
    var status = stat()
    // Another process may take it for a dead one's before it is locked. Some file systems do not support locks.
    let isTaken = flock(reservation, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
    if isTaken || fstat(reservation, &status) == 0 && status.st_nlink == 0 {
      return renameWithoutReplacing(path, to: target)
    }
    if Foundation.rename(path, target) == 0 { return 0 }
    let failure = errno
    unlink(target)
    return failure
  }

  /// No other program gives a file this mode.
  private static let reservedMode: mode_t = 0o200

  private static func removeReservation(_ path: String) {
    let descriptor = uninterrupted { open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) }
    if descriptor < 0 { return }
    defer { close(descriptor) }
    var status = stat()
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0, status.st_size == 0,
      status.type == S_IFREG, status.st_mode & 0o777 == reservedMode
    else { return }
    unlink(path)
  }

  // MARK: Moving to a path

  /// - Returns: The new path, and what has intervened, with everything as it was; nil when done.
  private func put(_ file: File, in folder: String) throws(RunFailure) -> (String, Move?) {
    guard let own = try RunFailure.status(of: file.path, followingLinks: false) else { return ("", .gone) }
    if own.type == S_IFLNK { return try putLink(file, in: folder) }
    var refusal: Int32 = 0
    let target = try Self.createAtFreeName(file.name, in: folder) { target in
      let code = Self.renameWithoutReplacing(file.path, to: target)
      guard code == ENOENT || code == EXDEV else { return code }
      refusal = code
      return 0
    }
    if refusal == ENOENT { return ("", .gone) }
    if refusal == EXDEV { return try copy(file, to: folder) }
    // Between the check and the rename a new file may have got the name: that one is moved back.
    guard let status = stat.of(target), FileIdentity(status) != file.identity else { return (target, nil) }
    guard Self.renameWithoutReplacing(target, to: file.path) == 0 else {
      throw RunFailure(
        code: nil, exitCode: .ioError,
        message: "\(target) replaced \(file.name) meanwhile and was not imported; move it back to the inbox"
      )
    }
    return ("", .changed)
  }

  private func putLink(_ file: File, in folder: String) throws(RunFailure) -> (String, Move?) {
    let original = URL(fileURLWithPath: file.path).resolvingSymlinksInPath().path
    var isNew = false
    let target = try Self.createAtFreeName(file.name, in: folder) { target in
      isNew = symlink(original, target) == 0
      // A run that was killed before it had removed the file has left the same link.
      return isNew || Self.isLink(target, to: original) ? 0 : errno
    }
    return try remove(file, standingAt: target, isNew: isNew, in: folder)
  }

  private static func isLink(_ path: String, to original: String) -> Bool {
    let code = errno
    defer { errno = code }
    return (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) == original
  }

  /// For a target on another file system: a complete copy first, then the removal of the original.
  private func copy(_ file: File, to folder: String) throws(RunFailure) -> (String, Move?) {
    // It lists the folder: a rename does without it, so that many files do not take the square of their number.
    OutputFile.removeLeftovers(of: "\(folder)/\(file.name)")
    let temporary = OutputFile.temporaryPath(for: file.name, in: folder)
    defer { unlink(temporary) }
    var isNew = false
    // While the copy is open, other runs take it for one in progress.
    let target = try FileCopy.copy(file.path, to: temporary) { () throws(RunFailure) in
      try Self.createAtFreeName(file.name, in: folder) { target in
        let code = Self.renameWithoutReplacing(temporary, to: target)
        isNew = code == 0
        // A run that was killed before it had removed the file has left the same copy.
        return code == EEXIST && FileCopy.isCopy(target, of: file.path) ? 0 : code
      }
    }
    return try remove(file, standingAt: target, isNew: isNew, in: folder)
  }

  /// Removes the original if it is still what stands for it in a folder; otherwise that is useless, if it is new.
  private func remove(
    _ file: File, standingAt target: String, isNew: Bool, in folder: String
  ) throws(RunFailure) -> (String, Move?) {
    if let change = try change(of: file) {
      if isNew { unlink(target) }
      return ("", change)
    }
    // On another file system the order of the two changes is not kept otherwise.
    try Self.sync(folder)
    guard unlink(file.path) == 0 || errno == ENOENT else {
      let code = errno
      if isNew { unlink(target) }
      throw RunFailure(file.path, "can't be removed from the inbox", errno: code)
    }
    return (target, nil)
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
    let code = FolderNames.sync(folder)
    if code == 0 { return }
    throw RunFailure(code: nil, exitCode: .ioError, message: "\(folder) can't be synced: \(systemMessage(code))")
  }
}
