import Foundation
import ManagedObjectModel

/// Batch updates.
extension SQLiteStore {
  /// Sets attributes, by slot, of the rows that `query` finds; their versions increase by one.
  package func batchUpdate(_ query: FetchQuery, values: [Int: BatchValue], wantsIDs: Bool) throws -> BatchOutcome {
    let entity = try sqlEntity(query.entity)
    let changed = values.sorted { $0.key < $1.key }
    let sets = changed.compactMap { assignment(of: $0.value, to: $0.key, in: entity) }
    let update =
      SQLFragment("UPDATE \(entity.tableName) AS t0 SET ")
      + .joined(sets + [SQLFragment("Z_OPT = Z_OPT + 1")], separator: ", ")
    let names = Set(values.keys.map { query.entity.attributeSlots[$0].name })
    let change = RowsChange(entity: query.entity, names: names, statement: update, wantsIDs: wantsIDs)
    let expressions = changed.compactMap { slot, value in value.expression.map { (slot: slot, expression: $0) } }
    return try batchTransaction { connection in
      guard !expressions.isEmpty else {
        return try carryOut(change, where: try conditions(query, connection), on: connection)
      }
      let condition = try compute(expressions, query, on: connection)
      let outcome = try carryOut(change, where: [condition], on: connection)
      try connection.execute("DROP TABLE \(Self.computedTable)")
      return outcome
    }
  }

  /// A temporary table with the computed values of each row, in columns by slot.
  private static var computedTable: String { "temp.ocd_computed" }

  /// Nil for an attribute without a column.
  private func assignment(of value: BatchValue, to slot: Int, in columns: SQLEntity) -> SQLFragment? {
    switch value {
    case .value(let value):
      return assignment(of: value, slot, in: columns).map { SQLFragment($0.text, [$0.value]) }
    case .expression:
      return columns.attributeColumns[slot].map { column in
        SQLFragment("\(column.name) = (SELECT v\(slot) FROM \(Self.computedTable) c WHERE c.k = t0.Z_PK)")
      }
    }
  }

  /// Computes the values of all rows before the first one is changed: an expression may read other rows, and one with
  /// random numbers has another value each time.
  ///
  /// - Returns: The condition for the rows.
  /// - Throws: `NSError` 134060 if a row gets a number that its attribute does not store.
  private func compute(
    _ expressions: [(slot: Int, expression: BoundExpression)], _ query: FetchQuery, on connection: SQLiteConnection
  ) throws -> SQLFragment {
    let table = Self.computedTable
    try connection.execute(
      "CREATE TABLE \(table)(k INTEGER PRIMARY KEY, e, \(expressions.map { "v\($0.slot)" }.joined(separator: ", ")))")
    let columns = ColumnNames(query.entity, in: self)
    let values = try expressions.map { try $0.expression.sql(columns: columns) }
    let insertion =
      SQLFragment("INSERT INTO \(table) SELECT t0.Z_PK, t0.Z_ENT, ") + .joined(values, separator: ", ")
      + SQLFragment(" FROM \(try sqlEntity(query.entity).tableName) t0\(columns.joins)")
    for condition in try keyConditions(query, connection) {
      let statement = insertion + condition
      try connection.run(statement.text, statement.bindings)
    }
    for (slot, _) in expressions {
      let attribute = query.entity.attributeSlots[slot]
      guard let range = attribute.attributeType.wholeRange else { continue }
      let statement = try connection.statement(
        "SELECT k, e FROM \(table) WHERE v\(slot) IS NOT NULL AND NOT "
          + "(v\(slot) = CAST(v\(slot) AS INTEGER) AND v\(slot) BETWEEN ? AND ?) LIMIT 1")
      defer { statement.reset() }
      try statement.bind([.integer(range.lowerBound), .integer(range.upperBound)])
      if try statement.step() { throw attribute.typeMismatch(of: try id(returnedBy: statement)) }
    }
    return SQLFragment(" WHERE t0.Z_PK IN (SELECT k FROM \(table))")
  }
}
