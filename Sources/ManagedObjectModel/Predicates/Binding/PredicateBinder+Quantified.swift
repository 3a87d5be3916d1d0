/// `ANY`, `ALL` and `NONE` before what is computed of each element.
extension PredicateBinder {
  /// Stands for the element on the left. No format can name it.
  private static let element = "(element)"

  /// `ANY uppercase(tags.word) == 'SEA'`, `ALL {1, 2} + rating < 5`. The left side is computed for each element of the
  /// one part of it that has several values.
  mutating func quantifiedFunction(_ comparison: PredicateComparison) throws -> BoundNode {
    guard comparison.left.isComputed else { return try quantifiedList(comparison) }
    var parts: [PredicateOperand] = []
    _ = try replacingParts(of: comparison.left, in: comparison) { part in
      parts.append(part)
      return part
    }
    guard parts.count < 2 else { throw PredicateFailure.severalParts(comparison.left, in: comparison) }
    guard let part = parts.first else {
      // A path that breaks off has no elements.
      guard !isStrict, comparison.left.hasNull else { return try quantifiedList(comparison) }
      return .constant(comparison.modifier == .all)
    }
    guard let collection = try collection(part, of: comparison) else {
      return try quantified(comparison, part, of: part.listed)
    }
    return try quantified(comparison, part, of: collection)
  }

  private mutating func quantified(
    _ comparison: PredicateComparison, _ part: PredicateOperand, of list: [PredicateOperand]
  ) throws -> BoundNode {
    let right = try side(comparison.right, of: comparison)
    var nodes: [BoundNode] = []
    for value in list {
      let left = try side(replacingParts(of: comparison.left, in: comparison) { _ in value }, of: comparison)
      nodes.append(try ComparisonBinder(comparison: comparison, isStrict: isStrict).bind(left, right))
    }
    return comparison.modifier == .all ? .all(nodes) : .any(nodes)
  }

  private mutating func quantified(
    _ comparison: PredicateComparison, _ part: PredicateOperand, of collection: Collection
  ) throws -> BoundNode {
    let element = PredicateOperand.path(.variable(Self.element), collection.elementPath)
    let computed = try replacingParts(of: comparison.left, in: comparison) { _ in element }
    scopes.append(Scope(schema: collection.schema, variable: Self.element))
    defer { scopes.removeLast() }
    guard case .term(let value, _) = try side(element, of: comparison) else {
      throw PredicateFailure.severalCollections(in: comparison)
    }
    let (left, right) = (try side(computed, of: comparison), try side(comparison.right, of: comparison))
    let holds = try ComparisonBinder(comparison: comparison, isStrict: isStrict).bind(left, right)
    let isAll = comparison.modifier == .all
    let elements = collection.elements(with: value)
    let found = BoundNode.exists(elements.restricted(to: isAll ? .negation(of: holds) : holds))
    return isAll ? .not(found) : found
  }

  /// The operand with its parts that have several values replaced. What a function computes of several values is one.
  private mutating func replacingParts(
    of operand: PredicateOperand, in comparison: PredicateComparison,
    by replacement: (PredicateOperand) -> PredicateOperand
  ) throws -> PredicateOperand {
    switch operand {
    case .function(let function, let arguments):
      if function.takesList { return operand }
      var replaced: [PredicateOperand] = []
      for argument in arguments {
        replaced.append(try replacingParts(of: argument, in: comparison, by: replacement))
      }
      return .function(function, replaced)
    case .conditional(let condition, let value, let otherwise):
      return .conditional(
        condition, try replacingParts(of: value, in: comparison, by: replacement),
        try replacingParts(of: otherwise, in: comparison, by: replacement))
    case .aggregate, .constant(.collection):
      return replacement(operand)
    case .keyPath, .path, .subquery:
      guard let found = try collection(operand, of: comparison), found.computation == nil else { return operand }
      return replacement(operand)
    case .constant, .variable, .selfObject, .block:
      return operand
    }
  }
}

extension PredicateOperand {
  /// Whether it is computed of others.
  fileprivate var isComputed: Bool {
    switch self {
    case .function, .conditional: true
    default: false
    }
  }

  /// Whether nil is one of the values that it is computed of.
  fileprivate var hasNull: Bool {
    switch self {
    case .constant(.null): true
    case .function(_, let arguments): arguments.contains(where: \.hasNull)
    case .conditional(_, let value, let otherwise): value.hasNull || otherwise.hasNull
    default: false
    }
  }

  /// The parts of a list.
  fileprivate var listed: [PredicateOperand] {
    switch self {
    case .aggregate(let operands): operands
    case .constant(.collection(let values)): values.map { .constant($0) }
    default: []
    }
  }
}

extension PredicateFunction {
  /// Whether it takes a list, of which it makes one value or another list.
  var takesList: Bool {
    switch self {
    case .sum, .count, .minimum, .maximum, .average, .median, .mode, .deviation, .element, .first, .last, .size, .union,
      .intersection, .difference:
      true
    default: false
    }
  }
}
