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
    guard let table = try RelatedTable(relationship, in: store) else { return nil }
    return try relatedRows(table, of: keys, atMost: .max)
  }

  /// The values of more rows than a context may keep stay in the store: they are read from the state that it has now.
  func relatedRowsToDelete(_ relationship: NSRelationshipDescription, of keys: [Int64]) throws -> [RelatedRows]? {
    guard let table = try RelatedTable(relationship, in: store) else { return nil }
    let rowsMax = store.deletedRowsKeptMax.load(ordering: .relaxed)
    guard !store.mayHaveUncommittedRows, !connection.isInTransaction, !table.mayHaveValuesInFiles else {
      return try relatedRows(table, of: keys, atMost: .max)
    }
    if let few = try relatedRows(table, of: keys, atMost: rowsMax) { return few }
    guard let snapshot = try store.makeSnapshot() as? SQLiteSnapshot, snapshot.isStable else {
      return try relatedRows(table, of: keys, atMost: .max)
    }
    return try snapshot.read { try $0.relatedKeys(table, of: keys, in: snapshot) }
  }

  /// - Returns: Nil if there are more than `rowsMax`.
  private func relatedRows(_ table: RelatedTable, of keys: [Int64], atMost rowsMax: Int) throws -> [RelatedRows]? {
    var (result, count) = ([RelatedRows](), 0)
    for part in keys.sortedUniquely().statementParts {
      let plan = try SelectPlan(FetchQuery(entity: table.destination), in: store, owners: table.owners(part))
      let isWhole = try access("Reading") {
        let cursor = try StoreCursor(
          connection, plan, rowsPerBatch: Self.relatedRowsPerBatch, ownsSnapshot: false, lock: nil, isAlone: true)
        var (batch, numbers) = (ObjectBatch(entity: table.entity), RowNumbers(wantsVersions: true))
        while try cursor.next(into: &batch, numbers: &numbers) {
          count += numbers.keys.count
          if count > rowsMax { return false }
          result.append(RelatedRows(batch, numbers, of: store.identity))
          batch = Self.batch(after: batch, table.entity)
          numbers.removeAll()
        }
        return true
      }
      if !isWhole { return nil }
    }
    return result
  }

  /// The rows without their values, which stay readable in `snapshot`, whose reader this is.
  private func relatedKeys(
    _ table: RelatedTable, of keys: [Int64], in snapshot: SQLiteSnapshot
  ) throws -> [RelatedRows] {
    var query = FetchQuery(entity: table.destination)
    query.values = .none
    var result: [RelatedRows] = []
    for part in keys.sortedUniquely().statementParts {
      let plan = try SelectPlan(query, in: store, owners: table.owners(part))
      try access("Reading") {
        let statement = try connection.statement(plan.select)
        defer { statement.reset() }
        var (space, number, numbers) = (PermanentIDSpace?.none, Int64?.none, RowNumbers(wantsVersions: true))
        func endBatch() {
          if let space, !numbers.keys.isEmpty {
            let kept = RelatedNumbers(numbers)
            let rows = SharedRows(of: space) {
              try snapshot.read { try $0.batch(of: kept.keys.array, space.entity) }
            }
            result.append(RelatedRows(rows, kept))
          }
          numbers.removeAll()
        }
        while try statement.step() {
          let key = statement.integer(0)
          if number != statement.integer(1) || numbers.keys.count == Self.relatedKeysPerBatch {
            endBatch()
            number = statement.integer(1)
            space = try plan.layout(ofEntity: Int(statement.integer(1)), key: key).space
          }
          numbers.append(key: key, version: statement.integer(2))
          if let column = plan.ownerColumn { numbers.append(owner: statement.integer(column)) }
        }
        endBatch()
      }
    }
    return result
  }

  /// The rows of `entity` with `keys`, in their order.
  ///
  /// - Throws: `NSError` 134070 if one is not there.
  private func batch(of keys: [Int64], _ entity: NSEntityDescription) throws -> ObjectBatch {
    let order = keys.indices.sorted { keys[$0] < keys[$1] }
    var query = FetchQuery(entity: entity)
    query.includesSubentities = false
    var batch = ObjectBatch(entity: entity)
    for part in order.map({ keys[$0] }).statementParts {
      let owners = SelectPlan.Owners(column: "Z_PK", orderColumn: nil, keys: part)
      let plan = try SelectPlan(query, in: store, owners: owners)
      var (found, numbers) = (ObjectBatch(entity: entity), RowNumbers())
      _ = try access("Reading") {
        try StoreCursor(connection, plan, rowsPerBatch: part.count, ownsSnapshot: false, lock: nil)
          .next(into: &found, numbers: &numbers)
      }
      batch.append(found)
    }
    guard batch.count == keys.count else {
      throw NSError.coreData(
        .operation,
        "Rows of \(entity.name ?? "") that were read before are missing in \(store.location). The store is damaged: "
          + "restore it from a copy.")
    }
    var places = Array(keys.indices)
    for (place, index) in order.enumerated() { places[index] = place }
    if order != places { batch.keepRows(places) }
    return batch
  }

  /// An empty batch. After a full one it has as much room: memory for a full one would else be copied as it grows, and
  /// kept without use.
  private static func batch(after last: ObjectBatch, _ entity: NSEntityDescription) -> ObjectBatch {
    if last.count < relatedRowsPerBatch { return ObjectBatch(entity: entity) }
    var batch = ObjectBatch(entity: entity, rowCapacity: relatedRowsPerBatch)
    batch.reserveText(last.arena.count)
    return batch
  }

  /// An object that is kept keeps the values of so many.
  private static let relatedRowsPerBatch = 512
  /// What a context keeps of a batch takes little for each of so many rows.
  private static let relatedKeysPerBatch = 8192
}

/// Where the rows at the other end of a to-many relationship are.
private struct RelatedTable {
  let destination: NSEntityDescription
  /// One that rows may have.
  let entity: NSEntityDescription
  private let column: String
  private let orderColumn: String?

  /// Nil if the rows don't lead to their owners.
  init?(_ relationship: NSRelationshipDescription, in store: SQLiteStore) throws {
    guard let destination = relationship.destinationEntity,
      let entity = destination.withDescendants.first(where: { !$0.isAbstract }),
      case .toMany(let table, let column, let orderColumn)? =
        try store.sqlEntity(relationship.entity).relationships[relationship.name],
      try table == store.sqlEntity(destination).tableName
    else { return nil }
    (self.destination, self.entity, self.column, self.orderColumn) = (destination, entity, column, orderColumn)
  }

  func owners(_ keys: ArraySlice<Int64>) -> SelectPlan.Owners {
    SelectPlan.Owners(column: column, orderColumn: orderColumn, keys: keys)
  }

  var mayHaveValuesInFiles: Bool {
    destination.withDescendants.contains { $0.attributeSlots.contains(where: \.allowsExternalBinaryDataStorage) }
  }
}
