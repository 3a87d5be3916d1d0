import DefinitionTestSupport
import Foundation
import Testing

@testable import PipelineDefinition

/// What each rule accepts, and in which words it refuses.
@Suite struct FieldRuleTests {
  /// Noon UTC, while it is tomorrow already in Kiritimati.
  static let now = DateFormat.iso8601.seconds(text: "2020-06-15T12:00:00Z") ?? 0

  private static func parser(_ type: ColumnType, _ column: ColumnDefinition) throws -> FieldParser {
    try FieldParser(
      column, type: type, now: now, dateFormats: DefinitionVocabulary.journal.dateFormats)
  }

  struct Good: CustomTestStringConvertible, Sendable {
    let type: ColumnType
    var rules: [ValueRule] = []
    var formats: [String] = []
    let text: String
    let value: FieldValue
    var testDescription: String { "\(rules.map(\.name)) \(type.noun) '\(text)'" }
  }

  static let good: [Good] = [
    Good(type: .text, text: "  C Street ", value: .text),
    Good(type: .text, text: "", value: .null),
    Good(type: .text, text: "  ", value: .text),
    Good(type: .integer16, text: "", value: .null),
    Good(type: .integer16, text: " \t", value: .null),
    Good(type: .integer16, text: " 5 ", value: .integer(5)),
    Good(type: .integer16, text: "-32768", value: .integer(-32768)),
    Good(type: .integer64, text: "9223372036854775807", value: .integer(.max)),
    Good(type: .real, text: "3.9", value: .real(3.9)),
    Good(type: .boolean, text: "Yes", value: .integer(1)),
    Good(type: .boolean, text: "FALSE", value: .integer(0)),
    Good(type: .date, text: " 2001-01-02 ", value: .real(86_400)),
    Good(type: .date, formats: ["d.M.yyyy", "journal-app"], text: "2.1.2001", value: .real(86_400)),
    Good(type: .date, formats: ["d.M.yyyy", "journal-app"], text: "1/2/01", value: .real(86_400)),
    Good(type: .date, rules: [ValueRule(.required)], text: "2001-01-01", value: .real(0)),
    Good(type: .date, rules: [ValueRule(.notBefore("1900-01-01"))], text: "1900-01-01", value: .real(-3_187_296_000)),
    Good(type: .date, rules: [ValueRule(.notBefore("1900-01-01"))], text: "", value: .null),
    Good(type: .date, rules: [ValueRule(.notAfter("2001-01-01"))], text: "2001-01-01", value: .real(0)),
    Good(type: .date, rules: [ValueRule(.notInFuture)], text: "2020-06-15T12:00:00Z", value: .real(now)),
    Good(type: .date, rules: [ValueRule(.notInFuture)], text: "2020-06-16", value: .real(now + 43_200)),
    Good(type: .integer16, rules: [ValueRule(.range(min: 1, max: 5))], text: "1", value: .integer(1)),
    Good(type: .integer16, rules: [ValueRule(.range(min: 1, max: 5))], text: "5", value: .integer(5)),
    Good(type: .integer16, rules: [ValueRule(.range(min: 1, max: 5))], text: "", value: .null),
    Good(type: .real, rules: [ValueRule(.range(min: nil, max: 5))], text: "-1e9", value: .real(-1e9)),
    Good(type: .text, rules: [ValueRule(.length(min: 2, max: 3))], text: "été", value: .text),
    Good(type: .text, rules: [ValueRule(.oneOf(["Malibu", "Rincon"]))], text: "Rincon", value: .text),
    Good(type: .integer16, rules: [ValueRule(.oneOf(["1", "2"]))], text: " 2 ", value: .integer(2)),
    Good(type: .text, rules: [ValueRule(.pattern("a|b+"))], text: "bbb", value: .text),
    Good(type: .text, rules: [ValueRule(.quantity(QuantityRule(units: ["ft"])))], text: " 3-5ft ", value: .text),
  ]

  @Test(arguments: good)
  func `A good field gives its value and no word`(of test: Good) throws {
    let column = ColumnDefinition("c", formats: test.formats, rules: test.rules)
    let (value, faults) = try Self.parser(test.type, column).parse(text: test.text)
    #expect(value == test.value)
    #expect(faults.isEmpty)
  }

  struct Bad: CustomTestStringConvertible, Sendable {
    let type: ColumnType
    var rules: [ValueRule] = []
    var formats: [String] = []
    let text: String
    var code = IssueCode.constraintError
    let message: String
    var testDescription: String { "\(rules.map(\.name)) \(type.noun) '\(text)'" }
  }

