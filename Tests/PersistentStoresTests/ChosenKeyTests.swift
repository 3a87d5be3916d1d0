import ManagedObjectModel
@testable import PersistentStores
import TestSupport
import Testing

// Rule: a statement over rows with given keys changes these and no others, whether SQLite looks them up one by one or
// scans their range.

@Suite("Rows with given keys are changed, and no others", .seeded)
struct ChosenKeyTests {
  /// Rows with these keys, and their versions.
  private struct Table {
    let connection: SQLiteConnection

    init(_ keys: some Sequence<Int64>) throws {
      connection = try SQLiteConnection(path: "", mode: .privateTemporary)
      try connection.execute("CREATE TABLE ZROW (Z_PK INTEGER PRIMARY KEY, Z_OPT INTEGER)")
      for key in keys { try connection.run("INSERT INTO ZROW VALUES (?, 1)", [.integer(key)]) }
    }

    var changed: [Int64] {
      get throws {
        try connection.rows("SELECT Z_PK FROM ZROW WHERE Z_OPT = 2 ORDER BY 1").compactMap {
          if case .integer(let key) = $0[0] { key } else { nil }
        }
      }
    }
  }

  @Test("whatever the distances of the keys", arguments: Randomness.seeds(20, long: 500))
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let rows = Set((0..<200).map { _ in Int64.random(in: -100...400, using: &random) })
    let table = try Table(rows.sorted())
    let width = Int64.random(in: 1...500, using: &random)
    let start = Int64.random(in: -100...300, using: &random)
    let keys = Set(
      (0..<Int.random(in: 1...120, using: &random)).map { _ in
        Int64.random(in: start...(start + width), using: &random)
      }
    ).sorted()
    let count = try table.connection.countVersions(of: keys[...], in: "ZROW")
    let expected = keys.filter(rows.contains)
    #expect(try table.changed == expected && count == expected.count, "seed \(seed)")
  }

  @Test("both ways are taken, and the ends of the range of numbers are keys as others")
  func ends() throws {
    #expect(ChosenKeys.areDense([1, 2, 3][...]) && ChosenKeys.areDense([7][...]) && !ChosenKeys.areDense([][...]))
    #expect(!ChosenKeys.areDense([1, 9][...]) && !ChosenKeys.areDense([.min, .max][...]))
    for keys in [[.max - 1, .max], [.min, .min + 1], [.min, .max], [-64, -1, 0, 63, 64]] as [[Int64]] {
      let table = try Table(keys + [5])
      #expect(try table.connection.countVersions(of: keys[...], in: "ZROW") == keys.count)
      #expect(try table.changed == keys)
    }
  }

  @Test("and only in the statement that they were given for")
  func once() throws {
    let table = try Table(1...10)
    #expect(try table.connection.countVersions(of: [2, 3][...], in: "ZROW") == 2)
    let chosen = "SELECT count(*) FROM ZROW WHERE \(ChosenKeys.function)(Z_PK)"
    #expect(try table.connection.integer(chosen) == 0)
  }
}
