extension BoundElements {
  /// Those of the elements for which the condition holds too.
  func restricted(to condition: BoundNode) -> BoundElements {
    var elements = self
    elements.condition = .all([self.condition, condition])
    return elements
  }
}

extension BoundOperand {
  /// A count that is compared with 0 or 1 only asks whether there is an element, which needs no counting.
  func existence(_ relation: BoundRelation, _ value: StoredValue) -> BoundNode? {
    guard case .computed(let computation) = self, case .count(let elements) = computation.form else { return nil }
    switch (relation, value) {
    case (.greater, .integer(0)), (.notEqual, .integer(0)), (.greaterOrEqual, .integer(1)):
      return .exists(elements)
    case (.equal, .integer(0)), (.less, .integer(1)), (.lessOrEqual, .integer(0)):
      return .not(.exists(elements))
    default:
      return nil
    }
  }
}
