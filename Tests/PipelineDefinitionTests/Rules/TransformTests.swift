import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// What each transform makes of a text.
@Suite struct TransformTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let transforms: [ValueTransform]
    let text: String
    let result: String
    var testDescription: String { "\(transforms.map(\.name)) '\(text)'" }

    init(_ transforms: ValueTransform..., text: String, result: String) {
      (self.transforms, self.text, self.result) = (transforms, text, result)
    }
  }

  private static let places = ["CSt": "C Street", "Überwasser": "Münster", "n/a": ""]

  static let cases = [
    Case(.trim, text: " \t C Street\r\n ", result: "C Street"),
    Case(.trim, text: "\u{A0}\u{2003}Zürs\u{3000}\u{85}", result: "Zürs"),
    Case(.trim, text: "\u{1680}\u{2028}a\u{202F}\u{205F}", result: "a"),
    Case(.trim, text: " \u{200B}a ", result: "\u{200B}a"),
    Case(.trim, text: "à", result: "à"),
    Case(.trim, text: " \u{3000} ", result: ""),
    Case(.collapse, text: "  C \t\n Street ", result: " C Street "),
    Case(.collapse, text: "a\u{A0}\u{2009}b\u{3000}c", result: "a b c"),
    Case(.upper, text: "c street 7 äß", result: "C STREET 7 ÄSS"),
    Case(.upper, text: "c street @[`{", result: "C STREET @[`{"),
    Case(.lower, text: "C STREET @[`{", result: "c street @[`{"),
    Case(.lower, text: "ÄÉΩ", result: "äéω"),
    Case(.title, text: "c STREET, o'NEILL's 2nd-bay", result: "C Street, O'neill's 2nd-Bay"),
    Case(.title, text: "ÉCOLE des ǆUNGLA", result: "École Des ǅungla"),
    Case(.title, text: "côte d’AZUR", result: "Côte D’azur"),
    Case(.map(places, ignoreCase: false), text: "CSt", result: "C Street"),
    Case(.map(places, ignoreCase: false), text: "cst", result: "cst"),
    Case(.map(places, ignoreCase: false), text: " CSt", result: " CSt"),
    Case(.map(places, ignoreCase: true), text: "cST", result: "C Street"),
    Case(.map(places, ignoreCase: true), text: "ÜBERWASSER", result: "Münster"),
    Case(.map(places, ignoreCase: true), text: "Ärger", result: "Ärger"),
    Case(.map(places, ignoreCase: false), .fallback("somewhere"), text: "n/a", result: "somewhere"),
    Case(.fallback("Malibu"), text: "", result: "Malibu"),
    Case(.fallback("Malibu"), text: " ", result: " "),
    Case(.trim, .fallback("Malibu"), text: " ", result: "Malibu"),
    Case(.replace(matches: "(\\d+) secs?", with: "$1s"), text: "12 sec, 13 secs", result: "12s, 13s"),
    Case(.replace(matches: "\\s*\\(.*\\)$", with: ""), text: "Rincon (Ventura)", result: "Rincon"),
    Case(.replace(matches: "é", with: "e"), text: "cafe\u{301} é", result: "cafe\u{301} e"),
    Case(
      .trim, .collapse, .title, .map(["C Street": "California Street"], ignoreCase: false), text: "  c   STREET ",
      result: "California Street"),
  ]

  static let documented = [
    (" 3-5FT ", "0.9-1.5m"), ("Knee high", "0.6m"), ("N/A", "unknown"), ("flat", "flat"),
  ]

  /// The example of the article "Rules and transforms".
  @Test(arguments: documented)
  func `Transforms work as documented`(text: String, result: String) throws {
    let transforms: [ValueTransform] = [
      .trim, .lower, .map(["n/a": "", "knee high": "2ft"], ignoreCase: false),
      .convert(UnitConversion(from: .feet, to: .meters, digits: 1, unitShown: true)), .fallback("unknown"),
    ]
    #expect(try Self.transformed(text, transforms) == result)
  }

  private static func transformed(_ text: String, _ transforms: [ValueTransform]) throws -> String? {
    let parser = try FieldParser(ColumnDefinition("c", transforms: transforms), type: .text, now: 0)
    var (bytes, spare, faults) = (Array(text.utf8), [UInt8](), [FieldFault]())
    _ = parser.parse(transforming: &bytes, spare: &spare, faults: &faults)
    return faults.isEmpty ? String(decoding: bytes, as: UTF8.self) : nil
  }

  @Test(arguments: cases)
  func `Transforms work in order on the text`(of test: Case) throws {
    let result = try Self.transformed(test.text, test.transforms)
    // Texts of other bytes may be equal as Strings.
    #expect(result.map { Array($0.utf8) } == Array(test.result.utf8), "\(result ?? "refused")")
  }

  /// Patterns with templates of every form.
  static let replacements: [(pattern: String, template: String)] = [
    ("b", "$0$0"), ("(a)(b)?", "<$2$1>"), ("a", "$"), ("a", "$$"), ("a", "$x"), ("a", "\\$0"), ("a", "\\\\$0"),
    ("a", "x\\"), ("a", "$1"), ("a", "$9"), ("(a)", "$10"), ("(a)", "$1$1é😀"), ("^", "$0>"), ("$", "<"),
    ("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", "$10$1"), ("(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", "$1$100"),
    ("(a)(b)(c)(d)(e)(f)(g)(h)(i)", "$10"), ("(?=(b.*))", "[$1]"), ("[^a]", "$0 "), ("é|😀", "$0$0"), ("x*", "y"),
  ]

  @Test(arguments: replacements)
  func `A template means what it does to Foundation`(_ pattern: String, _ template: String) throws {
    let expression = try NSRegularExpression(pattern: pattern)
    for text in ["abcdefghij", "banana", "é😀a", "aaaa", "\u{1F469}\u{200D}\u{1F52C}b", "x"] {
      let expected = expression.stringByReplacingMatches(
        in: text, range: NSRange(location: 0, length: text.utf16.count), withTemplate: template)
      let result = try Self.transformed(text, [.replace(matches: pattern, with: template)])
      #expect(result.map { Array($0.utf8) } == Array(expected.utf8), "\(text): \(result ?? "refused")")
    }
  }

  static let quantities: [(conversion: UnitConversion, text: String, result: String?)] = [
    (UnitConversion(from: .feet, to: .meters), "3", "0.91"),
    (UnitConversion(from: .feet, to: .meters), "3-5ft", "0.91-1.52"),
    (UnitConversion(from: .feet, to: .meters), " 3.5 – 5 feet ", "1.07-1.52"),
    (UnitConversion(from: .feet, to: .meters), "3ft-5ft", "0.91-1.52"),
    (UnitConversion(from: .feet, to: .meters, unitShown: true), "6'", "1.83m"),
    (UnitConversion(from: .feet, to: .meters), "6′", "1.83"),
    (UnitConversion(from: .feet, to: .meters), "-0.5 FT", "-0.15"),
    (UnitConversion(from: .feet, to: .meters), "-0.001", "0"),
    (UnitConversion(from: .feet, to: .meters), "1.800 m", "1.800"),
    (UnitConversion(from: .feet, to: .meters, unitShown: true), "1.8 meters", "1.8m"),
    (UnitConversion(from: .feet, to: .meters, digits: 0), "5", "2"),
    (UnitConversion(from: .meters, to: .feet, digits: 1), "1.5", "4.9"),
    (UnitConversion(from: .meters, to: .feet), "0.3048", "1"),
    (UnitConversion(from: .meters, to: .feet, digits: 9), "1", "3.280839895"),
    (UnitConversion(from: .knots, to: .kilometersPerHour), "10-15kts", "18.52-27.78"),
    (UnitConversion(from: .knots, to: .kilometersPerHour, digits: 0), "10 knots", "19"),
    (UnitConversion(from: .knots, to: .kilometersPerHour), "10 mph", "16.09"),
    (UnitConversion(from: .knots, to: .kilometersPerHour), "5 m/s", "18"),
    (UnitConversion(from: .knots, to: .kilometersPerHour, unitShown: true), "20 km/h", "20km/h"),
    (UnitConversion(from: .milesPerHour, to: .metersPerSecond, digits: 4), "1", "0.447"),
    // Half of the last digit goes away from zero, exactly.
    (UnitConversion(from: .metersPerSecond, to: .kilometersPerHour, digits: 1), "0.125", "0.5"),
    (UnitConversion(from: .metersPerSecond, to: .kilometersPerHour, digits: 0), "0.125", "0"),
    (UnitConversion(from: .metersPerSecond, to: .kilometersPerHour, digits: 0), "1.25", "5"),
    (UnitConversion(from: .feet, to: .meters), "Flat", "Flat"),
    (UnitConversion(from: .feet, to: .meters), "6'2", "6'2"),
    (UnitConversion(from: .feet, to: .meters), "3 miles", "3 miles"),
    (UnitConversion(from: .feet, to: .meters), "3 kt", "3 kt"),
    (UnitConversion(from: .feet, to: .meters), "3ft-1m", "3ft-1m"),
    (UnitConversion(from: .feet, to: .meters), "3ft-5", "3ft-5"),
    (UnitConversion(from: .feet, to: .meters), "3.", "3."),
    (UnitConversion(from: .feet, to: .meters), "99999999999999999999", "99999999999999999999"),
    (UnitConversion(from: .feet, to: .meters), "", ""),
    (UnitConversion(from: .feet, to: .meters, strict: true), "", ""),
    (UnitConversion(from: .feet, to: .meters, strict: true), "Flat", nil),
    (UnitConversion(from: .feet, to: .meters, strict: true), "3 ft", "0.91"),
  ]

  @Test(arguments: quantities)
  func `Quantities are converted, other texts stay or are refused`(
    conversion: UnitConversion, text: String, result: String?
  ) throws {
    #expect(try Self.transformed(text, [.convert(conversion)]) == result)
  }

  @Test(.seeded) func `Conversions agree with exact fractions in Python`() throws {
    var random = Randomness.generator()
    let conversions = [
      UnitConversion(from: .feet, to: .meters, digits: 3), UnitConversion(from: .meters, to: .feet, digits: 0),
      UnitConversion(from: .knots, to: .kilometersPerHour, digits: 1),
      UnitConversion(from: .milesPerHour, to: .knots, digits: 9),
      UnitConversion(from: .kilometersPerHour, to: .metersPerSecond, digits: 2),
    ]
    var lines: [String] = []
    var ours: [String] = []
    for index in 0..<TestLength.rounds(2000, long: 50_000) {
      let conversion = conversions[index % conversions.count]
      let fraction = String(Int.random(in: 0...9_999_999, using: &random)).prefix(index % 8)
      let whole = Int.random(in: 0...[9, 99, 99_999_999][index % 3], using: &random)
      let text = "\(whole)\(fraction.isEmpty ? "" : ".")\(fraction)"
      lines.append("\(text) \(conversion.from.rawValue) \(conversion.to.rawValue) \(conversion.digits)")
      ours.append(try Self.transformed(text, [.convert(conversion)]) ?? "refused")
    }
    let theirs = try pythonLines(
      """
      import sys
      from fractions import Fraction as F
      size = {"ft": F("0.3048"), "m": F(1), "kt": F(1852, 3600), "km/h": F(1000, 3600), "mph": F("0.44704"), "m/s": F(1)}
      for line in sys.stdin:
          text, source, target, digits = line.split()
          scale = 10 ** int(digits)
          value = int(F(text) * size[source] / size[target] * scale + F(1, 2))
          whole, rest = divmod(value, scale)
          print(f"{whole}." .rstrip(".") if rest == 0 else f"{whole}." + str(rest).zfill(int(digits)).rstrip("0"))
      """, lines)
    for (line, (our, their)) in zip(lines, zip(ours, theirs)) { #expect(our == their, "\(line)") }
  }

  @Test func `A refused text is an issue with the raw value`() throws {
    let strict = UnitConversion(from: .feet, to: .meters, strict: true)
    let parser = try FieldParser(
      ColumnDefinition("height", transforms: [.lower, .convert(strict)]), type: .text, now: 0)
    var (bytes, spare, faults) = (Array("FLAT".utf8), [UInt8](), [FieldFault]())
    #expect(parser.parse(transforming: &bytes, spare: &spare, faults: &faults) == nil)
    let position = RecordPosition(input: "log.csv", record: 3, line: 4, byte: 90)
    let raw = Array("FLAT".utf8)
    let issue = parser.issue(for: try #require(faults.first), bytes: raw.span, at: position, field: 2)
    #expect(
      issue
        == RecordIssue(
          .typeError, at: position, field: 2, column: "height", value: "FLAT",
          message: "is not a quantity that can be converted to m; write a number or a range such as 3-5, alone or "
            + "followed by ft or m"))
  }

  static let misfits: [(column: ColumnDefinition, type: ColumnType, mistake: String)] = [
    (
      ColumnDefinition("c", transforms: [.trim, .convert(UnitConversion(from: .feet, to: .knots))]), .text,
      "column.transforms[1]: 'ft' and 'kt' are a length and a speed, which can't be converted into each other; correct one"
    ),
    (
      ColumnDefinition("c", transforms: [.replace(matches: "(", with: "")]), .text,
      "column.transforms[0].matches: '(' is not a valid ICU regular expression; check its brackets"
    ),
    (
      ColumnDefinition("c", transforms: [.map(["a": "1", "A": "2"], ignoreCase: true)]), .text,
      "column.transforms[0].values.a: differs from another key in letter case only; remove one of the two"
    ),
    (
      ColumnDefinition("c", transforms: [.fallback("six")]), .integer16,
      "column.transforms: 'six' is not a whole number; write digits only, or leave the field empty"
    ),
    (
      ColumnDefinition("c", value: "9", rules: [ValueRule(.range(min: 1, max: 5))]), .integer16,
      "column.value: '9' must be 1 to 5, or leave the field empty"
    ),
  ]

  @Test(arguments: misfits)
  func `What can't work is a mistake of the pipeline`(
    column: ColumnDefinition, type: ColumnType, mistake: String
  ) {
    let error = #expect(throws: PipelineError.self) { try FieldParser(column, type: type, now: 0) }
    #expect(error?.mistakes.map { "\($0.path): \($0.message)" } == [mistake])
  }
}
