import Foundation

extension PredicateNode {
  /// Evaluates the predicate for one object without a schema: every key becomes a constant with the object's value, and
  /// constants are compared as `bound(to:)` compares them.
  ///
  /// - Throws: NSError 134060 for a key that the object does not have, values without an order (`'a' < 3`), or a
  ///   variable without a value.
  package func evaluated(on object: Any?) throws -> Bool {
    try ObjectEvaluation(object: object).holds(self)
  }
}

/// The evaluation of a predicate for one object.
private struct ObjectEvaluation {
  let object: Any?
  /// The elements that the variables of the enclosing subqueries stand for.
  var elements: [String: Any?] = [:]

  func holds(_ node: PredicateNode) throws -> Bool {
    let filled = try node.mapOperands { operand in
      switch operand {
      case .constant, .aggregate: return nil
      case .variable(let name) where elements[name] == nil: return nil
      default: return .constant(PredicateConstant(argument: try value(operand)))
      }
    }
    var binder = PredicateBinder(schema: NoSchema(object: object), isStrict: false)
    return try binder.bind(filled).isTrue
  }

  /// The value of an operand that reads the object.
  private func value(_ operand: PredicateOperand) throws -> Any? {
    switch operand {
    case .keyPath(let path):
      return try SubjectValue.of(object, keyPath: path[...])
    case .selfObject:
      return object
    case .variable(let name):
      guard let element = elements[name] else { throw PredicateFailure.noVariable(name) }
      return element
    case .path(let start, let path):
      return try SubjectValue.of(try value(start), keyPath: path[...])
    case .subquery(let subquery):
      let collection = try value(subquery.collection)
      guard let all = SubjectValue.elements(of: collection) else {
        throw PredicateFailure.noElements(of: subquery.collection)
      }
      return try all.filter { element in
        var inner = self
        inner.elements[subquery.variable] = .some(element)
        return try inner.holds(subquery.condition)
      }
    case .constant(let constant):
      throw PredicateFailure.noElements(of: .constant(constant))
    case .aggregate:
      throw PredicateFailure.noElements(of: operand)
    }
  }
}

/// The schema for an object when all its keys were replaced by values.
private struct NoSchema: PredicateSchema {
  let object: Any?

  func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    throw PredicateFailure.noValue(keyPath, of: object ?? NSNull())
  }
}
