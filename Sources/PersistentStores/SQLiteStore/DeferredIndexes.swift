import CSQLite
import Foundation
import ManagedObjectModel

/// Indexes that are left out while very many rows are inserted, and made again at the end.
///
/// Rows lead to others in no order, so that nearly every insertion changes another page of an index. SQLite sorts the
/// entries of a finished table much faster. A table of the store keeps the statements of the missing indexes; the next
/// process that opens the store for writing makes those that a killed one has left out. (docs/decisions/0029.)
extension SQLiteStore {
  package func deferIndexes(of entity: NSEntityDescription) throws {
    let table = try sqlEntity(entity).tableName
    // A save asks for the last positions in ordered lists by these.
    let positions = entity.rootEntity.withDescendants.flatMap(\.relationshipsByName.values)
      .filter { $0.inverseRelationship?.isOrdered == true }
    let kept = try positions.compactMap { relationship -> String? in
      guard case .toOne(let column, _, _)? = try sqlEntity(relationship.entity).relationships[relationship.name] else {
        return nil
      }
      return "\(table)_\(column)_INDEX"
    }
    try access("Writing to") { try $0.deferIndexes(of: table) { !kept.contains($0) } }
  }

  /// Leaves out the index of a column in which many rows are about to get their first values.
  ///
  /// - Returns: Whether it is left out: not that of a column with values; nil as long as the table is small.
  package func deferIndex(of column: LinkColumn) throws -> Bool? {
    try access("Writing to") { connection in
      let rowCount = try connection.integer("SELECT max(Z_PK) FROM \(column.table)") ?? 0
      guard rowCount >= Self.indexedRowsMin else { return nil }
      guard try connection.integer(column.anyValue) == nil else { return false }
      try connection.deferIndexes(of: column.table) { $0 == "\(column.table)_\(column.column)_INDEX" }
      return true
    }
  }
  /// A smaller table keeps its index.
  private static var indexedRowsMin: Int64 { 5000 }

  package func restoreIndexes() throws { try access("Making the indexes of") { try $0.restoreIndexes() } }
}

extension SQLiteConnection {
  private static let deferredIndexes = "OPENCOREDATA_DEFERRED_INDEX"

  /// Drops indexes of a table that only make reading faster.
  ///
  /// - Parameter isIncluded: Whether the index with a name is one of them.
  fileprivate func deferIndexes(of table: String, _ isIncluded: (String) -> Bool) throws {
    let all = try rows(
      """
      SELECT i.name, m.sql FROM pragma_index_list(?1) i JOIN sqlite_master m ON m.type = 'index' AND m.name = i.name
      WHERE i.origin = 'c' AND NOT i."unique" AND m.name GLOB 'Z*' ORDER BY m.rowid
      """, [.text(table)])
    let found = all.filter { if case .text(let name) = $0[0] { isIncluded(name) } else { false } }
    guard !found.isEmpty else { return }
    try transaction {
      try execute("CREATE TABLE IF NOT EXISTS \(Self.deferredIndexes) (NAME VARCHAR PRIMARY KEY, SQL VARCHAR)")
      for index in found {
        guard case .text(let name) = index[0] else { continue }
        try run("INSERT OR REPLACE INTO \(Self.deferredIndexes) (NAME, SQL) VALUES (?, ?)", index)
        try execute("DROP INDEX \"\(name.replacingOccurrences(of: "\"", with: "\"\""))\"")
      }
    }
  }

  /// Makes the indexes that were left out.
  func restoreIndexes() throws {
    guard try hasDeferredIndexes else { return }
    try transaction {
      // Another process may have made them in the meantime.
      guard try hasDeferredIndexes else { return }
      let missing = try rows(
        """
        SELECT SQL FROM \(Self.deferredIndexes) d WHERE NOT EXISTS
        (SELECT 1 FROM sqlite_master m WHERE m.type = 'index' AND m.name = d.NAME) ORDER BY d.rowid
        """)
      for case .text(let statement) in missing.compactMap(\.first) { try restoreIndex(statement) }
      try execute("DROP TABLE \(Self.deferredIndexes)")
    }
  }

  /// Makes an index, unless its table or a column of it has gone meanwhile.
  private func restoreIndex(_ statement: String) throws {
    do {
      try execute(statement)
    } catch let error as SQLiteError where error.code & 0xFF == SQLITE_ERROR {
      return
    }
  }

  /// Makes the indexes that a killed process has left out, unless another one is writing.
  func restoreIndexesAtOnce() throws {
    guard try hasDeferredIndexes, beginsAtOnce() else { return }
    do {
      try restoreIndexes()
      try commit()
    } catch {
      try? rollBack()
      throw error
    }
  }

  private var hasDeferredIndexes: Bool {
    get throws {
      try integer(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(Self.deferredIndexes)]) != nil
    }
  }
}
