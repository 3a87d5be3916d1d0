import Foundation
import Testing

@testable import ManagedObjectModel

struct SyntaxErrorCase: Sendable, CustomTestStringConvertible {
  let format: String
  /// Counted from 1.
  let position: Int
  let reason: String

  init(_ format: String, at position: Int, _ reason: String) {
    self.format = format
    self.position = position
    self.reason = reason
  }

  var testDescription: String { format.isEmpty ? "(empty)" : format }
}

@Suite("Predicate syntax errors: each names the character, what was expected, and unsupported words")
struct PredicateSyntaxErrorTests {
  static let cases: [SyntaxErrorCase] = [
    .init("", at: 1, "expected a key or a value, found the end of the text."),
    .init(
      "rating", at: 7,
      "expected a comparison operator such as ==, <, IN or CONTAINS, found the end of the text."),
    .init("rating >=", at: 10, "expected a key or a value, found the end of the text."),
    .init(
      "rating >= AND wind == 1", at: 11,
      "expected a key or a value, found 'AND'; a key of that name is written #AND."),
    .init("rating == 1 wind == 2", at: 13, "expected AND, OR or the end of the text, found 'wind'."),
    .init("(rating == 1", at: 13, "expected ')', found the end of the text."),
    .init("rating == 1)", at: 12, "expected AND, OR or the end of the text, found ')'."),
    .init("rating IN (1, 2)", at: 13, "expected ')'; a list is written in braces: {1, 2}, found ','."),
    .init("rating IN {1, 2", at: 16, "expected '}', found the end of the text."),
    .init("rating NOT IN {1}", at: 8, "'NOT' belongs before the whole comparison: NOT (key IN {1, 2})."),
    .init("name == 'pipe", at: 9, "the text that starts here has no closing '."),
    .init("name == 'a\\d'", at: 11, "'\\d' is not an escape sequence; write '\\\\' for a backslash."),
    .init("name == '\\u12'", at: 10, "expected 4 hexadecimal digits in this escape."),
    .init("name == '\\ud800'", at: 10, "a first half of a surrogate pair needs its second half."),
    .init("name == '\\udc00'", at: 10, "this escape does not stand for a character."),
    .init("height == 3ft", at: 11, "'3ft' is not a number; text is written in quotes."),
    .init("height == 1e999", at: 11, "'1e999' is too large for a number."),
    .init("rating == 0xZZ", at: 11, "'0xZZ' is not a whole number of base 16."),
    .init("name CONTAINS[x] 'a'", at: 15, "the option 'x' is not supported; use c, d, cd, n or l."),
    .init(
      "name CONTAINS[cw] 'a'", at: 15,
      "the option 'w' belongs to Spotlight's queries, not to predicates; write a word as MATCHES '(?s).*\\\\bword\\\\b.*'."
    ),
    .init("name CONTAINS[] 'a'", at: 15, "expected c, d, cd, n or l, found ']'."),
    .init("name CONTAINS[c 'a'", at: 17, "expected ']', found ''a''."),
    .init("ANY == 'a'", at: 5, "expected a key or a value, found '=='."),
    .init(
      "ANY tags.name", at: 14,
      "expected a comparison operator such as ==, <, IN or CONTAINS, found the end of the text."),
    .init(
      "rating == all", at: 11, "expected a key or a value, found 'all'; a key of that name is written #all."),
    .init("SUBQUERY(a, x, $x.b == 1).@count > 0", at: 13, "expected a variable such as $x, found 'x'."),
    .init("SUBQUERY(a, $x).@count > 0", at: 15, "expected ',', found ')'."),
    .init(
      "SUBQUERY(a, $x, $x.b).@count > 0", at: 21,
      "expected a comparison operator such as ==, <, IN or CONTAINS, found ')'."),
    .init(
      "tags.@cnt > 0", at: 6,
      "'@cnt' is not a collection operator; use @count, @sum, @min, @max, @avg, @unionOfObjects, @distinctUnionOfObjects."
    ),
    .init("total(a) == 1", at: 1, "'total' is not a function of predicates."),
    .init("abs(a, b) == 1", at: 1, "abs: takes 1 argument, found 2."),
    .init("modulus:by:(a) == 1", at: 1, "modulus:by: takes 2 arguments, found 1."),
    .init("sum() == 1", at: 1, "sum: takes arguments, found 0."),
    .init("rating + == 2", at: 10, "expected a key or a value, found '=='."),
    .init("2 ** 3 ** 2 == 2", at: 8, "a ** b ** c can be read in two ways; write (a ** b) ** c or a ** (b ** c)."),
    .init("a[0 == 2", at: 5, "expected ']', found '=='."),
    .init("TERNARY(a, 1, 2) == 2", at: 10, "expected a comparison operator such as ==, <, IN or CONTAINS, found ','."),
    .init("FUNCTION(a) == 2", at: 1, "FUNCTION needs a target and the name of a method in quotes."),
    .init(
      "FUNCTION(a, 'fly') == 2", at: 1,
      "the method 'fly' cannot be called; use dateByAddingTimeInterval:, length, lowercaseString, "
        + "timeIntervalSinceDate:, uppercaseString, or a function such as abs()."),
    .init("$x. == 2", at: 5, "expected a key after '.', found '=='."),
    .init(
      "CAST('1', 'Number') == 2", at: 1,
      "CAST needs a value and one of the types \"NSNumber\", \"NSDecimalNumber\", \"NSString\", \"NSDate\"."),
    .init("a. == 2", at: 4, "expected a key after '.', found '=='."),
    .init("a == $", at: 7, "expected a variable's name after '$'."),
    .init("a == #", at: 7, "expected a key after '#'."),
    .init("a == ~", at: 6, "'~' has no meaning here; text is written in quotes."),
    .init("a == -", at: 7, "expected a key or a value, found the end of the text."),
    .init(
      "1", at: 2, "expected a comparison operator such as ==, <, IN or CONTAINS, found the end of the text."),
    .init(
      "(a) AND b == 1", at: 5,
      "expected a comparison operator such as ==, <, IN or CONTAINS, found 'AND'."),
    .init("a == %@", at: 6, "%@ needs argument 1, but there are only 0."),
    .init("a == %", at: 6, "expected a conversion such as %@, %K, %d or %f after '%'."),
    .init(
      "a == %s", at: 6,
      "the conversion '%s' is not supported; use %@, %K, %d, %i, %u, %f or their long forms."),
    .init("a == %%", at: 6, "'%%' is a percent sign, which has no meaning outside of quotes."),
  ]

