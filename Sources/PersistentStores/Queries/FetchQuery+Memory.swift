import ManagedObjectModel
import Foundation

/// A query over values in memory, with the same results as SQLite.
extension FetchQuery {
  /// Sorts by the sort keys, in SQLite's order of values; equal rows have the store's order: by key, unsaved ones last.
  package func sort(_ rows: inout [FetchedRow]) throws {
    let keyed = try rows.enumerated().map { index, row in
      (
        index: index,
        values: try sortValues(row)
      )
    }
    let sorted = keyed.sorted { left, right in
      for (position, key) in sortKeys.enumerated() {
        let order = key.compare(left.values[position], right.values[position])
        if order != .orderedSame { return order == .orderedAscending }
      }
      let (leftKey, rightKey) = (rows[left.index].id.key, rows[right.index].id.key)
      if leftKey.isTemporary != rightKey.isTemporary { return rightKey.isTemporary }
      if leftKey.isTemporary { return left.index < right.index }
      // Scopes increase in the order in which stores were opened.
      return (leftKey.scope, leftKey.number) < (rightKey.scope, rightKey.number)
    }
    rows = sorted.map { rows[$0.index] }
  }
}

extension FetchQuery {
  /// A row's value for one of the query's key paths: an attribute, or an extra value that the row includes.
  package func value(_ keyPath: [String], of row: FetchedRow) throws -> StoredValue {
    if keyPath.count == 1, let slot = row.id.entity.slot(named: keyPath[0]) { return row.values[slot] }
    guard let index = keyPaths.firstIndex(of: keyPath), row.extras.indices.contains(index) else {
      throw EntityPredicateSchema.unknown(keyPath, in: row.id.entity)
    }
    return row.extras[index]
  }
}
