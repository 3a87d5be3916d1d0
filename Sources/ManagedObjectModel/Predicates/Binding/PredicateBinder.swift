import Foundation

extension PredicateNode {
  /// The predicate bound to the attributes of `schema`.
  ///
  /// - Throws: what the schema throws for an unknown key path, and NSError 134060 if a constant does not convert to its
  ///   attribute's type (the message names key, type and value), a list or SELF appears in an invalid position, or a
  ///   variable does not have a value.
  package func bound(to schema: some PredicateSchema) throws -> BoundPredicate {
    var binder = PredicateBinder(schema: schema, isStrict: true)
    let root = try binder.bind(self)
    return BoundPredicate(root: root, keys: binder.keys)
  }
}

/// Determines the types of every comparison.
struct PredicateBinder {
  /// What is known of the evaluated object and of the elements of the enclosing collections, by level.
  struct Scope {
    let schema: any PredicateSchema
    /// The subquery's variable that stands for the element.
    var variable: String?
  }

  /// False when single objects are evaluated without a schema: values of different kinds are then unequal.
  let isStrict: Bool
  var scopes: [Scope]
  private(set) var keys: [PredicateKey] = []
  private var indexes: [[String]: Int] = [:]
  /// One moment for every `now()`.
  private(set) lazy var now = Date()

  init(schema: any PredicateSchema, isStrict: Bool) {
    scopes = [Scope(schema: schema)]
    self.isStrict = isStrict
  }

  /// One side of a comparison. Aggregates and collections of constants both become lists.
  enum Side {
    case term(BoundOperand, PredicateValueType)
    case constant(PredicateConstant)
    case list([Side])
    /// Elements, and what is compared of each.
    case elements(BoundElements, BoundOperand, PredicateValueType)

    /// Nil if the type is unknown: null, lists, foreign values.
    var type: PredicateValueType? {
      switch self {
      case .term(_, let type): type
      case .constant(let constant): constant.valueType
      case .list, .elements: nil
      }
    }
  }

  mutating func bind(_ node: PredicateNode) throws -> BoundNode {
    switch node {
    case .constant(let value):
      return .constant(value)
    case .comparison(let comparison):
      if comparison.modifier != .direct { return try quantified(comparison) }
      let left = try side(comparison.left, of: comparison)
      let right = try side(comparison.right, of: comparison)
      return try ComparisonBinder(comparison: comparison, isStrict: isStrict).bind(left, right)
    case .not(let node):
      return .negation(of: try bind(node))
    case .and(let nodes):
      return .all(try bindEach(nodes))
    case .or(let nodes):
      return .any(try bindEach(nodes))
    }
  }

  private mutating func bindEach(_ nodes: [PredicateNode]) throws -> [BoundNode] {
    var bound: [BoundNode] = []
    for node in nodes { bound.append(try bind(node)) }
    return bound
  }

  mutating func side(_ operand: PredicateOperand, of comparison: PredicateComparison) throws -> Side {
    switch operand {
    case .keyPath(let path):
      return try side(path, level: 0, of: comparison)
    case .path, .subquery:
      return try side(startingAt: operand, path: [], of: comparison)
    case .constant(let constant):
      return try side(constant, of: comparison)
    case .variable(let name):
      guard let level = level(ofVariable: name) else { throw PredicateFailure.unbound(variable: name, in: comparison) }
      return try side(PredicateKey.itself, level: level, of: comparison)
    case .selfObject:
      return try side(PredicateKey.itself, level: 0, of: comparison)
    case .aggregate(let operands):
      var sides: [Side] = []
      for operand in operands { sides.append(try side(operand, of: comparison)) }
      return .list(sides)
    case .function(let function, let arguments):
      return try side(calling: function, arguments, of: comparison)
    case .block(let block, _):
      throw PredicateFailure.block(block, in: comparison)
    case .conditional(let condition, let value, let otherwise):
      return try side(choosing: condition, value, otherwise, of: comparison)
    }
  }

  private func side(_ constant: PredicateConstant, of comparison: PredicateComparison) throws -> Side {
    switch constant {
    case .collection(let constants):
      return .list(try constants.map { try side($0, of: comparison) })
    case .unsupported(let foreign):
      throw PredicateFailure.unsupported(typeName: foreign.typeName, in: comparison)
    default:
      return .constant(constant)
    }
  }

  func level(ofVariable name: String) -> Int? {
    scopes.lastIndex { $0.variable == name }
  }

  /// Keys of the evaluated object are listed; those of elements are found by their path.
  mutating func key(_ path: [String], level: Int) throws -> PredicateKey {
    if level == 0, let index = indexes[path] { return keys[index] }
    let type = try scopes[level].schema.attributeType(ofKeyPath: path)
    let key = PredicateKey(index: level == 0 ? keys.count : -1, level: level, path: path, type: type)
    guard level == 0 else { return key }
    indexes[path] = key.index
    keys.append(key)
    return key
  }
}
