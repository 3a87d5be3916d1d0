import Foundation

/// A Swift type as which generated accessors read and write attributes.
public protocol ManagedAttributeValue {
  /// The value of an attribute of type `type` that is stored as `stored`; nil for NULL or another kind of value.
  static func fromStored(_ stored: StoredAttributeValue) -> Self?
  /// The value as it is stored in an attribute.
  var storedAttributeValue: StoredAttributeValue { get }
}

/// The value that generated accessors and the graph exchange: a stored value with a private representation.
public struct StoredAttributeValue: Sendable {
  package let value: StoredValue
  package init(_ value: StoredValue) { self.value = value }
}

extension String: ManagedAttributeValue {
  public static func fromStored(_ stored: StoredAttributeValue) -> String? {
    if case .text(let text) = stored.value { text } else { nil }
  }
  public var storedAttributeValue: StoredAttributeValue { StoredAttributeValue(.text(self)) }
}

extension Date: ManagedAttributeValue {
  public static func fromStored(_ stored: StoredAttributeValue) -> Date? {
    stored.value.number.map(Date.init(timeIntervalSinceReferenceDate:))
  }
  public var storedAttributeValue: StoredAttributeValue {
    StoredAttributeValue(.real(timeIntervalSinceReferenceDate))
  }
}

extension Data: ManagedAttributeValue {
  public static func fromStored(_ stored: StoredAttributeValue) -> Data? {
    if case .blob(let data) = stored.value { data } else { nil }
  }
  public var storedAttributeValue: StoredAttributeValue { StoredAttributeValue(.blob(self)) }
}

extension UUID: ManagedAttributeValue {
  public static func fromStored(_ stored: StoredAttributeValue) -> UUID? {
    if case .blob(let data) = stored.value { UUID(bytes: data) } else { nil }
  }
  public var storedAttributeValue: StoredAttributeValue { StoredAttributeValue(.blob(bytes)) }
}

extension URL: ManagedAttributeValue {
  public static func fromStored(_ stored: StoredAttributeValue) -> URL? {
    if case .text(let text) = stored.value { URL(string: text) } else { nil }
  }
  public var storedAttributeValue: StoredAttributeValue { StoredAttributeValue(.text(absoluteString)) }
}

extension Bool: ManagedAttributeValue {
  public static func fromStored(_ stored: StoredAttributeValue) -> Bool? { stored.value.number.map { $0 != 0 } }
  public var storedAttributeValue: StoredAttributeValue { StoredAttributeValue(.integer(self ? 1 : 0)) }
}

extension Double: ManagedAttributeValue {
  public static func fromStored(_ stored: StoredAttributeValue) -> Double? { stored.value.number }
  public var storedAttributeValue: StoredAttributeValue { StoredAttributeValue(.real(self)) }
}

extension Float: ManagedAttributeValue {
  public static func fromStored(_ stored: StoredAttributeValue) -> Float? { stored.value.number.map(Float.init) }
  public var storedAttributeValue: StoredAttributeValue { StoredAttributeValue(.real(Double(self))) }
}

extension ManagedAttributeValue where Self: FixedWidthInteger {
  public static func fromStored(_ stored: StoredAttributeValue) -> Self? {
    if case .integer(let number) = stored.value { Self(truncatingIfNeeded: number) } else { nil }
  }
  public var storedAttributeValue: StoredAttributeValue {
    StoredAttributeValue(.integer(Int64(truncatingIfNeeded: self)))
  }
}
extension Int16: ManagedAttributeValue {}
extension Int32: ManagedAttributeValue {}
extension Int64: ManagedAttributeValue {}

extension StoredValue {
  /// A number of any kind as a double; nil for text, blobs and NULL.
  package var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    case .decimal(let number): number.storedReal
    case .null, .text, .blob: nil
    }
  }
}

extension UUID {
  package init?(bytes data: Data) {
    guard data.count == 16 else { return nil }
    let b = [UInt8](data)
    self.init(
      uuid: (
        b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
      ))
  }

  package var bytes: Data {
    let u = uuid
    return Data([
      u.0, u.1, u.2, u.3, u.4, u.5, u.6, u.7, u.8, u.9, u.10, u.11, u.12, u.13, u.14, u.15,
    ])
  }
}
