/// A predicate with typed keys and with constants in the stored form of the attributes.
///
/// Objects in memory and rows in SQLite are filtered by this one tree, so both give the same results.
package struct BoundPredicate: Sendable {
  package let root: BoundNode
  /// The attributes of the object itself that are read, each once. `PredicateKey.index` is an index in this list.
  package let keys: [PredicateKey]
}

/// A node of a bound predicate. Two-valued, like `PredicateNode`.
package indirect enum BoundNode: Sendable {
  case constant(Bool)
  case isNull(BoundOperand)
  /// An attribute against a value (never null) or another attribute, in SQLite's order of values.
  case relation(BoundOperand, BoundRelation, BoundOperand)
  /// A text operator that a byte comparison cannot decide, or that looks inside the text.
  case text(BoundText)
  /// The attribute is one of the values (never null). With options, both sides are folded; the values are folded
  /// already.
  case member(BoundOperand, StoredValueSet, TextOptions)
  /// The condition holds for one element at least.
  case exists(BoundElements)
  case not(BoundNode)
  case and([BoundNode])
  case or([BoundNode])
}

package enum BoundRelation: Sendable, Hashable {
  case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
}

package indirect enum BoundOperand: Sendable {
  case key(PredicateKey)
  case value(StoredValue)
  case computed(BoundComputation)
}

/// A value that is computed from others.
package struct BoundComputation: Sendable {
  package enum Form: Sendable {
    case count(BoundElements)
    /// The number of different values that are not null.
    case distinctCount(BoundElements, of: BoundOperand)
    /// What the elements' values that are not null give together.
    case summary(ValueSummary, BoundElements, of: BoundOperand)
    case function(ScalarFunction, [BoundOperand])
    /// The first operand where the node is true, otherwise the second one.
    case conditional(BoundNode, BoundOperand, BoundOperand)
  }

  package let form: Form
  package let type: PredicateValueType
  /// As it is written, for messages.
  let name: String
}

/// Elements of a to-many relationship for which a condition holds.
package struct BoundElements: Sendable {
  /// To-one relationships, then the to-many one.
  package let path: [String]
  /// The level of the object at which the path starts: 0 for the object itself, n for an element of the n-th of the
  /// enclosing collections.
  package let level: Int
  package var condition: BoundNode
  /// Whether equal values of the elements count once in what is computed of them.
  package var countsValuesOnce = false
}

/// `left operation[options] right`, where at least one side is an attribute; false where either is null.
package struct BoundText: Sendable {
  package let left: BoundOperand
  package let operation: TextOperation
  package let options: TextOptions
  package let right: BoundOperand
}

extension BoundRelation {
  /// The operator with swapped sides: `3 < a` is `a > 3`.
  var flipped: BoundRelation {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }

  /// Nil for `notEqual`, which is the negation of a text operation.
  var textOperation: TextOperation? {
    switch self {
    case .equal: .equal
    case .notEqual: nil
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    }
  }

  /// Whether the operator is true for two values that compare like `order` and 0.
  func holds(_ order: Int) -> Bool {
    switch self {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

extension BoundNode {
  /// The conjunction, flattened and without constant parts.
  static func all(_ nodes: [BoundNode]) -> BoundNode {
    let open = nodes.flatMap { node in
      if case .and(let inner) = node { inner } else { node.isConstant(true) ? [] : [node] }
    }
    if open.contains(where: { $0.isConstant(false) }) { return .constant(false) }
    return open.count == 1 ? open[0] : open.isEmpty ? .constant(true) : .and(open)
  }

  /// The disjunction, flattened and without constant parts.
  static func any(_ nodes: [BoundNode]) -> BoundNode {
    let open = nodes.flatMap { node in
      if case .or(let inner) = node { inner } else { node.isConstant(false) ? [] : [node] }
    }
    if open.contains(where: { $0.isConstant(true) }) { return .constant(true) }
    return open.count == 1 ? open[0] : open.isEmpty ? .constant(false) : .or(open)
  }

  static func negation(of node: BoundNode) -> BoundNode {
    switch node {
    case .constant(let value): .constant(!value)
    case .not(let inner): inner
    default: .not(node)
    }
  }

  /// The nesting depth of the parentheses in its SQL: 0 for a comparison.
  package var depth: Int {
    switch self {
    case .constant: 0
    case .isNull(let operand): operand.depth
    case .member(let operand, _, _): operand.depth
    case .relation(let left, _, let right): max(left.depth, right.depth)
    case .text(let text): max(text.left.depth, text.right.depth)
    case .exists(let elements): elements.depth
    case .not(let node): node.depth + 1
    case .and(let nodes), .or(let nodes): (nodes.lazy.map(\.depth).max() ?? 0) + 1
    }
  }

  func isConstant(_ value: Bool) -> Bool {
    if case .constant(let own) = self { own == value } else { false }
  }
}

extension BoundOperand {
  /// Nil for a value, which does not know its type.
  package var type: PredicateValueType? {
    switch self {
    case .key(let key): key.type
    case .computed(let computation): computation.type
    case .value: nil
    }
  }

  /// As it is written, for messages.
  var name: String {
    switch self {
    case .key(let key): key.name
    case .computed(let computation): computation.name
    case .value: "the value"
    }
  }

  /// As `BoundNode.depth`.
  package var depth: Int {
    guard case .computed(let computation) = self else { return 0 }
    switch computation.form {
    case .count(let elements): return elements.depth
    case .summary(_, let elements, let operand), .distinctCount(let elements, let operand):
      return max(elements.depth, operand.depth)
    case .function(let function, let operands): return Self.depth(of: function, operands)
    case .conditional(let condition, let value, let otherwise):
      return max(condition.depth, value.depth, otherwise.depth) + Self.openSymbols
    }
  }

  /// How many symbols of SQLite's parser a call keeps open, in parentheses of a comparison.
  private static let openSymbols = 3

  private static func depth(of function: ScalarFunction, _ operands: [BoundOperand]) -> Int {
    guard function.sqlOperator != nil, operands.count == 2 else {
      return (operands.lazy.map(\.depth).max() ?? 0) + openSymbols
    }
    // A chain such as a + b + c has no parentheses.
    let right = operands[1].isArithmetic ? operands[1].depth + 2 : operands[1].depth
    return max(operands[0].depth, right)
  }

  private var isArithmetic: Bool {
    guard case .computed(let computation) = self, case .function(let function, _) = computation.form else {
      return false
    }
    return function.sqlOperator != nil
  }
}

extension BoundElements {
  /// A sub-select keeps more symbols of SQLite's parser open than a pair of parentheses.
  private static let openSymbols = 5

  fileprivate var depth: Int { condition.depth + Self.openSymbols }
}
