/// Key paths through to-many relationships.
extension PredicateBinder {
  /// Elements on a key path, what is known of each, and the rest of the path.
  struct Collection {
    var elements: BoundElements
    let schema: any PredicateSchema
    let rest: [String]
    /// Whether only the values that are not nil belong to it, because a union was asked for.
    var isUnion = false

    /// The rest, which starts at an element.
    var elementPath: [String] { rest.isEmpty ? PredicateKey.itself : rest }

    /// What is computed of all elements.
    var computation: CollectionOperator? { isUnion ? nil : rest.first.flatMap(CollectionOperator.init(rawValue:)) }

    /// The same, where a union that the rest begins with is carried out.
    func takingUnion() throws -> Collection {
      guard let word = computation, word.isUnion else { return self }
      guard rest.count > 1 else { throw PredicateFailure.unfinishedOperator(word) }
      var values = Collection(elements: elements, schema: schema, rest: Array(rest.dropFirst()), isUnion: true)
      values.elements.countsValuesOnce = word == .distinctUnion
      return values
    }

    /// The elements that belong to it if that is the value of each.
    func elements(with value: BoundOperand) -> BoundElements {
      isUnion ? elements.restricted(to: .not(.isNull(value))) : elements
    }
  }

  /// `ANY` and `ALL`. The left side's element is one more enclosing collection for both sides.
  mutating func quantified(_ comparison: PredicateComparison) throws -> BoundNode {
    let isAll = comparison.modifier == .all
    guard let collection = try collection(comparison.left, of: comparison) else {
      return try quantifiedFunction(comparison)
    }
    scopes.append(Scope(schema: collection.schema))
    defer { scopes.removeLast() }
    let left = try side(collection.elementPath, level: scopes.count - 1, of: comparison)
    guard case .term(let value, _) = left else { throw PredicateFailure.severalCollections(in: comparison) }
    let right = try side(comparison.right, of: comparison)
    let holds = try ComparisonBinder(comparison: comparison, isStrict: isStrict).bind(left, right)
    let elements = collection.elements(with: value)
    let found = BoundNode.exists(elements.restricted(to: isAll ? .negation(of: holds) : holds))
    return isAll ? .not(found) : found
  }

  /// `ANY {1, 2} IN key`: a list on the left.
  mutating func quantifiedList(_ comparison: PredicateComparison) throws -> BoundNode {
    let values: [Side]
    switch try side(comparison.left, of: comparison) {
    case .list(let list): values = list
    // A path that breaks off has no elements.
    case .constant(.null) where !isStrict: values = []
    default: throw PredicateFailure.noElements(in: comparison)
    }
    let right = try side(comparison.right, of: comparison)
    let binder = ComparisonBinder(comparison: comparison, isStrict: isStrict)
    let nodes = try values.map { try binder.bind($0, right) }
    return comparison.modifier == .all ? .all(nodes) : .any(nodes)
  }

  /// One side that is a key path of the object on a level.
  mutating func side(_ path: [String], level: Int, of comparison: PredicateComparison) throws -> Side {
    guard let collection = try collection(path, level: level, of: comparison) else {
      if let word = path.first(where: { CollectionOperator(rawValue: $0) != nil }) {
        throw PredicateFailure.misplacedOperator(word, in: comparison)
      }
      if let text = try side(propertyOfTextAt: path, level: level, of: comparison) { return text }
      let key = try key(path, level: level)
      return .term(.key(key), key.type)
    }
    return try side(collection, of: comparison)
  }

  /// `name.length`, `name.lowercaseString` or `name.uppercaseString`; nil for another path.
  private mutating func side(
    propertyOfTextAt path: [String], level: Int, of comparison: PredicateComparison
  ) throws -> Side? {
    guard path.count > 1, let function = PredicateFunction.methods[path[path.count - 1]],
      (try? scopes[level].schema.attributeType(ofKeyPath: path)) == nil,
      let type = try? scopes[level].schema.attributeType(ofKeyPath: path.dropLast()), type == .text
    else { return nil }
    let key = try key(path.dropLast(), level: level)
    let call = FunctionCall(function: function, name: path.joined(separator: "."), comparison: comparison)
    return try call.side([.term(.key(key), key.type)])
  }

  /// One side that starts at a variable or a subquery.
  mutating func side(
    startingAt start: PredicateOperand, path: [String], of comparison: PredicateComparison
  ) throws -> Side {
    switch start {
    case .path(let inner, let first) where !first.contains(where: CollectionOperator.isUnion):
      return try side(startingAt: inner, path: first + path, of: comparison)
    case .variable(let name):
      guard let level = level(ofVariable: name) else { throw PredicateFailure.unbound(variable: name, in: comparison) }
      return try side(path, level: level, of: comparison)
    default:
      guard let collection = try collection(path.isEmpty ? start : .path(start, path), of: comparison) else {
        throw PredicateFailure.noCollection(start, in: comparison)
      }
      return try side(collection, of: comparison)
    }
  }

