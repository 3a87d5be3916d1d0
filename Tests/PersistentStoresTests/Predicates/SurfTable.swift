import ManagedObjectModel
import ModelTestSupport
import PersistentStores

/// The table that holds the rows of `SurfSchema`.
extension SurfSchema {
  static func createTable(in database: PredicateDatabase) throws {
    let columns = names.map { name in
      let type =
        switch types[name] {
        case .integer, .boolean, .object, nil: "INTEGER"
        case .real: "FLOAT"
        case .decimal: "DECIMAL"
        case .date: "TIMESTAMP"
        case .text, .uri: "VARCHAR"
        case .uuid, .blob: "BLOB"
        }
      return "Z\(name.uppercased()) \(type)"
    }
    try database.run(
      SQLFragment("CREATE TABLE ZSURF (Z_PK INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))"))
  }

  static func insert(_ row: [String: StoredValue], into database: PredicateDatabase) throws {
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let columns = names.map { "Z" + $0.uppercased() }.joined(separator: ", ")
    try database.run(
      SQLFragment("INSERT INTO ZSURF (\(columns)) VALUES (\(marks))", names.map { row[$0] ?? .null }))
  }
}

extension BoundPredicate {
  /// The keys of the rows that fit, in order.
  func rows(in database: PredicateDatabase) throws -> [Int64] {
    let condition = try sql(columns: SurfSchema.column)
    return try database.integers(
      SQLFragment("SELECT Z_PK FROM ZSURF t0 WHERE ") + condition + SQLFragment(" ORDER BY Z_PK"))
  }
}
