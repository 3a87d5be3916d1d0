import Testing

@testable import PipelineDefinition

/// Sizes and times as logs have them.
@Suite struct QuantityPatternTests {
  static let heights = QuantityPattern(
    QuantityRule(units: ["ft", "m", "'", "Füße"], words: ["Flat", "Waist high"], min: 0, max: 100))

  static let heightCases: [(text: String, verdict: QuantityPattern.Verdict)] = [
    ("3.9", .valid), ("0", .valid), ("3-5ft", .valid), ("3 - 5 ft", .valid), ("3–5ft", .valid), ("3-5", .valid),
    ("1.8m", .valid),
    ("1.8 m", .valid), ("6'", .valid), ("12FT", .valid), ("Flat", .valid), ("flat", .valid), ("WAIST HIGH", .valid),
    ("4 füsse", .hasUnknownUnit), ("4 FÜßE", .valid), ("100", .valid), ("4-4", .valid),
    ("", .isNoQuantity), ("Flat!", .isNoQuantity), ("Shoulder high", .isNoQuantity), ("-3", .isNoQuantity),
    (".5", .isNoQuantity), ("3.", .isNoQuantity), ("ft", .isNoQuantity), ("3-", .hasUnknownUnit),
    ("3--5", .hasUnknownUnit),
    ("3-5-7", .hasUnknownUnit), ("3 feet", .hasUnknownUnit), ("3ft 2", .hasUnknownUnit), ("3  ft", .hasUnknownUnit),
    ("3,9", .hasUnknownUnit), ("5-3ft", .isRangeReversed), ("101", .isOutOfBounds), ("3-500ft", .isOutOfBounds),
    ("1e5", .hasUnknownUnit), ("9999999999999999999999", .isOutOfBounds),
  ]

  @Test(arguments: heightCases)
  func `A number, a range or a word, with a declared unit or none`(text: String, verdict: QuantityPattern.Verdict) {
    #expect(Self.heights.verdict(text: text) == verdict)
  }

  static let periodCases: [(text: String, verdict: QuantityPattern.Verdict)] = [
    ("12 sec", .valid), ("12s", .valid), ("12", .needsUnit), ("12-14s", .isRangeRefused),
    ("12 seconds", .hasUnknownUnit),
    ("4s", .isOutOfBounds),
  ]

  @Test(arguments: periodCases)
  func `A unit can be demanded and ranges forbidden`(text: String, verdict: QuantityPattern.Verdict) {
    let periods = QuantityPattern(QuantityRule(units: ["s", "sec"], unitRequired: true, ranges: false, min: 5))
    #expect(periods.verdict(text: text) == verdict)
  }

  static let explanations: [(rule: QuantityRule, text: String)] = [
    (QuantityRule(), "a number or a range such as 3-5"),
    (QuantityRule(ranges: false, min: 0.5), "a number from 0.5"),
    (QuantityRule(ranges: false, max: 60), "a number up to 60"),
    (
      QuantityRule(units: ["ft", "m"], words: ["Flat"], min: 0, max: 100),
      "a number or a range such as 3-5 from 0 to 100, alone or followed by one of: ft, m; or one of the words: Flat"
    ),
    (QuantityRule(units: ["s"], unitRequired: true, ranges: false), "a number, followed by one of: s"),
  ]

  @Test(arguments: explanations)
  func `The rule can be said in words`(rule: QuantityRule, text: String) {
    #expect(QuantityPattern(rule).explanation == text)
  }
}
