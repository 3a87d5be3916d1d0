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

extension IncrementalRowStore: LinkedRows {}
extension AtomicRowStore: LinkedRows {}
