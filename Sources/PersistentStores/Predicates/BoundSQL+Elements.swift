import ManagedObjectModel

/// Elements of to-many relationships, as sub-selects.
extension BoundSQL {
  /// A sub-select in parentheses.
  func select(_ result: String, of elements: BoundElements) throws -> SQLFragment {
    try select(elements) { _ in SQLFragment(result) }
  }

  func value(_ computation: BoundComputation) throws -> SQLFragment {
    switch computation.form {
    case .count(let elements):
      return try select("count(*)", of: elements)
    case .distinctCount(let elements, let operand):
      return try select(elements) { inner in
        SQLFragment("count(DISTINCT ") + (try inner.value(operand)) + SQLFragment(")")
      }
    case .summary(let kind, let elements, let operand):
      let opening = kind.sqlFunction + (elements.countsValuesOnce ? "(DISTINCT " : "(")
      let summary = try select(elements) { inner in
        SQLFragment(opening) + (try inner.value(operand)) + SQLFragment(")")
      }
      return kind.sqlOfAny(summary, computation.type)
    case .function(let function, let operands):
      return try value(function, operands)
    case .conditional(let condition, let first, let second):
      return try value(condition, first, otherwise: second)
    }
  }

  /// - Parameter result: The SQL of what is selected, among the elements.
  private func select(
    _ elements: BoundElements, _ result: (BoundSQL) throws -> SQLFragment
  ) throws -> SQLFragment {
    let rows = try scopes[elements.level].elements(elements.path)
    let inner = BoundSQL(scopes: scopes + [rows.columns], inlineValuesMax: inlineValuesMax)
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
  func comparingKeys(_ left: BoundOperand, _ relation: BoundRelation, operand right: BoundOperand) throws -> BoundNode {
    guard case .key(let key) = left else { return .constant(false) }
    switch right {
    case .value(let value):
      return .relation(
        .key(key.compared(as: .integer)), relation, .value(Self.rowKey(value, try scopes[key.level].identityScope(key)))
      )
    case .key(let other):
      // Rows of different tables may have the same key and are different objects: only null is equal.
      if try scopes[key.level].identityScope(key) == scopes[other.level].identityScope(other) {
        return .relation(.key(key.compared(as: .integer)), relation, .key(other.compared(as: .integer)))
      }
      let bothNull = BoundNode.and([.isNull(left), .isNull(right)])
      return relation == .equal ? bothNull : .not(bothNull)
    case .computed:
      return .constant(false)
    }
  }

  func rowKeys(_ values: [StoredValue], of key: PredicateKey) throws -> [StoredValue] {
    let scope = try scopes[key.level].identityScope(key)
    return values.map { Self.rowKey($0, scope) }
  }

  /// The key in an identity of that scope; for any other identity, a key that does not exist.
  private static func rowKey(_ identity: StoredValue, _ scope: UInt64) -> StoredValue {
    guard case .text(let text) = identity, let dot = text.firstIndex(of: "."), text[..<dot] == "\(scope)",
      let number = UInt64(text[text.index(after: dot)...])
    else { return .integer(-1) }
    return .integer(Int64(bitPattern: number))
  }
}
