import Foundation
import ModelTestSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

/// The law: a predicate has the same answer for an object in memory and for its row in SQLite.
@Suite("Predicate agreement: memory and SQLite give the same answers", .seeded)
struct PredicateAgreementTests {
  @Test("for random predicates over random rows", arguments: Randomness.seeds(3, long: 100))
  func random(seed: UInt64) throws {
    var random = RandomPredicates(seed: seed)
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    let rows = (0..<80).map { _ in random.row() }
    for row in rows { try SurfSchema.insert(row, into: database) }
    var found = 0
    for _ in 0..<600 {
      let node = random.node()
      let bound = try node.bound(to: SurfSchema())
      let inSQLite = try bound.rows(in: database)
      let inMemory = rows.indices.filter { index in
        bound.matches { key in rows[index][key.name] ?? .null }
      }.map { Int64($0 + 1) }
      #expect(inMemory == inSQLite, "seed \(seed): \(node.formatDescription)")
      found += inSQLite.count
    }
    #expect(found > 5_000, "too few rows fit for the test to mean something")
  }

  @Test("for an order by any attribute, up and down", arguments: SurfSchema.names)
  func order(_ name: String) throws {
    var random = RandomPredicates(seed: Randomness.seed)
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    let rows = (0..<200).map { _ in random.row() }
    for row in rows { try SurfSchema.insert(row, into: database) }
    for keys in [[SortKey(keyPath: [name], ascending: true)], [SortKey(keyPath: [name], ascending: false)]] {
      let order = keys.sql(columns: { "t0.Z" + $0.joined(separator: ".").uppercased() })
      let inSQLite = try database.integers(
        SQLFragment("SELECT Z_PK FROM ZSURF t0 ORDER BY ") + order + SQLFragment(", Z_PK"))
      let inMemory = rows.indices.sorted { left, right in
        let result = keys.compare(
          left: { rows[left][$0.name] ?? .null }, right: { rows[right][$0.name] ?? .null })
        return result == .orderedSame ? left < right : result == .orderedAscending
      }
      #expect(inMemory.map { Int64($0 + 1) } == inSQLite)
    }
  }

  @Test("for lists of any length and type", arguments: [0, 1, 500, 501, TestLength.isLong ? 100_000 : 33_000])
  func longList(_ count: Int) throws {
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    let row: [String: StoredValue] = [
      "rating": .integer(7), "height": .real(7), "name": .text("spot 7"), "date": .real(7),
      "photo": .blob(Data([7])),
    ]
    try SurfSchema.insert(row, into: database)
    try SurfSchema.insert([:], into: database)
    let lists: [(String, [Any])] = [
      ("rating", Array(0..<count)), ("height", (0..<count).map { Double($0) }),
      ("name", (0..<count).map { "spot \($0)" }),
      ("date", (0..<count).map { Date(timeIntervalSinceReferenceDate: Double($0)) }),
      (
        "photo",
        (0..<count).map {
          Data([UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8 & 255)].prefix($0 < 256 ? 1 : 2))
        }
      ),
    ]
    for (key, values) in lists {
      for (format, expected) in [
        ("%K IN %@", count > 7 ? [1] : []), ("NOT %K IN %@", count > 7 ? [2] : [1, 2]),
      ] {
        let predicate = NSPredicate(format: format, key, values)
        let bound = try predicate.predicateNode().bound(to: SurfSchema())
        #expect(try bound.rows(in: database) == expected.map { Int64($0) }, "\(format) \(key)")
        #expect(bound.matches { row[$0.name] ?? .null } == expected.contains(1))
        #expect(bound.matches { _ in .null } == expected.contains(2))
      }
    }
    let folded = NSPredicate(format: "name IN[c] %@", (0..<count).map { "SPOT \($0)" })
    #expect(try folded.predicateNode().bound(to: SurfSchema()).rows(in: database) == (count > 7 ? [1] : []))
  }

  @Test("for hundreds of lists in one predicate, which together exceed SQLite's variables")
  func manyLists() throws {
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    try SurfSchema.insert(["rating": .integer(39_999)], into: database)
    let lists = (0..<100).map { NSPredicate(format: "rating IN %@", Array($0 * 400..<($0 + 1) * 400)) }
    let any = NSCompoundPredicate(orPredicateWithSubpredicates: lists)
    #expect(try any.predicateNode().bound(to: SurfSchema()).rows(in: database) == [1])
  }

  @Test("for chains of thousands of comparisons", arguments: [101, 5_000])
  func longChain(_ count: Int) throws {
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    try SurfSchema.insert(["rating": .integer(Int64(count - 1))], into: database)
    let any = PredicateNode.or(
      (0..<count).map {
        .comparison(.init(left: .keyPath(["rating"]), operation: .equal, right: .constant(.integer(Int64($0)))))
      })
    #expect(try any.bound(to: SurfSchema()).rows(in: database) == [1])
    #expect(try PredicateNode.not(any).bound(to: SurfSchema()).rows(in: database) == [])
  }

  @Test("more values than SQLite takes in one statement are refused with advice")
  func tooManyValues() throws {
    let any = PredicateNode.or(
      (0..<40_000).map {
        .comparison(.init(left: .keyPath(["rating"]), operation: .equal, right: .constant(.integer(Int64($0)))))
      })
    let bound = try any.bound(to: SurfSchema())
    #expect { try bound.sql(columns: SurfSchema.column) } throws: {
      ($0 as NSError).code == 134180 && ($0 as NSError).localizedDescription.contains("by key IN a list")
    }
  }

  @Test("for the deepest nesting that parses, whichever side it is on", arguments: [true, false])
  func deepest(_ nestsRight: Bool) throws {
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    try SurfSchema.insert(["rating": .integer(1), "wind": .integer(2)], into: database)
    var format = "rating == 1"
    for level in 0..<PredicateParser.nestingMax {
      let (word, other) = level % 2 == 0 ? ("AND", "wind == 2") : ("OR", "wind == 3")
      format = nestsRight ? "\(other) \(word) (\(format))" : "(\(format)) \(word) \(other)"
    }
    let bound = try NSPredicate.parse(format: format).predicateNode().bound(to: SurfSchema())
    #expect(bound.root.depth >= PredicateParser.nestingMax)
    #expect(try bound.rows(in: database) == [1])
    let negation = try PredicateNode.not(PredicateParser.parse(format)).bound(to: SurfSchema())
    #expect(try negation.rows(in: database) == [])
  }

  @Test("a tree nested deeper than SQLite takes is refused with advice")
  func tooDeep() throws {
    let leaf = PredicateNode.comparison(
      .init(left: .keyPath(["rating"]), operation: .equal, right: .constant(.integer(1))))
    let deep = (0..<200).reduce(leaf) { node, level in
      level % 2 == 0 ? .and([leaf, node]) : .or([leaf, node])
    }
    let bound = try deep.bound(to: SurfSchema())
    #expect { try bound.sql(columns: SurfSchema.column) } throws: {
      ($0 as NSError).code == 134180 && ($0 as NSError).localizedDescription.contains("Reduce the nesting")
    }
  }
}
