import ManagedObjectModel
import Foundation

/// Fetches whose results are dictionaries: SQL selects the columns and merges equal rows.
extension SQLiteReader {
  func dictionaryRows(_ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag) throws -> [DictionaryRow] {
    let plan = try DictionaryPlan(query, shape, in: store)
    return try access("Reading") {
      try connection.stopping(at: stop) {
        let statement = try connection.statement(plan.select)
        defer { statement.reset() }
        var result: [DictionaryRow] = []
        while try statement.step() { result.append(try row(of: statement, shape, plan)) }
        return result
      }
    }
  }

  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int {
    let plan = try DictionaryPlan(query, shape, in: store)
    return try access("Counting in") {
      Int(try connection.integer(plan.count.text, plan.count.bindings) ?? 0)
    }
  }

  private func row(
    of statement: SQLiteStatement, _ shape: DictionaryShape, _ plan: DictionaryPlan
  ) throws -> DictionaryRow {
    var id: NSManagedObjectID?
    var values: [StoredValue] = []
    values.reserveCapacity(shape.columns.count)
    var index: Int32 = 0
    for (column, scope) in zip(shape.columns, plan.scopes) {
      switch column {
      case .attribute(let attribute, _):
        values.append(attribute.storedValue(column: index, of: statement))
        index += 1
      case .expression(let expression):
        let value = expression.value.type.normalized(statement.value(index))
        values.append(scope.map { NSManagedObjectID.comparisonValue(ofKey: value, scope: $0) } ?? value)
        index += 1
      case .objectID:
        let (key, number) = (statement.integer(index), Int(statement.integer(index + 1)))
        id = NSManagedObjectID(space: try store.idSpace(numbered: number, key: key), key: key)
        values.append(.null)
        index += 2
      }
    }
    return DictionaryRow(id: id, values: values)
  }
}

/// The SELECT of a fetch of dictionaries.
private struct DictionaryPlan {
  let select: SQLFragment
  let count: SQLFragment
  /// For each column with keys of objects, what distinguishes them from those of other entities; nil for other columns.
  let scopes: [UInt64?]

  init(_ query: FetchQuery, _ shape: DictionaryShape, in store: SQLiteStore) throws {
    let entity = try store.sqlEntity(query.entity)
    let names = ColumnNames(query.entity, in: store)
    let results = ResultColumns(rows: names, shape: shape)
    let list = try shape.columns.flatMap(results.list)
    scopes = shape.columns.map { column in
      column.destination.map { store.identity.scope(ofEntity: $0.name ?? "") }
    }
    let filter = try SelectPlan.filter(query, of: entity, in: store.identity, columns: names)
    let groups = try shape.groups.flatMap(results.list)
    let having = try shape.having?.sql(columns: results)
    let sorted = try query.sortKeys.map { (column: try names.sql($0.keyPath), key: $0) }
    // The required joins are known only at this point.
    var body =
      SQLFragment(shape.isDistinct ? "SELECT DISTINCT " : "SELECT ") + .joined(list, separator: ", ")
      + SQLFragment(" FROM \(entity.tableName) t0\(names.joins)") + filter
    if !groups.isEmpty { body = body + SQLFragment(" GROUP BY ") + .joined(groups, separator: ", ") }
    if let having { body = body + SQLFragment(" HAVING ") + having }
    let slice = SelectPlan.slice(query.limit, query.offset)
    count = SQLFragment("SELECT count(*) FROM (") + body + slice + SQLFragment(")")
    guard !shape.isSummary else {
      select = body + slice
      return
    }
    // The last sort terms are unique for each result, so that the order is always the same. A value that is computed is
    // named by its position.
    let listed = list.enumerated().map { $1.bindings.isEmpty ? $1.text : String($0 + 1) }
    let rest = (shape.joinsRows ? listed : ["t0.Z_PK"]).filter { column in !sorted.contains { $0.column == column } }
    let terms = sorted.map { $0.column + ($0.key.ascending ? "" : " DESC") } + rest
    select = body + SQLFragment(" ORDER BY " + terms.joined(separator: ", ")) + slice
  }
}

/// The columns of rows, and what is computed of all rows of a result.
private struct ResultColumns: PredicateColumns {
  let rows: ColumnNames
  let shape: DictionaryShape

  /// The SQL of a column of the shape.
  func list(_ column: DictionaryShape.Column) throws -> [SQLFragment] {
    switch column {
    case .attribute(_, let path): [SQLFragment(try rows.sql(path))]
    case .objectID: [SQLFragment("t0.Z_PK"), SQLFragment("t0.Z_ENT")]
    case .expression(let expression): [try expression.value.sql(columns: self)]
    }
  }

  func sql(_ key: PredicateKey) throws -> SQLFragment {
    switch ResultKey(key.path) {
    case .aggregate(let index): try sql(shape.aggregates[index])
    case .group(let index): try list(shape.groups[index])[0]
    case nil: try rows.sql(key)
    }
  }

  private func sql(_ aggregate: RowAggregate) throws -> SQLFragment {
    let operand = try aggregate.operand?.sql(columns: rows) ?? SQLFragment("*")
    let name = aggregate.summary?.sqlFunction ?? "count"
    let value = SQLFragment("\(name)(") + operand + SQLFragment(")")
    return aggregate.summary?.sqlOfAny(value, aggregate.type) ?? value
  }

  func identityScope(_ key: PredicateKey) throws -> UInt64 {
    guard case .group(let index)? = ResultKey(key.path), case .expression(let group) = shape.groups[index],
      let key = group.value.keys.first
    else { return try rows.identityScope(key) }
    return try rows.identityScope(key)
  }

  func elements(_ path: [String]) throws -> ElementRows { try rows.elements(path) }
}
