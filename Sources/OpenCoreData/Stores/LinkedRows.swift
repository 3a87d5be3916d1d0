import Foundation

/// Rows that lead to each other.
protocol LinkedRows {
  func row(for id: NSManagedObjectID) throws -> FetchedRow?
  func related(_ relationship: NSRelationshipDescription, of id: NSManagedObjectID) throws -> [NSManagedObjectID]
}

extension LinkedRows {
  /// The value at the end of a path over to-one relationships; null where the path is broken.
  func value(at path: AttributePath, of row: FetchedRow) throws -> StoredValue {
    var current = row
    for relationship in path.relationships {
      guard let id = try related(relationship, of: current.id).first, let next = try self.row(for: id) else {
        return .null
      }
      current = next
    }
    switch path.end {
    case .attribute(let attribute, _):
      return current.id.entity.slot(named: attribute.name).map { current.values[$0] } ?? .null
    case .object: return current.id.comparisonValue
    case .entityName: return current.id.entity.name.map { .text($0) } ?? .null
    }
  }
}

/// A row as a query sees it.
struct QueriedRow<Store: LinkedRows>: QueriedObject {
  let row: FetchedRow
  let store: Store

  var queriedEntity: NSEntityDescription { row.id.entity }

  func value(ofSlot slot: Int) throws -> StoredValue { row.values[slot] }

  func value(at path: AttributePath) throws -> StoredValue { try store.value(at: path, of: row) }

  func elements(_ path: ElementPath) throws -> [QueriedRow] {
    var rows = [row]
    for relationship in path.relationships {
      guard let row = rows.first else { return [] }
      rows = try store.related(relationship, of: row.id).compactMap { try store.row(for: $0) }
    }
    return rows.map { QueriedRow(row: $0, store: store) }
  }
}

extension IncrementalRowStore: LinkedRows {}
extension AtomicRowStore: LinkedRows {}
