import Foundation

/// Keyed and typed access to attributes.
extension NSManagedObject {
  // MARK: Generated accessors

  /// The value of an optional attribute as the type of its generated property; nil where nothing is stored.
  public final func attributeValue<Value: ManagedAttributeValue>(forKey key: String) -> Value? {
    Value.fromStored(StoredAttributeValue(storedValue(at: slot(key))))
  }

  public final func setAttributeValue<Value: ManagedAttributeValue>(_ value: Value?, forKey key: String) {
    setStoredValue(value?.storedAttributeValue.value ?? .null, at: slot(key))
  }

  /// The value of a numeric attribute whose property is not a scalar.
  public final func attributeValue(forKey key: String) -> NSNumber? {
    let slot = slot(key)
    let stored = storedValue(at: slot)
    let attribute = entity.attributeSlots[slot]
    switch (attribute.attributeType, stored) {
    // The common kinds first: through `Any` they would be made, boxed and cast.
    case (.integer16AttributeType, .integer(let number)), (.integer32AttributeType, .integer(let number)),
      (.integer64AttributeType, .integer(let number)):
      return NSNumber(value: number)
    default: return attribute.foundationValue(from: stored) as? NSNumber
    }
  }
  public final func setAttributeValue(_ number: NSNumber?, forKey key: String) { setValue(number, forKey: key) }

  /// The value of a Decimal attribute.
  public final func attributeValue(forKey key: String) -> NSDecimalNumber? {
    value(forKey: key) as? NSDecimalNumber
  }

  /// The value of an attribute whose property is a scalar; 0 or false where nothing is stored.
  public final func scalarValue<Value: ManagedAttributeValue & ExpressibleByIntegerLiteral>(
    forKey key: String
  ) -> Value { attributeValue(forKey: key) ?? 0 }
  public final func scalarValue(forKey key: String) -> Bool { attributeValue(forKey: key) ?? false }
  public final func setScalarValue<Value: ManagedAttributeValue>(_ value: Value, forKey key: String) {
    setAttributeValue(value, forKey: key)
  }
}

extension NSManagedObject {
  /// `value` as a store keeps it in `slot`; a value of another type stops the program.
  func stored(_ value: Any?, _ slot: Int) -> StoredValue {
    let attribute = entity.attributeSlots[slot]
    guard let stored = attribute.stored(from: value) else {
      preconditionFailure(
        "Unacceptable type of value for attribute: property = \"\(attribute.name)\"; desired type = "
          + "\(attribute.attributeValueClassName ?? "\(attribute.attributeType)"); given type = "
          + "\(value.map { "\(type(of: $0))" } ?? "nil"); value = \(value.map { "\($0)" } ?? "nil").")
    }
    return stored
  }
}
