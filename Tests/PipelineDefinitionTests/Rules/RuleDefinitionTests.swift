import DefinitionTestSupport
import Foundation
import Testing

@testable import PipelineDefinition

/// Transforms, constraints and rules for records are read as they are written, and written as they are read.
@Suite struct RuleDefinitionTests {
  private func read(_ columns: String, recordRules: String = "[]") throws -> PipelineDefinition {
    try PipelineDefinition(
      data: Data(#"{"name": "n", "columns": \#(columns), "recordRules": \#(recordRules)}"#.utf8), environment: .journal
    )
  }

  private static let columns = """
    [{ "name": "height", "transforms": ["trim", "collapse", "upper", "lower", { "transform": "title" },
        { "transform": "map", "values": { "n/a": "", "CSt": "C Street" }, "ignoreCase": true },
        { "transform": "default", "value": "Flat" },
        { "transform": "replace", "matches": "a(b)", "with": "$1" },
        { "transform": "replace", "matches": "x", "with": "" },
        { "transform": "convert", "from": "ft", "to": "m" },
        { "transform": "convert", "from": "kt", "to": "km/h", "digits": 1, "unitShown": true, "strict": true }] },
      { "name": "wind", "value": "offshore" },
      { "name": "location", "rules": ["unique", { "rule": "notOneOf", "values": ["?"], "severity": "warning" },
        { "rule": "format", "kind": "email" }] },
      "rating", "period", "date"]
    """

  private static let columnsInCode = [
    ColumnDefinition(
      "height",
      transforms: [
        .trim, .collapse, .upper, .lower, .title, .map(["n/a": "", "CSt": "C Street"], ignoreCase: true),
        .fallback("Flat"), .replace(matches: "a(b)", with: "$1"), .replace(matches: "x", with: ""),
        .convert(UnitConversion(from: .feet, to: .meters)),
        .convert(UnitConversion(from: .knots, to: .kilometersPerHour, digits: 1, unitShown: true, strict: true)),
      ]),
    ColumnDefinition("wind", value: "offshore"),
    ColumnDefinition(
      "location",
      rules: [ValueRule(.unique), ValueRule(.notOneOf(["?"]), severity: .warning), ValueRule(.format(.email))]),
    ColumnDefinition("rating"), ColumnDefinition("period"), ColumnDefinition("date"),
  ]

  private static let recordRules = """
    [{ "rule": "compare", "left": "height", "operator": "<=", "right": "period", "as": "number" },
      { "rule": "compare", "left": "height", "operator": "!=", "right": "wind", "emptyFails": true,
        "name": "wind is no height", "message": "swap them", "severity": "warning" },
      { "rule": "anyOf", "columns": ["height", "period"] },
      { "rule": "when", "if": { "column": "rating", ">=": 4, "<": 6 },
        "then": [{ "column": "wind", "isNotEmpty": true }, { "column": "height", "isNot": "Flat" }] },
      { "rule": "when", "if": { "any": [{ "column": "wind", "oneOf": ["onshore", "none"] },
          { "not": { "all": [{ "column": "date", ">": "2020-01-01" }, { "column": "wind", "isEmpty": true }] } }] },
        "then": { "column": "height", "<=": { "column": "period" }, "as": "number" } }]
    """

  private static let recordRulesInCode = [
    RecordRule(.compare(ColumnComparison("height", .atMost, to: "period", asNumbers: true))),
    RecordRule(
      .compare(ColumnComparison("height", .notEqual, to: "wind", emptyFails: true)), name: "wind is no height",
      message: "swap them", severity: .warning),
    RecordRule(.anyOf(["height", "period"])),
    RecordRule(
      .when(
        .column(
          ColumnCondition(
            "rating", [.compare(.less, .constant(.number(6))), .compare(.atLeast, .constant(.number(4)))])),
        then: [
          .column(ColumnCondition("wind", [.isEmpty(false)])),
          .column(ColumnCondition("height", [.compare(.notEqual, .constant(.text("Flat")))])),
        ])),
    RecordRule(
      .when(
        .any([
          .column(ColumnCondition("wind", [.oneOf([.text("onshore"), .text("none")])])),
          .not(
            .all([
              .column(ColumnCondition("date", [.compare(.greater, .constant(.text("2020-01-01")))])),
              .column(ColumnCondition("wind", [.isEmpty(true)])),
            ])),
        ]),
        then: [.column(ColumnCondition("height", [.compare(.atMost, .column("period"))], asNumbers: true))])),
  ]

  @Test func `Everything is read, and an encoded definition is read back as it was`() throws {
    let definition = try read(Self.columns, recordRules: Self.recordRules)
    #expect(definition.columns == Self.columnsInCode)
    #expect(definition.recordRules == Self.recordRulesInCode)
    let data = try JSONEncoder().encode(definition)
    #expect(try PipelineDefinition(data: data, environment: .journal) == definition)
    for transform in definition.columns[0].transforms {
      #expect(try JSONDecoder().decode(ValueTransform.self, from: JSONEncoder().encode(transform)) == transform)
    }
    for rule in definition.recordRules {
      #expect(try JSONDecoder().decode(RecordRule.self, from: JSONEncoder().encode(rule)) == rule)
    }
  }

  static let constraints: [(json: String, rules: [ValueRule])] = [
    (#"{"minimum": 1, "maximum": 5}"#, [ValueRule(.range(min: 1, max: 5))]),
    (#"{"minimum": 1}"#, [ValueRule(.range(min: 1, max: nil))]),
    (#"{"maximum": 5, "severity": "warning"}"#, [ValueRule(.range(min: nil, max: 5), severity: .warning)]),
    (#"{"minimum": "1900-01-01"}"#, [ValueRule(.notBefore("1900-01-01"))]),
    (#"{"maximum": "2100-01-01"}"#, [ValueRule(.notAfter("2100-01-01"))]),
    (#"{"minLength": 2, "maxLength": 9}"#, [ValueRule(.length(min: 2, max: 9))]),
    (#"{"enum": ["a", "b"]}"#, [ValueRule(.oneOf(["a", "b"]))]),
    (#"{"pattern": "a+"}"#, [ValueRule(.pattern("a+"))]),
    (#"{"required": true}"#, [ValueRule(.required)]),
    (#"{"required": false}"#, []),
    (#"{"unique": true}"#, [ValueRule(.unique)]),
  ]

  @Test(arguments: constraints)
  func `Constraints of Table Schema are rules`(json: String, rules: [ValueRule]) throws {
    #expect(try read(#"[{"name": "c", "rules": [\#(json)]}]"#).columns[0].rules == rules)
  }

  static let mistakes: [(columns: String, recordRules: String, paths: [String], words: String)] = [
    (
      #"[{"name": "c", "transforms": ["trimm"]}]"#, "[]", ["columns[0].transforms[0]"], "did you mean 'trim'?"
    ),
    (#"[{"name": "c", "transforms": [7]}]"#, "[]", ["columns[0].transforms[0]"], "found a number"),
    (
      #"[{"name": "c", "transforms": ["map", "default", "replace", "convert"]}]"#, "[]",
      [
        "columns[0].transforms[0].values", "columns[0].transforms[1].value", "columns[0].transforms[2].matches",
        "columns[0].transforms[3].from",
      ], "is missing; the transform needs it"
    ),
    (
      #"[{"name": "c", "transforms": [{"transform": "map", "values": {"a": 1}}]}]"#, "[]",
      ["columns[0].transforms[0].values.a"], "expected a text in quotes, found a number"
    ),
    (
      #"[{"name": "c", "transforms": [{"transform": "convert", "from": "ft", "to": "furlong"}]}]"#, "[]",
      ["columns[0].transforms[0].to"], "'furlong' is none of 'ft', 'm'"
    ),
    (
      #"[{"name": "c", "value": "x", "required": true, "synonyms": ["d"], "transforms": ["trim"]}]"#, "[]",
      ["columns[0].required", "columns[0].synonyms", "columns[0].transforms"], "has no effect together with 'value'"
    ),
    (
      #"[{"name": "c", "rules": [{"minimum": 1, "maxLength": 2}]}]"#, "[]", ["columns[0].rules[0]"],
      "'minimum', 'maxLength' are several rules"
    ),
    (
      #"[{"name": "c", "rules": [{"minimum": 5, "maximum": 1}]}]"#, "[]", ["columns[0].rules[0].minimum"],
      "is greater than 'maximum'"
    ),
    (
      #"[{"name": "c", "rules": [{"rule": "format", "kind": "url"}]}]"#, "[]", ["columns[0].rules[0].kind"],
      "did you mean 'uri'?"
    ),
    (
      #"["c"]"#, #"["compare", {}, {"rule": "comprae"}]"#,
      ["recordRules[0]", "recordRules[1]", "recordRules[2]"], "r"
    ),
    (
      #"["c"]"#, #"[{"rule": "compare", "left": "c", "operator": "=<", "right": "c"}]"#, ["recordRules[0].operator"],
      "'=<' is none of"
    ),
    (
      #"["c"]"#, #"[{"rule": "when", "if": {"column": "c"}, "then": []}]"#,
      ["recordRules[0].if.column", "recordRules[0].then"], "; "
    ),
    (
      #"["c"]"#, #"[{"rule": "when", "if": {"column": "c", "any": []}, "then": {"column": "c", "is": null}}]"#,
      ["recordRules[0].if", "recordRules[0].then.is"], ";"
    ),
    (#"["c"]"#, #"[{"rule": "anyOf", "columns": []}]"#, ["recordRules[0].columns"], "name the columns"),
  ]

  @Test(arguments: mistakes)
  func `Mistakes are named with their key paths`(
    columns: String, recordRules: String, paths: [String], words: String
  ) {
    let error = #expect(throws: PipelineError.self) { try read(columns, recordRules: recordRules) }
    #expect(Set(error?.mistakes.map(\.path) ?? []) == Set(paths), "\(error?.mistakes ?? [])")
    #expect(
      error?.mistakes.allSatisfy { $0.message.contains(words) && $0.line == 1 } == true, "\(error?.mistakes ?? [])")
  }

  @Test func `What does not fit the columns is found before the run, all at once`() throws {
    let rules = """
      [{ "rule": "compare", "left": "hight", "operator": "<", "right": "date" },
       { "rule": "compare", "left": "height", "operator": "<", "right": "rating" },
       { "rule": "compare", "left": "date", "operator": "<", "right": "rating" },
       { "rule": "compare", "left": "isGood", "operator": "<", "right": "isGood" },
       { "rule": "when", "if": { "all": [{ "column": "rating", ">": "4" }, { "column": "date", "is": "soon" }] },
         "then": [{ "column": "height", "<": 3 }, { "not": { "column": "date", "is": "2020-01-01", "as": "number" } }] },
       { "rule": "anyOf", "columns": ["height", "tide"] }]
      """
    let definition = try read(#"["height", "rating", "date", "isGood"]"#, recordRules: rules)
    let types: [String: ColumnType] = ["height": .text, "rating": .integer16, "date": .date, "isGood": .boolean]
    let error = #expect(throws: PipelineError.self) { try ColumnSet(definition, types: types) }
    #expect(
      error?.mistakes.map { "\($0.path): \($0.message)" } == [
        "recordRules[0].left: no column 'hight' is declared; declare it, or name a declared one; did you mean 'height'?",
        "recordRules[1]: 'height' is a text and 'rating' is a whole number; add \"as\": \"number\" if the texts are "
          + "numbers",
        "recordRules[2]: 'date' is a date and 'rating' is a whole number; compare columns of one type",
        "recordRules[3].operator: 'isGood' is true or false, which have no order; use = or !=",
        "recordRules[4].if.all[0].>: expected a number, because 'rating' is compared with it",
        "recordRules[4].if.all[1].is: 'soon' is not an ISO 8601 date; write it like 1900-01-01",
        "recordRules[4].then[0].<: expected a text in quotes (or, for texts that are numbers, add \"as\": \"number\"), "
          + "because 'height' is compared with it",
        "recordRules[4].then[1].not.as: 'date' is a date, which is not read as a number; remove it",
        "recordRules[5].columns[1]: no column 'tide' is declared; declare it, or name a declared one",
      ])
  }
}