  private mutating func side(_ collection: Collection, of comparison: PredicateComparison) throws -> Side {
    if let summary = collection.computation { return try self.summary(summary, of: collection, in: comparison) }
    let (operand, type) = try element(of: collection, collection.elementPath, in: comparison)
    return .elements(collection.elements(with: operand), operand, type)
  }

  /// The value at the end of a path from an element.
  private mutating func element(
    of collection: Collection, _ path: [String], in comparison: PredicateComparison
  ) throws -> (BoundOperand, PredicateValueType) {
    scopes.append(Scope(schema: collection.schema))
    defer { scopes.removeLast() }
    guard case .term(let operand, let type) = try side(path, level: scopes.count - 1, of: comparison) else {
      throw PredicateFailure.severalCollections(in: comparison)
    }
    return (operand, type)
  }

  private mutating func summary(
    _ kind: CollectionOperator, of collection: Collection, in comparison: PredicateComparison
  ) throws -> Side {
    let path = Array(collection.rest.dropFirst())
    let name = (collection.elements.path + collection.rest).joined(separator: ".")
    guard let summary = kind.summary else {
      guard path.isEmpty else { throw PredicateFailure.misplacedOperator(kind.rawValue, in: comparison) }
      return .computed(.count(collection.elements), .integer, name: name)
    }
    let (operand, type) = try element(of: collection, path.isEmpty ? PredicateKey.itself : path, in: comparison)
    return try self.summary(
      summary, of: (collection.elements, operand, type), name: name, in: comparison)
  }

  /// What the values of elements give together.
  func summary(
    _ kind: ValueSummary, of values: (elements: BoundElements, operand: BoundOperand, type: PredicateValueType),
    name: String, in comparison: PredicateComparison
  ) throws -> Side {
    let type = values.type
    switch kind {
    case .minimum, .maximum:
      guard type != .object else { throw PredicateFailure.unordered(values.operand.name, in: comparison) }
    case .sum, .average, .median, .deviation:
      guard type.family == .number else { throw PredicateFailure.noNumber(values.operand.name, type, in: comparison) }
    }
    return .computed(
      .summary(kind, values.elements, of: values.operand), kind.resultType(of: type), name: name)
  }

  // MARK: Collections

  /// The elements that an operand names; nil if it names none.
  mutating func collection(
    _ operand: PredicateOperand, of comparison: PredicateComparison
  ) throws -> Collection? {
    switch operand {
    case .keyPath(let path):
      return try collection(path, level: 0, of: comparison)
    case .path(.variable(let name), let path):
      guard let level = level(ofVariable: name) else { throw PredicateFailure.unbound(variable: name, in: comparison) }
      return try collection(path, level: level, of: comparison)
    case .path(let start, let path):
      guard var collection = try collection(start, of: comparison) else { return nil }
      if collection.isUnion { try finishUnion(&collection, in: comparison) }
      return try Collection(elements: collection.elements, schema: collection.schema, rest: collection.rest + path)
        .takingUnion()
    case .subquery(let subquery):
      guard var collection = try collection(subquery.collection, of: comparison), collection.rest.isEmpty else {
        throw PredicateFailure.noCollection(subquery.collection, in: comparison)
      }
      scopes.append(Scope(schema: collection.schema, variable: subquery.variable))
      defer { scopes.removeLast() }
      collection.elements = collection.elements.restricted(to: try bind(subquery.condition))
      return collection
    case .constant, .variable, .aggregate, .selfObject, .function, .conditional, .block:
      return nil
    }
  }

  /// A path goes on after the values of a union: those that are nil at the end of the union do not belong to it, and those
  /// at the end of the whole path do.
  private mutating func finishUnion(_ collection: inout Collection, in comparison: PredicateComparison) throws {
    // What is at the end of different values may be equal, and counts for each of them.
    guard !collection.elements.countsValuesOnce else { throw PredicateFailure.pathAfterDistinct(in: comparison) }
    let (operand, _) = try element(of: collection, collection.elementPath, in: comparison)
    collection.elements = collection.elements(with: operand)
    collection.isUnion = false
  }

  private func collection(
    _ path: [String], level: Int, of comparison: PredicateComparison
  ) throws -> Collection? {
    guard let found = try scopes[level].schema.elements(onKeyPath: path) else { return nil }
    return try Collection(
      elements: BoundElements(path: Array(path.prefix(found.count)), level: level, condition: .constant(true)),
      schema: found.schema, rest: Array(path.dropFirst(found.count))
    ).takingUnion()
  }
}

extension CollectionOperator {
  static func isUnion(_ word: String) -> Bool { CollectionOperator(rawValue: word)?.isUnion ?? false }

  /// Nil for a count, which reads no values, and for unions, which give all of them.
  var summary: ValueSummary? {
    switch self {
    case .count, .union, .distinctUnion: nil
    case .sum: .sum
    case .minimum: .minimum
    case .maximum: .maximum
    case .average: .average
    }
  }
}
