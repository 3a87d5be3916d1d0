import Foundation

extension PredicateExpressions.Conjunction: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    .and([try conversion.node(lhs), try conversion.node(rhs)])
  }
}

extension PredicateExpressions.Disjunction: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    .or([try conversion.node(lhs), try conversion.node(rhs)])
  }
}

extension PredicateExpressions.Negation: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode { .not(try conversion.node(wrapped)) }
}

extension PredicateExpressions.Equal: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    return try conversion.operand(lhs).compared(.equal, conversion.operand(rhs))
  }
}

extension PredicateExpressions.NotEqual: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    return try conversion.operand(lhs).compared(.notEqual, conversion.operand(rhs))
  }
}

extension PredicateExpressions.Comparison: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    let operation: PredicateOperator =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      @unknown default: throw TypedConversion.unknown(self)
      }
    return try conversion.operand(lhs).compared(operation, conversion.operand(rhs))
  }
}

// MARK: Texts

extension PredicateExpressions.CollectionContainsCollection: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    guard Base.Output.self is any StringProtocol.Type else { throw TypedConversion.unknown(self) }
    return try conversion.operand(base).compared(.contains, conversion.operand(other))
  }
}

extension PredicateExpressions.SequenceStartsWith: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    guard Base.Output.self is any StringProtocol.Type else { throw TypedConversion.unknown(self) }
    return try conversion.operand(base).compared(.beginsWith, conversion.operand(prefix))
  }
}

// MARK: Ranges and collections

extension PredicateExpressions.RangeExpressionContains: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    let value = try conversion.operand(element)
    guard let bounds = range as? any TypedBounds else { throw TypedConversion.unknown(range) }
    let (lower, upper, includesUpper) = try bounds.bounds(&conversion)
    return .and([
      value.compared(.greaterOrEqual, lower), value.compared(includesUpper ? .lessOrEqual : .less, upper),
    ])
  }
}

/// A range whose ends are known.
protocol TypedBounds {
  func bounds(
    _ conversion: inout TypedConversion
  ) throws -> (lower: PredicateOperand, upper: PredicateOperand, includesUpper: Bool)
}

extension PredicateExpressions.ClosedRange: TypedBounds {
  func bounds(
    _ conversion: inout TypedConversion
  ) throws -> (lower: PredicateOperand, upper: PredicateOperand, includesUpper: Bool) {
    (try conversion.operand(lower), try conversion.operand(upper), true)
  }
}

extension PredicateExpressions.Range: TypedBounds {
  func bounds(
    _ conversion: inout TypedConversion
  ) throws -> (lower: PredicateOperand, upper: PredicateOperand, includesUpper: Bool) {
    (try conversion.operand(lower), try conversion.operand(upper), false)
  }
}

extension PredicateExpressions.Value: TypedBounds {
  func bounds(
    _ conversion: inout TypedConversion
  ) throws -> (lower: PredicateOperand, upper: PredicateOperand, includesUpper: Bool) {
    guard let ends = (value as? any RangeEnds)?.ends else { throw TypedConversion.unknown(self) }
    return (
      .constant(PredicateConstant(argument: ends.lower)), .constant(PredicateConstant(argument: ends.upper)),
      ends.includesUpper
    )
  }
}

/// The ends of a range of any type.
private protocol RangeEnds {
  var ends: (lower: Any, upper: Any, includesUpper: Bool) { get }
}

extension ClosedRange: RangeEnds {
  fileprivate var ends: (lower: Any, upper: Any, includesUpper: Bool) { (lowerBound, upperBound, true) }
}

extension Range: RangeEnds {
  fileprivate var ends: (lower: Any, upper: Any, includesUpper: Bool) { (lowerBound, upperBound, false) }
}

extension PredicateExpressions.SequenceContains: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    try conversion.operand(element).compared(.isIn, conversion.operand(sequence))
  }
}

extension PredicateExpressions.SequenceContainsWhere: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    try conversion.subquery(of: sequence, variable.key, where: test)
      .following([CollectionOperator.count.rawValue]).compared(.greater, .constant(.integer(0)))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode {
    try conversion.subquery(of: sequence, variable.key, where: test, isNegated: true)
      .following([CollectionOperator.count.rawValue]).compared(.equal, .constant(.integer(0)))
  }
}
