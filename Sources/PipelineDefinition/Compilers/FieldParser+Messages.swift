import Foundation
import SystemSupport

extension FieldParser {
  /// The issue with a message and its position.
  ///
  /// - Parameters:
  ///   - fault: what is wrong.
  ///   - bytes: the field's content.
  ///   - position: the position of the record.
  ///   - field: the number of the field in the record, from 1.
  package func issue(
    for fault: FieldFault, bytes: Span<UInt8>, at position: RecordPosition, field: Int?
  ) -> RecordIssue {
    let kind = issueKind(for: fault, bytes: bytes, field: field)
    return RecordIssue(
      kind.code, severity: kind.severity, at: position, field: field, column: kind.column,
      value: RawText.shortened(bytes), message: kind.message)
  }

  /// The kind of the issue, with its message.
  package func issueKind(for fault: FieldFault, bytes: Span<UInt8>, field: Int?) -> PackedIssues.Kind {
    // The issue shows the text of the file; the message describes the transformed text.
    let message =
      isTransformed && !fault.isOfTransform ? message(for: fault, transformed(bytes).span) : message(for: fault, bytes)
    return PackedIssues.Kind(
      fault.code, severity: fault.severity, field: field, column: definition.name, message: message,
      rule: fault.rule >= 0 ? fault.rule : nil)
  }

  /// A number from 0 that decides, together with the fault, which message an issue has; nil if the message has parts of
  /// the text.
  package func messageVariant(of fault: FieldFault, bytes: Span<UInt8>) -> Int? {
    if isTransformed, !fault.isOfTransform {
      return messageVariant(of: fault, transformed: transformed(bytes).span)
    }
    return messageVariant(of: fault, transformed: bytes)
  }

  private func messageVariant(of fault: FieldFault, transformed bytes: Span<UInt8>) -> Int? {
    switch fault.subject {
    case .transform: return 0
    case .type: return typeVariant(bytes.extracting(bytes.trimmedRange))
    case .rule(let index):
      switch definition.rules[index].kind {
      case .length, .oneOf: return nil
      case .pattern: return isUndecided(index, bytes) ? 1 : 0
      case .quantity: return quantityVerdict(index, bytes).rawValue
      default: return 0
      }
    }
  }

  func message(for fault: FieldFault, _ bytes: Span<UInt8>) -> String {
    switch fault.subject {
    case .type: typeMessage(bytes)
    case .rule(let index): ruleMessage(index, bytes)
    case .transform where fault.isTooLong:
      "becomes longer than \(notation.bytesMax) bytes by a transform; shorten it or what the transform makes, or raise "
        + "limits.fieldBytesMax"
    case .transform(let index): transformMessage(definition.transforms[index])
    }
  }

  /// Only conversions refuse a text, and patterns that need too many steps.
  private func transformMessage(_ transform: ValueTransform) -> String {
    if case .replace(let pattern, _) = transform { return Self.undecided(pattern) }
    guard case .convert(let conversion) = transform else { return "cannot be transformed" }
    return "is not a quantity that can be converted to \(conversion.to.rawValue); write a number or a range such "
      + "as 3-5, alone or followed by \(conversion.from.rawValue) or \(conversion.to.rawValue)"
  }

  /// The message for a text that a pattern can't decide in time.
  static func undecided(_ pattern: String) -> String {
    "the pattern '\(RawText.shortened(pattern.utf8))' needs more than \(NSRegularExpression.stepsMax) steps for it; "
      + "write the pattern without repetitions inside repetitions, or shorten the text"
  }

  /// Which of the messages of the column's type a text gets; nil for one that has parts of the text.
  private func typeVariant(_ trimmed: Span<UInt8>) -> Int? {
    switch type {
    case .date: (formats.contains { $0.isImpossibleDate(trimmed) } ? 0 : 1) + 2 * LikelyDateFormat.number(of: trimmed)
    case .integer: isLargeInteger(trimmed) ? 0 : 1 + notationVariant(trimmed)
    case .real: 1 + notationVariant(trimmed)
    case .single: isNumber(trimmed) ? 0 : 1 + notationVariant(trimmed)
    case .decimal: isNumber(trimmed) ? nil : 1 + notationVariant(trimmed)
    case .uuid, .uri, .binary, .archive, .boolean, .text: 0
    }
  }

