import Foundation

/// A predicate of `setValidationPredicates(_:withValidationWarnings:)`, prepared for evaluation.
enum ValuePredicate {
  case bound(BoundPredicate)
  /// Created from a block, which takes the value that `value(forKey:)` returns.
  case block(NSPredicate)

  /// - Throws: `NSError` if `predicate` can't be evaluated on values of `attribute`'s type.
  init(_ predicate: NSPredicate, _ attribute: NSAttributeDescription) throws {
    guard let node = try? predicate.predicateNode() else {
      self = .block(predicate)
      return
    }
    self = .bound(try node.bound(to: ValueSchema(attribute: attribute)))
  }

  func matches(_ value: StoredValue, of attribute: NSAttributeDescription) -> Bool {
    switch self {
    case .bound(let predicate):
      predicate.matches { $0.path == ValueSchema.length ? .integer(value.utf16Length) : value }
    case .block(let predicate): predicate.evaluate(with: attribute.foundationValue(from: value))
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
            + "\((error as NSError).localizedDescription) A validation predicate compares SELF or SELF.length.")
      }
    }
  }

  /// The first predicate that `value`, which is not null, does not match, as a violation with the warning that was set
  /// for it.
  func predicateViolation(of value: StoredValue) -> ConstraintViolation? {
    guard !validationPredicates.isEmpty,
      let index = valuePredicates.firstIndex(where: { !$0.matches(value, of: self) })
    else { return nil }
    let warning = validationWarnings[index] as? String ?? ""
    let subject = (owner?.name.map { $0 + "." } ?? "") + name
    let format = validationPredicates[index].formatDescription
    return ConstraintViolation(
      code: NSManagedObjectValidationError,
      message: warning.isEmpty ? "\(subject) does not match \(format). Give it a value that does." : warning,
      predicateIndex: index)
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
