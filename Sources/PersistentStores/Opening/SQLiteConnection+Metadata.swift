import CSQLite
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
    if let url, try isWithoutItsWAL(at: url) { throw Self.missingWAL(url) }
    try checkStoreTables(at: path)
    guard let row = try metadataRow(), let uuid = row.uuid, let plist = row.list else {
      throw NSError.coreData(
        .open, "The store \(path) has no metadata in Z_METADATA. Restore the file from a copy.",
        userInfo: [NSError.unusableMetadataKey: true])
    }
    do throws(ArchiveProblem) {
      return (uuid, try StoreMetadata(propertyList: plist))
    } catch {
      throw NSError.coreData(
        .open,
        "The store \(path) has metadata in Z_METADATA that can't be used: \(error). Restore the file from a copy.",
        userInfo: [NSError.unusableMetadataKey: true])
    }
  }

  /// The row of Z_METADATA; nil for an empty table. A list that is too long is cut off, so that reading it fails, and a
  /// file that consists of one does not fill the memory.
  package func metadataRow() throws -> (uuid: String?, list: Data?)? {
    let row = try rows(
      "SELECT substr(Z_UUID, 1, 255), substr(Z_PLIST, 1, ?) FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1",
      [.integer(Int64(PropertyListData.bytesMax + 1))]
    ).first
    guard let row else { return nil }
    let uuid: String? = if case .text(let text) = row[0] { text } else { nil }
    let list: Data? = if case .blob(let data) = row[1] { data } else { nil }
    return (uuid, list)
  }

  // MARK: The form of the tables

  /// The longest name of an entity in a store, in bytes.
  package static let entityNameBytesMax = 1000
  /// The most superentities that an entity in a store may have, one above the other.
  package static let inheritanceDepthMax = NSEntityDescription.inheritanceDepthMax

  /// Checks what every reader of a store relies on: its own tables are tables, and the entities have names of a
  /// reasonable length and a finite number of superentities. The name of a table may belong to a view, whose query may
  /// never end.
  ///
  /// - Parameter path: The store's location, for messages.
  /// - Throws: `NSError` 134080 for a database that is not a Core Data store.
  package func checkStoreTables(at path: String) throws {
    try checkTables(["Z_METADATA", "Z_PRIMARYKEY"], at: path)
  }

  /// As `checkStoreTables(at:)`, for a store that needs only the tables with the names in `required`.
  func checkTables(_ required: [String], at path: String) throws {
    let rows = try rows(
      "SELECT name, type, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_master WHERE type IN ('table', 'view')")
    var tables: Set<String> = []
    for row in rows {
      guard case .text(let name) = row[0] else { continue }
      if row[1] == .text("table"), row[2] != .integer(1) {
        tables.insert(name)
      } else if Self.isOwnTable(name, isView: row[1] == .text("view")) {
        throw notStore(path, "its \(name.prefix(100)) is a view or a virtual table, and has to be a table")
      }
    }
    for name in required where !tables.contains(name) {
      // With the other one it is a store that has lost its metadata.
      let hasLostMetadata = name == "Z_METADATA" && tables.contains("Z_PRIMARYKEY")
      throw notStore(
        path, "it has no \(name)",
        advice: hasLostMetadata
          ? "Restore the file from a copy."
          : SQLiteError.wrongFileAdvice(isOfWriter: sqlite3_db_readonly(handle, "main") == 0),
        userInfo: hasLostMetadata ? [NSError.unusableMetadataKey: true] : [:])
    }
    try checkKeyRows(path)
  }

  /// Names that Core Data gives to tables. Those of entities and of join tables begin with Z, as do those of R-tree
  /// indexes, which are virtual tables.
  private static func isOwnTable(_ name: String, isView: Bool) -> Bool {
    let folded = name.uppercased()
    return isView && folded.hasPrefix("Z") || fixedNames.contains(folded)
  }
  private static let fixedNames: Set<String> = [
    "Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING",
  ]

  private func checkKeyRows(_ path: String) throws {
    let tooLong = try integer(
      "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE length(CAST(Z_NAME AS BLOB)) > \(Self.entityNameBytesMax) LIMIT 1")
    if let tooLong {
      throw notStore(
        path, "the entity \(tooLong) has a name of more than \(Self.entityNameBytesMax) bytes in Z_PRIMARYKEY")
    }
    let rows = try rows("SELECT Z_ENT, Z_SUPER FROM Z_PRIMARYKEY WHERE typeof(Z_ENT) = 'integer' AND Z_SUPER <> 0")
    var parents: [StoredValue: StoredValue] = [:]
    for row in rows { parents[row[0]] = row[1] }
    for row in rows {
      var (above, depth) = (row[0], 0)
      while let parent = parents[above], depth <= Self.inheritanceDepthMax { (above, depth) = (parent, depth + 1) }
      guard depth > Self.inheritanceDepthMax, case .integer(let number) = row[0] else { continue }
      throw notStore(
        path,
        "the entity \(number) inherits from itself or over more than \(Self.inheritanceDepthMax) others in "
          + "Z_PRIMARYKEY")
    }
  }

  private func notStore(
    _ path: String, _ problem: String, advice: String = "Restore the file from a copy.", userInfo: [String: Any] = [:]
  ) -> NSError {
    .coreData(.open, "The database \(path) is not a Core Data store: \(problem). \(advice)", userInfo: userInfo)
  }
}

extension NSError {
  fileprivate static let unusableMetadataKey = "OpenCoreDataUnusableMetadata"

  /// Whether a store's metadata can't be used, and the tables may be whole (`StoreModel.find(withoutMetadataOf:)`).
  package var isOfUnusableMetadata: Bool { userInfo[Self.unusableMetadataKey] as? Bool == true }
}