  private func typeMessage(_ bytes: Span<UInt8>) -> String {
    let trimmed = bytes.extracting(bytes.trimmedRange)
    let variant = typeVariant(trimmed)
    switch type {
    case .date: return dateMessage(variant ?? 1)
    case .integer(let range):
      if variant == 0 {
        return "is outside \(range.lowerBound) to \(range.upperBound), which the attribute can hold; correct it"
      }
      return "is not a whole number; write digits only, or leave the field empty\(notationHint(variant))"
    case .real: return notANumber(variant)
    case .single:
      if variant != 0 { return notANumber(variant) }
      return "is beyond \(Float.greatestFiniteMagnitude), the greatest number that the attribute can hold; correct it"
    case .decimal: return variant == nil ? decimalMessage(trimmed) : notANumber(variant)
    case .uuid:
      return "is not a UUID; write it like \(TextFormat.uuid.example), or leave the field empty"
    case .uri:
      return
        "is not a URI; write it like \(TextFormat.uri.example), with %20 for a space and the like, or leave the field "
        + "empty"
    case .binary, .archive:
      return "is not \(binaryFormat.rawValue); write the bytes like \(binaryFormat.example), or set the column's "
        + "\"formats\" to \(binaryFormat == .base64 ? "hex" : "base64") if that is what they are"
    case .boolean:
      return "is neither true nor false; write \(notation.booleanWords), or leave the field empty"
    case .text:
      return "has a NUL character, which a store in PostgreSQL does not keep; remove it"
    }
  }

  private func dateMessage(_ variant: Int) -> String {
    let readable = formats.filter { $0 != .infinity }
    let likely = LikelyDateFormat.format(variant / 2)
    if variant.isMultiple(of: 2) {
      guard let likely else { return "the calendar has no such day or time; correct it" }
      let names = readable.filter(\.hasFields).map(\.text).joined(separator: " or ")
      return "the calendar has no such day or time as \(names), but has one as \(likely.text); correct it, or "
        + "declare the format for the column"
    }
    guard let likely else {
      let accepted = readable.map { "\($0.text) (\($0.example))" }.joined(separator: " or ")
      return "is not a date in a declared format; write it as \(accepted), or add its format to the pipeline"
    }
    return "is not a date in a declared format, and looks like \(likely.text); add this to the \"formats\" of the "
      + "column, or write it like \(readable.first?.example ?? DateFormat.iso8601.example)"
  }

  private func isNumber(_ text: Span<UInt8>) -> Bool { notation.numbers.withPlain(text, NumberText.real) != nil }

  /// Whether a text is a whole number that integers can't be meant to hold.
  private func isLargeInteger(_ text: Span<UInt8>) -> Bool {
    guard let value = notation.numbers.withPlain(text, NumberText.real) else { return false }
    return value.rounded() == value && value.magnitude > 1e4
  }

  private func notANumber(_ variant: Int?) -> String {
    let decimal = String(decoding: notation.numbers.decimal, as: UTF8.self)
    let mark = decimal == "." ? "a point" : "'\(decimal)'"
    return "is not a number that the attribute can hold; write it like 3\(decimal)9 with \(mark) and no unit, or leave "
      + "the field empty\(notationHint(variant))"
  }

  private static let otherNotations = [
    NumberNotation(decimal: ",", group: nil), NumberNotation(decimal: ",", group: "."), .plain,
  ]

  /// The number from 1 of the notation in which the text would be a number; 0 for none.
  private func notationVariant(_ text: Span<UInt8>) -> Int {
    // A text that is a number as it is, such as 1e0, is refused for another reason.
    if isNumber(text) { return 0 }
    let other = Self.otherNotations.firstIndex { other in
      other != notation.numbers && other.withPlain(text, NumberText.real) != nil
    }
    return other.map { $0 + 1 } ?? 0
  }

