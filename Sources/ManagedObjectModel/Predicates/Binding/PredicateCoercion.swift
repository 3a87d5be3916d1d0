import Foundation

extension PredicateConstant {
  /// The type that this constant belongs to; nil for null, lists and foreign values.
  var valueType: PredicateValueType? {
    switch self {
    case .boolean: .boolean
    case .integer: .integer
    case .real: .real
    case .decimal: .decimal
    case .text: .text
    case .date: .date
    case .uuid: .uuid
    case .url: .uri
    case .data: .blob
    case .object: .object
    case .null, .collection, .unsupported: nil
    }
  }

  /// The constant in the stored form of an attribute of `type`; nil if it does not convert to that type.
  ///
  /// Numbers convert to every numeric type. Text converts if it spells the value (digits, ISO 8601, a UUID). A whole
  /// number does not convert to a date: `date > 2014` would silently mean 2014 seconds after the start of 2001. NaN
  /// becomes null.
  package func stored(as type: PredicateValueType) -> StoredValue? {
    if self == .null { return .null }
    switch type {
    case .integer, .boolean: return number?.exactIfWhole
    case .real, .decimal: return (number?.nearestReal).map { $0.isNaN ? .null : .real($0) }
    case .date: return (date?.timeIntervalSinceReferenceDate).map { $0.isNaN ? .null : .real($0) }
    case .text: if case .text(let text) = self { return .text(text) }
    case .uri:
      if case .url(let url) = self { return .text(url.absoluteString) }
      if case .text(let text) = self { return .text(text) }
    case .uuid: return uuidBytes.map { .blob($0) }
    case .blob: if case .data(let data) = self { return .blob(data) }
    case .object: if case .object(let object) = self { return object.identity.comparisonValue }
    }
    return nil
  }

  private var number: PredicateConstant? {
    switch self {
    case .boolean(let value): .integer(value ? 1 : 0)
    case .integer, .real, .decimal: self
    case .text(let text): Int64(text).map { .integer($0) } ?? Self.real(text)
    case .null, .date, .uuid, .url, .data, .object, .collection, .unsupported: nil
    }
  }

  /// Digits only: Double also reads `inf`, `nan` and hexadecimal.
  private static func real(_ text: String) -> PredicateConstant? {
    guard text.utf8.allSatisfy({ "0123456789.+-eE".utf8.contains($0) }) else { return nil }
    return Double(text).flatMap { $0.isFinite ? .real($0) : nil }
  }

  /// For integer columns: whole numbers stay whole, so that comparisons do not go through a double.
  private var exactIfWhole: StoredValue? {
    switch self {
    case .integer(let value): .integer(value)
    case .real(let value) where value.isNaN: .null
    case .real(let value): Int64(exactly: value).map { .integer($0) } ?? .real(value)
    case .decimal(let value):
      Int64(value.description).map { .integer($0) } ?? PredicateConstant.real(value.storedReal).exactIfWhole
    default: nil
    }
  }

  /// For floating-point columns: the double that the column would hold.
  private var nearestReal: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .real(let value): value
    case .decimal(let value): value.storedReal
    default: nil
    }
  }

  private var date: Date? {
    switch self {
    case .date(let date): date
    case .real(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .text(let text): ISO8601Text.date(text)
    default: nil
    }
  }

  private var uuidBytes: Data? {
    switch self {
    case .uuid(let uuid): Self.bytes(of: uuid)
    case .text(let text): UUID(uuidString: text).map(Self.bytes)
    case .data(let data) where data.count == 16: data
    default: nil
    }
  }

  /// The 16 bytes that the store keeps.
  private static func bytes(of uuid: UUID) -> Data {
    let bytes = uuid.uuid
    return Data([
      bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7,
      bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15,
    ])
  }
}
