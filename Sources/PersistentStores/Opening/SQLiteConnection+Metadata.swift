import Foundation
import ManagedObjectModel

extension SQLiteConnection {
  /// Whether the database does not have any tables.
  func hasNoTables() throws -> Bool { try integer("SELECT count(*) FROM sqlite_master") == 0 }

  /// Whether the file was made for a WAL and is as empty as before its first checkpoint, but there is no WAL.
  package func isWithoutItsWAL(at url: URL) throws -> Bool {
    try hasNoTables() && DatabaseHeader(beginningOfFile().bytes).usesWAL
      && WALHeader(path: StorePath.resolved(url.path) + "-wal")?.hasFrames != true
  }

  package static func missingWAL(_ url: URL) -> NSError {
    .coreData(
      .open,
      "The store \(url.path) has no tables, and it keeps what is committed in a WAL, but \(url.path)-wal is "
        + "missing or empty: the rows were probably left behind in it. Bring the .sqlite, -wal and -shm together, all "
        + "three as they were in one place at one time.")
  }

  /// The UUID and the metadata of the store in this database.
  ///
  /// - Parameter url: The store's location, for messages.
  /// - Throws: `NSError` 134080 for a database that is not a Core Data store or whose metadata can't be read.
  func storeMetadata(at url: URL?) throws -> (uuid: String, metadata: StoreMetadata) {
    let path = url?.path ?? "in memory"
    let known = try integer(
      "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('Z_METADATA', 'Z_PRIMARYKEY')")
    guard known == 2 else {
      if let url, try isWithoutItsWAL(at: url) { throw Self.missingWAL(url) }
      throw NSError.coreData(
        .open,
        "The database \(path) is not a Core Data store: it has no Z_METADATA. Give the path of a store, "
          + "or of a file that does not exist yet.")
    }
    let rows = try rows("SELECT Z_UUID, Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1")
    guard case .text(let uuid)? = rows.first?.first, case .blob(let plist)? = rows.first?.last else {
      throw NSError.coreData(
        .open, "The store \(path) has no metadata in Z_METADATA. Restore the file from a copy.")
    }
    guard let metadata = try? StoreMetadata(propertyList: plist) else {
      throw NSError.coreData(
        .open,
        "The store \(path) has metadata in Z_METADATA that is not a property list. Restore the file from a copy.")
    }
    return (uuid, metadata)
  }
}
