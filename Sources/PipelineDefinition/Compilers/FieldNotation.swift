/// How the values of a pipeline's fields are written, as its dialect and time zone say.
package struct FieldNotation: Sendable {
  package var numbers = NumberNotation.plain
  /// Whether numbers are those of JSON, which does not distinguish 3.0 from 3.
  var hasJSONNumbers = false
  /// In lower case, as far as they are ASCII.
  var trueTexts = Self.usualTrueTexts
  var falseTexts = Self.usualFalseTexts
  /// How many bytes a field may have, and what a transform makes of it.
  var bytesMax = LimitsDefinition().fieldBytesMax
  /// Whether a text with a NUL character is refused: a store in PostgreSQL does not keep it.
  var refusesNul = false
  /// Nil for UTC.
  var zone: ZoneRules?

  package init() {}

  init(_ definition: PipelineDefinition) {
    let dialect = definition.dialect
    numbers = NumberNotation(decimal: dialect.decimalChar, group: dialect.groupChar)
    if !dialect.trueValues.isEmpty { trueTexts = dialect.trueValues.map(Self.folded) }
    if !dialect.falseValues.isEmpty { falseTexts = dialect.falseValues.map(Self.folded) }
    bytesMax = definition.limits.fieldBytesMax
    zone = definition.timeZone.flatMap { $0 == "UTC" ? nil : ZoneRules($0) }
  }

  func integer(_ bytes: Span<UInt8>) -> Int64? {
    hasJSONNumbers ? NumberText.wholeNumber(bytes) : numbers.withPlain(bytes, NumberText.integer)
  }

  func boolean(_ bytes: Span<UInt8>) -> Bool? {
    for text in trueTexts where bytes.equalsIgnoringCase(text, from: 0) { return true }
    for text in falseTexts where bytes.equalsIgnoringCase(text, from: 0) { return false }
    return nil
  }

  /// For messages: `true or false`, or the declared texts.
  var booleanWords: String {
    trueTexts == Self.usualTrueTexts && falseTexts == Self.usualFalseTexts
      ? "true or false"
      : (trueTexts + falseTexts).map { "'\(String(decoding: $0, as: UTF8.self))'" }.joined(separator: " or ")
  }

  private static let usualTrueTexts: [[UInt8]] = ["true", "yes", "1"].map { Array($0.utf8) }
  private static let usualFalseTexts: [[UInt8]] = ["false", "no", "0"].map { Array($0.utf8) }

  private static func folded(_ text: String) -> [UInt8] {
    text.utf8.map { $0 &- 65 < 26 ? $0 | 0x20 : $0 }
  }
}
