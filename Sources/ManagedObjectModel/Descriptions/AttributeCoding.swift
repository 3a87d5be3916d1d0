import Foundation

/// Converts between the Foundation values of keyed access and stored values.
extension NSAttributeDescription {
  /// `value` in the stored form of this attribute's type, with transformables encoded; nil if the type does not match.
  package func encodedValue(from value: Any?) -> StoredValue? {
    guard attributeType == .transformableAttributeType else { return storedValue(from: value) }
    guard let value, !(value is NSNull) else { return .null }
    // Without the transformer, the only value is what it made before.
    guard let coder else { return (value as? Data).map(StoredValue.blob) }
    // Data, too, is a value to transform here, not the output of a transformer.
    return coder.data(from: value).map(StoredValue.blob)
  }

  /// The value that `value(forKey:)` returns for a stored value of this attribute.
  package func foundationValue(from stored: StoredValue) -> Any? {
    switch (attributeType, stored) {
    case (_, .null): return nil
    case (.booleanAttributeType, .integer(let number)): return NSNumber(value: number != 0)
    case (.dateAttributeType, _): return stored.number.map(Date.init(timeIntervalSinceReferenceDate:))
    case (.decimalAttributeType, .decimal(let number)): return NSDecimalNumber(decimal: number)
    case (.decimalAttributeType, _): return stored.number.map { NSDecimalNumber(value: $0) }
    case (.floatAttributeType, _): return stored.number.map { NSNumber(value: Float($0)) }
    case (.doubleAttributeType, _): return stored.number.map { NSNumber(value: $0) }
    case (.URIAttributeType, .text(let text)): return URL(string: text)
    case (.UUIDAttributeType, .blob(let data)): return UUID(bytes: data)
    case (.transformableAttributeType, .blob(let data)): return coder.map { $0.object(from: data) } ?? data
    case (_, .integer(let number)): return SmallNumbers.number(number)
    case (_, .real(let number)): return NSNumber(value: number)
    case (_, .text(let text)): return text
    case (_, .blob(let data)): return data
    case (_, .decimal(let number)): return NSDecimalNumber(decimal: number)
    }
  }

  /// The coder that converts a transformable's objects to bytes and back; nil if the attribute names a transformer that
  /// is not registered, as in a store of another program. Values are then the stored bytes.
  private var coder: TransformableCoder? {
    if let name = valueTransformerName, !name.isEmpty {
      return ValueTransformer.registered(name).map { .transformer($0) }
    }
    return .archive(valueClass: transformableClass)
  }
}