  /// How the file's own notation is declared, where the text would be a number in it; `variant` is that of the type.
  private func notationHint(_ variant: Int?) -> String {
    guard let variant, variant > 1 else { return "" }
    let decimal = String(decoding: Self.otherNotations[variant - 2].decimal, as: UTF8.self)
    return ". Where numbers are written so, declare \"decimalChar\": \"\(decimal)\" in the dialect"
  }

  /// The message about a number that a decimal can't keep.
  private func decimalMessage(_ trimmed: Span<UInt8>) -> String {
    guard let kept = notation.numbers.withPlain(trimmed, { DecimalText($0)?.kept }) else {
      return "has more than \(DecimalText.digitsMax) digits or is out of a decimal's range; round it"
    }
    return "has more digits than a store keeps, which would make it \(String(decoding: kept.text, as: UTF8.self)); "
      + "round it to that, or to 15 digits"
  }

  private func ruleMessage(_ index: Int, _ bytes: Span<UInt8>) -> String {
    let rule = definition.rules[index]
    let isRequired = definition.rules.contains { $0.kind == .required }
    let orEmpty = isRequired ? "" : ", or leave the field empty"
    switch rule.kind {
    case .required:
      return "is empty, and every record needs it; fill it in"
    case .notBefore(let date):
      return "is before \(date); correct the date"
    case .notAfter(let date):
      return "is after \(date); correct the date"
    case .notInFuture:
      return "lies in the future; correct the date, or check this machine's clock"
    case .range(let min, let max):
      return "must be \(Self.bounds(min.map(QuantityPattern.plain), max.map(QuantityPattern.plain)))\(orEmpty)"
    case .length(let min, let max):
      let found = NumberText.scalarCount(bytes)
      return "has \(found) characters and must have \(Self.bounds(min.map(String.init), max.map(String.init)))"
    case .oneOf(let values):
      let hint = NearestName.hint(for: String(decoding: bytes.array, as: UTF8.self), in: values)
      let shown = values.prefix(10).joined(separator: ", ") + (values.count > 10 ? ", …" : "")
      return "must be one of \(shown)\(orEmpty)\(hint)"
    case .notOneOf:
      return "is one of the values that are not allowed; correct it\(orEmpty)"
    case .format(let format):
      return "is not \(format.noun); write it like \(format.example)\(orEmpty)"
    case .unique:
      return "must be unique, and another record or entry has the same; correct one of the two"
    case .pattern(let expression):
      if isUndecided(index, bytes) { return Self.undecided(expression) }
      return "must match the pattern \(expression)\(orEmpty)"
    case .quantity(let quantity):
      let explanation = QuantityPattern(quantity, notation.numbers).explanation
      return "\(Self.start(quantityVerdict(index, bytes))); write \(explanation)\(orEmpty)"
    }
  }

  /// Whether the pattern of a rule can't be decided in time for a text.
  private func isUndecided(_ rule: Int, _ bytes: Span<UInt8>) -> Bool {
    guard case .expression(let expression)? = textChecks.first(where: { $0.rule == rule })?.test else { return false }
    return expression.boundedMatch(in: String(decoding: bytes.array, as: UTF8.self)) == .undecided
  }

  private func quantityVerdict(_ rule: Int, _ bytes: Span<UInt8>) -> QuantityPattern.Verdict {
    guard case .quantity(let pattern)? = textChecks.first(where: { $0.rule == rule })?.test else { return .valid }
    return pattern.verdict(bytes.extracting(bytes.trimmedRange))
  }

  private static func start(_ verdict: QuantityPattern.Verdict) -> String {
    switch verdict {
    case .needsUnit: "has no unit"
    case .hasUnknownUnit: "has an unknown unit"
    case .isRangeRefused: "is a range"
    case .isRangeReversed: "is a range whose high end comes first"
    case .isOutOfBounds: "is out of bounds"
    case .valid, .isNoQuantity: "is not a quantity of this form"
    }
  }

  private static func bounds(_ min: String?, _ max: String?) -> String {
    switch (min, max) {
    case (let min?, let max?): "\(min) to \(max)"
    case (let min?, nil): "at least \(min)"
    case (nil, let max?): "at most \(max)"
    case (nil, nil): "anything"
    }
  }
}
