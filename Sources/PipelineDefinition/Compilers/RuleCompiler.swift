import Foundation

/// Makes a column's rules ready for its type and gathers those that do not fit it.
struct RuleCompiler {
  let type: ColumnType
  /// Seconds since 2001-01-01 UTC.
  let now: Double
  private(set) var quickChecks: [QuickCheck] = []
  private(set) var textChecks: [TextCheck] = []
  private(set) var required: (rule: Int, severity: Severity)?
  private(set) var mistakes: [PipelineError.Mistake] = []

  /// The earth's earliest clocks are 14 hours ahead of UTC.
  private static let secondsAheadMax = 14 * 3600.0

  init(type: ColumnType, now: Double) {
    self.type = type
    self.now = now
  }

  mutating func formats(
    _ definition: ColumnDefinition, named patterns: [String: String], path: String
  ) -> [DateFormat] {
    guard type == .date else {
      if !definition.formats.isEmpty, !type.isBinary {
        refuse(
          "\(path).formats", "formats are for dates and binary data, and this column is \(type.noun); remove them")
      }
      return []
    }
    if definition.formats.isEmpty { return [.iso8601] }
    var formats: [DateFormat] = []
    for (index, text) in definition.formats.enumerated() {
      do {
        formats.append(try DateFormat(text, named: patterns))
      } catch {
        refuse("\(path).formats[\(index)]", error.message)
      }
    }
    return formats
  }

  /// How the text stands for bytes; of no meaning for a column of another type.
  mutating func binaryFormat(_ definition: ColumnDefinition, path: String) -> BinaryFormat {
    guard type.isBinary, !definition.formats.isEmpty else { return .base64 }
    do {
      return try BinaryFormat(only: definition.formats)
    } catch {
      refuse(definition.formats.count > 1 ? "\(path).formats" : "\(path).formats[0]", error.message)
      return .base64
    }
  }

  mutating func transformer(_ definition: ColumnDefinition, path: String) -> FieldTransformer? {
    do {
      return try FieldTransformer(definition.transforms, path: "\(path).transforms")
    } catch {
      mistakes += error.mistakes
      return nil
    }
  }

  mutating func add(_ rule: ValueRule, index: Int, path: String) {
    switch rule.kind {
    case .required:
      required = (index, rule.severity)
    case .notBefore(let text):
      guard let date = date(text, rule, path) else { return }
      quick(.within(date, .infinity), rule, index)
    case .notAfter(let text):
      guard let date = date(text, rule, path) else { return }
      quick(.within(-.infinity, date), rule, index)
    case .notInFuture:
      guard fits(rule, type == .date, "dates", path) else { return }
      quick(.notAfterNow(now, latestDay: now + Self.secondsAheadMax), rule, index)
    case .range(let min, let max):
      guard fits(rule, type.isNumber, "numbers", path) else { return }
      quick(.within(min ?? -.infinity, max ?? .infinity), rule, index)
    case .length(let min, let max):
      guard fits(rule, type == .text || type == .uri, "texts", path) else { return }
      quick(.length(min ?? 0, max ?? .max), rule, index)
    case .oneOf(let values):
      text(.oneOf(values.map { Array($0.utf8) }), rule, index)
    case .notOneOf(let values):
      text(.noneOf(values.map { Array($0.utf8) }), rule, index)
    case .format(let format):
      guard fits(rule, type == .text || type == .uri, "texts", path) else { return }
      text(.format(format), rule, index)
    case .unique:
      // Of no single field: whoever knows the other records and the store checks it.
      break
    case .pattern(let pattern):
      do {
        // The group keeps an alternation together within the anchors.
        let whole = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
        text(.expression(whole), rule, index)
      } catch {
        refuse("\(path).matches", "'\(pattern)' is no regular expression that ICU reads; check its brackets")
      }
    case .quantity(let quantity):
      guard fits(rule, type == .text, "texts", path) else { return }
      text(.quantity(QuantityPattern(quantity)), rule, index)
    }
  }

  private mutating func date(_ text: String, _ rule: ValueRule, _ path: String) -> Double? {
    guard fits(rule, type == .date, "dates", path) else { return nil }
    if let date = DateFormat.iso8601.seconds(Array(text.utf8).span) { return date }
    refuse("\(path).date", "'\(text)' is no ISO 8601 date; write it like 1900-01-01")
    return nil
  }

  private mutating func fits(_ rule: ValueRule, _ fits: Bool, _ subject: String, _ path: String) -> Bool {
    if !fits { refuse(path, "the rule '\(rule.name)' is for \(subject), and this column is \(type.noun); remove it") }
    return fits
  }

  private mutating func quick(_ test: QuickCheck.Test, _ rule: ValueRule, _ index: Int) {
    quickChecks.append(QuickCheck(test: test, rule: index, severity: rule.severity))
  }

  private mutating func text(_ test: TextCheck.Test, _ rule: ValueRule, _ index: Int) {
    textChecks.append(TextCheck(test: test, rule: index, severity: rule.severity))
  }

  private mutating func refuse(_ path: String, _ message: String) {
    mistakes.append(PipelineError.Mistake(path: path, message: message))
  }
}
