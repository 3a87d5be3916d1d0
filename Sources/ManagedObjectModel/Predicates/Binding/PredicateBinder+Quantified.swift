/// `ANY`, `ALL` and `NONE` before what is computed of each element.
extension PredicateBinder {
  /// Stands for the element on the left. No format can name it.
  private static let element = "(element)"

  /// `ANY uppercase(tags.word) == 'SEA'`, `ALL {1, 2} + rating < 5`. The left side is computed for each element of the
  /// one part of it that has several values.
  mutating func quantifiedFunction(_ comparison: PredicateComparison) throws -> BoundNode {
    guard comparison.left.isComputed else { return try quantifiedList(comparison) }
    var found = Parts()
    try find(&found, in: comparison.left, of: comparison)
    guard found.parts.count < 2 else { throw PredicateFailure.severalParts(comparison.left, in: comparison) }
    guard let part = found.parts.first else {
      // A path that breaks off has no elements.
      guard !isStrict, comparison.left.hasNull else { return try quantifiedList(comparison) }
      return .constant(comparison.modifier == .all)
    }
    guard let collection = part.collection else { return try quantified(comparison, part, of: part.operand.listed) }
    return try quantified(comparison, part, of: collection)
  }

  private mutating func quantified(
    _ comparison: PredicateComparison, _ part: Part, of list: [PredicateOperand]
  ) throws -> BoundNode {
    let right = try side(comparison.right, of: comparison)
    var nodes: [BoundNode] = []
    for value in list {
      let left = try side(comparison.left.replacing(part.index, by: value), of: comparison)
      nodes.append(try ComparisonBinder(comparison: comparison, isStrict: isStrict).bind(left, right))
    }
    return comparison.modifier == .all ? .all(nodes) : .any(nodes)
  }

  private mutating func quantified(
    _ comparison: PredicateComparison, _ part: Part, of collection: Collection
  ) throws -> BoundNode {
    let element = PredicateOperand.path(.variable(Self.element), collection.elementPath)
    let computed = comparison.left.replacing(part.index, by: element)
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

  /// A part of the left side that has several values, by its place among all parts that may have.
  private struct Part {
    let operand: PredicateOperand
    let index: Int
    /// Nil for a list.
    let collection: Collection?
  }

  private struct Parts {
    var parts: [Part] = []
    /// How many parts were looked at.
    var count = 0
  }

  /// Finds the parts that have several values. Each is bound once: a subquery may have others in it. What a function
  /// computes of several values is one.
  private mutating func find(
    _ found: inout Parts, in operand: PredicateOperand, of comparison: PredicateComparison
  ) throws {
    switch operand {
    case .function(let function, let arguments):
      if function.takesList { return }
      for argument in arguments { try find(&found, in: argument, of: comparison) }
    case .conditional(_, let value, let otherwise):
      try find(&found, in: value, of: comparison)
      try find(&found, in: otherwise, of: comparison)
    case .aggregate, .constant(.collection):
      found.parts.append(Part(operand: operand, index: found.count, collection: nil))
      found.count += 1
    case .keyPath, .path, .subquery:
      if let bound = try collection(operand, of: comparison), bound.computation == nil {
        found.parts.append(Part(operand: operand, index: found.count, collection: bound))
      }
      found.count += 1
    case .constant, .variable, .selfObject, .block:
      return
    }
  }
}

extension PredicateOperand {
  /// With the part that may have several values and stands at `index` among these, from the left, replaced.
  fileprivate func replacing(_ index: Int, by value: PredicateOperand) -> PredicateOperand {
    var count = 0
    return replacing(index, by: value, &count)
  }

  private func replacing(_ index: Int, by value: PredicateOperand, _ count: inout Int) -> PredicateOperand {
    switch self {
    case .function(let function, let arguments):
      if function.takesList { return self }
      var replaced: [PredicateOperand] = []
      for argument in arguments { replaced.append(argument.replacing(index, by: value, &count)) }
      return .function(function, replaced)
    case .conditional(let condition, let first, let otherwise):
      let replaced = first.replacing(index, by: value, &count)
      return .conditional(condition, replaced, otherwise.replacing(index, by: value, &count))
    case .aggregate, .constant(.collection), .keyPath, .path, .subquery:
      defer { count += 1 }
      return count == index ? value : self
    case .constant, .variable, .selfObject, .block:
      return self
    }
  }

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
