import ManagedObjectModel
import Foundation

/// Fetches whose results are dictionaries: SQL selects the columns and merges equal rows.
extension SQLiteReader {
  func dictionaryRows(_ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag) throws -> [DictionaryRow] {
    let plan = try DictionaryPlan(query, shape, in: store)
    return try access("Reading") {
      try connection.stopping(at: stop) {
        let statement = try connection.statement(plan.select.text)
        defer { statement.reset() }
        try statement.bind(plan.select.bindings)
        var result: [DictionaryRow] = []
        while try statement.step() { result.append(try row(of: statement, shape)) }
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

  private func row(of statement: SQLiteStatement, _ shape: DictionaryShape) throws -> DictionaryRow {
    var id: NSManagedObjectID?
    var values: [StoredValue] = []
    values.reserveCapacity(shape.columns.count)
    var index: Int32 = 0
    for column in shape.columns {
      switch column {
      case .attribute(let attribute, _):
        values.append(attribute.storedValue(column: index, of: statement))
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

  init(_ query: FetchQuery, _ shape: DictionaryShape, in store: SQLiteStore) throws {
    let entity = try store.sqlEntity(query.entity)
    let names = ColumnNames(query.entity, in: store)
    let list = try shape.columns.flatMap { column in
      switch column {
      case .attribute(_, let path): [try names.sql(path)]
      case .objectID: ["t0.Z_PK", "t0.Z_ENT"]
      }
    }
    let filter = try SelectPlan.filter(query, of: entity, in: store.identity, columns: names)
    let groups = try shape.groupNames.map { try names.sql($0.split(separator: ".").map(String.init)) }
    let having = try shape.having.map(names.condition)
    let sorted = try query.sortKeys.map { (column: try names.sql($0.keyPath), key: $0) }
    // The required joins are known only at this point.
    var body =
      SQLFragment(
        (shape.isDistinct ? "SELECT DISTINCT " : "SELECT ") + list.joined(separator: ", ")
          + " FROM \(entity.tableName) t0\(names.joins)") + filter
    if !groups.isEmpty { body = body + SQLFragment(" GROUP BY " + groups.joined(separator: ", ")) }
    if let having { body = body + SQLFragment(" HAVING ") + having }
    // The last sort terms are unique for each result, so that the order is always the same.
    let rest = (shape.joinsRows ? list : ["t0.Z_PK"]).filter { column in !sorted.contains { $0.column == column } }
    let terms = sorted.map { $0.column + ($0.key.ascending ? "" : " DESC") } + rest
    let slice = SelectPlan.slice(query.limit, query.offset)
    select = body + SQLFragment(" ORDER BY " + terms.joined(separator: ", ")) + slice
    count = SQLFragment("SELECT count(*) FROM (") + body + slice + SQLFragment(")")
  }
}
