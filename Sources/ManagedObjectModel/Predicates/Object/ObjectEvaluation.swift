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

/// The evaluation of a predicate or an expression for one object.
struct ObjectEvaluation {
  let object: Any?
  /// The elements that the variables of the enclosing subqueries stand for.
  var elements: [String: Any?] = [:]
  /// The values of variables, which blocks are given too.
  let bindings: NSMutableDictionary?

  init(object: Any?, bindings: NSMutableDictionary? = nil) {
    self.object = object
    self.bindings = bindings
    for (key, value) in bindings ?? [:] where key is String || key is NSString { elements["\(key)"] = .some(value) }
  }

  func holds(_ node: PredicateNode) throws -> Bool {
    let filled = try node.mapOperands(replacement)
    var binder = PredicateBinder(schema: NoSchema(object: object), isStrict: false)
    return try binder.bind(filled).isTrue
  }

  /// What an operand that reads the object stands for; nil for one with such parts.
  private func replacement(_ operand: PredicateOperand) throws -> PredicateOperand? {
    switch operand {
    case .constant, .aggregate, .conditional: return nil
    case .function(let function, _) where !function.isElement && !function.isSetOperation: return nil
    case .variable(let name) where elements[name] == nil: return nil
    default: return .constant(PredicateConstant(argument: try value(operand)))
    }
  }

  /// The value of an operand that reads the object.
  func value(_ operand: PredicateOperand) throws -> Any? {
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
      return constant.foundationValue
    case .aggregate(let operands):
      return try operands.map { try value($0) ?? NSNull() }
    case .conditional(let condition, let first, let second):
      return try value(try holds(condition) ? first : second)
    case .block(let block, let arguments):
      return try block.body(object, try arguments.map { try value($0) ?? NSNull() }, bindings)
    case .function(let function, let arguments) where function.isSetOperation:
      return try combination(function, arguments)
    case .function(let function, let arguments) where function.isElement:
      return try element(function, arguments)
    case .function:
      return try calculated(operand)
    }
  }

  /// A set operation on two lists, whose elements may be objects.
  private func combination(_ function: PredicateFunction, _ arguments: [PredicateOperand]) throws -> Any? {
    let lists = try arguments.map { argument in
      guard let list = SubjectValue.elements(of: try value(argument)) else {
        throw PredicateFailure.noElements(of: argument)
      }
      return list.map { (element: $0 ?? NSNull(), constant: PredicateConstant(argument: $0)) }
    }
    let others = Set(lists[1].map(\.constant))
    var seen: Set<PredicateConstant> = []
    return (function == .union ? lists[0] + lists[1] : lists[0]).filter { part in
      if function == .intersection, !others.contains(part.constant) { return false }
      if function == .difference, others.contains(part.constant) { return false }
      return seen.insert(part.constant).inserted
    }.map(\.element)
  }

  /// `list[n]`, `list[FIRST]` and `list[LAST]`.
  private func element(_ function: PredicateFunction, _ arguments: [PredicateOperand]) throws -> Any? {
    guard let list = SubjectValue.elements(of: try value(arguments[0])) else {
      throw PredicateFailure.noElements(of: arguments[0])
    }
    switch function {
    case .first: return list.first ?? nil
    case .last: return list.last ?? nil
    default:
      let index = PredicateConstant(argument: try value(arguments[1])).stored(as: .integer)
      guard case .integer(let index)? = index, list.indices.contains(Int(index)) else { return nil }
      return list[Int(index)]
    }
  }

  /// The value of a function of single values and lists.
  private func calculated(_ operand: PredicateOperand) throws -> Any? {
    let filled = try operand.map(replacement)
    var binder = PredicateBinder(schema: NoSchema(object: object), isStrict: false)
    let comparison = PredicateComparison(left: filled, operation: .equal, right: .constant(.null))
    return try binder.side(filled, of: comparison).foundationValue
  }
}

extension PredicateFunction {
  /// Whether it gives an element of a list, which may be an object.
  fileprivate var isElement: Bool { self == .first || self == .last || self == .element }
}

extension PredicateBinder.Side {
  /// The value of a side without keys.
  fileprivate var foundationValue: Any? {
    switch self {
    case .constant(let constant): constant.foundationValue
    case .list(let sides): sides.map { $0.foundationValue ?? NSNull() }
    case .term(let operand, let type): PredicateConstant(operand.constantValue, type).foundationValue
    case .elements: nil
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
