extension ComparisonBinder {
  /// `key IN {a, b}`. With text on the right, `'b' IN 'abc'` is a substring search, as in Foundation.
  func isIn(_ left: Side, _ right: Side) throws -> BoundNode {
    switch right {
    case .list(let elements): return try membership(left, elements)
    case .constant(.null): return .constant(false)
    case .key, .constant:
      guard right.type?.family == .text else {
        throw PredicateFailure.expectedList("a list or text", in: comparison)
      }
      return try text(.contains, left: right, right: left)
    }
  }

  /// `text CONTAINS part`, or `{a, b} CONTAINS key`.
  func contains(_ left: Side, _ right: Side) throws -> BoundNode {
    if case .list(let elements) = left { return try membership(right, elements) }
    return try text(.contains, left: left, right: right)
  }

  private func membership(_ side: Side, _ elements: [Side]) throws -> BoundNode {
    guard case .key(let key) = side else {
      return .any(try elements.map { try relation(.equal, left: side, right: $0) })
    }
    let options = key.type.family == .text ? textOptions : []
    var set = StoredValueSet()
    var others: [BoundNode] = []
    var hasNull = false
    for element in elements {
      guard case .constant(let constant) = element else {
        others.append(try relation(.equal, left: side, right: element))
        continue
      }
      guard let value = try stored(constant, as: key.type, key: key, isForEquality: true) else { continue }
      if value.isNull { hasNull = true }
      set.insert(value.folded(options))
    }
    let member: BoundNode = set.isEmpty ? .constant(false) : .member(key, set, options)
    return .any([member, hasNull ? .isNull(key) : .constant(false)] + others)
  }
}
