import Foundation
import ModelTestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

/// Format string → tree (seen through its printed form) → SQL and bound values, pinned.
///
/// Source of the language: Predicate Format String Syntax (Predicate Programming Guide).
struct TranslationCase: Sendable, CustomTestStringConvertible {
  let format: String
  /// Nil where the format is its own description.
  let description: String?
  let sql: String
  let bindings: [StoredValue]

  init(_ format: String, _ description: String? = nil, sql: String, bindings: [StoredValue] = []) {
    self.format = format
    self.description = description
    self.sql = sql
    self.bindings = bindings
  }

  var testDescription: String { format }
}

@Suite("Predicate translation: each operator has one tree and one SQL text")
struct PredicateTranslationTests {
  /// The SQL of a predicate, whose printed form is checked on the way.
  private func sql(of test: TranslationCase) throws -> SQLFragment {
    let node = try PredicateParser.parse(test.format)
    #expect(node.formatDescription == test.description ?? test.format)
    #expect(try PredicateParser.parse(node.formatDescription) == node, "the printed form parses back")
    return try node.bound(to: SurfSchema()).sql(columns: SurfSchema.column)
  }

  static let comparisons: [TranslationCase] = [
    .init("rating == 3", sql: "t0.ZRATING = ?", bindings: [.integer(3)]),
    .init("rating = 3", "rating == 3", sql: "t0.ZRATING = ?", bindings: [.integer(3)]),
    .init("rating != 3", sql: "(t0.ZRATING <> ? OR t0.ZRATING IS NULL)", bindings: [.integer(3)]),
    .init("rating <> 3", "rating != 3", sql: "(t0.ZRATING <> ? OR t0.ZRATING IS NULL)", bindings: [.integer(3)]),
    .init("rating < 3", sql: "t0.ZRATING < ?", bindings: [.integer(3)]),
    .init("rating <= 3", sql: "t0.ZRATING <= ?", bindings: [.integer(3)]),
    .init("rating =< 3", "rating <= 3", sql: "t0.ZRATING <= ?", bindings: [.integer(3)]),
    .init("rating > 3", sql: "t0.ZRATING > ?", bindings: [.integer(3)]),
    .init("rating >= 3", sql: "t0.ZRATING >= ?", bindings: [.integer(3)]),
    .init("rating => 3", "rating >= 3", sql: "t0.ZRATING >= ?", bindings: [.integer(3)]),
    .init("rating>=-3", "rating >= -3", sql: "t0.ZRATING >= ?", bindings: [.integer(-3)]),
    .init("3 < rating", sql: "t0.ZRATING > ?", bindings: [.integer(3)]),
    .init("3 == rating", sql: "t0.ZRATING = ?", bindings: [.integer(3)]),
    .init("(3) < (rating)", "3 < rating", sql: "t0.ZRATING > ?", bindings: [.integer(3)]),
    .init("rating == wind", sql: "t0.ZRATING IS t0.ZWIND"),
    .init("rating != height", sql: "t0.ZRATING IS NOT t0.ZHEIGHT"),
    .init("rating < height", sql: "t0.ZRATING < t0.ZHEIGHT"),
    .init("rating == nil", sql: "t0.ZRATING IS NULL"),
    .init("nil != rating", sql: "t0.ZRATING IS NOT NULL"),
    .init("rating < NULL", "rating < nil", sql: "0"),
    .init("3 < 4", sql: "1"),
    .init("'a' == 'b'", "\"a\" == \"b\"", sql: "0"),
    .init("nil == nil", sql: "1"),
    .init("rating == 3.0", sql: "t0.ZRATING = ?", bindings: [.integer(3)]),
    .init("rating > 2.5", sql: "t0.ZRATING > ?", bindings: [.real(2.5)]),
    .init("rating == '3'", "rating == \"3\"", sql: "t0.ZRATING = ?", bindings: [.integer(3)]),
    .init("height == 3", sql: "t0.ZHEIGHT = ?", bindings: [.real(3)]),
    .init("height == .5", "height == 0.5", sql: "t0.ZHEIGHT = ?", bindings: [.real(0.5)]),
    .init("height == 1e-3", "height == 0.001", sql: "t0.ZHEIGHT = ?", bindings: [.real(0.001)]),
    .init("rating == 0x1F", "rating == 31", sql: "t0.ZRATING = ?", bindings: [.integer(31)]),
    .init(
      "rating == -9223372036854775808", sql: "t0.ZRATING = ?", bindings: [.integer(.min)]),
    .init("price == 0.1", sql: "t0.ZPRICE = ?", bindings: [.real(0.1)]),
    .init("isClean == YES", sql: "t0.ZISCLEAN = ?", bindings: [.integer(1)]),
    .init("isClean == FALSE", "isClean == NO", sql: "t0.ZISCLEAN = ?", bindings: [.integer(0)]),
    .init(
      "date > '2001-01-02'", "date > \"2001-01-02\"", sql: "t0.ZDATE > ?", bindings: [.real(86400)]),
    .init(
      "date > '2001-01-01T01:00:00.5+01:00'", "date > \"2001-01-01T01:00:00.5+01:00\"",
      sql: "t0.ZDATE > ?", bindings: [.real(0.5)]),
    .init(
      "date == CAST(3.5, 'NSDate')", "date == CAST(3.5, \"NSDate\")", sql: "t0.ZDATE = ?", bindings: [.real(3.5)]),
    .init(
      "uid == '00000000-0000-0000-0000-00000000002A'", "uid == \"00000000-0000-0000-0000-00000000002A\"",
      sql: "t0.ZUID = ?", bindings: [.blob(Data([UInt8](repeating: 0, count: 15) + [42]))]),
    .init("link == 'http://a/b'", "link == \"http://a/b\"", sql: "t0.ZLINK = ?", bindings: [.text("http://a/b")]),
    .init("#name == 'x'", "name == \"x\"", sql: "t0.ZNAME = ?", bindings: [.text("x")]),
    .init("SELF.name == 'x'", "name == \"x\"", sql: "t0.ZNAME = ?", bindings: [.text("x")]),
  ]

