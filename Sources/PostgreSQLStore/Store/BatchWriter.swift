import Foundation
import ManagedObjectModel
import PersistentStores

/// Carries out one batch request in the open transaction of a connection.
final class BatchWriter {
  private let store: PostgreSQLStore
  private let reader: PostgreSQLReader
  private let wantsIDs: Bool
  private let history: HistoryWriter?
  private(set) var outcome = BatchOutcome()

  private var connection: PostgreSQLConnection { reader.connection }
  /// Objects whose rows got the values of a batch's rows.
  private var overwritten: [NSManagedObjectID] = []
  private static let rowsAtOnce = 10_000
  private static let statementsAtOnce = 500

  init(_ store: PostgreSQLStore, _ reader: PostgreSQLReader, wantsIDs: Bool) {
    (self.store, self.reader, self.wantsIDs) = (store, reader, wantsIDs)
    history = store.historyWriter(reader.connection)
  }

  // MARK: Outcome

  /// Counts the rows that a statement returns with their keys and entities.
  private func note(_ result: PostgreSQLResult) throws {
    outcome.count += result.rowCount
    if wantsIDs { outcome.ids += try ids(result) }
  }

  private func ids(_ result: PostgreSQLResult) throws -> [NSManagedObjectID] {
    try (0..<result.rowCount).map { row in
      let key = result.integer(row, 0)
      return NSManagedObjectID(space: try store.idSpace(numbered: Int(result.integer(row, 1)), key: key), key: key)
    }
  }

  /// Ends the request.
  func finish() throws { try history?.finish() }

  /// Notes rows that are about to be updated (`names`: the properties) or deleted (nil) in the history.
  private func noteHistory(of keys: [Int64], _ entity: NSEntityDescription, changing names: Set<String>?) throws {
    try history?.noteRows(
      of: entity, changing: names, where: SQLFragment(" WHERE ") + RowPlan.condition("t0.Z_PK", keys))
  }

  private func note(_ id: NSManagedObjectID) {
    outcome.count += 1
    if wantsIDs { outcome.ids.append(id) }
  }

  private func keys(of query: FetchQuery) throws -> [Int64] {
    var query = query
    query.values = .none
    var keys: [Int64] = []
    try reader.visit(try RowPlan(query, in: store).lockingRows) { row in
      if let key = row.id.storeKey { keys.append(key) }
      return true
    }
    return keys
  }

  private static func parts(of keys: [Int64]) -> some Sequence<[Int64]> {
    stride(from: 0, to: keys.count, by: rowsAtOnce).lazy.map { Array(keys[$0..<min(keys.count, $0 + rowsAtOnce)]) }
  }

  // MARK: Deletions

  func delete(_ query: FetchQuery) throws { try delete(try keys(of: query), of: query.entity) }

  func delete(_ keys: [Int64], of entity: NSEntityDescription) throws {
    if try BatchDeletion.isNeeded(for: entity, in: store) {
      var deletion = BatchDeletion(store, connection, history: history)
      return try deletion.delete(keys, of: entity).forEach(note)
    }
    let table = try store.sqlEntity(entity).tableName
    for part in Self.parts(of: keys) {
      let condition = RowPlan.condition("Z_PK", part)
      try noteHistory(of: part, entity, changing: nil)
      try note(
        try connection.query(
          "DELETE FROM \(table) WHERE \(condition.text) RETURNING Z_PK, Z_ENT", condition.bindings))
    }
  }

  // MARK: Updates

  /// What a batch update sets, by column.
  private struct Assignments {
    var fixed: [(column: EntityColumns.Column, value: StoredValue)] = []
    var computed: [(column: EntityColumns.Column, expression: BoundExpression)] = []

    /// The terms of SET.
    var terms: String {
      ((computed.map(\.column) + fixed.map(\.column)).map { "\($0.name) = ?" } + ["Z_OPT = Z_OPT + 1"])
        .joined(separator: ", ")
    }
  }

