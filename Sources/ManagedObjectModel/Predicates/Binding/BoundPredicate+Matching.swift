extension BoundPredicate {
  /// Whether the predicate is true for an object.
  ///
  /// - Parameter value: the object's stored value for a key; called only if needed.
  package func matches(_ value: (PredicateKey) throws -> StoredValue) rethrows -> Bool {
    try root.matches(value)
  }
}

extension BoundNode {
  func matches(_ value: (PredicateKey) throws -> StoredValue) rethrows -> Bool {
    switch self {
    case .constant(let result):
      return result
    case .isNull(let key):
      return StoredValueOrder.isNull(try value(key))
    case .relation(let key, let relation, let operand):
      return relation.holds(try value(key), try operand.value(value))
    case .text(let text):
      guard case .text(let left) = try text.left.value(value),
        case .text(let right) = try text.right.value(value)
      else { return false }
      return TextComparison.holds(text.operation, options: text.options, left: left, right: right)
    case .member(let key, let set, let options):
      return set.contains(try value(key).folded(options))
    case .not(let node):
      return try !node.matches(value)
    case .and(let nodes):
      return try nodes.allSatisfy { try $0.matches(value) }
    case .or(let nodes):
      return try nodes.contains { try $0.matches(value) }
    }
  }
}

extension BoundOperand {
  fileprivate func value(_ value: (PredicateKey) throws -> StoredValue) rethrows -> StoredValue {
    switch self {
    case .key(let key): try value(key)
    case .value(let constant): constant
    }
  }
}

extension BoundRelation {
  /// Null is equal to null only, and is neither less nor greater than any value.
  func holds(_ left: StoredValue, _ right: StoredValue) -> Bool {
    switch (StoredValueOrder.isNull(left), StoredValueOrder.isNull(right)) {
    case (false, false): holds(StoredValueOrder.compare(left, right))
    case (true, true): self == .equal
    default: self == .notEqual
    }
  }
}

extension StoredValue {
  /// Folds text; other values are unchanged.
  func folded(_ options: TextOptions) -> StoredValue {
    guard !options.isEmpty, case .text(let text) = self else { return self }
    return .text(TextFolding.fold(text, options))
  }
}