  @Test(arguments: comparisons) func comparison(_ test: TranslationCase) throws {
    #expect(try sql(of: test) == SQLFragment(test.sql, test.bindings))
  }

  static let texts: [TranslationCase] = [
    .init(
      "name ==[c] 'PIPE'", "name ==[c] \"PIPE\"",
      sql: "OCD_STRING_COMPARE(0, 5, t0.ZNAME, ?)", bindings: [.text("pipe")]),
    .init(
      "name !=[cd] 'Pípe'", "name !=[cd] \"Pípe\"",
      sql: "(OCD_STRING_COMPARE(0, 7, t0.ZNAME, ?)) IS NOT TRUE", bindings: [.text("pipe")]),
    .init("name <[c] 'P'", "name <[c] \"P\"", sql: "OCD_STRING_COMPARE(1, 5, t0.ZNAME, ?)", bindings: [.text("p")]),
    .init("'P' <[c] name", "\"P\" <[c] name", sql: "OCD_STRING_COMPARE(3, 5, t0.ZNAME, ?)", bindings: [.text("p")]),
    .init(
      "name ==[c] location",
      sql: "OCD_STRING_COMPARE(0, 1, t0.ZNAME, t0.ZLOCATION) OR (t0.ZNAME IS NULL AND t0.ZLOCATION IS NULL)"),
    .init("name CONTAINS 'pipe'", "name CONTAINS \"pipe\"", sql: "instr(t0.ZNAME, ?) > 0", bindings: [.text("pipe")]),
    .init(
      "name contains[CD] 'Pïpe'", "name CONTAINS[cd] \"Pïpe\"",
      sql: "OCD_STRING_COMPARE(5, 7, t0.ZNAME, ?)", bindings: [.text("pipe")]),
    .init(
      "name CONTAINS [dc] 'P'", "name CONTAINS[cd] \"P\"",
      sql: "OCD_STRING_COMPARE(5, 7, t0.ZNAME, ?)", bindings: [.text("p")]),
    .init("name CONTAINS location", sql: "OCD_STRING_COMPARE(5, 0, t0.ZNAME, t0.ZLOCATION)"),
    .init(
      "'a pipe' CONTAINS name", "\"a pipe\" CONTAINS name",
      sql: "OCD_STRING_COMPARE(5, 0, ?, t0.ZNAME)", bindings: [.text("a pipe")]),
    .init(
      "name IN 'a pipe'", "name IN \"a pipe\"",
      sql: "OCD_STRING_COMPARE(5, 0, ?, t0.ZNAME)", bindings: [.text("a pipe")]),
    .init("'pipe' IN name", "\"pipe\" IN name", sql: "instr(t0.ZNAME, ?) > 0", bindings: [.text("pipe")]),
    .init("name CONTAINS ''", "name CONTAINS \"\"", sql: "0"),
    .init("name CONTAINS nil", sql: "0"),
    .init(
      "name BEGINSWITH 'Pi'", "name BEGINSWITH \"Pi\"",
      sql: "(t0.ZNAME >= ? AND t0.ZNAME < ?)", bindings: [.text("Pi"), .text("Pj")]),
    .init(
      "name BEGINSWITH '\u{10FFFF}'", "name BEGINSWITH \"\u{10FFFF}\"",
      sql: "OCD_STRING_COMPARE(6, 0, t0.ZNAME, ?)", bindings: [.text("\u{10FFFF}")]),
    .init(
      "name BEGINSWITH 'a\u{10FFFF}'", "name BEGINSWITH \"a\u{10FFFF}\"",
      sql: "(t0.ZNAME >= ? AND t0.ZNAME < ?)", bindings: [.text("a\u{10FFFF}"), .text("b")]),
    .init(
      "name BEGINSWITH '\u{D7FF}'", "name BEGINSWITH \"\u{D7FF}\"",
      sql: "(t0.ZNAME >= ? AND t0.ZNAME < ?)", bindings: [.text("\u{D7FF}"), .text("\u{E000}")]),
    .init(
      "name ENDSWITH 'é'", "name ENDSWITH \"é\"",
      sql: "substr(CAST(t0.ZNAME AS BLOB), ?) = ?", bindings: [.integer(-2), .blob(Data([0xC3, 0xA9]))]),
    .init(
      "name LIKE 'P*e?'", "name LIKE \"P*e?\"",
      sql: "OCD_STRING_COMPARE(8, 0, t0.ZNAME, ?)", bindings: [.text("P*e?")]),
    .init(
      "name LIKE[c] 'P*'", "name LIKE[c] \"P*\"", sql: "OCD_STRING_COMPARE(8, 5, t0.ZNAME, ?)", bindings: [.text("p*")]),
    .init(
      "name MATCHES[c] '[A-Z]+\\\\d'", "name MATCHES[c] \"[A-Z]+\\\\d\"",
      sql: "OCD_STRING_COMPARE(9, 1, t0.ZNAME, ?)", bindings: [.text("[A-Z]+\\d")]),
    .init("rating ==[c] 3", sql: "t0.ZRATING = ?", bindings: [.integer(3)]),
    .init(
      "name == \"it's \\\"so\\\" \\\\ \\u00e9\\n\"", "name == \"it's \\\"so\\\" \\\\ é\\n\"",
      sql: "t0.ZNAME = ?", bindings: [.text("it's \"so\" \\ é\n")]),
    .init("name == '100%'", "name == \"100%\"", sql: "t0.ZNAME = ?", bindings: [.text("100%")]),
    .init("name == '%@ $x'", "name == \"%@ $x\"", sql: "t0.ZNAME = ?", bindings: [.text("%@ $x")]),
    .init("name == '\\ud83c\\udf0a'", "name == \"🌊\"", sql: "t0.ZNAME = ?", bindings: [.text("🌊")]),
  ]

