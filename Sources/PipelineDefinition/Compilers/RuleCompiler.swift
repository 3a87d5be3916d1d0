import Foundation

/// Compiles a column's rules for its type and collects those that do not apply to it.
struct RuleCompiler {
  let type: ColumnType
  /// Seconds since 2001-01-01 UTC.
  let now: Double
  var numbers = NumberNotation.plain
  private(set) var quickChecks: [QuickCheck] = []
  private(set) var textChecks: [TextCheck] = []
  private(set) var required: (rule: Int, severity: Severity)?
  private(set) var mistakes: [PipelineError.Mistake] = []

  /// The earliest clocks on earth are 14 hours ahead of UTC.
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

  /// How the text represents bytes; meaningless for a column of another type.
  mutating func binaryFormat(_ definition: ColumnDefinition, path: String) -> BinaryFormat {
    guard type.isBinary, !definition.formats.isEmpty else { return .base64 }
    do {
      return try BinaryFormat(only: definition.formats)
    } catch {
      refuse(definition.formats.count > 1 ? "\(path).formats" : "\(path).formats[0]", error.message)
      return .base64
    }
  }

  mutating func transformer(_ definition: ColumnDefinition, path: String, bytesMax: Int) -> FieldTransformer? {
    do {
      return try FieldTransformer(
        definition.transforms, path: "\(path).transforms", decimal: numbers.decimal, bytesMax: bytesMax)
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
      guard let date = date(text, rule: rule, path: path) else { return }
      addQuickCheck(.within(date, .infinity), rule: rule, index: index)
    case .notAfter(let text):
      guard let date = date(text, rule: rule, path: path) else { return }
      addQuickCheck(.within(-.infinity, date), rule: rule, index: index)
    case .notInFuture:
      guard require(type == .date, of: "dates", rule: rule, path: path) else { return }
      addQuickCheck(.notAfterNow(now, latestDay: now + Self.secondsAheadMax), rule: rule, index: index)
    case .range(let min, let max):
      guard require(type.isNumber, of: "numbers", rule: rule, path: path) else { return }
      addQuickCheck(.within(min ?? -.infinity, max ?? .infinity), rule: rule, index: index)
    case .length(let min, let max):
      guard require(type == .text || type == .uri, of: "texts", rule: rule, path: path) else { return }
      addQuickCheck(.length(min ?? 0, max ?? .max), rule: rule, index: index)
    case .oneOf(let values):
      addTextCheck(.oneOf(values.map { Array($0.utf8) }), rule: rule, index: index)
    case .notOneOf(let values):
      addTextCheck(.noneOf(values.map { Array($0.utf8) }), rule: rule, index: index)
    case .format(let format):
      guard require(type == .text || type == .uri, of: "texts", rule: rule, path: path) else { return }
      addTextCheck(.format(format), rule: rule, index: index)
    case .unique:
      // Not a rule on a single field: the duplicate check, which knows the other records and the store, enforces it.
      break
    case .pattern(let pattern):
      do {
        // The group keeps an alternation together within the anchors.
        let whole = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
        addTextCheck(.expression(whole), rule: rule, index: index)
      } catch {
        refuse("\(path).matches", "'\(pattern)' is not a valid ICU regular expression; check its brackets")
      }
    case .quantity(let quantity):
      guard require(type == .text, of: "texts", rule: rule, path: path) else { return }
      addTextCheck(.quantity(QuantityPattern(quantity, numbers)), rule: rule, index: index)
    }
  }

  private mutating func date(_ text: String, rule: ValueRule, path: String) -> Double? {
    guard require(type == .date, of: "dates", rule: rule, path: path) else { return nil }
    if let date = DateFormat.iso8601.seconds(Array(text.utf8).span) { return date }
    refuse("\(path).date", "'\(text)' is not an ISO 8601 date; write it like 1900-01-01")
    return nil
  }

  private mutating func require(_ fits: Bool, of subject: String, rule: ValueRule, path: String) -> Bool {
    if !fits { refuse(path, "the rule '\(rule.name)' is for \(subject), and this column is \(type.noun); remove it") }
    return fits
  }

  private mutating func addQuickCheck(_ test: QuickCheck.Test, rule: ValueRule, index: Int) {
    quickChecks.append(QuickCheck(test: test, rule: index, severity: rule.severity))
  }

  private mutating func addTextCheck(_ test: TextCheck.Test, rule: ValueRule, index: Int) {
    textChecks.append(TextCheck(test: test, rule: index, severity: rule.severity))
  }

  private mutating func refuse(_ path: String, _ message: String) {
    mistakes.append(PipelineError.Mistake(path: path, message: message))
  }
}
