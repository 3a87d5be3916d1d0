import Foundation
import SystemSupport
import ManagedObjectModel

/// A folder next to a store in which one process at a time makes what the store is to become.
///
/// When a store is replaced by another one, the WAL holds the new store and the file still holds the old one until the WAL
/// is written back. From before the commit until then a sign in this folder has the UUID of the new store, so that a WAL
/// of a mixed copy can be distinguished from this one after a power failure (`StoreFileCheck`).
package final class ExchangeFolder {
  private let store: URL
  private let folder: URL
  private let descriptor: Int32
  package let file: URL
  /// Whether the sign is there when this object is released.
  private var keepsSign: Bool

  /// Removes what a killed process has left in it, except the sign.
  ///
  /// - Throws: `NSError` 134090 while another process migrates or replaces the store, 134110 if the folder can't be made.
  package init(of store: URL) throws {
    self.store = StorePath.resolved(store)
    (folder, file) = (StorePath.exchangeFolder(of: self.store), StorePath.exchangeFile(of: self.store))
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw NSError.migration(
        "Nothing can be written next to \(store.path).", advice: "Check the permissions of its folder.",
        userInfo: [NSUnderlyingErrorKey: error])
    }
    descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let code = errno
      if descriptor >= 0 { close(descriptor) }
      guard code == EWOULDBLOCK else {
        throw NSError.migration(
          "The folder \(folder.path) can't be used: \(String(cString: strerror(code))).",
          advice: "Check its permissions, or remove it if no program is migrating or replacing the store.",
          userInfo: [NSUnderlyingErrorKey: POSIXError(code)])
      }
      throw NSError.coreData(
        .timeout, "Another program is migrating or replacing the store \(store.path). Try again when it has finished.")
    }
    keepsSign = !ExchangeSign.lines(of: self.store).isEmpty
    clear()
  }

  deinit {
    if keepsSign { clear() } else { try? FileManager.default.removeItem(at: folder) }
    close(descriptor)
  }

  /// Removes all but the sign.
  private func clear() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name != ExchangeSign.name {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  // MARK: The sign

  /// Call it before the commit after which the WAL holds the store `uuid`, or nothing for nil. The sign is on the disk when
  /// this returns.
  ///
  /// - Returns: What takes the announcement back, for a commit that fails.
  func announce(_ uuid: String?) throws -> () -> Void {
    let before = ExchangeSign.lines(of: store)
    do {
      try write(before + [uuid ?? ExchangeSign.empty])
    } catch {
      if before.isEmpty { noteWrittenBack() }
      guard let cause = error as? POSIXError ?? (error as NSError).userInfo[NSUnderlyingErrorKey] as? POSIXError else {
        throw error
      }
      throw SQLiteError(cause, "nothing can be written next to it")
    }
    return { [self] in
      if before.isEmpty { noteWrittenBack() } else { try? write(before) }
    }
  }

  private func write(_ lines: [String]) throws {
    let sign = ExchangeSign.file(of: store)
    keepsSign = true
    try Data(lines.joined(separator: "\n").utf8).write(to: sign, options: .atomic)
    // Read by all who may read the store.
    let rights = try FileManager.default.attributesOfItem(atPath: store.path)[.posixPermissions]
    if let rights = rights as? Int {
      let search = (rights & 0o444) >> 2
      for (path, rights) in [(sign.path, rights), (folder.path, rights | search)] {
        try FileManager.default.setAttributes([.posixPermissions: rights], ofItemAtPath: path)
      }
    }
    try DiskSync.sync(sign.path)
    for path in [folder.path, folder.deletingLastPathComponent().path] { try DiskSync.syncFolder(path) }
  }

  /// The WAL is written back, so that the file holds the store by itself. The sign goes with this object.
  func noteWrittenBack() {
    try? FileManager.default.removeItem(at: ExchangeSign.file(of: store))
    keepsSign = false
  }

  /// Removes the folder that a process has left which was killed, or which could not write the WAL back because of a reader.
  package static func removeLeft(of store: URL) {
    let store = StorePath.resolved(store)
    // An error means that another process uses the folder.
    guard mayExist(StorePath.exchangeFolder(of: store).path),
      let folder = try? ExchangeFolder(of: store)
    else { return }
    guard folder.keepsSign, let opened = try? OpenedDatabase.open(store, options: StoreOptions(nil)) else { return }
    defer { opened.connection.close() }
    if (try? opened.connection.checkpointsWholeWAL()) == true { folder.noteWrittenBack() }
  }
}
