import ManagedObjectModel

/// Finds the object whose values conflict with a refused object under a uniqueness constraint, while the transaction is
/// still open.
struct UniquenessSearch {
  private let store: SQLiteStore
  private let connection: SQLiteConnection
  private var written: [(rows: InsertedRows, numbering: BatchSource.Numbering)] = []

  init(_ store: SQLiteStore, _ connection: SQLiteConnection) {
    self.store = store
    self.connection = connection
  }

  /// Records rows of this save, to distinguish them from rows that existed before.
  mutating func noteWritten(_ rows: InsertedRows, _ numbering: BatchSource.Numbering) {
    written.append((rows, numbering))
  }

  /// - Parameters:
  ///   - values: The values of the refused object, by slot.
  ///   - ownKey: The key of its row; nil if it does not have one yet.
  func obstacle(
    to id: NSManagedObjectID, _ values: [StoredValue], ownKey: Int64?
  ) throws -> SaveFailure.Obstacle {
    for entity in id.entity.ancestry {
      for constraint in entity.uniquenessConstraintNames {
        if let row = try conflictingRow(id.entity, constraint, values: values, ownKey: ownKey) {
          return .taken(constraint: constraint, by: row)
        }
      }
    }
    return .other
  }

  private func conflictingRow(
    _ entity: NSEntityDescription, _ constraint: [String], values: [StoredValue], ownKey: Int64?
  ) throws -> FetchedRow? {
    let table = try store.sqlEntity(entity)
    var conditions = ["Z_PK <> ?"]
    var bindings: [StoredValue] = [.integer(ownKey ?? 0)]
    for name in constraint {
      // Two NULLs are not equal in a uniqueness constraint, neither in SQLite nor in Core Data.
      guard let slot = entity.slot(named: name), let column = table.attributeColumns[slot], !values[slot].isNull
      else { return nil }
      conditions.append("\(column.name) = ?")
      bindings.append(store.column(values[slot], slot, of: table))
    }
    let condition = conditions.joined(separator: " AND ")
    guard
      let key = try connection.integer("SELECT Z_PK FROM \(table.tableName) WHERE \(condition)", bindings)
    else { return nil }
    return try row(entity, key)
  }

  private func row(_ entity: NSEntityDescription, _ key: Int64) throws -> FetchedRow? {
    for (rows, numbering) in written where rows.batch.entity.rootEntity === entity.rootEntity {
      guard let row = numbering.row(withKey: key, of: rows.batch.count) else { continue }
      return FetchedRow(id: rows.objectID(row: row), version: 0, values: rows.batch.values(row: row))
    }
    let id = NSManagedObjectID(entity: entity.rootEntity, store: store.identity, key: key)
    return try store.currentRow(id)
  }
}

extension BatchSource.Numbering {
  /// The row of a batch of `count` rows that has `key`; nil if there is none.
  fileprivate func row(withKey key: Int64, of count: Int) -> Int? {
    // Excluded rows may have the same key from another store.
    let obtained = keysObtained.first { $0.value == key && removedRows.insertionIndex(ifAbsent: $0.key) != nil }
    if let obtained { return obtained.key }
    guard key >= firstKey, key - firstKey < Int64(count) else { return nil }
    if removedRows.isEmpty, keysObtained.isEmpty { return Int(key - firstKey) }
    var next = firstKey
    for row in 0..<count where removedRows.insertionIndex(ifAbsent: row) != nil && keysObtained[row] == nil {
      if next == key { return row }
      next += 1
    }
    return nil
  }
}
