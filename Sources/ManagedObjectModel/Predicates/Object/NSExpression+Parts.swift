import Foundation

/// What an expression is made of. Asking for a part that it does not have stops the program, as an exception does on
/// Apple's systems.
extension NSExpression {
  /// (Apple documentation: expressionType.)
  public var expressionType: ExpressionType {
    switch tree {
    case .constant: .constantValue
    case .selfObject: .evaluatedObject
    case .variable: .variable
    case .keyPath, .path: .keyPath
    case .function(.union, _): .unionSet
    case .function(.intersection, _): .intersectSet
    case .function(.difference, _): .minusSet
    case .function: .function
    case .subquery: .subquery
    case .aggregate: .aggregate
    case .block(let block, _): block.expressionType
    case .conditional: .conditional
    }
  }

  private func without(_ part: String) -> Never { preconditionFailure("The expression \(self) has no \(part).") }

  /// The value of a constant.
  public var constantValue: Any? {
    guard case .constant = tree else { without("constant value") }
    return constant
  }

  /// The key path, without what it starts at.
  public var keyPath: String {
    switch tree {
    case .keyPath(let path), .path(_, let path): path.joined(separator: ".")
    case .selfObject: "SELF"
    default: without("key path")
    }
  }

  /// The name of a function, such as `sum:`.
  public var function: String {
    if case .block(let block, _) = tree, let name = block.methodName { return name }
    guard case .function(let function, _) = tree else { without("function") }
    switch function {
    case .first, .last, .size: return PredicateFunction.element.rawValue
    default: return function.rawValue
    }
  }

  /// The name of a variable, without `$`.
  public var variable: String {
    switch tree {
    case .variable(let name): name
    case .subquery(let subquery): subquery.variable
    default: without("variable")
    }
  }

  /// What a key path starts at, or a method is called on.
  public var operand: NSExpression {
    switch tree {
    case .path(let start, _): NSExpression(tree: start)
    case .keyPath: NSExpression.expressionForEvaluatedObject()
    case .function(_, let operands) where !operands.isEmpty: NSExpression(tree: operands[0])
    case .block(let block, let operands) where block.methodName != nil: NSExpression(tree: operands[0])
    default: without("operand")
    }
  }

  /// The arguments of a function, a method or a block.
  public var arguments: [NSExpression]? {
    switch tree {
    case .block(let block, let operands) where block.methodName != nil:
      operands.dropFirst().map { NSExpression(tree: $0) }
    case .function(_, let operands), .block(_, let operands): operands.map { NSExpression(tree: $0) }
    default: nil
    }
  }

  /// The expressions of an aggregate, or the list that a subquery chooses from.
  public var collection: Any {
    switch tree {
    case .aggregate(let operands): operands.map { NSExpression(tree: $0) }
    case .subquery(let subquery): NSExpression(tree: subquery.collection)
    default: without("collection")
    }
  }

  /// The condition of a subquery or of a choice.
  public var predicate: NSPredicate {
    switch tree {
    case .subquery(let subquery): .made(of: subquery.condition)
    case .conditional(let condition, _, _): .made(of: condition)
    default: without("predicate")
    }
  }

  /// The first list of a set operation.
  public var left: NSExpression { NSExpression(tree: operands(2, "left side")[0]) }

  /// The second list of a set operation.
  public var right: NSExpression { NSExpression(tree: operands(2, "right side")[1]) }

  private func operands(_ count: Int, _ part: String) -> [PredicateOperand] {
    guard case .function(let function, let operands) = tree, operands.count == count, function.isSetOperation else {
      without(part)
    }
    return operands
  }

  /// The value of a choice whose predicate holds.
  public var `true`: NSExpression {
    guard case .conditional(_, let value, _) = tree else { without("true expression") }
    return NSExpression(tree: value)
  }

  /// The value of a choice whose predicate does not hold.
  public var `false`: NSExpression {
    guard case .conditional(_, _, let otherwise) = tree else { without("false expression") }
    return NSExpression(tree: otherwise)
  }
}

extension PredicateBlock {
  fileprivate var expressionType: NSExpression.ExpressionType {
    switch kind {
    case .client: .block
    case .method: .function
    case .fetch: .fetchRequest
    }
  }
}
