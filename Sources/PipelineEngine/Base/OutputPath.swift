import CSV
import Foundation
import PersistentStores

/// Checks whether a file can be written at a path, before the work that would be lost if not.
enum OutputPath {
  /// Refuses to overwrite files that the run itself reads, its store, and what belongs next to the store; `key` is the
  /// definition's key for `paths`.
  static func check(
    _ paths: [String], key: String, filesRead others: [String], store: String?
  ) throws(PipelineError) {
    try check(paths, key: key, areNotNextTo: store)
    // Links are followed; a path that leads nowhere is that of no file.
    let outputs = Dictionary(paths.lazy.compactMap { path in identity(path).map { ($0, path) } }) { first, _ in first }
    if outputs.isEmpty { return }
    for other in others + (store.map { [$0] } ?? []) {
      guard let path = identity(other).flatMap({ outputs[$0] }) else { continue }
      throw PipelineError(path: key, "\(path) would overwrite \(other), which this run reads; choose another file")
    }
  }

  /// Refuses the paths of the WAL, its index, the journal and the lock of a store, also where they do not exist yet.
  static func check(_ paths: [String], key: String, areNotNextTo store: String?) throws(PipelineError) {
    guard let store else { return }
    let neighbours = Self.paths(nextToStore: store)
    guard let path = paths.first(where: { neighbours.contains(StorePath.resolved($0)) }) else { return }
    throw PipelineError(
      path: key, "\(path) is kept for a part of the store \(store), or for its lock; choose another file")
  }

  /// The paths of the WAL, its index, the journal and the lock of a store, without symbolic links.
  static func paths(nextToStore store: String) -> Set<String> {
    Set(StorePath.suffixes.map { StorePath.resolved(store) + $0 } + [RunLock.path(ofStore: store)])
  }

  /// - Throws: 73 for a missing folder or a path that is a folder's; 77 for a missing permission.
  static func check(_ path: String) throws(RunFailure) {
    if path == "-" { return }
    let type = try RunFailure.status(of: path)?.type
    if type == S_IFDIR {
      throw RunFailure(code: nil, exitCode: .cannotCreate, message: "\(path) is a folder; name a file")
    }
    let folder = folder(of: path)
    guard try RunFailure.status(of: folder)?.type == S_IFDIR else {
      throw RunFailure(
        code: nil, exitCode: .cannotCreate,
        message: "\(path) can't be created: the folder \(folder) does not exist; make it, or check the path")
    }
    let isSpecial = type.map { $0 != S_IFREG } ?? false
    let mayReplace = type == nil ? true : try isWritable(path)
    guard mayReplace, isSpecial ? true : try isWritable(folder) else {
      throw RunFailure(
        code: nil, exitCode: .noPermission,
        message: "\(path) can't be written: permission denied; check the permissions of it and of its folder")
    }
  }

  /// Refuses a link or a file that another user may have made to get what is written; see `OutputFile.checkOwner(of:)`.
  ///
  /// - Throws: 77.
  static func checkOwner(of path: String) throws(RunFailure) {
    do throws(CSVError) { try OutputFile.checkOwner(of: path) } catch { throw RunFailure(error) }
  }

  /// The same for a file that was opened or made by its path.
  static func checkOwner(ofOpen descriptor: Int32, _ path: String) throws(RunFailure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw RunFailure(path, "can't be examined", errno: errno) }
    do throws(CSVError) { try OutputFile.checkOwner(status, of: path) } catch { throw RunFailure(error) }
  }

  private static func isWritable(_ path: String) throws(RunFailure) -> Bool {
    if access(path, W_OK) == 0 { return true }
    if [EACCES, EPERM, EROFS].contains(errno) { return false }
    throw RunFailure(path, "can't be examined", errno: errno)
  }

  /// Whether the path is that of something other than a regular file or a folder, such as a pipe or /dev/null. It is
  /// written directly, without a new file next to it.
  static func isSpecial(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  static func folder(of path: String) -> String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

  private static func identity(_ path: String) -> [UInt]? {
    var status = stat()
    return stat(path, &status) == 0 ? [UInt(status.st_dev), UInt(status.st_ino)] : nil
  }
}