  @Test(arguments: cases) func syntaxError(_ test: SyntaxErrorCase) {
    #expect {
      try NSPredicate.parse(format: test.format)
    } throws: { error in
      let error = error as NSError
      #expect(
        error.localizedDescription
          == "Unable to parse the format string \"\(test.format)\" at character \(test.position): \(test.reason)"
      )
      return error.domain == NSCocoaErrorDomain && error.code == 2048
        && error.userInfo["NSPredicateFormatPosition"] as? Int == test.position
    }
  }

  @Test(
    "a conversion refuses an argument of another kind, by number",
    arguments: [
      ("a == %d", "argument 1 is \"x\""), ("a == %f", "argument 1 is \"x\""),
      ("%K == 1 AND a == %ld", "argument 2 is 2.5"),
    ])
  func wrongArguments(_ format: String, _ expected: String) {
    let arguments: [Any?] = format.hasPrefix("%K") ? ["a", 2.5] : ["x"]
    #expect {
      try NSPredicate.parse(format: format, arguments: arguments)
    } throws: {
      ($0 as NSError).localizedDescription.contains(expected)
    }
  }

  /// A tree of more would be too deep to be walked.
  @Test(
    "a chain has at most 100 operators, and the longest one is printed as it is read",
    arguments: ["+ 1", "- rating", "* 2", "/ 3 * 1", "UNION {1}", "MINUS {1} INTERSECT {2}"])
  func chains(_ link: String) throws {
    let count = 100 / (link.split(separator: " ").count / 2)
    let longest =
      (link.contains("{") ? "rating IN {1}" : "rating > 1") + String(repeating: " " + link, count: count)
    let node = try NSPredicate.parse(format: longest).predicateNode()
    #expect(try NSPredicate.parse(format: node.formatDescription).predicateNode() == node)
    #expect {
      try NSPredicate.parse(format: longest + " " + link)
    } throws: {
      ($0 as NSError).localizedDescription.contains("more than 100 operators in a row")
    }
  }

  @Test("a %K that is not a key path is refused", arguments: ["", "a..b", ".a", "tags.@cnt"])
  func wrongKeyPath(_ path: String) {
    #expect(throws: NSError.self) { try NSPredicate.parse(format: "%K == 1", arguments: [path]) }
    #expect(throws: NSError.self) { try NSPredicate.parse(format: "%K == 1", arguments: [3]) }
  }

  @Test("init(format:) stops the program with the message of the error")
  func trap() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = NSPredicate(format: "rating >=")
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("Unable to parse the format string \"rating >=\" at character 10"))
  }

  @Test(
    "nesting beyond the limit is an error, not a stack overflow",
    arguments: [
      ("", "("), ("", "NOT "), ("", "!"), ("a IN ", "{"), ("a == ", "("), ("a == ", "-"), ("a == ", "abs("),
      ("a == ", "b["),
    ])
  func nesting(_ start: String, _ opening: String) {
    for count in [51, 10_000] {
      let format = start + String(repeating: opening, count: count) + "a == 1"
      #expect {
        try NSPredicate.parse(format: format)
      } throws: {
        ($0 as NSError).localizedDescription.contains("nested deeper than 50 levels")
      }
    }
  }
}
