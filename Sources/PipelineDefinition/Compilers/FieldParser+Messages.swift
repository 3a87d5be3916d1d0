import Foundation
import Locking

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
    // The issue shows the text of the file; the message describes the transformed text.
    let message = isTransformed ? message(for: fault, transformed(bytes).span) : message(for: fault, bytes)
    return RecordIssue(
      fault.code, severity: fault.severity, at: position, field: field, column: definition.name,
      value: RawText.shortened(bytes), message: message)
  }

  func message(for fault: FieldFault, _ bytes: Span<UInt8>) -> String {
    switch fault.subject {
    case .type: typeMessage(bytes)
    case .rule(let index): ruleMessage(definition.rules[index], bytes)
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

  private func typeMessage(_ bytes: Span<UInt8>) -> String {
    let trimmed = bytes.extracting(bytes.trimmedRange)
    switch type {
    case .date:
      if formats.contains(where: { $0.isImpossibleDate(trimmed) }) {
        return "there is no such day or time in the calendar; correct it"
      }
      let accepted = formats.filter { $0 != .infinity }.map { "\($0.text) (\($0.example))" }.joined(separator: " or ")
      return "is not a date in a declared format; write it as \(accepted), or add its format to the pipeline"
    case .integer(let range):
      if let value = notation.numbers.withPlain(trimmed, NumberText.real), value.rounded() == value,
        value.magnitude > 1e4
      {
        return "is outside \(range.lowerBound) to \(range.upperBound), which the attribute can hold; correct it"
      }
      return "is not a whole number; write digits only, or leave the field empty\(notationHint(trimmed))"
    case .real: return notANumber(trimmed)
    case .single:
      guard notation.numbers.withPlain(trimmed, NumberText.real) != nil else { return notANumber(trimmed) }
      return "is beyond \(Float.greatestFiniteMagnitude), the greatest number that the attribute can hold; correct it"
    case .decimal: return decimalMessage(trimmed)
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
      return "cannot be read as text"
    }
  }

  private func notANumber(_ text: Span<UInt8>) -> String {
    let decimal = String(decoding: notation.numbers.decimal, as: UTF8.self)
    let mark = decimal == "." ? "a point" : "'\(decimal)'"
    return "is not a number that the attribute can hold; write it like 3\(decimal)9 with \(mark) and no unit, or leave "
      + "the field empty\(notationHint(text))"
  }

  /// How the file's own notation is declared, where the text would be a number in it.
  private func notationHint(_ text: Span<UInt8>) -> String {
    let others = [NumberNotation(decimal: ",", group: nil), NumberNotation(decimal: ",", group: "."), .plain]
    guard let other = others.first(where: { $0 != notation.numbers && $0.withPlain(text, NumberText.real) != nil }),
      // A text that is a number as it is, such as 1e0, is refused for another reason.
      notation.numbers.withPlain(text, NumberText.real) == nil
    else { return "" }
    let decimal = String(decoding: other.decimal, as: UTF8.self)
    return ". Where numbers are written so, declare \"decimalChar\": \"\(decimal)\" in the dialect"
  }

  private func decimalMessage(_ trimmed: Span<UInt8>) -> String {
    guard notation.numbers.withPlain(trimmed, NumberText.real) != nil else { return notANumber(trimmed) }
    guard let kept = notation.numbers.withPlain(trimmed, { DecimalText($0)?.kept }) else {
      return "has more than \(DecimalText.digitsMax) digits or is out of a decimal's range; round it"
    }
    return "has more digits than a store keeps, which would make it \(String(decoding: kept.text, as: UTF8.self)); "
      + "round it to that, or to 15 digits"
  }

  private func ruleMessage(_ rule: ValueRule, _ bytes: Span<UInt8>) -> String {
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
      let whole = try? NSRegularExpression(pattern: "\\A(?:\(expression))\\z")
      if whole?.boundedMatch(in: String(decoding: bytes.array, as: UTF8.self)) == .undecided {
        return Self.undecided(expression)
      }
      return "must match the pattern \(expression)\(orEmpty)"
    case .quantity(let quantity):
      return quantityMessage(QuantityPattern(quantity, notation.numbers), bytes) + orEmpty
    }
  }

  private func quantityMessage(_ pattern: QuantityPattern, _ bytes: Span<UInt8>) -> String {
    let start =
      switch pattern.verdict(bytes.extracting(bytes.trimmedRange)) {
      case .needsUnit: "has no unit"
      case .hasUnknownUnit: "has an unknown unit"
      case .isRangeRefused: "is a range"
      case .isRangeReversed: "is a range whose high end comes first"
      case .isOutOfBounds: "is out of bounds"
      case .valid, .isNoQuantity: "is not a quantity of this form"
      }
    return "\(start); write \(pattern.explanation)"
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
