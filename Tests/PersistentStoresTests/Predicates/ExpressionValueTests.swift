import Foundation
import ModelTestSupport
import Testing

@testable import ManagedObjectModel
@testable import PersistentStores

// Rules: NSExpression, "init(forFunction:arguments:)"; SQLite, "Expressions" (whole numbers, overflow, division by 0).

@Suite("Expression values: what each function gives, in memory, in SQLite and for a single object")
struct ExpressionValueTests {
  private static let row: [String: StoredValue] = [
    "rating": .integer(5), "wind": .integer(-7), "height": .real(2.5), "price": .decimal(3), "isClean": .integer(1),
    "date": .real(3600), "until": .real(7200), "name": .text("Pípe"), "location": .text("ÀB 🌊"),
  ]
  private static var object: [String: Any] {
    [
      "rating": 5, "wind": -7, "height": 2.5, "price": NSDecimalNumber(value: 3), "isClean": true,
      "date": Date(timeIntervalSinceReferenceDate: 3600), "until": Date(timeIntervalSinceReferenceDate: 7200),
      "name": "Pípe", "location": "ÀB 🌊",
    ]
  }

  static let truths = [
    // Whole numbers stay whole, and a division drops the remainder.
    "7 / 2 == 3", "-7 / 2 == -3", "rating / 2 == 2", "wind / 2 == -3", "rating / 2.0 == 2.5", "price / 2 == 1.5",
    "height * 2 == 5", "rating / 0 == nil", "height / 0 == nil", "0 / 0.0 == nil", "isClean + 1 == 2",
    "9223372036854775807 + 1 == 9223372036854775808.0", "0 ** -1 == nil",
    "rating * 9223372036854775807 > 4e19", "1 + 2 * 3 == 7", "(1 + 2) * 3 == 9", "2 - 3 - 4 == -5", "8 / 4 / 2 == 1",
    "-rating == -5", "-2 ** 2 == -4", "2 ** -1 == 0.5", "rating ** 2 == 25", "4 - -2 == 6", "+rating == 5",
    "add:to:(rating, 1) == 6", "from:subtract:(rating, 1) == 4", "multiply:by:(rating, 2) == 10",
    "divide:by:(rating, 2) == 2", "raise:toPower:(2, 10) == 1024",
    "modulus:by:(rating, 3) == 2", "modulus:by:(wind, 3) == -1", "modulus:by:(7.5, 2) == 1.5",
    "modulus:by:(rating, 0) == nil",
    "abs(wind) == 7", "abs(-2.5) == 2.5", "ceiling(height) == 3", "floor(height) == 2", "trunc(-2.5) == -2",
    "ceiling(rating) == 5", "sqrt(25) == 5", "sqrt(wind) == nil", "ln(exp(0)) == 0", "log(1000) > 2.999",
    "log(1000) < 3.001", "ln(0) < -1e300", "bitwiseAnd:with:(6, 3) == 2", "bitwiseOr:with:(6, 3) == 7",
    "bitwiseXor:with:(6, 3) == 5", "leftshift:by:(rating, 2) == 20", "rightshift:by:(rating, 1) == 2",
    "onesComplement(rating) == -6",
    // Text.
    "lowercase(location) == 'àb 🌊'", "uppercase(name) == 'PÍPE'", "canonical(name) == 'pipe'", "length(name) == 4",
    "length(location) == 5", "length(name) > rating - 2", "lowercase(name) CONTAINS 'íp'", "uppercase(missing) == nil",
    "name.length == 4", "location.length == 5", "name.uppercaseString == 'PÍPE'",
    "name.lowercaseString CONTAINS 'íp' AND name.length * 2 == 8",
    // Lists (the numbers of NSExpression's usual example).
    "sum({1, 2, 3}) == 6", "sum(rating, wind, 2) == 0", "count({1, 2, 2}) == 3", "min(rating, wind) == -7",
    "max({rating, height, 3}) == 5", "average({1, 2, 3, 4, 4, 5, 9, 11}) == 4.875",
    "median({1, 2, 3, 4, 4, 5, 9, 11}) == 4", "median({3, 1, 2.5}) == 2.5",
    "mode({1, 2, 3, 4, 4, 5, 9, 11})[SIZE] == 1",
    "4 IN mode({1, 2, 3, 4, 4, 5, 9, 11})", "2 IN mode({1, 1, 2, 2, 3})", "stddev({1, 2, 3, 4, 4, 5, 9, 11}) > 3.2185",
    "stddev({1, 2, 3, 4, 4, 5, 9, 11}) < 3.2186", "sum({rating, missing}) == 5", "average({missing}) == nil",
    "max('a', name) == 'a'", "{1, 2, 3}[FIRST] == 1", "{1, 2, rating}[LAST] == 5", "{1, 2}[SIZE] == 2",
    "{1, 2}[1] == 2", "{1, 2}[7] == nil",
    // Dates.
    "until - date == 3600", "date + 3600 == until", "date - 3600 == CAST(0, 'NSDate')", "now() > date",
    "now() - now() == 0", "FUNCTION(date, 'dateByAddingTimeInterval:', 3600) == until",
    "FUNCTION(until, 'timeIntervalSinceDate:', date) == 3600", "FUNCTION(name, 'uppercaseString') == 'PÍPE'",
    // Types and conditions.
    "CAST(CAST(date, 'NSNumber') + 60, 'NSDate') == date + 60", "CAST('3.5', 'NSNumber') == 3.5",
    "CAST('3', 'NSNumber') / 2 == 1", "CAST(name, 'NSNumber') == nil", "CAST(rating, 'NSString') == '5'",
    "CAST(price, 'NSString') == '3'", "CAST(height, 'NSString') == '2.5'",
    "CAST('2001-01-01', 'NSDate') == date - 3600",
    "CAST(rating, 'NSDecimalNumber') / 2 == 2.5", "TERNARY(rating > 3, 'good', 'bad') == 'good'",
    "TERNARY(missing > 3, rating, wind) == -7", "TERNARY(isClean == YES, height, rating) / 2 == 1.25",
    "TERNARY(isClean == NO, height, rating) / 2 == 2.5", "TERNARY(rating == 5, date, until) == date",
    // Both sides, ranges and lists.
    "rating * 2 > wind + 16", "rating BETWEEN {wind, wind + 12}", "rating + 1 IN {price * 2, 0}",
    "rating - 3 IN {1, 2}", "NOT rating + 1 IN {1, 2}",
  ]