  @Test(arguments: texts) func text(_ test: TranslationCase) throws {
    #expect(try sql(of: test) == SQLFragment(test.sql, test.bindings))
  }

  static let compounds: [TranslationCase] = [
    .init("TRUEPREDICATE", sql: "1"),
    .init("falsepredicate", "FALSEPREDICATE", sql: "0"),
    .init("rating == 1 AND wind == 2", sql: "t0.ZRATING = ? AND t0.ZWIND = ?", bindings: [.integer(1), .integer(2)]),
    .init(
      "rating == 1 && wind == 2 and height == 3", "rating == 1 AND wind == 2 AND height == 3",
      sql: "t0.ZRATING = ? AND t0.ZWIND = ? AND t0.ZHEIGHT = ?", bindings: [.integer(1), .integer(2), .real(3)]),
    .init(
      "rating == 1 OR wind == 2 AND wind == 3", "rating == 1 OR (wind == 2 AND wind == 3)",
      sql: "t0.ZRATING = ? OR (t0.ZWIND = ? AND t0.ZWIND = ?)", bindings: [.integer(1), .integer(2), .integer(3)]),
    .init(
      "(rating == 1 || wind == 2) AND wind == 3", "(rating == 1 OR wind == 2) AND wind == 3",
      sql: "(t0.ZRATING = ? OR t0.ZWIND = ?) AND t0.ZWIND = ?", bindings: [.integer(1), .integer(2), .integer(3)]),
    .init(
      "NOT rating < 1 AND wind == 2", sql: "(t0.ZRATING < ?) IS NOT TRUE AND t0.ZWIND = ?",
      bindings: [.integer(1), .integer(2)]),
    .init(
      "! (rating == 1 OR wind == 2)", "NOT (rating == 1 OR wind == 2)",
      sql: "(t0.ZRATING = ? OR t0.ZWIND = ?) IS NOT TRUE", bindings: [.integer(1), .integer(2)]),
    .init("NOT rating == 1", sql: "(t0.ZRATING <> ? OR t0.ZRATING IS NULL)", bindings: [.integer(1)]),
    .init("NOT NOT rating == 1", sql: "t0.ZRATING = ?", bindings: [.integer(1)]),
    .init("((((rating == 1))))", "rating == 1", sql: "t0.ZRATING = ?", bindings: [.integer(1)]),
    .init("rating == 1 AND TRUEPREDICATE", sql: "t0.ZRATING = ?", bindings: [.integer(1)]),
    .init("rating == 1 AND 1 == 2", sql: "0"),
    .init("rating BETWEEN {1, 3}", sql: "t0.ZRATING >= ? AND t0.ZRATING <= ?", bindings: [.integer(1), .integer(3)]),
    .init("rating BETWEEN {wind, 3}", sql: "t0.ZRATING >= t0.ZWIND AND t0.ZRATING <= ?", bindings: [.integer(3)]),
    .init(
      "NOT 2 BETWEEN {rating, wind}", sql: "(t0.ZRATING <= ? AND t0.ZWIND >= ?) IS NOT TRUE",
      bindings: [.integer(2), .integer(2)]),
    .init("rating IN {1, 2, 1, 2.0}", sql: "t0.ZRATING IN (?, ?)", bindings: [.integer(1), .integer(2)]),
    .init("rating IN {}", sql: "0"),
    .init("rating IN nil", sql: "0"),
    .init("NOT (rating IN {1})", "NOT rating IN {1}", sql: "(t0.ZRATING IN (?)) IS NOT TRUE", bindings: [.integer(1)]),
    .init("rating IN {1, nil}", sql: "t0.ZRATING IN (?) OR t0.ZRATING IS NULL", bindings: [.integer(1)]),
    .init("rating IN {1, wind}", sql: "t0.ZRATING IN (?) OR t0.ZRATING IS t0.ZWIND", bindings: [.integer(1)]),
    .init("3 IN {rating, wind}", sql: "t0.ZRATING = ? OR t0.ZWIND = ?", bindings: [.integer(3), .integer(3)]),
    .init("{1, 2} CONTAINS rating", sql: "t0.ZRATING IN (?, ?)", bindings: [.integer(1), .integer(2)]),
    .init(
      "name IN[c] {'A', 'a', 'B'}", "name IN[c] {\"A\", \"a\", \"B\"}",
      sql: "OCD_STRING_FOLD(1, t0.ZNAME) IN (?, ?)", bindings: [.text("a"), .text("b")]),
  ]

