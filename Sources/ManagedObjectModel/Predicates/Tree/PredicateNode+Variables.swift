/// Replaces `$NAME` by values. A variable without a value stays, and using the predicate then throws.
extension PredicateNode {
  package func substituting(_ values: [String: PredicateConstant]) -> PredicateNode {
    mapOperands { operand in
      if case .variable(let name) = operand, let value = values[name] { .constant(value) } else { operand }
    }
  }

  /// The same tree with every operand replaced, including those in aggregates.
  func mapOperands(_ transform: (PredicateOperand) throws -> PredicateOperand) rethrows -> PredicateNode {
    switch self {
    case .constant:
      return self
    case .comparison(let comparison):
      return .comparison(
        PredicateComparison(
          left: try comparison.left.map(transform), operation: comparison.operation,
          right: try comparison.right.map(transform),
          options: comparison.options))
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
  fileprivate func map(
    _ transform: (PredicateOperand) throws -> PredicateOperand
  ) rethrows -> PredicateOperand {
    guard case .aggregate(let operands) = self else { return try transform(self) }
    return .aggregate(try operands.map { try $0.map(transform) })
  }
}
