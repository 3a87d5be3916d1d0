import ManagedObjectModel
import Foundation

/// Relationship destinations, read on access.
extension SQLiteReader {
  /// The IDs at the other end of `relationship` for each of `ids`, which belong to this store: in the relationship's
  /// order if it is ordered, otherwise by key.
  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]] {
    let plan = try RelationshipPlan(relationship, in: store)
    let keys = ids.map { $0.storeIdentity === store.identity ? $0.storeKey : nil }
    var found: [Int64: [NSManagedObjectID]] = [:]
    let known = Array(Set(keys.compactMap(\.self)))
    for part in known.statementParts {
      let select = plan.select(part)
      try access("Reading") {
        let statement = try connection.statement(select.text)
        defer { statement.reset() }
        try statement.bind(select.bindings)
        while try statement.step() {
          let key = statement.integer(1)
          guard
            let space = try plan.idSpace(
              numbered: statement.isNull(2) ? nil : Int(statement.integer(2)), key: key, in: store)
          else {
            continue
          }
          found[statement.integer(0), default: []].append(NSManagedObjectID(space: space, key: key))
        }
      }
    }
    return keys.map { $0.flatMap { found[$0] } ?? [] }
  }

  func relatedRows(_ relationship: NSRelationshipDescription, of keys: [Int64]) throws -> [RelatedRows]? {
    guard let destination = relationship.destinationEntity,
      let entity = destination.withDescendants.first(where: { !$0.isAbstract }),
      case .toMany(let table, let column, let orderColumn)? =
        try store.sqlEntity(relationship.entity).relationships[relationship.name],
      try table == store.sqlEntity(destination).tableName
    else { return nil }
    var result: [RelatedRows] = []
    for part in Set(keys).sorted().statementParts {
      let owners = SelectPlan.Owners(column: column, orderColumn: orderColumn, keys: part)
      let plan = try SelectPlan(FetchQuery(entity: destination), in: store, owners: owners)
      try access("Reading") {
        let cursor = try StoreCursor(
          connection, plan, rowsPerBatch: Self.relatedRowsPerBatch, ownsSnapshot: false, lock: nil)
        var (batch, numbers) = (ObjectBatch(entity: entity), RowNumbers(wantsVersions: true))
        while try cursor.next(into: &batch, numbers: &numbers) {
          result.append(RelatedRows(batch, numbers, of: store.identity))
          (batch, numbers) = (ObjectBatch(entity: entity), RowNumbers(wantsVersions: true))
        }
      }
    }
    return result
  }

  /// An object that is kept keeps the values of so many.
  private static let relatedRowsPerBatch = 512
}
