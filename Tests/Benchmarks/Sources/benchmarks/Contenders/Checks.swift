import Foundation

/// Finds out whether a run did its work, by independent programs.
struct Checks {
  /// The checksum of the table as it must be.
  private let digest: String

  /// - Parameter store: A store whose export was compared with the input.
  init(store: String) throws {
    digest = try Self.digest(store)
  }

  /// That a store has the rows of the input.
  func store(_ path: String) throws {
    let found = try Self.digest(path)
    guard found == digest else { throw BenchmarkFailure("\(path) holds \(found); expected was \(digest)") }
  }

  /// That a table has so many rows.
  static func table(_ name: String, of path: String, has rows: Int) throws {
    let count = try Tool.run(["sqlite3", path, "SELECT count(*) FROM \(name)"])
    guard count == String(rows) else { throw BenchmarkFailure("\(path) holds \(count) rows instead of \(rows)") }
  }

  /// Which of several rows with the same date and place.
  enum Kept: String {
    case first = "min"
    case last = "max"
  }

  /// What the rows of stores hold, whatever their keys are.
  /// - Parameters:
  ///   - stores: Their rows count in this order.
  ///   - kept: What stays of rows with the same date and place; nil for all.
  static func content(of stores: [String], keeping kept: Kept?) throws -> String {
    let attached = stores.indices.map { "ATTACH '\(stores[$0])' AS s\($0)" }
    let rows = stores.indices.map { "SELECT \($0) * 1000000000 + Z_PK AS place, * FROM s\($0).ZJOURNALENTRY" }
      .joined(separator: " UNION ALL ")
    // The other columns are those of the row with the least or greatest place; NULL is like NULL here.
    let group = kept.map { "SELECT \($0.rawValue)(place), * FROM (\(rows)) GROUP BY ZDATE, ZLOCATION" } ?? rows
    let texts = ["HEIGHT", "LOCATION", "PERIOD", "WIND"]
      .map { "sum(length(Z\($0))), sum(ZDATE % 1009 * length(Z\($0)))" }.joined(separator: ", ")
    let sums = "SELECT count(*), sum(ZDATE), sum(ZRATING), sum(ZDATE % 1009 * ZRATING), \(texts) FROM (\(group))"
    return try Tool.run(["sqlite3", ":memory:"] + attached + [sums])
  }

  static func same(_ path: String, as other: String) throws {
    guard Tool.succeeds(["cmp", path, other]) else { throw BenchmarkFailure("\(path) differs from \(other)") }
  }

  static func text(of path: String, is expected: String) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard text == expected else { throw BenchmarkFailure("it printed '\(text)' instead of '\(expected)'") }
  }

  /// That a gzip file holds the bytes of another file.
  static func gzip(_ path: String, holds other: String) throws {
    guard Tool.succeeds(["sh", "-c", "gzip -dc \"$1\" | cmp - \"$2\"", "sh", path, other]) else {
      throw BenchmarkFailure("\(path) does not hold the bytes of \(other)")
    }
  }

  /// That a log has the size of another and its records in the order of their dates.
  static func sorted(_ path: String, from other: String) throws {
    let sizes = try Tool.run(["stat", "-c", "%s", path, other]).split(separator: "\n")
    // The dates come first, and all are written alike: the order of their bytes is that of time.
    let isSorted = Tool.succeeds(["sh", "-c", "tail -n +2 \"$1\" | LC_ALL=C sort -s -c -t , -k 1,1", "sh", path])
    guard sizes.count == 2, sizes[0] == sizes[1], isSorted else {
      throw BenchmarkFailure("\(path) is not \(other), sorted by date")
    }
  }

  /// Number of lines, which is all that can be said of files that other programs write in their own way.
  static func lines(of path: String, are count: Int) throws {
    let lines = try Tool.run(["sh", "-c", "wc -l < \"$1\"", "sh", path])
    guard lines == String(count) else { throw BenchmarkFailure("\(path) has \(lines) lines instead of \(count)") }
  }

  private static func digest(_ store: String) throws -> String {
    let lengths = ["HEIGHT", "LOCATION", "PERIOD", "WIND"].map { "sum(length(Z\($0)))" }.joined(separator: ", ")
    return try Tool.run([
      "sqlite3", "-readonly", store,
      "SELECT count(*), min(Z_PK), max(Z_PK), sum(ZDATE * (Z_PK % 97)), sum(ZRATING), \(lengths) FROM ZJOURNALENTRY",
    ])
  }
}
