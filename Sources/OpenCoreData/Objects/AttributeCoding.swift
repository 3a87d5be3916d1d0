import Foundation

/// Between the Foundation values of keyed access and the values of a store.
extension NSAttributeDescription {
  /// `value` in the form a store keeps for this attribute's type; nil when the type does not fit.
  func stored(from value: Any?) -> StoredValue? {
    if let stored = storedValue(from: value) {
      // The Data of a transformable with a transformer of its own is a value to transform, not an archive.
      guard attributeType == .transformableAttributeType, !stored.isNull else { return stored }
    }
    guard attributeType == .transformableAttributeType, let value else { return nil }
    return archived(value)
  }

  /// What `value(forKey:)` answers with for a stored value of this attribute.
  func foundationValue(from stored: StoredValue) -> Any? {
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
    case (.transformableAttributeType, .blob(let data)): return unarchived(data)
    case (_, .integer(let number)): return NSNumber(value: number)
    case (_, .real(let number)): return NSNumber(value: number)
    case (_, .text(let text)): return text
    case (_, .blob(let data)): return data
    case (_, .decimal(let number)): return NSDecimalNumber(decimal: number)
    }
  }

  // MARK: Transformable

  private func archived(_ value: Any) -> StoredValue? {
    let data = try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
    return data.map { .blob($0) }
  }

  private func unarchived(_ data: Data) -> Any? {
    try? NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.archivedClasses, from: data)
  }

  private static var archivedClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSString.self, NSNumber.self, NSDate.self, NSData.self, NSSet.self,
      NSURL.self, NSUUID.self,
    ]
  }
}
