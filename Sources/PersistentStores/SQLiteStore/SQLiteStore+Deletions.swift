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
      let sequence = consecutive(deletions[start...])
      let isRange = sequence.count >= Self.consecutiveMin
      let part =
        isRange
        ? sequence
        : deletions[start..<min(deletions.count, start + Self.deletedTogetherMax)]
          .prefix { $0.version == first.version && $0.id.entity === first.id.entity }
      let isDone = try part.count > 1 && deleteTogether(part, isRange: isRange, connection)
      if !isDone { for row in part { try delete(row, on: connection, faults: &faults) } }
      start += part.count
    }
  }

  static let deletedTogetherMax = 500
  /// So many rows whose keys follow each other are deleted as a range, however many there are.
  static let consecutiveMin = 16

  /// The first rows that have one version, and keys that follow each other.
  private func consecutive(_ rows: ArraySlice<RowVersion>) -> ArraySlice<RowVersion> {
    guard let first = rows.first, let firstKey = first.id.storeKey else { return rows.prefix(1) }
    var key = firstKey - 1
    return rows.prefix { row in
      key += 1
      return row.id.storeKey == key && row.version == first.version && row.id.entity === first.id.entity
        && row.id.storeIdentity === identity
    }
  }

  /// - Parameters:
  ///   - rows: Rows of one entity with one version.
  ///   - isRange: Whether their keys follow each other.
  /// - Returns: False if not all rows could be deleted, or if some have another version.
  private func deleteTogether(
    _ rows: ArraySlice<RowVersion>, isRange: Bool, _ connection: SQLiteConnection
  ) throws -> Bool {
    guard let first = rows.first, let last = rows.last else { return true }
    let keys = try isRange ? [key(of: first.id), key(of: last.id)] : rows.map { try key(of: $0.id) }
    return try deleteTogether(
      VersionedKeys(entity: first.id.entity, version: first.version, count: rows.count, isRange: isRange, keys: keys),
      connection)
  }

  /// Rows of one entity with one version.
  struct VersionedKeys {
    let entity: NSEntityDescription
    let version: Int64
    let count: Int
    /// Whether the keys follow each other.
    let isRange: Bool
    /// All keys; of a range the first and the last.
    let keys: [Int64]
  }

  /// - Returns: False if not all rows could be deleted, or if some have another version.
  func deleteTogether(_ rows: VersionedKeys, _ connection: SQLiteConnection) throws -> Bool {
    let condition = rows.isRange ? "BETWEEN ? AND ?" : "IN (\(SQLFragment.keyMarks(rows.keys.count)))"
    do {
      try connection.run(
        "DELETE FROM \(sqlEntity(rows.entity).tableName) WHERE Z_PK \(condition) AND Z_OPT = ?",
        rows.keys.map(StoredValue.integer) + [.integer(rows.version)])
    } catch let error as SQLiteError where error.isConstraint {
      // The statement has deleted nothing.
      return false
    }
    return connection.changedRowCount == rows.count
  }

  func delete(_ row: RowVersion, on connection: SQLiteConnection, faults: inout SaveFaults) throws {
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
