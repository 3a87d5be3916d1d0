/// The type that a column's text is parsed as. It follows from the model's attribute.
package enum ColumnType: Sendable, Hashable {
  case text
  /// A whole number within the range of the attribute.
  case integer(ClosedRange<Int64>)
  case real
  /// A number stored in single precision.
  case single
  /// An exact decimal number; one with more digits than a store keeps is refused.
  case decimal
  /// `true`, `false`, `yes`, `no`, `1`, `0`, ignoring letter case.
  case boolean
  case date
  /// See ``TextFormat/uuid``. Braces, the prefix `urn:uuid:` and 32 digits without hyphens are accepted too.
  case uuid
  /// A URI with or without a scheme (RFC 3986).
  case uri
  /// Bytes in the column's ``BinaryFormat``.
  case binary
  /// The bytes that a transformer made of an object. They are stored and exported unchanged.
  case archive

  package static let integer16 = ColumnType.integer(Int64(Int16.min)...Int64(Int16.max))
  package static let integer32 = ColumnType.integer(Int64(Int32.min)...Int64(Int32.max))
  package static let integer64 = ColumnType.integer(Int64.min...Int64.max)

  /// The type as a noun phrase, for messages.
  package var noun: String {
    switch self {
    case .text: "a text"
    case .integer: "a whole number"
    case .real, .single: "a number"
    case .decimal: "a decimal number"
    case .boolean: "true or false"
    case .date: "a date"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .binary: "binary data"
    case .archive: "an archived object"
    }
  }

  package var isNumber: Bool {
    switch self {
    case .integer, .real, .single, .decimal: true
    case .text, .boolean, .date, .uuid, .uri, .binary, .archive: false
    }
  }

  /// Whether the values are bytes that a ``BinaryFormat`` represents as text.
  package var isBinary: Bool { self == .binary || self == .archive }
}
