import Foundation
import SystemSupport

/// A folder of this process in the temporary folder. It is removed when this object is released, when the process
/// exits, and by `removeAll` before a signal ends the process. The next `PrivateFolder` of any process removes those of
/// processes that were killed: a folder in use is locked with flock(2).
package final class PrivateFolder: Sendable {
  package let url: URL
  private let descriptor: Int32

  private static let prefix = "OpenCoreData-"

  private struct Folders {
    var paths: Set<String> = []
    var isRemovedOnExit = false
  }
  private static let folders = Locked(Folders())

  package init() throws {
    Self.removeAbandoned()
    var made = try Self.make()
    // Before it was locked, another process may have taken it for abandoned.
    for _ in 0..<Self.triesMax where !FileManager.default.fileExists(atPath: made.url.path) {
      close(made.descriptor)
      made = try Self.make()
    }
    (url, descriptor) = made
  }
  private static let triesMax = 5

  private static func make() throws -> (url: URL, descriptor: Int32) {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(
      prefix + UUID().uuidString, isDirectory: true)
    register(url.path)
    do {
      try FileManager.default.createDirectory(
        at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      remove(url.path)
      throw error
    }
    let descriptor = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    if descriptor >= 0 { _ = flock(descriptor, LOCK_EX | LOCK_NB) }
    return (url, descriptor)
  }

  deinit {
    Self.remove(url.path)
    close(descriptor)
  }

  // MARK: The folders of this process

  private static func register(_ path: String) {
    let isFirst = folders.withLock { folders in
      folders.paths.insert(path)
      defer { folders.isRemovedOnExit = true }
      return !folders.isRemovedOnExit
    }
    if isFirst { atexit { PrivateFolder.removeAll() } }
  }

  private static func remove(_ path: String) {
    try? FileManager.default.removeItem(atPath: path)
    folders.withLock { _ = $0.paths.remove(path) }
  }

  /// Removes the folders of this process, which is about to end.
  package static func removeAll() {
    for path in folders.withLock({ $0.paths }) {
      // Another thread may be adding a file.
      for _ in 0..<removalsMax where FileManager.default.fileExists(atPath: path) {
        try? FileManager.default.removeItem(atPath: path)
      }
    }
  }
  private static let removalsMax = 100

  // MARK: The folders of processes that are gone

  private static func removeAbandoned() {
    let parent = FileManager.default.temporaryDirectory
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      let path = parent.appendingPathComponent(name).path
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      var state = stat()
      guard fstat(descriptor, &state) == 0, state.st_uid == geteuid(),
        flock(descriptor, LOCK_EX | LOCK_NB) == 0
      else { continue }
      try? FileManager.default.removeItem(atPath: path)
    }
  }
}
