import ManagedObjectModel
import Foundation

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
