import Foundation
import ManagedObjectModel

/// Batch updates.
extension SQLiteStore {
  /// Sets attributes, by slot, of the rows that `query` finds; their versions increase by one.
  package func batchUpdate(_ query: FetchQuery, values: [Int: BatchValue], wantsIDs: Bool) throws -> BatchOutcome {
    let entity = try sqlEntity(query.entity)
    let changed = values.sorted { $0.key < $1.key }
    let sets = try changed.compactMap { try assignment(of: $0.value, to: $0.key, of: query.entity, in: entity) }
    let update =
      SQLFragment("UPDATE \(entity.tableName) AS t0 SET ")
      + .joined(sets + [SQLFragment("Z_OPT = Z_OPT + 1")], separator: ", ")
    let names = Set(values.keys.map { query.entity.attributeSlots[$0].name })
    let change = RowsChange(entity: query.entity, names: names, statement: update, wantsIDs: wantsIDs)
    return try batchTransaction { connection in
      let conditions = try conditions(query, connection)
      for (slot, value) in changed {
        guard let expression = value.expression else { continue }
        for condition in conditions {
          try check(expression, for: query.entity.attributeSlots[slot], query, where: condition, on: connection)
        }
      }
      return try carryOut(change, where: conditions, on: connection)
    }
  }

  /// Nil for an attribute without a column.
  private func assignment(
    of value: BatchValue, to slot: Int, of entity: NSEntityDescription, in columns: SQLEntity
  ) throws -> SQLFragment? {
    switch value {
    case .value(let value):
      return assignment(of: value, slot, in: columns).map { SQLFragment($0.text, [$0.value]) }
    case .expression(let expression):
      guard let column = columns.attributeColumns[slot] else { return nil }
      return SQLFragment("\(column.name) = ") + (try sql(of: expression, entity))
    }
  }

  /// The value for the row `t0`. Key paths of other rows need joins, which only a sub-select has.
  private func sql(of expression: BoundExpression, _ entity: NSEntityDescription) throws -> SQLFragment {
    let own = ColumnNames(entity, in: self)
    let value = try expression.sql(columns: own)
    if own.joins.isEmpty { return value }
    let tables = ColumnNames.Tables()
    let outer = tables.next()
    let row = tables.next()
    let names = ColumnNames(entity, in: self, tables: tables, table: row)
    let selected = try expression.sql(columns: names)
    return SQLFragment("(SELECT ") + selected
      + SQLFragment(
        " FROM \(try sqlEntity(entity).tableName) \(row)\(names.joins) WHERE \(row).Z_PK = \(outer).Z_PK)")
  }

  /// - Throws: `NSError` 134060 if a row gets a number that the attribute does not store.
  private func check(
    _ expression: BoundExpression, for attribute: NSAttributeDescription, _ query: FetchQuery,
    where condition: SQLFragment, on connection: SQLiteConnection
  ) throws {
    guard let range = attribute.wholeRange else { return }
    let table = try sqlEntity(query.entity).tableName
    let found =
      SQLFragment("SELECT k, e FROM (SELECT t0.Z_PK AS k, t0.Z_ENT AS e, ") + (try sql(of: expression, query.entity))
      + SQLFragment(" AS v FROM \(table) t0") + condition
      + SQLFragment(
        ") WHERE v IS NOT NULL AND NOT (v = CAST(v AS INTEGER) AND v BETWEEN ? AND ?) LIMIT 1",
        [.integer(range.lowerBound), .integer(range.upperBound)])
    let statement = try connection.statement(found.text)
    defer { statement.reset() }
    try statement.bind(found.bindings)
    if try statement.step() { throw attribute.misfit(of: try id(returnedBy: statement)) }
  }
}
