extension ComparisonBinder {
  /// `key IN {a, b}`. With text on the right, `'b' IN 'abc'` is a substring search, as in Foundation.
  func isIn(_ left: Side, _ right: Side) throws -> BoundNode {
    switch right {
    case .list(let elements): return try membership(left, elements)
    case .elements(let elements, let element, let type):
      return try membership(of: left, in: elements, element, type)
    case .constant(.null): return .constant(false)
    case .term, .constant:
      guard right.type?.family == .text else {
        throw PredicateFailure.expectedList("a list or text", in: comparison)
      }
      return try text(.contains, left: right, right: left)
    }
  }

  /// `text CONTAINS part`, or `{a, b} CONTAINS key`.
  func contains(_ left: Side, _ right: Side) throws -> BoundNode {
    if case .list(let elements) = left { return try membership(right, elements) }
    if case .elements(let elements, let element, let type) = left {
      return try membership(of: right, in: elements, element, type)
    }
    return try text(.contains, left: left, right: right)
  }

  /// One of the elements has the value.
  private func membership(
    of side: Side, in elements: BoundElements, _ element: BoundOperand, _ type: PredicateValueType
  ) throws -> BoundNode {
    .exists(elements.restricted(to: try relation(.equal, left: .term(element, type), right: side)))
  }

  private func membership(_ side: Side, _ elements: [Side]) throws -> BoundNode {
    guard case .term(let term, let type) = side else {
      return .any(try elements.map { try relation(.equal, left: side, right: $0) })
    }
    let options = type.family == .text ? textOptions : []
    var set = StoredValueSet()
    var others: [BoundNode] = []
    var hasNull = false
    for element in elements {
      guard case .constant(let constant) = element else {
        others.append(try relation(.equal, left: side, right: element))
        continue
      }
      guard let value = try stored(constant, as: type, name: term.name, isForEquality: true) else { continue }
      if value.isNull { hasNull = true }
      set.insert(value.folded(options))
    }
    let member: BoundNode = set.isEmpty ? .constant(false) : .member(term, set, options)
    return .any([member, hasNull ? .isNull(term) : .constant(false)] + others)
  }
}
