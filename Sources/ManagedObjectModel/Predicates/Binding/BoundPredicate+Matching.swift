/// Reads what predicates need from objects: from managed objects, rows or bare values.
package protocol PredicateReader<Element> {
  associatedtype Element
  associatedtype Failure: Error
  func value(_ key: PredicateKey, of element: Element) throws(Failure) -> StoredValue
  /// The elements at the end of a path of to-one relationships and a to-many one.
  func elements(_ path: [String], of element: Element) throws(Failure) -> [Element]
}

extension BoundPredicate {
  /// Whether the predicate is true for an object.
  package func matches<Reader: PredicateReader>(
    _ object: Reader.Element, _ reader: Reader
  ) throws(Reader.Failure) -> Bool {
    try PredicateMatching(reader: reader).holds(root, [object])
  }

  /// Whether the predicate is true for an object without relationships to many.
  ///
  /// - Parameter value: the object's stored value for a key; called only if needed.
  package func matches<Failure: Error>(
    _ value: (PredicateKey) throws(Failure) -> StoredValue
  ) throws(Failure) -> Bool {
    // The reader lives as long as the call.
    try withoutActuallyEscaping(value) { value throws(Failure) in
      try matches((), ValueReader(value: value))
    }
  }
}

extension BoundNode {
  /// The answer of a node without keys.
  var isTrue: Bool { BoundPredicate(root: self, keys: []).matches { _ in .null } }
}

extension BoundOperand {
  /// The value of an operand without keys.
  var constantValue: StoredValue {
    PredicateMatching(reader: ValueReader { _ throws(Never) in .null }).value(self, [()])
  }
}

/// Reads values by key, of objects without elements.
struct ValueReader<Failure: Error>: PredicateReader {
  let value: (PredicateKey) throws(Failure) -> StoredValue

  func value(_ key: PredicateKey, of element: Void) throws(Failure) -> StoredValue { try value(key) }
  func elements(_ path: [String], of element: Void) throws(Failure) -> [Void] { [] }
}

/// Evaluates bound nodes. `objects` are the evaluated object and the elements of the enclosing collections, by level.
struct PredicateMatching<Reader: PredicateReader> {
  typealias Element = Reader.Element
  typealias Failure = Reader.Failure
  let reader: Reader

  func holds(_ node: BoundNode, _ objects: [Element]) throws(Failure) -> Bool {
    switch node {
    case .constant(let result):
      return result
    case .isNull(let operand):
      return StoredValueOrder.isNull(try value(operand, objects))
    case .relation(let left, let relation, let right):
      return relation.holds(try value(left, objects), try value(right, objects))
    case .text(let text):
      guard case .text(let left) = try value(text.left, objects),
        case .text(let right) = try value(text.right, objects)
      else { return false }
      return TextComparison.holds(text.operation, options: text.options, left: left, right: right)
    case .member(let operand, let set, let options):
      return set.contains(try value(operand, objects).folded(options))
    case .exists(let elements):
      return try first(elements, objects) != nil
    case .not(let node):
      return try !holds(node, objects)
    case .and(let nodes):
      for node in nodes where try !holds(node, objects) { return false }
      return true
    case .or(let nodes):
      for node in nodes where try holds(node, objects) { return true }
      return false
    }
  }

  func value(_ operand: BoundOperand, _ objects: [Element]) throws(Failure) -> StoredValue {
    switch operand {
    case .key(let key): try reader.value(key, of: objects[key.level])
    case .value(let constant): constant
    case .computed(let computation): try value(computation, objects)
    }
  }

  private func value(_ computation: BoundComputation, _ objects: [Element]) throws(Failure) -> StoredValue {
    switch computation.form {
    case .count(let elements):
      var count: Int64 = 0
      try visit(elements, objects) { _ in count += 1 }
      return .integer(count)
    case .distinctCount(let elements, let operand):
      return .integer(Int64(try differentValues(of: operand, elements, objects).count))
    case .summary(let kind, let elements, let operand):
      var summary = SummaryState(kind)
      if elements.countsValuesOnce {
        for value in try differentValues(of: operand, elements, objects) { summary.add(value) }
      } else {
        try visit(elements, objects) { objects throws(Failure) in summary.add(try value(operand, objects)) }
      }
      // A division of the sum of no reals keeps the remainder too.
      guard kind == .sum, computation.type != .integer, case .integer(let sum) = summary.result else {
        return summary.result
      }
      return .real(Double(sum))
    case .function(let function, let operands):
      var values: [StoredValue] = []
      values.reserveCapacity(operands.count)
      for operand in operands { values.append(try value(operand, objects)) }
      return function.value(values)
    case .conditional(let condition, let first, let second):
      return try value(try holds(condition, objects) ? first : second, objects)
    }
  }

  // MARK: Elements

  /// The values of elements that are not null, equal ones once.
  private func differentValues(
    of operand: BoundOperand, _ elements: BoundElements, _ objects: [Element]
  ) throws(Failure) -> [StoredValue] {
    var set = StoredValueSet()
    try visit(elements, objects) { objects throws(Failure) in set.insert(try value(operand, objects)) }
    return set.values
  }

  private func first(_ elements: BoundElements, _ objects: [Element]) throws(Failure) -> Element? {
    for element in try reader.elements(elements.path, of: objects[elements.level])
    where try holds(elements.condition, objects + [element]) {
      return element
    }
    return nil
  }

  /// - Parameter body: Is given the objects with an element added.
  private func visit(
    _ elements: BoundElements, _ objects: [Element], body: ([Element]) throws(Failure) -> Void
  ) throws(Failure) {
    for element in try reader.elements(elements.path, of: objects[elements.level]) {
      let objects = objects + [element]
      if try holds(elements.condition, objects) { try body(objects) }
    }
  }
}

extension BoundRelation {
  /// Null is equal to null only, and is neither less nor greater than any value.
  func holds(_ left: StoredValue, _ right: StoredValue) -> Bool {
    switch (StoredValueOrder.isNull(left), StoredValueOrder.isNull(right)) {
    case (false, false): holds(StoredValueOrder.compare(left, right))
    case (true, true): self == .equal
    default: self == .notEqual
    }
  }
}

extension StoredValue {
  /// Folds text; other values are unchanged.
  func folded(_ options: TextOptions) -> StoredValue {
    guard !options.isEmpty, case .text(let text) = self else { return self }
    return .text(TextFolding.fold(text, options))
  }
}
