import Foundation

/// Bounds and patterns that code sets. In Core Data these are `validationPredicates` such as `SELF >= 1`. Here they are
/// plain properties, because a predicate does not expose what it compares. Model files fill them.
extension NSAttributeDescription {
  /// The minimum value (a number, or a Date for date attributes); nil for none. A value that does not have the
  /// attribute's type is a programming error.
  public var minimumValue: Any? {
    get { boundValue(constraints.minimum) }
    set { constraints.minimum = bound(newValue) }
  }

  /// The maximum value (a number, or a Date for date attributes); nil for none.
  public var maximumValue: Any? {
    get { boundValue(constraints.maximum) }
    set { constraints.maximum = bound(newValue) }
  }

  /// The minimum length of a string in UTF-16 units, as NSString counts; nil for none.
  public var minimumLength: Int? {
    get { constraints.lengthMin }
    set { constraints.lengthMin = newValue }
  }

  /// The maximum length of a string in UTF-16 units, as NSString counts; nil for none.
  public var maximumLength: Int? {
    get { constraints.lengthMax }
    set { constraints.lengthMax = newValue }
  }

  /// The regular expression that a whole string must match; nil for none.
  public var regularExpression: String? { constraints.pattern }

  /// Sets the regular expression. Throws NSRegularExpression's error for an invalid pattern.
  public func setRegularExpression(_ pattern: String?) throws {
    var changed = constraints
    try changed.setPattern(pattern)
    constraints = changed
  }

  private func bound(_ value: Any?) -> StoredValue? {
    guard let value else { return nil }
    guard let bound = storedValue(from: value), bound.number != nil else {
      preconditionFailure(
        "\(value) can't bound '\(name)'; give a number or a Date that fits the attribute's type.")
    }
    return bound
  }

  private func boundValue(_ bound: StoredValue?) -> Any? {
    switch bound {
    case .integer(let number)?: number
    case .real(let number)?:
      attributeType == .dateAttributeType ? Date(timeIntervalSinceReferenceDate: number) : number
    case .decimal(let number)?: number
    default: nil
    }
  }
}
