import Foundation
import ManagedObjectModel

/// A store that is replaced by what was made of it, if no other program has written to it meanwhile.
package final class StoreExchange {
  private let file: URL
  private let options: [AnyHashable: Any]?
  private let opened: OpenedDatabase
  private let version: Int64?

  /// - Throws: `NSError` 134080 for a file that can't be written to, 134090 for one that another program holds.
  package init(_ file: URL, options: [AnyHashable: Any]?) throws {
    (self.file, self.options) = (file, options)
    do {
      opened = try OpenedDatabase.open(file, options: try StoreOptions(options))
      // With a WAL, the store can be read while it is replaced.
      _ = try opened.connection.rows("PRAGMA journal_mode = WAL")
      version = try opened.connection.integer("PRAGMA data_version")
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The store \(file.path) can't be migrated")
    }
  }

  deinit { opened.connection.close() }

  /// Copies the store with its large values.
  package func copy(to copy: URL) throws { try StoreFile(copy, nil).replace(with: StoreFile(file, options)) }

  /// Gives the store the contents of `made` in one transaction, with its large values.
  ///
  /// - Throws: `NSError` 134110 if another program has written to the store since this object was made. The store is then
  ///   as that program has left it.
  package func replace(with made: URL) throws {
    try StoreFile(file, options).replace(with: StoreFile(made, nil)) {
      guard try opened.connection.integer("PRAGMA data_version") != version else { return }
      throw NSError.migration(
        "Another program has written to \(file.path) during its migration.", advice: "Close it there, and try again.")
    }
  }
}

/// A folder next to a store in which one process at a time makes what the store is to become.
package final class ExchangeFolder {
  private let folder: URL
  private let descriptor: Int32
  package let file: URL

  /// Removes what a killed process has left in it.
  ///
  /// - Throws: `NSError` 134090 while another process migrates the store, 134110 if the folder can't be made.
  package init(of store: URL) throws {
    let store = StorePath.resolved(store)
    (folder, file) = (StorePath.exchangeFolder(of: store), StorePath.exchangeFile(of: store))
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw NSError.migration(
        "Nothing can be written next to \(store.path).", advice: "Check the permissions of its folder.",
        userInfo: [NSUnderlyingErrorKey: error])
    }
    descriptor = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      if descriptor >= 0 { close(descriptor) }
      throw NSError.coreData(
        .timeout, "Another program is migrating the store \(store.path). Try again when it has finished.")
    }
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
    close(descriptor)
  }

  /// Removes the folder of a process that was killed after it had replaced the store. Until the WAL is written back, the
  /// folder shows that the WAL is the store's.
  package static func removeLeft(of store: URL) {
    let store = StorePath.resolved(store)
    guard FileManager.default.fileExists(atPath: StorePath.exchangeFolder(of: store).path),
      let opened = try? OpenedDatabase.open(store, options: StoreOptions(nil))
    else { return }
    defer { opened.connection.close() }
    guard (try? opened.connection.checkpointsWholeWAL()) == true else { return }
    // Released at once, which removes it. An error means that another process uses it.
    _ = try? ExchangeFolder(of: store)
  }
}
