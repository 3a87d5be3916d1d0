import Foundation

/// Binds one comparison whose keys are known.
struct ComparisonBinder {
  typealias Side = PredicateBinder.Side

  let comparison: PredicateComparison
  let isStrict: Bool

  func bind(_ left: Side, _ right: Side) throws -> BoundNode {
    switch comparison.operation {
    case .equal: try relation(.equal, left: left, right: right)
    case .notEqual: try relation(.notEqual, left: left, right: right)
    case .less: try relation(.less, left: left, right: right)
    case .lessOrEqual: try relation(.lessOrEqual, left: left, right: right)
    case .greater: try relation(.greater, left: left, right: right)
    case .greaterOrEqual: try relation(.greaterOrEqual, left: left, right: right)
    case .between: try between(left, right)
    case .isIn: try isIn(left, right)
    case .contains: try contains(left, right)
    case .beginsWith: try text(.beginsWith, left: left, right: right)
    case .endsWith: try text(.endsWith, left: left, right: right)
    case .like: try text(.like, left: left, right: right)
    case .matches: try text(.matches, left: left, right: right)
    }
  }

  var textOptions: TextOptions {
    var options: TextOptions = []
    if comparison.options.contains(.normalized) { return options }
    if comparison.options.contains(.caseInsensitive) { options.insert(.caseInsensitive) }
    if comparison.options.contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
    if comparison.options.contains(.localeSensitive), comparison.operation.isOrder { options.insert(.localized) }
    return options
  }

  /// The constant for an attribute; nil for a value of another kind if that only makes the two unequal.
  ///
  /// - Parameter isForEquality: Whether a text may be compared with a whole number, by its digits, as a store compares
  ///   them. The order of the two is a mistake: '10' precedes '9'.
  func stored(
    _ constant: PredicateConstant, as type: PredicateValueType, name: String?, isForEquality: Bool = false
  ) throws -> StoredValue? {
    if let value = constant.stored(as: type) { return value }
    if isForEquality, type == .text, case .integer(let number) = constant { return .text(String(number)) }
    if isStrict { throw PredicateFailure.mismatch(constant, type, name: name, in: comparison) }
    return nil
  }

  // MARK: == != < <= > >=

  func relation(_ relation: BoundRelation, left: Side, right: Side) throws -> BoundNode {
    switch (left, right) {
    case (.list, _), (_, .list):
      throw PredicateFailure.unexpectedList(in: comparison)
    case (.elements(let elements, _, _), _), (_, .elements(let elements, _, _)):
      throw PredicateFailure.manyValues(elements, in: comparison)
    case (.term(let left, let leftType), .term(let right, let rightType)):
      guard leftType.family == rightType.family else {
        throw PredicateFailure.incomparable((left.name, leftType), (right.name, rightType), in: comparison)
      }
      try checkOrder(of: left, leftType, relation)
      return relate(left, type: leftType, relation, to: right)
    case (.term(let term, let type), .constant(let constant)):
      return try relate(term, type: type, relation, to: constant)
    case (.constant(let constant), .term(let term, let type)):
      return try relate(term, type: type, relation.flipped, to: constant)
    case (.constant(let left), .constant(let right)):
      return .constant(try constants(left: left, relation: relation, right: right))
    }
  }

  private func relate(
    _ term: BoundOperand, type: PredicateValueType, _ relation: BoundRelation, to constant: PredicateConstant
  ) throws -> BoundNode {
    try checkOrder(of: term, type, relation)
    let isForEquality = relation == .equal || relation == .notEqual
    guard let value = try stored(constant, as: type, name: term.name, isForEquality: isForEquality) else {
      return .constant(relation == .notEqual)
    }
    if value.isNull {
      switch relation {
      case .equal: return .isNull(term)
      case .notEqual: return .not(.isNull(term))
      case .less, .lessOrEqual, .greater, .greaterOrEqual: return .constant(false)
      }
    }
    return term.existence(relation, value) ?? relate(term, type: type, relation, to: .value(value))
  }

  private func checkOrder(of term: BoundOperand, _ type: PredicateValueType, _ relation: BoundRelation) throws {
    guard type == .object, relation != .equal, relation != .notEqual else { return }
    throw PredicateFailure.unordered(term.name, in: comparison)
  }

  /// With `[c]` or `[d]`, text is folded on both sides. On other types these options have no effect.
  private func relate(
    _ term: BoundOperand, type: PredicateValueType, _ relation: BoundRelation, to operand: BoundOperand
  ) -> BoundNode {
    guard type.family == .text, !textOptions.isEmpty else { return .relation(term, relation, operand) }
    if let operation = relation.textOperation {
      let holds = folded(left: term, operation: operation, right: operand)
      if operation != .equal { return holds }
      if case .value = operand { return holds }
      return .or([holds, .and([.isNull(term), .isNull(operand)])])
    }
    return .negation(of: relate(term, type: type, .equal, to: operand))
  }

  /// Compares two constants immediately: the right one converted to the left one's type, otherwise vice versa.
  private func constants(
    left: PredicateConstant, relation: BoundRelation, right: PredicateConstant
  ) throws -> Bool {
    guard let (first, second) = try common(left, right) else {
      guard relation == .equal || relation == .notEqual else {
        throw PredicateFailure.mismatch(right, left.valueType ?? .text, name: nil, in: comparison)
      }
      return relation == .notEqual
    }
    guard !textOptions.isEmpty, case .text(let leftText) = first, case .text(let rightText) = second else {
      return relation.holds(first, second)
    }
    guard let operation = relation.textOperation else {
      return !TextComparison.holds(.equal, options: textOptions, left: leftText, right: rightText)
    }
    return TextComparison.holds(operation, options: textOptions, left: leftText, right: rightText)
  }

  /// Both constants in a common type; nil if there is none and that is not an error.
  func common(
    _ left: PredicateConstant, _ right: PredicateConstant
  ) throws -> (StoredValue, StoredValue)? {
    for type in [left.valueType, right.valueType].compactMap({ $0 }) {
      if let first = left.stored(as: type), let second = right.stored(as: type) { return (first, second) }
    }
    if left == .null && right == .null { return (.null, .null) }
    if let type = left.valueType { _ = try stored(right, as: type, name: nil) }
    return nil
  }

  // MARK: BETWEEN

  private func between(_ left: Side, _ right: Side) throws -> BoundNode {
    guard case .list(let bounds) = right, bounds.count == 2 else {
      throw PredicateFailure.expectedList("a list of two bounds, {low, high},", in: comparison)
    }
    return .all([
      try relation(.greaterOrEqual, left: left, right: bounds[0]),
      try relation(.lessOrEqual, left: left, right: bounds[1]),
    ])
  }
}
