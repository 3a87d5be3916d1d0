/// The key paths of a predicate, and predicates about their ends.
extension BoundPredicate {
  /// The key paths that the predicate reads, from the evaluated object also where they pass through elements.
  package var paths: Set<[String]> {
    var found: Set<[String]> = []
    root.addPaths(to: &found, [[]])
    return found
  }

  /// True for objects from which a path leads to one of the objects with these values.
  ///
  /// - Parameter path: Names of relationships, and whether each is to-many.
  package static func leading(
    to values: [StoredValue], path: [(name: String, isToMany: Bool)]
  ) -> BoundPredicate {
    var set = StoredValueSet()
    for value in values { set.insert(value) }
    var parts: [[String]] = [[]]
    for step in path {
      parts[parts.count - 1].append(step.name)
      if step.isToMany { parts.append([]) }
    }
    let end = parts.removeLast()
    let key = PredicateKey(
      index: parts.isEmpty ? 0 : -1, level: parts.count, path: end.isEmpty ? PredicateKey.itself : end, type: .object)
    var node = BoundNode.member(.key(key), set, [])
    for (level, path) in parts.enumerated().reversed() {
      node = .exists(BoundElements(path: path, level: level, condition: node))
    }
    return BoundPredicate(root: node, keys: parts.isEmpty ? [key] : [])
  }

  /// True where one of the predicates is.
  package static func any(_ predicates: [BoundPredicate]) -> BoundPredicate {
    var keys: [PredicateKey] = []
    var nodes: [BoundNode] = []
    for predicate in predicates {
      guard let key = predicate.keys.first, case .member(_, let set, let options) = predicate.root else {
        nodes.append(predicate.root)
        continue
      }
      let moved = PredicateKey(index: keys.count, level: 0, path: key.path, type: key.type)
      keys.append(moved)
      nodes.append(.member(.key(moved), set, options))
    }
    return BoundPredicate(root: .any(nodes), keys: keys)
  }
}

extension BoundExpression {
  /// As `BoundPredicate.paths`.
  package var paths: Set<[String]> {
    var found: Set<[String]> = []
    operand.addPaths(to: &found, [[]])
    return found
  }
}

extension BoundNode {
  /// - Parameter bases: The paths to the evaluated object and the elements of the enclosing collections, by level.
  fileprivate func addPaths(to found: inout Set<[String]>, _ bases: [[String]]) {
    switch self {
    case .constant: break
    case .isNull(let operand), .member(let operand, _, _): operand.addPaths(to: &found, bases)
    case .relation(let left, _, let right):
      left.addPaths(to: &found, bases)
      right.addPaths(to: &found, bases)
    case .text(let text):
      text.left.addPaths(to: &found, bases)
      text.right.addPaths(to: &found, bases)
    case .exists(let elements): elements.addPaths(to: &found, bases)
    case .not(let node): node.addPaths(to: &found, bases)
    case .and(let nodes), .or(let nodes): for node in nodes { node.addPaths(to: &found, bases) }
    }
  }
}

extension BoundOperand {
  fileprivate func addPaths(to found: inout Set<[String]>, _ bases: [[String]]) {
    switch self {
    case .value: break
    case .key(let key): found.insert(bases[key.level] + key.path)
    case .computed(let computation):
      switch computation.form {
      case .count(let elements): elements.addPaths(to: &found, bases)
      case .summary(_, let elements, let operand), .distinctCount(let elements, let operand):
        elements.addPaths(to: &found, bases)
        operand.addPaths(to: &found, bases + [bases[elements.level] + elements.path])
      case .function(_, let operands):
        for operand in operands { operand.addPaths(to: &found, bases) }
      case .conditional(let condition, let value, let otherwise):
        condition.addPaths(to: &found, bases)
        value.addPaths(to: &found, bases)
        otherwise.addPaths(to: &found, bases)
      }
    }
  }
}

extension BoundElements {
  fileprivate func addPaths(to found: inout Set<[String]>, _ bases: [[String]]) {
    let path = bases[level] + path
    found.insert(path)
    condition.addPaths(to: &found, bases + [path])
  }
}
