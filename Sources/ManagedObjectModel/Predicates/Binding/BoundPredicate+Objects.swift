/// Comparisons of objects with each other: in memory by identity, in a store by key.
extension BoundPredicate {
  /// The predicate for the rows of one store, in which keys represent objects.
  ///
  /// - Parameter scope: The identity prefix of the objects that a key can belong to; see `ObjectKey`.
  package func comparingKeys(scope: (PredicateKey) throws -> UInt64) throws -> BoundPredicate {
    guard keys.contains(where: { $0.type == .object }) else { return self }
    return BoundPredicate(root: try root.comparingKeys(scope), keys: keys)
  }
}

extension BoundNode {
  fileprivate func comparingKeys(_ scope: (PredicateKey) throws -> UInt64) throws -> BoundNode {
    switch self {
    case .relation(let key, let relation, .value(let value)) where key.type == .object:
      return .relation(key, relation, .value(Self.rowKey(value, try scope(key))))
    case .relation(let key, let relation, .key(let other)) where key.type == .object && other.type == .object:
      // Rows of different tables may have the same key and are different objects: only null is equal.
      if try scope(key) == scope(other) { return self }
      let bothNull = BoundNode.and([.isNull(key), .isNull(other)])
      return relation == .equal ? bothNull : .not(bothNull)
    case .member(let key, let set, let options) where key.type == .object:
      var rowKeys = StoredValueSet()
      let wanted = try scope(key)
      for value in set.values { rowKeys.insert(Self.rowKey(value, wanted)) }
      return .member(key, rowKeys, options)
    case .not(let node): return .not(try node.comparingKeys(scope))
    case .and(let nodes): return .and(try nodes.map { try $0.comparingKeys(scope) })
    case .or(let nodes): return .or(try nodes.map { try $0.comparingKeys(scope) })
    case .constant, .isNull, .relation, .text, .member: return self
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
