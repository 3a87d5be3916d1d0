import Foundation

extension NSAttributeDescription {
  /// A Swift value in stored form: null for nil, nil if the value does not have the attribute's type.
  ///
  /// Numbers may be any Swift number, Bool, NSNumber or Decimal that converts exactly. A Transformable value must be
  /// the Data of its archive.
  package func storedValue(from value: Any?) -> StoredValue? {
    guard let value else { return .null }
    // The most common type first: the casts of others cost far more than this comparison.
    if Swift.type(of: value) == String.self, attributeType == .stringAttributeType, let text = value as? String {
      return .text(text)
    }
    guard !(value is NSNull) else { return .null }
    switch attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
      return Self.integer(from: value).map(StoredValue.integer)
    case .booleanAttributeType:
      if let flag = value as? Bool { return .integer(flag ? 1 : 0) }
      return Self.integer(from: value).map { .integer($0 == 0 ? 0 : 1) }
    case .doubleAttributeType:
      return Self.real(from: value).map(StoredValue.real)
    case .floatAttributeType:
      return Self.real(from: value).map { .real(Double(Float($0))) }
    case .dateAttributeType:
      return (value as? Date).map { .real($0.timeIntervalSinceReferenceDate) }
    case .decimalAttributeType:
      return Self.decimal(from: value).map(StoredValue.decimal)
    case .stringAttributeType:
      return Self.text(from: value).map(StoredValue.text)
    case .URIAttributeType:
      return (value as? URL).map { .text($0.absoluteString) }
    case .UUIDAttributeType:
      return (value as? UUID).map { .blob($0.bytes) }
    case .binaryDataAttributeType, .transformableAttributeType:
      return (value as? Data).map(StoredValue.blob)
    case .undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType:
      return nil
    }
  }

  /// The default value in stored form; null if there is none or it cannot be stored.
  package var defaultStoredValue: StoredValue { encodedValue(from: defaultValue) ?? .null }

  private static func integer(from value: Any) -> Int64? {
    if let number = object(value) { return exactInteger(number) }
    if let number = value as? any BinaryInteger { return Int64(exactly: number) }
    if let number = value as? any BinaryFloatingPoint { return Int64(exactly: Double(number)) }
    if let flag = value as? Bool { return flag ? 1 : 0 }
    if let number = value as? Decimal { return exactInteger(NSDecimalNumber(decimal: number)) }
    return nil
  }

  /// An NSNumber as it is. A cast would also make one of any Swift number, which costs far more than the check.
  private static func object(_ value: Any) -> NSNumber? {
    Swift.type(of: value) is NSNumber.Type ? value as? NSNumber : nil
  }

  /// Nil for a fraction and for a number beyond 64 bits.
  private static func exactInteger(_ number: NSNumber) -> Int64? {
    let integer = number.int64Value
    // Below 2⁵³ a double is as exact; only a decimal number has more digits.
    if integer.magnitude < 1 << 53, !(number is NSDecimalNumber) {
      return Double(integer) == number.doubleValue ? integer : nil
    }
    return NSNumber(value: integer).compare(number) == .orderedSame ? integer : nil
  }

  private static func real(from value: Any) -> Double? {
    if let number = object(value) { return number.doubleValue }
    if let number = value as? any BinaryFloatingPoint { return Double(number) }
    if let number = value as? any BinaryInteger { return Double(number) }
    if let number = value as? Decimal { return number.storedReal }
    return nil
  }

  private static func decimal(from value: Any) -> Decimal? {
    if let number = value as? Decimal { return number }
    if let number = value as? any BinaryInteger { return Decimal(string: String(number)) }
    return (value as? NSNumber)?.decimalValue
  }

  private static func text(from value: Any) -> String? {
    (value as? String) ?? (value as? NSString).map { String(describing: $0) }
  }
}

extension NSAttributeType {
  /// The whole numbers that attributes of this type store; nil for a type of other values.
  package var wholeRange: ClosedRange<Int64>? {
    switch self {
    case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
    case .integer64AttributeType: .min ... .max
    case .booleanAttributeType: 0...1
    default: nil
    }
  }
}
