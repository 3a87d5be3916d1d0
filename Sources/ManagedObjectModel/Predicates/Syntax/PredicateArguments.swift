import Foundation

/// The arguments of a format string, consumed in order by its conversions. Excess arguments are ignored, as with every
/// format string.
struct PredicateArguments {
  let format: String
  let values: [Any?]
  private var index = 0

  init(format: String, values: [Any?]) {
    self.format = format
    self.values = values
  }

  private mutating func next(for token: PredicateToken) throws -> Any? {
    guard index < values.count else {
      throw failure(
        "\(token.source) needs argument \(index + 1), but there are only \(values.count).", at: token)
    }
    index += 1
    return values[index - 1]
  }

  /// The next value, checked against its conversion: `%d` takes whole numbers, `%f` numbers, `%@` anything.
  mutating func next(
    _ conversion: PredicateToken.Argument, for token: PredicateToken
  ) throws -> PredicateConstant {
    let constant = PredicateConstant(argument: try next(for: token))
    switch (conversion, constant) {
    case (.object, _), (.real, .integer), (.real, .real), (.real, .decimal), (.real, .boolean),
      (.integer, .integer), (.integer, .boolean):
      return constant
    case (.integer, .decimal(let value)) where value.isWholeNumber:
      return constant
    case (.integer, .real(let value)):
      if let whole = Int64(exactly: value) { return .integer(whole) }
    default:
      break
    }
    let expected = conversion == .integer ? "a whole number" : "a number"
    throw failure(
      "\(token.source) takes \(expected), but argument \(index) is \(constant.formatDescription); "
        + "%@ takes any value.", at: token)
  }

  /// The next value if it is an expression, which is taken; otherwise nil.
  mutating func nextExpression(for token: PredicateToken) throws -> PredicateOperand? {
    guard index < values.count, let expression = values[index] as? any PredicateExpressible else { return nil }
    index += 1
    return expression.predicateOperand
  }

  /// The next value as the components of a key path.
  mutating func nextKeyPath(for token: PredicateToken) throws -> [String] {
    let constant = PredicateConstant(argument: try next(for: token))
    guard case .text(let path) = constant else {
      throw failure(
        "%K takes a key path as text, but argument \(index) is \(constant.formatDescription).", at: token)
    }
    let components = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard components.allSatisfy({ !$0.isEmpty }) else {
      throw failure("the key path '\(path)' (argument \(index)) has an empty component.", at: token)
    }
    if let unknown = components.first(where: { $0.hasPrefix("@") && CollectionOperator(rawValue: $0) == nil }) {
      throw failure("'\(unknown)' is not a collection operator; use \(CollectionOperator.spellings).", at: token)
    }
    return components
  }

  private func failure(_ reason: String, at token: PredicateToken) -> PredicateSyntaxError {
    PredicateSyntaxError(format: format, position: token.position, reason: reason)
  }
}

extension Decimal {
  fileprivate var isWholeNumber: Bool {
    var value = self
    var rounded = Decimal()
    NSDecimalRound(&rounded, &value, 0, .plain)
    return rounded == self
  }
}
