import Foundation

extension PredicateNode {
  /// The predicate bound to the attributes of `schema`.
  ///
  /// - Throws: what the schema throws for an unknown key path, and NSError 134060 if a constant does not convert to its
  ///   attribute's type (the message names key, type and value), a list or SELF appears in an invalid position, or a
  ///   variable does not have a value.
  package func bound(to schema: some PredicateSchema) throws -> BoundPredicate {
    var binder = PredicateBinder(types: schema.attributeType(ofKeyPath:), isStrict: true)
    let root = try binder.bind(self)
    return BoundPredicate(root: root, keys: binder.keys)
  }
}

/// Determines the types of every comparison.
struct PredicateBinder {
  let types: ([String]) throws -> PredicateValueType
  /// False when single objects are evaluated without a schema: values of different kinds are then unequal.
  let isStrict: Bool
  private(set) var keys: [PredicateKey] = []
  private var indexes: [[String]: Int] = [:]

  init(types: @escaping ([String]) throws -> PredicateValueType, isStrict: Bool) {
    self.types = types
    self.isStrict = isStrict
  }

  /// One side of a comparison. Aggregates and collections both become lists.
  enum Side {
    case key(PredicateKey)
    case constant(PredicateConstant)
    case list([Side])

    /// Nil if the type is unknown: null, lists, foreign values.
    var type: PredicateValueType? {
      switch self {
      case .key(let key): key.type
      case .constant(let constant): constant.valueType
      case .list: nil
      }
    }
  }

  mutating func bind(_ node: PredicateNode) throws -> BoundNode {
    switch node {
    case .constant(let value):
      return .constant(value)
    case .comparison(let comparison):
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

  private mutating func side(_ operand: PredicateOperand, of comparison: PredicateComparison) throws -> Side {
    switch operand {
    case .keyPath(let path):
      return .key(try key(path))
    case .constant(let constant):
      return try side(constant, of: comparison)
    case .variable(let name):
      throw PredicateFailure.unbound(variable: name, in: comparison)
    case .selfObject:
      return .key(try key(PredicateKey.itself))
    case .aggregate(let operands):
      var sides: [Side] = []
      for operand in operands { sides.append(try side(operand, of: comparison)) }
      return .list(sides)
    }
  }

  private func side(_ constant: PredicateConstant, of comparison: PredicateComparison) throws -> Side {
    switch constant {
    case .collection(let constants):
      return .list(try constants.map { try side($0, of: comparison) })
    case .unsupported(let typeName):
      throw PredicateFailure.unsupported(typeName: typeName, in: comparison)
    default:
      return .constant(constant)
    }
  }

  private mutating func key(_ path: [String]) throws -> PredicateKey {
    if let index = indexes[path] { return keys[index] }
    let key = PredicateKey(index: keys.count, path: path, type: try types(path))
    indexes[path] = key.index
    keys.append(key)
    return key
  }
}
