import Foundation
import ManagedObjectModel
import PersistentStores

/// A few rows with every type of attribute, in memory and in SQLite.
struct PredicateRows: PredicateSchema {
  private static let types: [(name: String, type: PredicateValueType)] = [
    ("rating", .integer), ("height", .real), ("price", .decimal), ("clean", .boolean), ("date", .date), ("name", .text),
    ("link", .uri), ("uid", .uuid), ("photo", .blob),
  ]

  static let rows: [[String: StoredValue]] = [
    [:],
    [
      "rating": .integer(3), "height": .real(2.5), "price": .decimal(Decimal(string: "0.1") ?? 0), "clean": .integer(1),
      "date": .real(427_161_600), "name": .text("Banzaï pipeline"), "link": .text("a://b/c"),
      "uid": .blob(Data(repeating: 0, count: 16)), "photo": .blob(Data([0, 1])),
    ],
    [
      "rating": .integer(.min), "height": .real(-.infinity), "price": .decimal(3), "clean": .integer(0),
      "date": .real(-0.0), "name": .text("e\u{301}É ß\n%_*?\\"), "link": .text(""), "photo": .blob(Data()),
    ],
    [
      "rating": .integer(1 << 53 + 1), "height": .real(9_007_199_254_740_994), "date": .real(0.1),
      "name": .text("a\0b"), "uid": .blob(Data(repeating: 255, count: 16)),
    ],
    ["rating": .integer(5), "height": .real(5), "price": .decimal(5), "name": .text("5"), "date": .real(5)],
  ]

  let database: SQLiteConnection

  init() throws {
    database = try SQLiteConnection(path: "", mode: .privateTemporary)
    try database.registerPredicateFunctions()
    let columns = ["INTEGER", "FLOAT", "DECIMAL", "INTEGER", "TIMESTAMP", "VARCHAR", "VARCHAR", "BLOB", "BLOB"]
    let list = zip(Self.types, columns).map { "Z\($0.name.uppercased()) \($1)" }.joined(separator: ", ")
    try database.execute("CREATE TABLE ZSURF (Z_PK INTEGER PRIMARY KEY, \(list))")
    for row in Self.rows {
      let marks = Self.types.map { _ in ", ?" }.joined()
      try database.run("INSERT INTO ZSURF VALUES (NULL\(marks))", Self.types.map { row[$0.name] ?? .null })
    }
  }

  func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    guard keyPath.count == 1, let known = Self.types.first(where: { $0.name == keyPath[0] }) else {
      throw CocoaError(.validationMissingMandatoryProperty)
    }
    return known.type
  }

  /// The keys of the rows for which the predicate is true, by SQLite and by comparison in memory.
  func answers(_ predicate: BoundPredicate) throws -> (sqlite: [Int64], memory: [Int64]) {
    let condition = try predicate.sql { "t0.Z" + $0.name.uppercased() }
    let found = try database.rows("SELECT Z_PK FROM ZSURF t0 WHERE \(condition.text) ORDER BY Z_PK", condition.bindings)
    let keys = found.map { row -> Int64 in if case .integer(let key) = row[0] { key } else { 0 } }
    let memory = Self.rows.indices.filter { index in predicate.matches { Self.rows[index][$0.name] ?? .null } }
    return (keys, memory.map { Int64($0 + 1) })
  }
}
