/// Replaces `$NAME` by values. A variable without a value stays, and using the predicate then throws.
extension PredicateNode {
  package func substituting(_ values: [String: PredicateConstant]) -> PredicateNode {
    values.isEmpty ? self : mapOperands { $0.replacement(values) }
  }

  /// The same tree with operands replaced; where `transform` returns nil, the parts of the operand are mapped.
  package func mapOperands(_ transform: (PredicateOperand) throws -> PredicateOperand?) rethrows -> PredicateNode {
    switch self {
    case .constant:
      return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.map(transform)
      comparison.right = try comparison.right.map(transform)
      return .comparison(comparison)
    case .not(let node):
      return .not(try node.mapOperands(transform))
    case .and(let nodes):
      return .and(try nodes.map { try $0.mapOperands(transform) })
    case .or(let nodes):
      return .or(try nodes.map { try $0.mapOperands(transform) })
    }
  }
}

extension PredicateOperand {
  package func substituting(_ values: [String: PredicateConstant]) -> PredicateOperand {
    values.isEmpty ? self : map { $0.replacement(values) }
  }

  /// The same operand with parts replaced; where `transform` returns nil, the parts of the operand are mapped.
  func map(_ transform: (PredicateOperand) throws -> PredicateOperand?) rethrows -> PredicateOperand {
    if let replaced = try transform(self) { return replaced }
    switch self {
    case .keyPath, .constant, .variable, .selfObject:
      return self
    case .path(let start, let path):
      return .path(try start.map(transform), path)
    case .aggregate(let operands):
      return .aggregate(try operands.map { try $0.map(transform) })
    case .subquery(let subquery):
      return .subquery(
        PredicateSubquery(
          collection: try subquery.collection.map(transform), variable: subquery.variable,
          condition: try subquery.condition.mapOperands(transform)))
    case .function(let function, let arguments):
      return .function(function, try arguments.map { try $0.map(transform) })
    case .block(let block, let arguments):
      return .block(block, try arguments.map { try $0.map(transform) })
    case .conditional(let condition, let value, let otherwise):
      return .conditional(
        try condition.mapOperands(transform), try value.map(transform), try otherwise.map(transform))
    }
  }

  fileprivate func replacement(_ values: [String: PredicateConstant]) -> PredicateOperand? {
    switch self {
    case .variable(let name):
      return values[name].map { .constant($0) }
    case .subquery(let subquery) where values[subquery.variable] != nil:
      // In the condition, the variable is an object of the collection.
      var inner = values
      inner[subquery.variable] = nil
      return .subquery(
        PredicateSubquery(
          collection: subquery.collection.map { $0.replacement(values) }, variable: subquery.variable,
          condition: subquery.condition.substituting(inner)))
    default:
      return nil
    }
  }
}
