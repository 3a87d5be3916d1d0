import ManagedObjectModel

/// Rows whose versions alone change in a save, because relationships of theirs have changed: many with one statement.
extension SQLiteStore {
  /// Counts the versions of the updated rows that have no other change. Rows that are not as they were read are left to
  /// the statements for single rows, which find out what is wrong with each.
  ///
  /// - Returns: The indices of the rows whose versions were counted.
  func countVersions(of updates: [UpdatedRow], on connection: SQLiteConnection) throws -> Set<Int> {
    var counted: Set<Int> = []
    for group in try unchangedRows(of: updates) {
      for part in group.keys.statementParts where part.count > 1 {
        guard try count(part, group, on: connection) else { continue }
        counted.formUnion(group.indices[part.startIndex..<part.endIndex])
      }
    }
    return counted
  }

  /// Rows of one table that were read with one version.
  private struct UnchangedRows {
    let table: String
    let version: Int64
    var indices: [Int] = []
    var keys: [Int64] = []
  }

  private func unchangedRows(of updates: [UpdatedRow]) throws -> [UnchangedRows] {
    var groups: [UnchangedRows] = []
    var groupNumbers: [String: [Int64: Int]] = [:]
    for (index, row) in updates.enumerated() where row.changedSlots.isEmpty && !row.isRecreation {
      let table = try sqlEntity(row.id.entity).tableName
      let number = groupNumbers[table]?[row.version] ?? groups.count
      if number == groups.count {
        groups.append(UnchangedRows(table: table, version: row.version))
        groupNumbers[table, default: [:]][row.version] = number
      }
      groups[number].indices.append(index)
      groups[number].keys.append(try key(of: row.id))
    }
    return groups
  }

  /// - Returns: False if not all rows are there with the version, or if another program's trigger has kept some as they
  ///   were or has refused one. Nothing was changed then; single statements name the rows.
  private func count(_ keys: ArraySlice<Int64>, _ rows: UnchangedRows, on connection: SQLiteConnection) throws -> Bool {
    do {
      try connection.transaction {
        let changed = try connection.change(
          "UPDATE \(rows.table) SET Z_OPT = Z_OPT + 1 WHERE Z_PK IN (\(SQLFragment.keyMarks(keys.count))) AND Z_OPT = ?",
          keys.map(StoredValue.integer) + [.integer(rows.version)])
        if changed < keys.count { throw OtherRows() }
      }
      return true
    } catch is OtherRows {
      return false
    } catch let error as SQLiteError where error.isConstraint {
      return false
    }
  }

  /// Some rows are not as they were read.
  private struct OtherRows: Error {}
}
