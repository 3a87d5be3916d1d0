import ManagedObjectModel
import Foundation

/// A store's metadata, with the edition that the file has. A save participant can set metadata after its transaction
/// has written it.
// Unchecked: `lock` guards all mutable state; the values are property list values.
final class MetadataState: @unchecked Sendable {
  private let lock = NSLock()
  private var values: [String: Any]
  private var edition = 0
  private var writtenEdition = 0
  private var savedEdition = 0

  init(_ values: [String: Any]) { self.values = values }

  var current: [String: Any] { lock.withLock { values } }
  var hasUnsavedChanges: Bool { lock.withLock { edition != savedEdition } }

  /// Replaces the clients' keys.
  func setCustomKeys(of new: [String: Any]) {
    lock.withLock {
      var metadata = StoreMetadata(dictionary: values)
      metadata.custom = StoreMetadata(dictionary: new).custom
      values = metadata.dictionary.merging([NSStoreUUIDKey: values[NSStoreUUIDKey] ?? ""]) { $1 }
      edition += 1
    }
  }

  /// Writes changed metadata inside a save's transaction.
  func write(to connection: SQLiteConnection) throws {
    let (metadata, current) = lock.withLock { (StoreMetadata(dictionary: values), edition) }
    try connection.write(metadata)
    lock.withLock { writtenEdition = current }
  }

  /// Called after the commit of a save.
  func noteSaved() { lock.withLock { savedEdition = writtenEdition } }
}

extension SQLiteStore {
  package var metadata: [String: Any] { metadataState.current }
  package var hasUnsavedMetadata: Bool { metadataState.hasUnsavedChanges }
  package func setMetadata(_ metadata: [String: Any]) { metadataState.setCustomKeys(of: metadata) }

  // MARK: Stores that are not open

  package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    do {
      let opened = try OpenedDatabase.openForReading(url.path, options: try StoreOptions(options))
      return try withExtendedLifetime(opened) {
        let (uuid, metadata) = try opened.connection.storeMetadata(at: url)
        try opened.checkUnchanged()
        return metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 }
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The metadata of \(url.path) can't be read")
    }
  }

  package static func setMetadata(_ new: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
    do {
      let (connection, _) = try OpenedDatabase.connectForWriting(
        url.path, mode: .readWrite, try StoreOptions(options))
      defer { connection.close() }
      try connection.transaction {
        var (_, metadata) = try connection.storeMetadata(at: url)
        metadata.custom = StoreMetadata(dictionary: new).custom
        try connection.write(metadata)
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The metadata of \(url.path) can't be changed")
    }
  }
}

extension SQLiteConnection {
  /// Replaces the store's metadata and, if given, its UUID.
  func write(_ metadata: StoreMetadata, uuid: String? = nil) throws {
    let list = try metadata.propertyList()
    if let uuid {
      try run("UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?", [.text(uuid), .blob(list)])
    } else {
      try run("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(list)])
    }
  }
}