  func update(_ query: FetchQuery, _ values: [Int: BatchValue]) throws {
    let kept = try store.sqlEntity(query.entity)
    let columns = EntityColumns(query.entity, kept)
    var assignments = Assignments()
    for (slot, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let column = columns.column(ofSlot: slot) else { continue }
      switch value {
      case .value(let value):
        if let problem = column.type.problem(with: value) {
          throw NSError.coreData(
            .coreData, "The batch update was not carried out: \(query.entity.attributeSlots[slot].name): \(problem).")
        }
        assignments.fixed.append((column, column.parameter(value)))
      case .expression(let expression): assignments.computed.append((column, expression))
      }
    }
    let names = Set(values.keys.map { query.entity.attributeSlots[$0].name })
    if !assignments.computed.isEmpty { return try compute(assignments, of: query, names) }
    for part in Self.parts(of: try keys(of: query)) {
      let condition = RowPlan.condition("Z_PK", part)
      try noteHistory(of: part, query.entity, changing: names)
      try note(
        try connection.query(
          "UPDATE \(kept.tableName) SET \(assignments.terms) WHERE \(condition.text) RETURNING Z_PK, Z_ENT",
          assignments.fixed.map(\.value) + condition.bindings))
    }
  }

  /// Computes the values of all rows before the first one is changed: an expression may read other rows.
  private func compute(_ assignments: Assignments, of query: FetchQuery, _ names: Set<String>) throws {
    var all = query
    all.values = .all
    let plan = try RowPlan(all, in: store).lockingRows
    let sql = "UPDATE \(try store.sqlEntity(query.entity).tableName) SET \(assignments.terms) WHERE Z_PK = ?"
    var statements: [(sql: String, values: [StoredValue])] = []
    var keys: [Int64] = []
    try reader.visit(plan) { row in
      let computed = try assignments.computed.map { column, expression in
        let value = try reader.value(of: QueryExpression(expression, row.id.entity), for: row, plan)
        return column.parameter(try query.entity.attributeSlots[column.slot].stored(computed: value, of: row.id))
      }
      statements.append((sql, computed + assignments.fixed.map(\.value) + [.integer(row.id.storeKey ?? 0)]))
      keys.append(row.id.storeKey ?? 0)
      if wantsIDs { outcome.ids.append(row.id) }
      return true
    }
    for part in Self.parts(of: keys) { try noteHistory(of: part, query.entity, changing: names) }
    for start in stride(from: 0, to: statements.count, by: Self.statementsAtOnce) {
      let part = statements[start..<min(statements.count, start + Self.statementsAtOnce)]
      outcome.count += try connection.changes(Array(part)).reduce(0, +)
    }
  }

  // MARK: Insertions

  func insert(
    _ entity: NSEntityDescription, resolution: UniquenessResolution, fill: (inout ObjectBatch) throws -> Void
  ) throws {
    let kept = try store.sqlEntity(entity)
    let columns = EntityColumns(entity, kept)
    let isUnique = entity.rootEntity.withDescendants.contains { !$0.uniquenessConstraintNames.isEmpty }
    var batch = ObjectBatch(entity: entity)
    while true {
      batch.removeAll()
      try fill(&batch)
      if batch.count == 0 { return }
      let first = try store.keys.take(batch.count, of: kept.tableName, connection)
      let copy = RowCopy(
        batch: batch, entity: kept, columns: columns, rows: (0..<batch.count).map { ($0, first + Int64($0)) })
      overwritten = []
      if isUnique { try insertOrResolve(copy, resolution) } else { try insert(copy) }
      let new = first...(first + Int64(batch.count) - 1)
      // A row of the batch itself that another one has given its values is new.
      try history?.note(
        inserted: new, in: kept, overwritten: overwritten.filter { !new.contains($0.storeKey ?? 0) })
    }
  }

  private func id(_ key: Int64, of copy: RowCopy) -> NSManagedObjectID {
    NSManagedObjectID(entity: copy.batch.entity, store: store.identity, key: key)
  }

  private func insert(_ copy: RowCopy) throws {
    var refused: (row: Int, problem: String)?
    do {
      try copy.copy(connection) { refused = refused ?? ($0, $1) }
    } catch let error as PostgreSQLError where error.isUniqueness && error.constraint?.hasSuffix("_pkey") == true {
      store.keys.forget(copy.entity.tableName)
      throw PostgreSQLError.ofTakenKeys
    }
    if let refused { throw Self.refusal(refused.problem, row: refused.row) }
    outcome.count += copy.rows.count
    if wantsIDs { outcome.ids += copy.rows.map { id($0.key, of: copy) } }
  }

