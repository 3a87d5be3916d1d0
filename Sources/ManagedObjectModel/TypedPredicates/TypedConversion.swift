import Foundation

/// The conversion of a predicate that `#Predicate` has made: what its variables stand for.
struct TypedConversion {
  private var operands: [PredicateExpressions.VariableID: PredicateOperand] = [:]
  private var elementCount = 0

  /// - Throws: `NSError` 134060 that names what has no form here.
  static func node<Input>(of predicate: Predicate<Input>) throws -> PredicateNode {
    var conversion = TypedConversion()
    conversion.operands[predicate.variable.key] = .selfObject
    return try conversion.node(predicate.expression)
  }

  /// The condition of an expression: a condition, or a Boolean value.
  mutating func node(_ expression: Any) throws -> PredicateNode {
    if let condition = expression as? any TypedCondition { return try condition.node(&self) }
    return .comparison(
      PredicateComparison(left: try operand(expression), operation: .equal, right: .constant(.boolean(true))))
  }

  /// The value of an expression.
  mutating func operand(_ expression: Any) throws -> PredicateOperand {
    if let value = expression as? any TypedOperand { return try value.operand(&self) }
    if let condition = expression as? any TypedCondition {
      return .conditional(try condition.node(&self), .constant(.boolean(true)), .constant(.boolean(false)))
    }
    throw Self.unknown(expression)
  }

  func operand(of variable: PredicateExpressions.VariableID) throws -> PredicateOperand {
    guard let operand = operands[variable] else { throw Self.unknown(variable) }
    return operand
  }

  /// Converts what a closure says about a value.
  mutating func bind<Result>(
    _ variable: PredicateExpressions.VariableID, to operand: PredicateOperand,
    _ body: (inout TypedConversion) throws -> Result
  ) rethrows -> Result {
    operands[variable] = operand
    return try body(&self)
  }

  /// The objects of a collection for which a closure holds.
  mutating func subquery(
    of collection: Any, _ variable: PredicateExpressions.VariableID, where test: Any, isNegated: Bool = false
  ) throws -> PredicateOperand {
    elementCount += 1
    let name = "element\(elementCount)"
    let objects = try operand(collection)
    let condition = try bind(variable, to: .variable(name)) { try $0.node(test) }
    return .subquery(
      PredicateSubquery(collection: objects, variable: name, condition: isNegated ? .not(condition) : condition))
  }

  static func unknown(_ expression: Any) -> NSError {
    .coreData(
      .coreData,
      "A part of the #Predicate has no form in an NSPredicate: \(type(of: expression)). Write this predicate with "
        + "NSPredicate(format:).")
  }
}

/// An expression with a value.
protocol TypedOperand {
  func operand(_ conversion: inout TypedConversion) throws -> PredicateOperand
}

/// An expression that holds or does not.
protocol TypedCondition {
  func node(_ conversion: inout TypedConversion) throws -> PredicateNode
}

extension PredicateOperand {
  /// What `path` leads to from the value.
  func following(_ path: [String]) -> PredicateOperand {
    switch self {
    case .selfObject: .keyPath(path)
    case .keyPath(let before): .keyPath(before + path)
    case .path(let start, let before): .path(start, before + path)
    default: .path(self, path)
    }
  }

  func compared(_ operation: PredicateOperator, _ other: PredicateOperand) -> PredicateNode {
    .comparison(PredicateComparison(left: self, operation: operation, right: other))
  }

  func calculated(_ function: PredicateFunction, _ other: PredicateOperand) -> PredicateOperand {
    .function(function, [self, other])
  }
}
