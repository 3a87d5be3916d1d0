import Foundation
import ManagedObjectModel

/// A store with the tables of Core Data, in whatever database.
package protocol TableStore: RowStore {
  var schema: SQLSchema { get }
  /// By Z_ENT: the entities, each with the shared part of its objects' IDs.
  var idSpaces: [Int: PermanentIDSpace] { get }
  /// Whether a value of an attribute that allows it may be in a file of its own, which SQL reads with a function.
  var keepsValuesInFiles: Bool { get }
  /// What follows an ascending term of ORDER BY, so that null comes first.
  var nullsFirst: String { get }
  /// What ends a SELECT whose rows are to stay as they are until the transaction ends; empty where one program at a time
  /// writes.
  var rowLock: String { get }
}

extension SQLSchema {
  /// What the IDs of a store's objects refer to, and the shared part of each entity's, by Z_ENT.
  package func identities(
    of model: NSManagedObjectModel, uuid: String
  ) -> (StoreIdentity, [Int: PermanentIDSpace]) {
    let byName = model.entitiesByName
    let roots = entities.map { ($0.name, UInt64($0.rootNumber)) }
    let identity = StoreIdentity(
      uuid: uuid, rootEntityNumbers: Dictionary(roots, uniquingKeysWith: { first, _ in first }))
    let spaces = entities.compactMap { entity in
      byName[entity.name].map { (entity.number, PermanentIDSpace(identity, $0)) }
    }
    return (identity, Dictionary(spaces, uniquingKeysWith: { first, _ in first }))
  }
}

extension TableStore {
  /// The names of the tables with the rows of objects.
  package var rowTables: [String] { Set(schema.entities.map(\.tableName)).sorted() }

  package func keeps(_ entity: NSEntityDescription) -> Bool { schema.entity(named: entity.name ?? "") != nil }

  package func tableName(of entity: NSEntityDescription) throws -> String { try sqlEntity(entity).tableName }

  package func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
    guard let found = schema.entity(named: entity.name ?? "") else {
      throw NSError.coreData(
        .coreData,
        "The store \(url?.lastPathComponent ?? "") does not keep the entity \(entity.name ?? ""); check the "
          + "configuration it was added with.")
    }
    return found
  }

  /// The key of an object of this store.
  package func key(of id: NSManagedObjectID) throws -> Int64 {
    guard case .permanent(let store, let key) = id.reference, store === identity else { throw isForeign(id) }
    return key
  }

  package func isForeign(_ id: NSManagedObjectID) -> NSError {
    .coreData(.save, "The object \(id) does not belong to the store \(identity.uuid).")
  }

  package var readOnlyError: NSError {
    .coreData(
      .save, "The store \(location) was opened for reading only.",
      suggestion: "Add it without NSReadOnlyPersistentStoreOption.")
  }

  /// The keys of the rows that a save deletes, by entity.
  package func deletedKeys(_ changes: ChangeSet) throws -> [DeletedKeys] {
    let single = try Dictionary(grouping: changes.deletions, by: { ObjectIdentifier($0.id.entity) }).values
      .map { rows in DeletedKeys(entity: rows[0].id.entity, single: try rows.map { try key(of: $0.id) }) }
    return single + changes.deletedRows.byEntity.map { DeletedKeys(entity: $0[0].entity, rows: $0) }
  }

  /// The ID scope of the row with `key`, by its Z_ENT.
  package func idSpace(numbered number: Int, key: Int64) throws -> PermanentIDSpace {
    guard let space = idSpaces[number], !space.entity.isAbstract else {
      throw NSError.unknownEntity(number: number, key: key, table: url?.lastPathComponent ?? identity.uuid)
    }
    return space
  }
}

extension NSError {
  package static func unknownEntity(number: Int, key: Int64, table: String) -> NSError {
    .coreData(
      .operation,
      "Row \(key) of \(table) has the entity number \(number), which the model does not have or which is abstract. The "
        + "store is damaged: restore it from a copy.")
  }

  /// Checks that keys are left for new rows. The limit is far below what an integer holds, so that a save can't exceed
  /// that; no store has given so many.
  ///
  /// - Parameter last: The last key of the sequence, or the greatest one of a row.
  /// - Throws: `NSError` 134070: one of them is damaged.
  static func checkKey(_ last: Int64, of name: String, in table: String) throws {
    guard last > 1 << 53 else { return }
    throw NSError.coreData(
      .operation,
      "The keys of \(name) are used up: \(last) is the greatest Z_PK of \(table), or its Z_MAX in Z_PRIMARYKEY. The store "
        + "is damaged: restore it from a copy.")
  }
}

/// A connection that runs statements about the tables, with `?` for each value.
package protocol TableStatements {
  /// Runs one statement. An error may be thrown by a later call, before its result.
  func run(_ sql: String, _ values: [StoredValue]) throws
  /// Runs one statement.
  ///
  /// - Returns: The number of rows that it has changed.
  func change(_ sql: String, _ values: [StoredValue]) throws -> Int
  /// Counts up the versions of rows of a table.
  ///
  /// - Parameter keys: Ascending, each once, and not more than one statement takes.
  /// - Returns: The number of rows that are there.
  func countVersions(of keys: ArraySlice<Int64>, in table: String) throws -> Int
  func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]]
  /// The first column of the first row as an integer; nil if there is no row or it is null.
  func integer(_ sql: String, _ values: [StoredValue]) throws -> Int64?
}

extension TableStatements {
  package func countVersions(of keys: ArraySlice<Int64>, in table: String) throws -> Int {
    try change(
      "\(SQLFragment.versionCounting(table)) WHERE Z_PK IN (\(SQLFragment.keyMarks(keys.count)))",
      keys.map(StoredValue.integer))
  }
}

extension SQLiteConnection: TableStatements {
  package func change(_ sql: String, _ values: [StoredValue]) throws -> Int {
    try run(sql, values)
    return changedRowCount
  }

  package func countVersions(of keys: ArraySlice<Int64>, in table: String) throws -> Int {
    try change(SQLFragment.versionCounting(table), rowsWith: keys)
    return changedRowCount
  }
}

extension SQLFragment {
  /// Counts up the versions of rows, which a condition names.
  fileprivate static func versionCounting(_ table: String) -> String { "UPDATE \(table) SET Z_OPT = Z_OPT + 1" }
}

/// The keys of rows of one entity that a save deletes. They are asked for by parts: a cascade may have millions.
package struct DeletedKeys {
  package let entity: NSEntityDescription
  private let single: [Int64]
  private let rows: [DeletedRows]

  package init(entity: NSEntityDescription, single: [Int64] = [], rows: [DeletedRows] = []) {
    (self.entity, self.single, self.rows) = (entity, single, rows)
  }

  /// Few rows of each of many batches are taken together.
  private static let waitingMax = 4000

  /// Calls `body` with all keys, as many as one statement takes at a time.
  func forEachPart(_ body: (ArraySlice<Int64>) throws -> Void) rethrows {
    var waiting = single
    for rows in rows {
      waiting += rows.liveKeys
      guard waiting.count >= Self.waitingMax else { continue }
      for part in waiting.statementParts { try body(part) }
      waiting = []
    }
    for part in waiting.statementParts { try body(part) }
  }
}
