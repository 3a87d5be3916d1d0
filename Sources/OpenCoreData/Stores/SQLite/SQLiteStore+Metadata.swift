import Foundation

extension SQLiteStore {
  /// Replaces the clients' own keys; `writeMetadata` makes it last.
  func setMetadata(_ new: [String: Any]) {
    var kept = StoreMetadata(dictionary: metadataKept)
    kept.custom = StoreMetadata(dictionary: new).custom
    metadataKept = kept.dictionary.merging([NSStoreUUIDKey: identifier]) { $1 }
    metadataEdition += 1
  }

  /// A part of every save's transaction.
  func writeMetadata(_ connection: SQLiteConnection) throws {
    guard hasUnsavedMetadata else { return }
    try connection.write(StoreMetadata(dictionary: metadataKept))
    metadataEditionWritten = metadataEdition
  }

  // MARK: Stores that are not open

  static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
    do {
      let opened = try OpenedDatabase.openForReading(url.path, options: try StoreOptions(options))
      return try withExtendedLifetime(opened) {
        let (uuid, metadata) = try readMetadata(opened.connection, url)
        return metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 }
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, "The metadata of \(url.path) can't be read")
    }
  }

  static func setMetadata(_ new: [String: Any], at url: URL, options: [AnyHashable: Any]?) throws {
    do {
      let connection = try OpenedDatabase.connectForWriting(
        url.path, mode: .readWrite, try StoreOptions(options))
      defer { connection.close() }
      try connection.transaction {
        var (_, metadata) = try readMetadata(connection, url)
        metadata.custom = StoreMetadata(dictionary: new).custom
        try connection.write(metadata)
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, "The metadata of \(url.path) can't be changed")
    }
  }
}

extension SQLiteConnection {
  /// Replaces the store's metadata, and its UUID where one is given.
  func write(_ metadata: StoreMetadata, uuid: String? = nil) throws {
    let list = try metadata.propertyList()
    if let uuid {
      try run("UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ?", [.text(uuid), .blob(list)])
    } else {
      try run("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(list)])
    }
  }
}
