import Foundation

/// One rule of the model that a value breaks.
package struct ConstraintViolation: Sendable, Equatable {
  /// Core Data's validation error code in NSCocoaErrorDomain.
  package let code: Int
  /// What is wrong, where, and what to do.
  package let message: String
  /// The predicate among the attribute's `validationPredicates` that the value does not match; nil for another rule.
  package var predicateIndex: Int?
}

extension NSAttributeDescription {
  /// The first rule of the model that `value` breaks as a value of this attribute, or nil. Pure: the result depends on
  /// the description and the value only.
  ///
  /// In addition to the bounds of the model file, an integer must be in the range of its type, a UUID must have 16
  /// bytes, and a number must not be NaN, which SQLite would store as NULL.
  package func constraintViolation(of value: StoredValue) -> ConstraintViolation? {
    if let violation = typeViolation(of: value) { return violation }
    return value.isNull ? nil : predicateViolation(of: value)
  }

  /// Whether rules beyond the type and optionality apply to values.
  package var hasRules: Bool { !constraints.isEmpty || !validationPredicates.isEmpty }

  private func typeViolation(of value: StoredValue) -> ConstraintViolation? {
    switch value {
    case .null:
      return isOptional
        ? nil
        : violation(
          NSValidationMissingMandatoryPropertyError, "has no value, but needs one", advice: "Give it a value.")
    case .integer(let number): return integerViolation(number)
    case .real(let number): return realViolation(number)
    case .decimal(let number):
      guard attributeType == .decimalAttributeType else { return wrongType }
      return number.isNaN ? notANumber : rangeViolation(of: value)
    case .text(let text): return textViolation(text)
    case .blob(let data): return blobViolation(data)
    }
  }

  private func integerViolation(_ number: Int64) -> ConstraintViolation? {
    guard let range = attributeType.wholeRange else { return wrongType }
    if number > range.upperBound { return tooLarge("\(number)", "\(range.upperBound)") }
    if number < range.lowerBound { return tooSmall("\(number)", "\(range.lowerBound)") }
    return rangeViolation(of: .integer(number))
  }

  private func realViolation(_ number: Double) -> ConstraintViolation? {
    switch attributeType {
    case .dateAttributeType:
      guard number.isFinite else {
        return violation(NSValidationInvalidDateError, "has a value that is not a date", advice: "Give a date.")
      }
    case .doubleAttributeType, .floatAttributeType:
      if number.isNaN { return notANumber }
    default: return wrongType
    }
    return rangeViolation(of: .real(number))
  }

  private func textViolation(_ text: String) -> ConstraintViolation? {
    switch attributeType {
    case .stringAttributeType: break
    case .URIAttributeType:
      return URL(string: text) == nil
        ? violation(
          NSValidationInvalidURIError, "has a value that is not a URI",
          advice: "Give a URI such as https://example.org/.")
        : nil
    default: return wrongType
    }
    if constraints.lengthMax != nil || constraints.lengthMin != nil {
      let length = text.utf16.count
      if let most = constraints.lengthMax, length > most {
        return violation(
          NSValidationStringTooLongError, "has \(length) characters", advice: "Shorten it to at most \(most).")
      }
      if let least = constraints.lengthMin, length < least {
        return violation(
          NSValidationStringTooShortError, "has \(length) characters", advice: "Give at least \(least).")
      }
    }
    guard let pattern = constraints.pattern, !constraints.matchesPattern(text) else { return nil }
    return violation(
      NSValidationStringPatternMatchingError, "does not match the pattern \(pattern)",
      advice: "Give a value that matches the whole pattern.")
  }

  private func blobViolation(_ data: Data) -> ConstraintViolation? {
    switch attributeType {
    case .binaryDataAttributeType, .transformableAttributeType: return nil
    case .UUIDAttributeType:
      return data.count == 16
        ? nil
        : violation(NSManagedObjectValidationError, "has \(data.count) bytes", advice: "Give the 16 bytes of a UUID.")
    default: return wrongType
    }
  }

  private func rangeViolation(of value: StoredValue) -> ConstraintViolation? {
    if let most = constraints.maximum, most.isLess(than: value) { return tooLarge(text(value), text(most)) }
    if let least = constraints.minimum, value.isLess(than: least) {
      return tooSmall(text(value), text(least))
    }
    return nil
  }

  private func tooLarge(_ value: String, _ most: String) -> ConstraintViolation {
    attributeType == .dateAttributeType
      ? violation(NSValidationDateTooLateError, "is \(value), too late", advice: "Give a date not after \(most).")
      : violation(
        NSValidationNumberTooLargeError, "is \(value), too large", advice: "Give a number of at most \(most).")
  }

  private func tooSmall(_ value: String, _ least: String) -> ConstraintViolation {
    attributeType == .dateAttributeType
      ? violation(NSValidationDateTooSoonError, "is \(value), too early", advice: "Give a date not before \(least).")
      : violation(
        NSValidationNumberTooSmallError, "is \(value), too small", advice: "Give a number of at least \(least).")
  }

  private var notANumber: ConstraintViolation {
    violation(NSManagedObjectValidationError, "is not a number", advice: "Give a number or nothing.")
  }

  private var wrongType: ConstraintViolation {
    violation(
      NSManagedObjectValidationError, "has a value of another type", advice: "Give a value of type \(attributeType).")
  }

  private func violation(_ code: Int, _ problem: String, advice: String) -> ConstraintViolation {
    ConstraintViolation(
      code: code, message: "\(owner?.name.map { $0 + "." } ?? "")\(name) \(problem). \(advice)")
  }

  private func text(_ value: StoredValue) -> String {
    switch value {
    case .integer(let number): "\(number)"
    case .decimal(let number): "\(number)"
    case .real(let seconds) where attributeType == .dateAttributeType:
      Date(timeIntervalSinceReferenceDate: seconds).formatted(.iso8601)
    case .real(let number): "\(number)"
    case .text, .blob, .null: ""
    }
  }
}

extension StoredValue {
  /// Whether this number is less than the other. The comparison is exact if both have the same kind.
  fileprivate func isLess(than other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    case (.decimal(let left), .decimal(let right)): left < right
    default: (number ?? .nan) < (other.number ?? .nan)
    }
  }
}
