import Foundation
import ManagedObjectModel

/// Deletions of a save: many rows with one statement, and one by one where that meets something unexpected.
extension SQLiteStore {
  func delete(
    _ deletions: [RowVersion], on connection: SQLiteConnection, faults: inout SaveFaults
  ) throws {
    var start = 0
    while start < deletions.count {
      let first = deletions[start]
      let part = deletions[start..<min(deletions.count, start + Self.deletedTogetherMax)]
        .prefix { $0.version == first.version && $0.id.entity === first.id.entity }
      let isDone = try part.count > 1 && deleteTogether(part, version: first.version, connection)
      if !isDone { for row in part { try delete(row, on: connection, faults: &faults) } }
      start += part.count
    }
  }

  private static let deletedTogetherMax = 500

  /// - Returns: False if not all rows could be deleted, or if some have another version.
  private func deleteTogether(
    _ rows: ArraySlice<RowVersion>, version: Int64, _ connection: SQLiteConnection
  ) throws -> Bool {
    guard let entity = try rows.first.map({ try sqlEntity($0.id.entity) }) else { return true }
    let keys = try rows.map { StoredValue.integer(try key(of: $0.id)) }
    do {
      try connection.run(
        "DELETE FROM \(entity.tableName) WHERE Z_PK IN (\(SQLFragment.keyMarks(keys.count))) AND Z_OPT = ?",
        keys + [.integer(version)])
    } catch let error as SQLiteError where error.isConstraint {
      // The statement has deleted nothing.
      return false
    }
    return connection.changedRowCount == rows.count
  }

  private func delete(_ row: RowVersion, on connection: SQLiteConnection, faults: inout SaveFaults) throws {
    let table = try sqlEntity(row.id.entity).tableName
    let key = StoredValue.integer(try key(of: row.id))
    do {
      try connection.run("DELETE FROM \(table) WHERE Z_PK = ? AND Z_OPT = ?", [key, .integer(row.version)])
    } catch let error as SQLiteError where error.isConstraint {
      return faults.refuse(row.id, error, obstacle: .other)
    }
    // A row that is already gone is the desired result.
    if connection.changedRowCount == 0,
      try connection.integer("SELECT Z_PK FROM \(table) WHERE Z_PK = ?", [key]) != nil
    {
      faults.conflict(row.id, message: "its row was changed by another context", row: try currentRow(row.id))
    }
  }
}
