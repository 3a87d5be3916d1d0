import Foundation

/// A predicate of `setValidationPredicates(_:withValidationWarnings:)`, prepared for evaluation.
enum ValuePredicate {
  case bound(BoundPredicate)
  /// Evaluated on the value that `value(forKey:)` returns: a block, a predicate over properties of that value such as
  /// `SELF.absoluteString`, and every predicate of a transformable attribute.
  case object(NSPredicate)

  /// - Throws: `NSError` if `predicate` can't be evaluated on values of `attribute`'s type.
  init(_ predicate: NSPredicate, _ attribute: NSAttributeDescription) throws {
    guard let node = try? predicate.predicateNode() else {
      self = .object(predicate)
      return
    }
    do {
      self = .bound(try node.bound(to: ValueSchema(attribute: attribute)))
    } catch {
      guard attribute.attributeType.mayHaveAnyProperties || (try? node.readsOnlyProperties(of: attribute)) == true
      else { throw error }
      self = .object(predicate)
    }
  }

  /// - Throws: `NSError` if the value lacks a property that the predicate reads.
  func matches(_ value: StoredValue, of attribute: NSAttributeDescription) throws -> Bool {
    switch self {
    case .bound(let predicate):
      predicate.matches { $0.path == ValueSchema.length ? .integer(value.utf16Length) : value }
    case .object(let predicate): try predicate.evaluated(on: attribute.foundationValue(from: value))
    }
  }
}

extension NSPredicate {
  /// As `evaluate(with:)`, which stops the program where the object lacks a property; a predicate with a block still
  /// does.
  package func evaluated(on object: Any?) throws -> Bool {
    guard let node = try? predicateNode() else { return evaluate(with: object) }
    return try node.evaluated(on: object)
  }
}

extension PredicateNode {
  /// Whether it reads properties of the value, and every value of the attribute's type has them.
  fileprivate func readsOnlyProperties(of attribute: NSAttributeDescription) throws -> Bool {
    guard let sample = attribute.attributeType.sampleValue else { return false }
    var readsProperties = false
    _ = mapOperands { operand in
      if case .keyPath(let path) = operand, path != PredicateKey.itself { readsProperties = true }
      if case .path = operand { readsProperties = true }
      return nil
    }
    guard readsProperties else { return false }
    _ = try evaluated(on: sample)
    return true
  }
}

extension NSAttributeType {
  /// Whether its values may be objects of any class.
  fileprivate var mayHaveAnyProperties: Bool {
    self == .transformableAttributeType || self == .undefinedAttributeType || self == .objectIDAttributeType
  }

  /// Some value of the type, as `value(forKey:)` returns it.
  fileprivate var sampleValue: Any? {
    switch self {
    case .stringAttributeType: ""
    case .dateAttributeType: Date(timeIntervalSinceReferenceDate: 0)
    case .binaryDataAttributeType: Data()
    case .UUIDAttributeType: UUID()
    case .URIAttributeType: URL(string: "https://example.org")
    case .booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
      .doubleAttributeType, .floatAttributeType, .decimalAttributeType:
      NSNumber(value: 0)
    default: nil
    }
  }
}

extension NSAttributeDescription {
  /// The predicates in the form that validation uses. A predicate that can't be evaluated on values of this attribute's
  /// type stops the program.
  func makeValuePredicates() -> [ValuePredicate] {
    validationPredicates.map { predicate in
      do {
        return try ValuePredicate(predicate, self)
      } catch {
        preconditionFailure(
          "The validation predicate '\(predicate.formatDescription)' of '\(name)' can't be evaluated. "
            + "\((error as NSError).localizedDescription) A validation predicate compares SELF or a property of it.")
      }
    }
  }

  /// The first predicate that `value`, which is not null, does not match, as a violation with the warning that was set
  /// for it.
  func predicateViolation(of value: StoredValue) -> ConstraintViolation? {
    guard !validationPredicates.isEmpty else { return nil }
    return predicateViolation(among: valuePredicates.indices) { try valuePredicates[$0].matches(value, of: self) }
  }
}

extension NSRelationshipDescription {
  /// As for attributes; `value` is what `value(forKey:)` returns, not nil.
  package func predicateViolation(of value: Any) -> ConstraintViolation? {
    predicateViolation(among: validationPredicates.indices) { try validationPredicates[$0].evaluated(on: value) }
  }
}

extension NSPropertyDescription {
  /// The first predicate that a value does not match, or that can't be evaluated on it.
  fileprivate func predicateViolation(
    among indices: Range<Int>, isMatch: (Int) throws -> Bool
  ) -> ConstraintViolation? {
    for index in indices {
      let subject = (owner?.name.map { $0 + "." } ?? "") + name
      let format = validationPredicates[index].formatDescription
      do {
        if try isMatch(index) { continue }
        let warning = validationWarnings[index] as? String ?? ""
        return ConstraintViolation(
          code: NSManagedObjectValidationError,
          message: warning.isEmpty ? "\(subject) does not match \(format). Give it a value that does." : warning,
          predicateIndex: index)
      } catch {
        return ConstraintViolation(
          code: NSManagedObjectValidationError,
          message: "\(subject) can't be compared with \(format). \((error as NSError).localizedDescription) Give it "
            + "another value, or change the validation predicate.",
          predicateIndex: index)
      }
    }
    return nil
  }
}

/// A value as the subject of a predicate: `SELF` is the value, `SELF.length` the length of a string.
private struct ValueSchema: PredicateSchema {
  static let length = ["length"]

  let attribute: NSAttributeDescription

  func attributeType(ofKeyPath keyPath: [String]) throws -> PredicateValueType {
    let type = attribute.attributeType.predicateType
    if keyPath == PredicateKey.itself { return type }
    if keyPath == Self.length, type.family == .text { return .integer }
    throw NSError.coreData(
      .coreData, "A value that is \(type.describedName) has no '\(keyPath.joined(separator: "."))'.")
  }
}

extension StoredValue {
  fileprivate var utf16Length: Int64 { if case .text(let text) = self { Int64(text.utf16.count) } else { 0 } }
}