  static let mistyped: [Bad] = [
    Bad(
      type: .integer16, text: "six", code: .typeError,
      message: "is not a whole number; write digits only, or leave the field empty"),
    Bad(
      type: .integer16, text: "4.5", code: .typeError,
      message: "is not a whole number; write digits only, or leave the field empty"),
    Bad(
      type: .integer16, text: "32768", code: .typeError,
      message: "is outside -32768 to 32767, which the attribute can hold; correct it"),
    Bad(
      type: .real, text: "3.9ft", code: .typeError,
      message:
        "is not a number that the attribute can hold; write it like 3.9 with a point and no unit, or leave the field empty"
    ),
    Bad(
      type: .boolean, text: "maybe", code: .typeError,
      message: "is neither true nor false; write true or false, or leave the field empty"),
    Bad(
      type: .date, formats: ["iso8601", "journal-app"], text: "yesterday", code: .typeError,
      message: "is not a date in a declared format; write it as iso8601 (2014-07-14T07:30:00Z) or "
        + "journal-app (7/14/14), or add its format to the pipeline"),
    Bad(
      type: .date, formats: ["iso8601", "journal-app"], text: "2/30/14", code: .typeError,
      message: "the calendar has no such day or time; correct it"),
  ]

  static let ruled: [Bad] = [
    Bad(
      type: .date, rules: [ValueRule(.required)], text: " ",
      message: "is empty, and every record needs it; fill it in"),
    Bad(
      type: .text, rules: [ValueRule(.required)], text: "  ",
      message: "is empty, and every record needs it; fill it in"),
    Bad(
      type: .date, rules: [ValueRule(.notBefore("1900-01-01"))], text: "1899-12-31T23:59:59.999Z",
      message: "is before 1900-01-01; correct the date"),
    Bad(
      type: .date, rules: [ValueRule(.notAfter("2001-01-01"))], text: "2001-01-01T00:00:00.001Z",
      message: "is after 2001-01-01; correct the date"),
    Bad(
      type: .date, rules: [ValueRule(.notInFuture)], text: "2020-06-15T12:00:01Z",
      message: "lies in the future; correct the date, or check this machine's clock"),
    Bad(
      type: .date, rules: [ValueRule(.notInFuture)], text: "2020-06-17",
      message: "lies in the future; correct the date, or check this machine's clock"),
    Bad(
      type: .integer16, rules: [ValueRule(.range(min: 1, max: 5))], text: "6",
      message: "must be 1 to 5, or leave the field empty"),
    Bad(
      type: .integer16, rules: [ValueRule(.required), ValueRule(.range(min: 1, max: nil))], text: "0",
      message: "must be at least 1"),
    Bad(
      type: .real, rules: [ValueRule(.range(min: nil, max: 2.5))], text: "2.6",
      message: "must be at most 2.5, or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.length(min: nil, max: 2))], text: "été",
      message: "has 3 characters and must have at most 2"),
    Bad(
      type: .text, rules: [ValueRule(.length(min: 4, max: nil))], text: "été",
      message: "has 3 characters and must have at least 4"),
    Bad(
      type: .text, rules: [ValueRule(.oneOf(["Malibu", "Rincon"]))], text: "Malbu",
      message: "must be one of Malibu, Rincon, or leave the field empty; did you mean 'Malibu'?"),
    Bad(
      type: .text, rules: [ValueRule(.oneOf((1...11).map(String.init)))], text: "twelve",
      message: "must be one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …, or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.pattern("a|b"))], text: "ab",
      message: "must match the pattern a|b, or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.pattern("a"))], text: "a\n",
      message: "must match the pattern a, or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.quantity(QuantityRule(units: ["ft"], max: 9)))], text: "3 feet",
      message: "has an unknown unit; write a number or a range such as 3-5 up to 9, alone or followed by one of: ft, "
        + "or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.quantity(QuantityRule(max: 9)))], text: "10",
      message: "is out of bounds; write a number or a range such as 3-5 up to 9, or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.quantity(QuantityRule()))], text: "big",
      message: "is not a quantity of this form; write a number or a range such as 3-5, or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.quantity(QuantityRule()))], text: "5-3",
      message: "is a range whose high end comes first; write a number or a range such as 3-5, or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.quantity(QuantityRule(ranges: false)))], text: "3-5",
      message: "is a range; write a number, or leave the field empty"),
    Bad(
      type: .text, rules: [ValueRule(.quantity(QuantityRule(units: ["s"], unitRequired: true)))], text: "3",
      message: "has no unit; write a number or a range such as 3-5, followed by one of: s, or leave the field empty"),
  ]

