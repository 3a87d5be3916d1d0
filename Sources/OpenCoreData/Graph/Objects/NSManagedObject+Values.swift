import Foundation

/// Keyed and typed access to attributes.
extension NSManagedObject {
  // MARK: Generated accessors

  /// The value of an optional attribute as the type of its generated property; nil if nothing is stored.
  public final func attributeValue<Value: ManagedAttributeValue>(forKey key: String) -> Value? {
    Value.fromStored(StoredAttributeValue(storedValue(at: slot(key))))
  }

  /// As the generic one: a fast path for the most common types.
  public final func attributeValue(forKey key: String) -> String? {
    if let storage = directStorage, let cell = storage.cell(key, row: Int(row)) { return storage.text(cell) }
    return String.fromStored(StoredAttributeValue(storedValue(at: slot(key))))
  }

  public final func attributeValue(forKey key: String) -> Date? {
    if let cell = directStorage?.cell(key, row: Int(row)), cell.kind == .real {
      return Date(timeIntervalSinceReferenceDate: cell.real)
    }
    return Date.fromStored(StoredAttributeValue(storedValue(at: slot(key))))
  }

  public final func setAttributeValue<Value: ManagedAttributeValue>(_ value: Value?, forKey key: String) {
    setStoredValue(value?.storedAttributeValue.value ?? .null, at: slot(key))
  }

  /// The value of a numeric attribute whose property is not a scalar.
  public final func numberValue(forKey key: String) -> NSNumber? {
    // The common kind first: through `Any` the value would be made, boxed and cast.
    if let cell = directStorage?.integerCell(key, row: Int(row)), cell.kind == .integer {
      return SmallNumbers.number(cell.integer)
    }
    let slot = slot(key)
    return entity.attributeSlots[slot].foundationValue(from: storedValue(at: slot)) as? NSNumber
  }

  /// The value of an attribute whose property is a scalar; 0 or false if nothing is stored.
  public final func scalarValue<Value: ManagedAttributeValue & ExpressibleByIntegerLiteral>(
    forKey key: String
  ) -> Value { attributeValue(forKey: key) ?? 0 }
  public final func scalarValue(forKey key: String) -> Bool { attributeValue(forKey: key) ?? false }
  public final func setScalarValue<Value: ManagedAttributeValue>(_ value: Value, forKey key: String) {
    setAttributeValue(value, forKey: key)
  }
}

extension NSManagedObject {
  /// `value` in the stored form of `slot`; a value of another type stops the program.
  func stored(_ value: Any?, _ slot: Int) -> StoredValue {
    let attribute = entity.attributeSlots[slot]
    guard let stored = attribute.encodedValue(from: value) else {
      preconditionFailure(
        "Unacceptable type of value for attribute: property = \"\(attribute.name)\"; desired type = "
          + "\(attribute.attributeValueClassName ?? "\(attribute.attributeType)"); given type = "
          + "\(value.map { "\(type(of: $0))" } ?? "nil"); value = \(value.map { "\($0)" } ?? "nil").")
    }
    return stored
  }
}
