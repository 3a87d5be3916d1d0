import ManagedObjectModel

/// Writes bound nodes as SQL of one database. The walk over the nodes, sub-selects and comparisons of objects are the same
/// for all; what follows a node's kind is the database's.
///
/// A leaf may be NULL where evaluation in memory gives false. AND and OR of such leaves are true for the same rows, and
/// a negation is `(…) IS NOT TRUE`, which is true for false and for NULL.
package protocol PredicateSQL {
  /// The columns of the rows and of the elements of the enclosing sub-selects, by level.
  var scopes: [any PredicateColumns] { get }
  /// The same within a sub-select.
  func within(_ columns: any PredicateColumns) -> Self

  func constant(_ value: Bool) -> SQLFragment
  func value(_ operand: BoundOperand) throws -> SQLFragment
  /// A comparison of values that are not objects.
  func comparison(_ left: BoundOperand, _ relation: BoundRelation, with right: BoundOperand) throws -> SQLFragment
  func condition(_ text: BoundText) throws -> SQLFragment
  func membership(of operand: BoundOperand, in values: [StoredValue], options: TextOptions) throws -> SQLFragment
  func negation(_ node: BoundNode) throws -> SQLFragment
  /// Nodes that are joined by AND or OR.
  func joined(_ nodes: [BoundNode], separator: String) throws -> SQLFragment
  /// What a comparison of an object with something else is.
  func comparisonWithoutKeys() throws -> BoundNode
}

extension PredicateSQL {
  package func condition(_ node: BoundNode) throws -> SQLFragment {
    switch node {
    case .constant(let value): return constant(value)
    case .isNull(let operand): return try value(operand) + SQLFragment(" IS NULL")
    case .relation(let left, let relation, let right):
      guard left.type == .object else { return try comparison(left, relation, with: right) }
      return try condition(comparingKeys(left, relation, with: right))
    case .text(let text): return try condition(text)
    case .member(let operand, let set, let options):
      guard operand.type == .object, case .key(let key) = operand else {
        return try membership(of: operand, in: set.values, options: options)
      }
      let scope = try scopes[key.level].identityScope(key)
      return try membership(
        of: .key(key.compared(as: .integer)), in: set.values.map { Self.rowKey($0, scope) }, options: options)
    case .exists(let elements): return SQLFragment("EXISTS ") + (try select("1", of: elements))
    case .not(let node): return try negation(node)
    case .and(let nodes): return try joined(nodes, separator: " AND ")
    case .or(let nodes): return try joined(nodes, separator: " OR ")
    }
  }

  /// A node as a part of a chain.
  package func nested(_ node: BoundNode) throws -> SQLFragment {
    switch node {
    case .and, .or: try condition(node).parenthesized
    default: try condition(node)
    }
  }

  // MARK: Elements

  /// A sub-select in parentheses.
  package func select(_ result: String, of elements: BoundElements) throws -> SQLFragment {
    try select(elements) { _ in SQLFragment(result) }
  }

  /// - Parameter result: The SQL of what is selected, among the elements.
  package func select(_ elements: BoundElements, _ result: (Self) throws -> SQLFragment) throws -> SQLFragment {
    let rows = try scopes[elements.level].elements(elements.path)
    let inner = within(rows.columns)
    let selected = try result(inner)
    var conditions = [SQLFragment(rows.link)]
    if case .constant(true) = elements.condition {
    } else {
      conditions.append(try inner.condition(elements.condition).parenthesized)
    }
    // The required joins are known only at this point.
    return SQLFragment("(SELECT ") + selected + SQLFragment(" FROM \(rows.source()) WHERE ")
      + .joined(conditions, separator: " AND ") + SQLFragment(")")
  }

  // MARK: Objects

  /// A comparison of objects as one of keys: in memory objects are compared by identity, in a store by key.
  private func comparingKeys(
    _ left: BoundOperand, _ relation: BoundRelation, with right: BoundOperand
  ) throws -> BoundNode {
    guard case .key(let key) = left else { return try comparisonWithoutKeys() }
    let own = BoundOperand.key(key.compared(as: .integer))
    switch right {
    case .value(let value):
      return .relation(own, relation, .value(Self.rowKey(value, try scopes[key.level].identityScope(key))))
    case .key(let other):
      // Rows of different tables may have the same key and are different objects: only null is equal.
      if try scopes[key.level].identityScope(key) == scopes[other.level].identityScope(other) {
        return .relation(own, relation, .key(other.compared(as: .integer)))
      }
      let bothNull = BoundNode.and([.isNull(left), .isNull(right)])
      return relation == .equal ? bothNull : .not(bothNull)
    case .computed: return try comparisonWithoutKeys()
    }
  }

  /// The key in an identity of that scope; for any other identity, a key that does not exist.
  private static func rowKey(_ identity: StoredValue, _ scope: UInt64) -> StoredValue {
    guard case .text(let text) = identity, let dot = text.firstIndex(of: "."), text[..<dot] == "\(scope)",
      let number = UInt64(text[text.index(after: dot)...])
    else { return .integer(-1) }
    return .integer(Int64(bitPattern: number))
  }
}

extension BoundRelation {
  package var sqlOperator: String {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}