  @Test(arguments: mistyped + ruled)
  func `A bad field gives no value and one issue that says what to do`(of test: Bad) throws {
    let column = ColumnDefinition("c", formats: test.formats, rules: test.rules)
    let parser = try Self.parser(test.type, column)
    #expect(parser.parse(text: test.text).value == nil)
    let position = RecordPosition(input: "log.csv", record: 3, line: 4, byte: 90)
    let shown = test.text.replacing("\n", with: "\\n")
    #expect(
      parser.issues(text: test.text) == [
        RecordIssue(test.code, at: position, field: 2, column: "c", value: shown, message: test.message)
      ])
  }

  @Test func `A warning is reported and the value kept`() throws {
    let rule = ValueRule(.range(min: 1, max: 5), severity: .warning)
    let parser = try Self.parser(.integer16, ColumnDefinition("rating", rules: [rule]))
    #expect(parser.parse(text: "6").value == .integer(6))
    #expect(parser.issues(text: "6").map(\.severity) == [.warning])
    let required = ValueRule(.required, severity: .warning)
    let soft = try Self.parser(.integer16, ColumnDefinition("rating", rules: [required]))
    #expect(soft.parse(text: "").value == .null)
    #expect(soft.issues(text: "").map(\.severity) == [.warning])
  }

  @Test func `The first error decides, warnings before it are reported`() throws {
    let rules = [
      ValueRule(.length(min: nil, max: 1), severity: .warning), ValueRule(.length(min: nil, max: 2)),
      ValueRule(.length(min: nil, max: 3)),
    ]
    let parser = try Self.parser(.text, ColumnDefinition("wind", rules: rules))
    #expect(parser.parse(text: "offshore").faults.map(\.rule) == [0, 1])
  }

  static let misfits: [(type: ColumnType, column: ColumnDefinition, path: String, message: String)] = [
    (
      .text, ColumnDefinition("c", rules: [ValueRule(.notInFuture)]), "columns[2].rules[0]",
      "the rule 'notInFuture' is for dates, and this column is a text; remove it"
    ),
    (
      .date, ColumnDefinition("c", rules: [ValueRule(.range(min: 1, max: 2))]), "columns[2].rules[0]",
      "the rule 'range' is for numbers, and this column is a date; remove it"
    ),
    (
      .integer16, ColumnDefinition("c", rules: [ValueRule(.length(min: 1, max: 2))]), "columns[2].rules[0]",
      "the rule 'length' is for texts, and this column is a whole number; remove it"
    ),
    (
      .real, ColumnDefinition("c", rules: [ValueRule(.quantity(QuantityRule()))]), "columns[2].rules[0]",
      "the rule 'quantity' is for texts, and this column is a number; remove it"
    ),
    (
      .boolean, ColumnDefinition("c", rules: [ValueRule(.notBefore("2001-01-01"))]), "columns[2].rules[0]",
      "the rule 'notBefore' is for dates, and this column is true or false; remove it"
    ),
    (
      .text, ColumnDefinition("c", formats: ["iso8601"]), "columns[2].formats",
      "formats are for dates and binary data, and this column is a text; remove them"
    ),
  ]

  @Test(arguments: misfits)
  func `A rule that does not fit the attribute's type is a mistake of the pipeline`(
    type: ColumnType, column: ColumnDefinition, path: String, message: String
  ) {
    let error = #expect(throws: PipelineError.self) {
      try FieldParser(column, type: type, now: Self.now, path: "columns[2]")
    }
    #expect(error?.mistakes == [PipelineError.Mistake(path: path, message: message)])
  }

  @Test func `Columns of attributes that the entity lacks are named all at once, with the nearest attribute`() {
    let definition = PipelineDefinition(
      name: "n", columns: ["date", "ratign", "tide"].map { ColumnDefinition($0) }, vocabulary: .journal)
    let error = #expect(throws: PipelineError.self) {
      try ColumnSet(definition, types: ["date": .date, "rating": .integer16])
    }
    #expect(
      error?.mistakes.map(\.description) == [
        "columns[1]: JournalEntry has no attribute 'ratign' that a column can fill; it has 'date', 'rating'; "
          + "did you mean 'rating'?",
        "columns[2]: JournalEntry has no attribute 'tide' that a column can fill; it has 'date', 'rating'",
      ])
  }
}

extension PipelineError.Mistake {
  fileprivate var description: String { "\(path): \(message)" }
}
