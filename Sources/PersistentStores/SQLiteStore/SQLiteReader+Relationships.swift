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

/// The SELECT of a relationship: the key of this end, the key of the other, and the other's Z_ENT.
private struct RelationshipPlan {
  /// The destination's table; nil if the destination is abstract.
  private let destination: PermanentIDSpace?
  private let body: (_ marks: String) -> String

  init(_ relationship: NSRelationshipDescription, in store: SQLiteStore) throws {
    guard let destination = relationship.destinationEntity,
      let kept = try store.sqlEntity(relationship.entity).relationships[relationship.name]
    else {
      throw NSError.coreData(
        .coreData, "The relationship \(relationship.entity.name ?? "").\(relationship.name) is not stored.")
    }
    let (source, other) = (try store.sqlEntity(relationship.entity), try store.sqlEntity(destination))
    self.destination = destination.isAbstract ? nil : store.idSpaces[other.number]
    switch kept {
    case .toOne(let column, let entityColumn, _):
      // The row determines an object's entity. If the row is gone, the entity column next to the key does.
      let join = other.hasFamily ? " LEFT JOIN \(other.tableName) d ON d.Z_PK = s.\(column)" : ""
      let number =
        other.hasFamily ? "coalesce(d.Z_ENT, \(entityColumn.map { "s.\($0)" } ?? "NULL"))" : "\(other.number)"
      let tables = "\(source.tableName) s\(join)"
      body = { marks in
        "SELECT s.Z_PK, s.\(column), \(number) FROM \(tables) WHERE s.Z_PK IN (\(marks)) AND s.\(column) IS NOT NULL"
      }
    case .toMany(let table, let column, let orderColumn):
      let order = (orderColumn.map { ["d.\($0)"] } ?? []) + ["d.Z_PK"]
      body = { marks in
        "SELECT d.\(column), d.Z_PK, d.Z_ENT FROM \(table) d WHERE d.\(column) IN (\(marks)) "
          + "ORDER BY \(order.joined(separator: ", "))"
      }
    case .manyToMany(let table, let sourceColumn, let destinationColumn, let orderColumn):
      let order = (orderColumn.map { ["j.\($0)"] } ?? []) + ["d.Z_PK"]
      // A relationship that is its own inverse has one row for both ends.
      let isMutual = relationship.inverseRelationship === relationship
      let position = orderColumn.map { ", \($0)" } ?? ""
      let mutual =
        "(SELECT \(sourceColumn), \(destinationColumn)\(position) FROM \(table) UNION ALL "
        + "SELECT \(destinationColumn), \(sourceColumn)\(position) FROM \(table) r WHERE NOT EXISTS "
        + "(SELECT 1 FROM \(table) b WHERE b.\(sourceColumn) = r.\(destinationColumn) "
        + "AND b.\(destinationColumn) = r.\(sourceColumn)))"
      body = { marks in
        "SELECT j.\(sourceColumn), d.Z_PK, d.Z_ENT FROM \(isMutual ? mutual : table) j "
          + "JOIN \(other.tableName) d ON d.Z_PK = j.\(destinationColumn) WHERE j.\(sourceColumn) IN (\(marks)) "
          + "ORDER BY \(order.joined(separator: ", "))"
      }
    }
  }

  func select(_ keys: ArraySlice<Int64>) -> SQLFragment {
    SQLFragment(body(SQLFragment.keyMarks(keys.count)), keys.map(StoredValue.integer))
  }

  /// The ID scope of an object at the other end. A key without a row gives an object of the destination entity, which
  /// turns out to be deleted on access; nil if the destination is abstract.
  func idSpace(numbered number: Int?, key: Int64, in store: SQLiteStore) throws -> PermanentIDSpace? {
    if let number { return try store.idSpace(numbered: number, key: key) }
    return destination
  }
}
