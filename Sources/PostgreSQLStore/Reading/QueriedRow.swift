import ManagedObjectModel
import PersistentStores

/// A row as a predicate sees it that is evaluated in memory.
struct QueriedRow: QueriedObject {
  let row: FetchedRow
  /// How the row was read; nil for one that was reached over a relationship.
  let plan: RowPlan?
  let reader: PostgreSQLReader

  var queriedEntity: NSEntityDescription { row.id.entity }

  func value(ofSlot slot: Int) throws -> StoredValue { row.values[slot] }

  /// Null where the path is broken.
  func value(at path: AttributePath) throws -> StoredValue {
    if case .attribute(let attribute, _) = path.end,
      let known = plan?.extra(path.relationships.map(\.name) + [attribute.name], of: row)
    {
      return known
    }
    var relationships = path.relationships
    // The identity at the end is that of the key, whose row may be gone.
    let last: NSRelationshipDescription? = if case .object = path.end { relationships.popLast() } else { nil }
    var row = row
    for relationship in relationships {
      guard let next = try reader.rows(over: relationship, from: row.id).first else { return .null }
      row = next
    }
    switch path.end {
    case .attribute(let attribute, _):
      return row.id.entity.slot(named: attribute.name).map { row.values[$0] } ?? .null
    case .object:
      guard let last else { return row.id.comparisonValue }
      return try reader.related(last, of: [row.id])[0].first?.comparisonValue ?? .null
    case .entityName: return row.id.entity.name.map { .text($0) } ?? .null
    }
  }

  func elements(_ path: ElementPath) throws -> [QueriedRow] {
    var found = [row]
    for relationship in path.relationships {
      found = try found.flatMap { try reader.rows(over: relationship, from: $0.id) }
    }
    return found.map { QueriedRow(row: $0, plan: nil, reader: reader) }
  }
}
