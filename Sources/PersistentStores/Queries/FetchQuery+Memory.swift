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

/// The predicate of a query for objects of one entity, with its attributes resolved once.
package struct QueryFilter {
  /// Where an object has the value for a key of the predicate.
  package enum Source {
    case slot(Int)
    /// A key path beyond its own attributes.
    case path(AttributePath)
  }

  private let predicate: BoundPredicate?
  /// By the index of each key of the predicate.
  private let sources: [Source]

  package init(_ query: FetchQuery, _ entity: NSEntityDescription) throws {
    predicate = query.predicate
    sources = try (predicate?.keys ?? []).map { key in
      if key.path.count == 1, let slot = entity.slot(named: key.path[0]) { return .slot(slot) }
      return .path(try AttributePath(key.path, of: entity))
    }
  }

  /// Whether the query finds an object with these values, which are requested only if needed.
  package func accepts(_ value: (Source) -> StoredValue) -> Bool {
    predicate?.matches { value(sources[$0.index]) } ?? true
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
