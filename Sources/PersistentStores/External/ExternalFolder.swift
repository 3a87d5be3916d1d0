import Foundation
import SystemSupport

/// The files of a store's external values, and the marks of those that perhaps no row refers to.
///
/// A mark is an empty file with the name of the value's file, in a folder of its own. It exists from before a value's
/// file is written, or before the transaction that releases one commits, until that file is known to be in use or is
/// removed. What a killed process leaves is therefore known by name, and no other file is a candidate for removal.
struct ExternalFolder: Sendable {
  private let store: String
  private let support: String
  private let values: String
  private let marks: String

  init(of store: URL) {
    self.store = StorePath.resolved(store).path
    support = LargeValues.supportFolder(of: store).path
    values = LargeValues.valueFolder(of: store).path
    marks = LargeValues.markFolder(of: store).path
  }

  func path(of name: String) -> String { "\(values)/\(name)" }

  // MARK: Writing

  /// Writes and syncs a new file. Its name is on the disk after `sync()`.
  ///
  /// - Returns: The name of the file, which has a mark.
  func makeFile(with value: UnsafeRawBufferPointer) throws(POSIXError) -> String {
    let name = UUID().uuidString
    let rights = try rights()
    try make(values, rights)
    try mark(name, rights)
    do throws(POSIXError) {
      try makeFile(name, with: value, rights)
    } catch {
      remove(name)
      throw error
    }
    return name
  }

  private func makeFile(_ name: String, with value: UnsafeRawBufferPointer, _ rights: Rights) throws(POSIXError) {
    let file = try Self.create(path(of: name), rights)
    defer { close(file) }
    try Self.fill(file, with: value)
    try DiskSync.sync(file)
  }

  /// Syncs the names of the files, and those of the folders that may be new.
  func sync() throws(POSIXError) {
    for folder in [values, support, URL(fileURLWithPath: store).deletingLastPathComponent().path] {
      try DiskSync.syncFolder(folder)
    }
  }

  private static func fill(_ file: Int32, with value: UnsafeRawBufferPointer) throws(POSIXError) {
    var rest = value[...]
    while !rest.isEmpty {
      let count = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .last }
      rest = rest.dropFirst(count)
    }
  }

  // MARK: Copies

  /// The names of all files.
  var names: [String] {
    get throws(SQLiteError) { try LargeValues.names(in: URL(fileURLWithPath: values)) }
  }

  /// Copies the files of a store whose rows are copied to this one. A file that is here already, as large and without a
  /// mark, has the same content: no two values have files of one name.
  ///
  /// - Returns: The files that are new. They have marks.
  func copyFiles(of other: ExternalFolder) throws -> Set<String> {
    let new = try newNames(of: other)
    guard !new.isEmpty else { return new }
    let rights = try rights()
    try make(values, rights)
    do {
      for name in new {
        var status = stat()
        // The values of other files can't be read there either.
        guard lstat(other.path(of: name), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
        let value = try Data(contentsOf: URL(fileURLWithPath: other.path(of: name)), options: .mappedIfSafe)
        try mark(name, rights)
        // A part of it, from a copy that was killed.
        unlink(path(of: name))
        try value.withUnsafeBytes { try makeFile(name, with: $0, rights) }
      }
      try sync()
    } catch {
      new.forEach(remove)
      guard let error = error as? POSIXError else { throw error }
      throw SQLiteError(error, "the files of its large values can't be copied")
    }
    return new
  }

  private func newNames(of other: ExternalFolder) throws(SQLiteError) -> Set<String> {
    let (here, others, uncertain) = (Set(try names), try other.names, try markedNames)
    return Set(others.filter { !here.contains($0) || !holds($0, as: other, isCertain: !uncertain.contains($0)) })
  }

  /// Whether the file is whole. A copy that was killed leaves a mark, and perhaps a part of the file.
  private func holds(_ name: String, as other: ExternalFolder, isCertain: Bool) -> Bool {
    var (own, others) = (stat(), stat())
    guard lstat(path(of: name), &own) == 0, lstat(other.path(of: name), &others) == 0, own.st_size == others.st_size
    else { return false }
    return isCertain || FileManager.default.contentsEqual(atPath: path(of: name), andPath: other.path(of: name))
  }

  // MARK: Marks

  /// Marks a file that the open transaction releases. Without a mark it is only not found after a kill.
  func mark(released name: String) {
    guard let rights = try? rights() else { return }
    try? mark(name, rights)
  }

  private func mark(_ name: String, _ rights: Rights) throws(POSIXError) {
    for _ in 1..<Self.triesMax {
      try make(marks, rights)
      let mark = open("\(marks)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, rights.mode)
      if mark >= 0 {
        rights.apply(to: mark, mode: rights.mode)
        close(mark)
        return
      }
      // Another process has removed the empty folder.
      guard errno == ENOENT else { throw .last }
    }
    throw POSIXError(.ENOENT)
  }
  private static let triesMax = 10

  /// The files that have a mark, as far as is known.
  var marked: Set<String> { (try? markedNames) ?? [] }

  private var markedNames: Set<String> {
    get throws(SQLiteError) {
      Set(try LargeValues.names(in: URL(fileURLWithPath: marks)).filter { UUID(uuidString: $0) != nil })
    }
  }

  var hasMarkFolder: Bool { mayExist(marks) }

  func unmark(_ name: String) { unlink("\(marks)/\(name)") }

  /// Removes the folder of the marks if there are none.
  func removeMarkFolder() { rmdir(marks) }

  /// Removes a file that no row refers to, and its mark.
  func remove(_ name: String) {
    // A file that stays keeps its mark.
    if unlink(path(of: name)) == 0 || errno == ENOENT { unmark(name) }
  }

  // MARK: Rights

  /// Who may read and write the values: the same as for the store's file.
  private struct Rights {
    let mode: mode_t
    let owner: uid_t
    let group: gid_t

    /// Those who may read or write in a folder may also look names up in it.
    var ofFolder: mode_t { mode | (mode & 0o444) >> 2 | (mode & 0o222) >> 1 }

    func apply(to descriptor: Int32, mode: mode_t) {
      _ = fchmod(descriptor, mode)
      if geteuid() == 0 { _ = fchown(descriptor, owner, group) }
    }
  }

  private func rights() throws(POSIXError) -> Rights {
    var status = stat()
    guard stat(store, &status) == 0 else { throw .last }
    return Rights(mode: status.st_mode & 0o666, owner: status.st_uid, group: status.st_gid)
  }

  private static func create(_ path: String, _ rights: Rights) throws(POSIXError) -> Int32 {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, rights.mode)
    guard file >= 0 else { throw .last }
    rights.apply(to: file, mode: rights.mode)
    return file
  }

  private func make(_ folder: String, _ rights: Rights) throws(POSIXError) {
    for path in [support, folder] {
      guard mkdir(path, rights.ofFolder | 0o700) == 0 else {
        if errno == EEXIST { continue }
        throw .last
      }
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { continue }
      rights.apply(to: descriptor, mode: rights.ofFolder | 0o700)
      close(descriptor)
    }
  }
}