  private static func refusal(_ problem: String, row: Int) -> NSError {
    .coreData(
      .coreData, "The batch request was not carried out: row \(row + 1) of a batch can't be stored: \(problem).")
  }

  /// Inserts rows one by one. A row whose unique values another one has is dropped, or gives that one its values.
  private func insertOrResolve(_ copy: RowCopy, _ resolution: UniquenessResolution) throws {
    for (row, _) in copy.rows {
      for column in copy.columns.columns {
        if let problem = column.type.problem(with: copy.batch.value(row: row, slot: column.slot)) {
          throw Self.refusal("\(copy.batch.entity.attributeSlots[column.slot].name): \(problem)", row: row)
        }
      }
    }
    let statements = copy.insertions
    // A row that is overwritten can be one of the same batch.
    let atOnce = resolution == .overwrite ? 1 : Self.statementsAtOnce
    for start in stride(from: 0, to: statements.count, by: atOnce) {
      let part = start..<min(statements.count, start + atOnce)
      let counts = try connection.changes(Array(statements[part]))
      let left = zip(part, counts).filter { $0.1 == 0 }.map { copy.rows[$0.0].key }
      try store.checkKeys(left, of: copy.entity.tableName, connection)
      for (index, count) in zip(part, counts) {
        if count == 1 {
          note(id(copy.rows[index].key, of: copy))
        } else if resolution == .overwrite {
          try overwriteOrInsert(copy, index, by: statements[index])
        }
      }
    }
  }

  private static let attemptsMax = 10

  private func overwriteOrInsert(
    _ copy: RowCopy, _ index: Int, by insertion: (sql: String, values: [StoredValue])
  ) throws {
    for _ in 0..<Self.attemptsMax {
      let changed = try overwrite(copy, row: copy.rows[index].row)
      if changed.rowCount > 0 {
        overwritten += try ids(changed)
        return try note(changed)
      }
      // Another program has deleted or changed the row that had the values.
      if try connection.change(insertion.sql, insertion.values) == 1 { return note(id(copy.rows[index].key, of: copy)) }
    }
    throw Self.refusal("other programs change the rows that have its unique values", row: copy.rows[index].row)
  }

  /// Gives the values of a row to the one that has its unique values.
  private func overwrite(_ copy: RowCopy, row: Int) throws -> PostgreSQLResult {
    let entity = copy.batch.entity
    func value(_ column: EntityColumns.Column) -> StoredValue {
      column.parameter(copy.batch.value(row: row, slot: column.slot))
    }
    let sets = copy.columns.columns.map { "\($0.name) = ?" } + ["Z_OPT = Z_OPT + 1"]
    var (conditions, bindings): ([String], [StoredValue]) = ([], [])
    for constraint in entity.ancestry.flatMap(\.uniquenessConstraintNames) {
      let parts = constraint.compactMap { name in entity.slot(named: name).flatMap(copy.columns.column(ofSlot:)) }
      guard parts.count == constraint.count else { continue }
      conditions.append("(" + parts.map { "\($0.name) = ?" }.joined(separator: " AND ") + ")")
      bindings += parts.map(value)
    }
    return try connection.query(
      "UPDATE \(copy.entity.tableName) SET \(sets.joined(separator: ", ")) WHERE Z_PK = "
        + "(SELECT Z_PK FROM \(copy.entity.tableName) WHERE \(conditions.joined(separator: " OR ")) "
        + "ORDER BY Z_PK LIMIT 1) RETURNING Z_PK, Z_ENT", copy.columns.columns.map(value) + bindings)
  }
}

extension NSAttributeDescription {
  /// A computed value as this attribute stores it.
  ///
  /// - Throws: `NSError` 134060 for a number that the attribute does not store.
  fileprivate func stored(computed value: StoredValue, of id: NSManagedObjectID) throws -> StoredValue {
    guard !StoredValueOrder.isNull(value) else { return .null }
    let converted = value.converted(to: attributeType)
    guard let range = attributeType.wholeRange else { return converted }
    guard case .integer(let number) = converted, range.contains(number),
      StoredValueOrder.compare(value, .integer(number)) == 0
    else { throw typeMismatch(of: id) }
    return converted
  }
}
