import Foundation

/// An object whose properties predicates and sort descriptors read by name, such as a managed object.
package protocol PredicateSubject {
  /// The value at the end of the key path; nil if it or a value before it is nil.
  ///
  /// - Throws: an error that names a key that the object does not have.
  func predicateValue(forKeyPath keyPath: [String]) throws -> Any?
}

/// Reads key paths of evaluated objects: `PredicateSubject`s, dictionaries with string keys, and collections of them,
/// which have the values of their elements. A missing key of a dictionary is nil.
package enum SubjectValue {
  package static func of(_ object: Any?, keyPath: ArraySlice<String>) throws -> Any? {
    guard let key = keyPath.first else { return object }
    if let word = CollectionOperator(rawValue: key) {
      return try value(word, of: object, rest: keyPath.dropFirst())
    }
    guard let object else { return nil }
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
      if let elements = elements(of: object) { return try elements.map { try of($0, keyPath: keyPath) } }
      // A number or text in a collection.
      if keyPath.elementsEqual(["SELF"]) { return object }
      if let value = ValueProperties.value(key, of: object) { return try of(value, keyPath: keyPath.dropFirst()) }
      throw PredicateFailure.noValue(Array(keyPath), of: object)
    }
  }

  /// Nil if the object is not a collection.
  package static func elements(of object: Any?) -> [Any?]? {
    switch object {
    case nil, is NSNull: []
    case is String, is NSString, is Data, is NSData: nil
    case let array as [Any?]: array
    case let array as NSArray: array.map { $0 }
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    case let collection as any Collection: collection.map { $0 }
    default: nil
    }
  }

  private static func value(_ word: CollectionOperator, of object: Any?, rest: ArraySlice<String>) throws -> Any? {
    guard let elements = elements(of: object) else {
      throw PredicateFailure.noValue([word.rawValue], of: object as Any)
    }
    guard word != .count else { return try of(elements.count, keyPath: rest) }
    guard !word.isUnion || !rest.isEmpty else { throw PredicateFailure.unfinishedOperator(word) }
    let values = try elements.compactMap { try of($0, keyPath: rest) }
    switch word {
    case .count: return values.count
    case .union: return values.filter { !isNull($0) }
    case .distinctUnion: return different(values)
    case .sum: return number(.sum, of: values)
    case .average: return number(.average, of: values)
    case .minimum: return extreme(of: values) { $0 < 0 }
    case .maximum: return extreme(of: values) { $0 > 0 }
    }
  }

  private static func isNull(_ value: Any) -> Bool {
    let constant = PredicateConstant(argument: value)
    return constant == .null || constant.valueType != nil && StoredValueOrder.isNull(stored(value))
  }

  /// Values that are not nil, equal ones once, as a store compares them.
  private static func different(_ values: [Any]) -> [Any] {
    var (set, others) = (StoredValueSet(), Set<PredicateConstant>())
    return values.filter { value in
      if isNull(value) { return false }
      let stored = stored(value)
      guard stored.isNull else {
        defer { set.insert(stored) }
        return !set.contains(stored)
      }
      // A list, which no store has.
      return others.insert(PredicateConstant(argument: value)).inserted
    }
  }

  private static func number(_ kind: ValueSummary, of values: [Any]) -> Any? {
    var summary = SummaryState(kind)
    for value in values { summary.add(stored(value)) }
    return switch summary.result {
    case .integer(let number): NSNumber(value: number)
    case .real(let number): NSNumber(value: number)
    default: nil
    }
  }

  private static func extreme(of values: [Any], _ isBetter: (Int) -> Bool) -> Any? {
    var best: (value: Any, stored: StoredValue)?
    for value in values {
      let stored = stored(value)
      if StoredValueOrder.isNull(stored) { continue }
      if let best, !isBetter(StoredValueOrder.compare(stored, best.stored)) { continue }
      best = (value, stored)
    }
    return best?.value
  }

  private static func stored(_ value: Any) -> StoredValue {
    let constant = PredicateConstant(argument: value)
    return constant.valueType.flatMap { constant.stored(as: $0) } ?? .null
  }
}