  @Test(arguments: truths) func truth(_ format: String) throws {
    let node = try PredicateParser.parse(format)
    let known = node.mapOperands { operand in
      if case .keyPath(["missing"]) = operand { .keyPath([format.contains("upper") ? "link" : "period"]) } else { nil }
    }
    let bound = try known.bound(to: SurfSchema())
    #expect(bound.matches { Self.row[$0.name] ?? .null }, "in memory")
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    try SurfSchema.insert(Self.row, into: database)
    #expect(try bound.rows(in: database) == [1], "in SQLite")
    #expect(try node.evaluated(on: Self.object), "for a single object")
    #expect(try PredicateParser.parse(node.formatDescription) == node)
  }

  @Test("random() and randomn() give numbers of their range, anew for each row")
  func random() throws {
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    for _ in 0..<200 { try SurfSchema.insert(["rating": .integer(10)], into: database) }
    func rows(_ format: String) throws -> Int {
      try PredicateParser.parse(format).bound(to: SurfSchema()).rows(in: database).count
    }
    #expect(try rows("random() >= 0 AND randomn(rating) BETWEEN {0, 9}") == 200)
    #expect((10...190).contains(try rows("randomn(100) < 50")))
    #expect(try PredicateParser.parse("randomn(10) < 10").evaluated(on: Self.object))
  }

  @Test(
    "what has no meaning is refused with its reason",
    arguments: [
      ("name + 1 == 2", "it can't be calculated of text and an integer"),
      ("date + date == date", "it can't be calculated of a date and a date"),
      ("date * 2 == date", "it can't be calculated of a date and an integer"),
      ("abs(name) == 2", "it takes numbers, and name is text"),
      ("lowercase(rating) == 'a'", "it takes text, and rating is an integer"),
      ("onesComplement(height) == 1", "it calculates with whole numbers, and height is a floating-point number"),
      ("abs({1, 2}) == 1", "it takes single values, not a list"),
      ("max(rating, name) == 1", "rating is an integer, but name is text"),
      ("mode({rating}) CONTAINS 3", "mode needs values; rating has another one for each object"),
      ("rating[FIRST] == 1", "a store has no SQL for an element at a position"),
      ("CAST(photo, 'NSNumber') == 1", "binary data can't be converted to NSNumber"),
      ("rating + 1 == 'x'", "is an integer, and \"x\" is not"),
    ])
  func refusals(_ format: String, _ reason: String) {
    #expect {
      try PredicateParser.parse(format).bound(to: SurfSchema())
    } throws: {
      ($0 as NSError).code == 134060 && ($0 as NSError).localizedDescription.contains(reason)
    }
  }

  @Test("calls and parentheses nest as deep as SQLite takes, and deeper ones are refused with advice")
  func depth() throws {
    let database = try PredicateDatabase()
    try SurfSchema.createTable(in: database)
    try SurfSchema.insert(["rating": .integer(1)], into: database)
    for (opening, closing) in [
      ("abs(", ")"), ("(1 * ", ")"), ("max(0, ", ")"), ("TERNARY(rating == 1, 1, ", ")"), ("(0 + ", ")"),
    ] {
      var deepest = 0
      for depth in 1...40 {
        let text = String(repeating: opening, count: depth) + "rating" + String(repeating: closing, count: depth)
        let bound = try PredicateParser.parse("NOT (1 == 2 OR (wind == 3 AND \(text) == 2))").bound(to: SurfSchema())
        do {
          #expect(try bound.rows(in: database) == [1])
          deepest = depth
        } catch let error as NSError where error.domain == NSCocoaErrorDomain {
          #expect(error.localizedDescription.contains("Reduce the nesting"))
          break
        }
      }
      #expect(deepest >= 10, "\(opening)")
    }
    let chain = "rating" + String(repeating: " + 1", count: 100)
    #expect(try PredicateParser.parse("\(chain) == 101").bound(to: SurfSchema()).rows(in: database) == [1])
    #expect(throws: PredicateSyntaxError.self) { try PredicateParser.parse("\(chain) + 1 == 102") }
  }
}
