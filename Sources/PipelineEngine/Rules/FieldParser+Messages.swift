extension FieldParser {
  /// The fault in words, with its place. `bytes` are the field's content, `field` its number in the record from 1.
  public func issue(
    for fault: FieldFault, bytes: Span<UInt8>, at position: RecordPosition, field: Int?
  ) -> RecordIssue {
    RecordIssue(
      fault.rule < 0 ? .typeError : .constraintError, severity: fault.severity, at: position, field: field,
      column: definition.name, value: RawText.shortened(bytes),
      message: fault.rule < 0 ? typeMessage(bytes) : ruleMessage(definition.rules[fault.rule], bytes))
  }

  private func typeMessage(_ bytes: Span<UInt8>) -> String {
    let trimmed = bytes.extracting(bytes.trimmedRange)
    switch type {
    case .date:
      if formats.contains(where: { $0.isImpossibleDate(trimmed) }) {
        return "there is no such day or time in the calendar; correct it"
      }
      let accepted = formats.map { "\($0.text) (\($0.example))" }.joined(separator: " or ")
      return "is not a date in a declared format; write it as \(accepted), or add its format to the pipeline"
    case .integer(let range):
      if let value = NumberText.real(trimmed), value.rounded() == value, value.magnitude > 1e4 {
        return "is outside \(range.lowerBound) to \(range.upperBound), which the attribute can hold; correct it"
      }
      return "is not a whole number; write digits only, or leave the field empty"
    case .real:
      return "is not a number; write it like 3.9 with a point and no unit, or leave the field empty"
    case .boolean:
      return "is neither true nor false; write true or false, or leave the field empty"
    case .text:
      return "cannot be read as text"
    }
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
    case .pattern(let expression):
      return "must match the pattern \(expression)\(orEmpty)"
    case .quantity(let quantity):
      return quantityMessage(QuantityPattern(quantity), bytes) + orEmpty
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
      case .fits, .isNoQuantity: "is no such quantity"
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
