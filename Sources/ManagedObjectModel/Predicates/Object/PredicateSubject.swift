import Foundation

/// An object whose properties predicates and sort descriptors read by name, such as a managed object.
package protocol PredicateSubject {
  /// The value at the end of the key path; nil if it or a value before it is nil.
  ///
  /// - Throws: an error that names a key that the object does not have.
  func predicateValue(forKeyPath keyPath: [String]) throws -> Any?
}

/// Reads key paths of evaluated objects: `PredicateSubject`s and dictionaries with string keys, also nested. A missing
/// key of a dictionary is nil.
enum SubjectValue {
  static func of(_ object: Any?, keyPath: ArraySlice<String>) throws -> Any? {
    guard let object, let key = keyPath.first else { return object }
    switch object {
    case is NSNull:
      return nil
    case let subject as any PredicateSubject:
      return try subject.predicateValue(forKeyPath: Array(keyPath))
    case let dictionary as [String: Any]:
      return try of(dictionary[key], keyPath: keyPath.dropFirst())
    case let dictionary as NSDictionary:
      return try of(dictionary.object(forKey: NSString(string: key)), keyPath: keyPath.dropFirst())
    default:
      throw PredicateFailure.noValue(Array(keyPath), of: object)
    }
  }
}

extension PredicateNode {
  /// Evaluates the predicate for one object without a schema: every key becomes a constant with the object's value, and
  /// constants are compared as `bound(to:)` compares them.
  ///
  /// - Throws: NSError 134060 for a key that the object does not have, values without an order (`'a' < 3`), or a
  ///   variable without a value.
  package func evaluated(on object: Any?) throws -> Bool {
    let filled = try mapOperands { operand in
      switch operand {
      case .keyPath(let path):
        .constant(PredicateConstant(argument: try SubjectValue.of(object, keyPath: path[...])))
      case .selfObject:
        .constant(PredicateConstant(argument: object))
      case .constant, .variable, .aggregate:
        operand
      }
    }
    var binder = PredicateBinder(
      types: { path in throw PredicateFailure.noValue(path, of: object ?? NSNull()) }, isStrict: false)
    return try binder.bind(filled).matches { _ in .null }
  }
}
