import Foundation
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// What `check` says of transforms and rules.
@Suite struct RuleWordsTests {
  static let transforms: [(transform: ValueTransform, words: String)] = [
    (.trim, "trim"), (.title, "title"), (.map(["a": "b"], ignoreCase: true), "map of 1 text"),
    (.map(["a": "b", "c": ""], ignoreCase: false), "map of 2 texts"), (.fallback("Flat"), "default 'Flat'"),
    (.replace(matches: "a+", with: "b"), "replace a+ by 'b'"),
    (.convert(UnitConversion(from: .knots, to: .kilometersPerHour)), "convert kt to km/h"),
  ]

  @Test(arguments: transforms)
  func `A transform is a phrase`(transform: ValueTransform, words: String) {
    #expect(transform.words == words)
  }

  static let rules: [(rule: RecordRule, words: String)] = [
    (
      RecordRule(.compare(ColumnComparison("a", .less, to: "b", emptyFails: true))),
      "a must be < b, and neither empty; correct one of the two"
    ),
    (
      RecordRule(.anyOf(["a"]), name: "a is needed", severity: .warning),
      "a is needed: a must not be empty; fill it in (only a warning)"
    ),
    (
      RecordRule(
        .when(
          .all([
            .column(ColumnCondition("a", [.compare(.equal, .constant(.flag(true)))])),
            .any([
              .column(ColumnCondition("b", [.compare(.atLeast, .constant(.number(2.5)))])),
              .column(ColumnCondition("c", [.isEmpty(true)])),
            ]),
          ]),
          then: [
            .column(ColumnCondition("d", [.compare(.notEqual, .column("c"))])),
            .column(ColumnCondition("e", [.oneOf([.text("x"), .number(1)])])),
          ])),
      "where a = true and (b >= 2.5 or c is empty), this must hold: d != c and e is one of 'x', 1; correct the record"
    ),
  ]

  @Test(arguments: rules)
  func `A rule for records is a sentence`(rule: RecordRule, words: String) {
    #expect(rule.explanation == words)
  }
}
