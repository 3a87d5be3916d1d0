import Foundation

/// Functions and conditions.
extension PredicateBinder {
  /// The value of a function.
  mutating func side(
    calling function: PredicateFunction, _ arguments: [PredicateOperand], of comparison: PredicateComparison
  ) throws -> Side {
    if function == .now { return .constant(.date(now)) }
    var sides: [Side] = []
    for argument in arguments {
      // The type of a cast is not a value.
      if function == .cast, !sides.isEmpty { break }
      sides.append(try side(argument, of: comparison))
    }
    let call = FunctionCall(
      function: function, name: PredicateOperand.function(function, arguments).formatDescription,
      comparison: comparison)
    switch function {
    case .noIndex:
      return sides[0]
    case .cast:
      guard case .constant(.text(let name)) = arguments[1], let target = CastTarget(rawValue: name) else {
        throw call.failure("CAST needs the name of a type.")
      }
      return try call.cast(sides[0], to: target)
    case .sum, .count, .minimum, .maximum, .average, .median, .deviation, .mode, .size:
      return try summary(call, sides)
    case .first, .last, .element:
      return try call.element(sides)
    case .union, .intersection, .difference:
      return try call.combination(sides)
    default:
      return try call.side(sides)
    }
  }

  /// A function of many values: of the elements of a relationship, or of its arguments.
  private func summary(_ call: FunctionCall, _ sides: [Side]) throws -> Side {
    if sides.count == 1, case .elements(let elements, let operand, let type) = sides[0] {
      if call.function == .count || call.function == .size {
        let count =
          elements.countsValuesOnce ? .distinctCount(elements, of: operand) : BoundComputation.Form.count(elements)
        return .computed(count, .integer, name: call.name)
      }
      guard let kind = call.function.summary else {
        throw call.failure("mode gives a list, which a store can't compute of a relationship. Use SUBQUERY and @count.")
      }
      return try summary(kind, of: (elements, operand, type), name: call.name, in: call.comparison)
    }
    return try call.summary(sides)
  }

  /// `TERNARY(condition, value, otherwise)`.
  mutating func side(
    choosing condition: PredicateNode, _ value: PredicateOperand, _ otherwise: PredicateOperand,
    of comparison: PredicateComparison
  ) throws -> Side {
    let node = try bind(condition)
    let (first, second) = (try side(value, of: comparison), try side(otherwise, of: comparison))
    let call = FunctionCall(
      function: .noIndex, name: PredicateOperand.conditional(condition, value, otherwise).formatDescription,
      comparison: comparison)
    if case .constant(let isTrue) = node, !first.isSingle || !second.isSingle { return isTrue ? first : second }
    let arguments = try call.arguments([first, second])
    guard let type = try call.commonType(arguments) else { return .constant(.null) }
    let operands = try call.operands(arguments, as: type)
    if case .constant(let isTrue) = node { return FunctionCall.side(operands[isTrue ? 0 : 1], type) }
    return .computed(.conditional(node, operands[0], operands[1]), type, name: call.name)
  }
}

extension PredicateBinder.Side {
  /// Whether it has one value.
  fileprivate var isSingle: Bool {
    switch self {
    case .term(_, let type): type != .object
    case .constant(let constant): constant.valueType != .object
    case .list, .elements: false
    }
  }

  static func computed(_ form: BoundComputation.Form, _ type: PredicateValueType, name: String) -> Self {
    .term(.computed(BoundComputation(form: form, type: type, name: name)), type)
  }
}

extension PredicateFunction {
  /// What it computes of many values; nil for other functions.
  package var summary: ValueSummary? {
    switch self {
    case .sum: .sum
    case .minimum: .minimum
    case .maximum: .maximum
    case .average: .average
    case .median: .median
    case .deviation: .deviation
    default: nil
    }
  }
}

extension ValueSummary {
  /// The type of what it gives for values of a type.
  package func resultType(of type: PredicateValueType) -> PredicateValueType {
    switch self {
    case .minimum, .maximum: type
    case .sum: type == .boolean ? .integer : type
    case .average, .median, .deviation: .real
    }
  }
}
