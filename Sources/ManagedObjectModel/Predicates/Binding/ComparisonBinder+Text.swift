import Foundation

extension ComparisonBinder {
  /// CONTAINS, BEGINSWITH, ENDSWITH, LIKE and MATCHES.
  func text(_ operation: TextOperation, left: Side, right: Side) throws -> BoundNode {
    guard let leftText = try textOperand(left), let rightText = try textOperand(right) else {
      return .constant(false)
    }
    if operation == .matches { try validatePattern(rightText) }
    if case .value(.text(let left)) = leftText, case .value(.text(let right)) = rightText {
      return .constant(TextComparison.holds(operation, options: textOptions, left: left, right: right))
    }
    return folded(left: leftText, operation: operation, right: rightText)
  }

  /// The text comparison with its constant right side folded once for all rows.
  func folded(left: BoundOperand, operation: TextOperation, right: BoundOperand) -> BoundNode {
    let options = textOptions
    guard !options.isDisjoint(with: .folding), !options.contains(.localized), operation != .matches,
      case .value(let value) = right
    else {
      return .text(BoundText(left: left, operation: operation, options: options, right: right))
    }
    return .text(
      BoundText(
        left: left, operation: operation, options: options.union(.rightIsFolded),
        right: .value(value.folded(options))))
  }

  /// Nil for null, for which every text operator is false.
  private func textOperand(_ side: Side) throws -> BoundOperand? {
    switch side {
    case .list:
      throw PredicateFailure.unexpectedList(in: comparison)
    case .constant(.null):
      return nil
    case .elements(let elements, _, _):
      throw PredicateFailure.manyValues(elements, in: comparison)
    case .term(let term, let type):
      guard type.family == .text else { throw PredicateFailure.notText(term.name, type, in: comparison) }
      return term
    case .constant(let constant):
      if let value = constant.stored(as: .uri) { return .value(value) }
      throw PredicateFailure.notText(constant.formatDescription, constant.valueType ?? .blob, in: comparison)
    }
  }

  private func validatePattern(_ operand: BoundOperand) throws {
    guard case .value(.text(let pattern)) = operand else {
      throw PredicateFailure.pattern(
        "MATCHES needs its pattern as a value, not as a key. Write the regular expression in quotes.",
        in: comparison)
    }
    do {
      try RegularExpressions.shared.validate(pattern, textOptions)
    } catch {
      throw PredicateFailure.pattern(
        "the pattern on the right is not a regular expression. Check its brackets and backslashes.",
        in: comparison)
    }
  }
}