  @Test(arguments: compounds) func compound(_ test: TranslationCase) throws {
    #expect(try sql(of: test) == SQLFragment(test.sql, test.bindings))
  }

  static let expressions: [TranslationCase] = [
    .init("rating + 1 == 2", sql: "t0.ZRATING + ? = ?", bindings: [.integer(1), .integer(2)]),
    .init("rating-1 == 2", "rating - 1 == 2", sql: "t0.ZRATING - ? = ?", bindings: [.integer(1), .integer(2)]),
    .init(
      "1 + rating * 2 > wind", "1 + (rating * 2) > wind", sql: "? + (t0.ZRATING * ?) > t0.ZWIND",
      bindings: [.integer(1), .integer(2)]),
    .init(
      "(rating + wind) * 2 > 3", sql: "(t0.ZRATING + t0.ZWIND) * ? > ?", bindings: [.integer(2), .integer(3)]),
    .init(
      "rating - wind - 2 > 3", "rating - wind - 2 > 3", sql: "t0.ZRATING - t0.ZWIND - ? > ?",
      bindings: [.integer(2), .integer(3)]),
    .init("-rating < 0", "0 - rating < 0", sql: "? - t0.ZRATING < ?", bindings: [.integer(0), .integer(0)]),
    .init("price / 2 > 1", sql: "CAST(t0.ZPRICE AS REAL) / ? > ?", bindings: [.integer(2), .real(1)]),
    .init("height / 2 > 1", sql: "t0.ZHEIGHT / ? > ?", bindings: [.integer(2), .real(1)]),
    .init("until - date > 60", sql: "CAST(t0.ZUNTIL AS REAL) - CAST(t0.ZDATE AS REAL) > ?", bindings: [.real(60)]),
    .init("1 + 2 == rating", sql: "t0.ZRATING = ?", bindings: [.integer(3)]),
    .init("abs(rating) > 3", sql: "OCD_ABSOLUTE(t0.ZRATING) > ?", bindings: [.integer(3)]),
    .init("abs:(rating) > 3", "abs(rating) > 3", sql: "OCD_ABSOLUTE(t0.ZRATING) > ?", bindings: [.integer(3)]),
    .init(
      "modulus:by:(rating, 3) == 1", sql: "OCD_MODULUS(t0.ZRATING, ?) = ?", bindings: [.integer(3), .integer(1)]),
    .init("rating ** 2 > 3", sql: "OCD_POWER(t0.ZRATING, ?) > ?", bindings: [.integer(2), .real(3)]),
    .init("length(name) == 3", sql: "OCD_LENGTH(t0.ZNAME) = ?", bindings: [.integer(3)]),
    .init(
      "lowercase(name) == 'a'", "lowercase(name) == \"a\"", sql: "OCD_LOWERCASE(t0.ZNAME) = ?", bindings: [.text("a")]),
    .init(
      "max(rating, wind) == 3", sql: "OCD_LIST_MAXIMUM(t0.ZRATING, t0.ZWIND) = ?", bindings: [.integer(3)]),
    .init(
      "max({rating, height}) == 3", sql: "OCD_LIST_MAXIMUM(CAST(t0.ZRATING AS REAL), t0.ZHEIGHT) = ?",
      bindings: [.real(3)]),
    .init(
      "TERNARY(rating > 3, 'good', name) == 'good'", "TERNARY(rating > 3, \"good\", name) == \"good\"",
      sql: "CASE WHEN t0.ZRATING > ? THEN ? ELSE t0.ZNAME END = ?",
      bindings: [.integer(3), .text("good"), .text("good")]),
    .init(
      "CAST(date, 'NSNumber') > 3", "CAST(date, \"NSNumber\") > 3", sql: "CAST(t0.ZDATE AS REAL) > ?",
      bindings: [.real(3)]),
    .init("rating == {4, 5}[FIRST]", sql: "t0.ZRATING = ?", bindings: [.integer(4)]),
    .init("rating == {4, 5}[1] + {4, 5}[SIZE]", sql: "t0.ZRATING = ?", bindings: [.integer(7)]),
    .init(
      "rating BETWEEN {wind - 1, wind + 1}",
      sql: "t0.ZRATING >= t0.ZWIND - ? AND t0.ZRATING <= t0.ZWIND + ?", bindings: [.integer(1), .integer(1)]),
    .init(
      "rating + 1 IN {2, wind * 2}", sql: "t0.ZRATING + ? IN (?) OR t0.ZRATING + ? IS t0.ZWIND * ?",
      bindings: [.integer(1), .integer(2), .integer(1), .integer(2)]),
    .init("noindex(rating) == 3", sql: "t0.ZRATING = ?", bindings: [.integer(3)]),
    .init("name ==[cn] 'A'", "name ==[cn] \"A\"", sql: "t0.ZNAME = ?", bindings: [.text("A")]),
  ]

  @Test(arguments: expressions) func expression(_ test: TranslationCase) throws {
    #expect(try sql(of: test) == SQLFragment(test.sql, test.bindings))
  }

  @Test("a prefix search and a short or long list use the column's index")
  func indexes() throws {
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    try database.run(SQLFragment("CREATE INDEX byName ON ZSURF (ZNAME)"))
    let names = (0..<2000).map { "spot \($0)" }
    for predicate in [
      NSPredicate(format: "name BEGINSWITH 'Pi'"), NSPredicate(format: "name == 'Pi'"),
      NSPredicate(format: "name IN {'a', 'b'}"), NSPredicate(format: "name IN %@", names),
      NSPredicate(format: "name == nil"), NSPredicate(format: "name == 'a' OR name == 'b'"),
    ] {
      let sql = try predicate.predicateNode().bound(to: SurfSchema()).sql(columns: SurfSchema.column)
      let plan = try database.run(
        SQLFragment("EXPLAIN QUERY PLAN SELECT Z_PK FROM ZSURF t0 WHERE ") + sql)
      #expect(
        "\(plan)".contains("SEARCH t0 USING COVERING INDEX byName"),
        "\(predicate.formatDescription.prefix(60))")
    }
  }
}
