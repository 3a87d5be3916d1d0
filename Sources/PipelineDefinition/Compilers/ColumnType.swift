/// The type that a column's text is parsed as. It follows from the model's attribute.
public enum ColumnType: Sendable, Hashable {
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

  public static let integer16 = ColumnType.integer(Int64(Int16.min)...Int64(Int16.max))
  public static let integer32 = ColumnType.integer(Int64(Int32.min)...Int64(Int32.max))
  public static let integer64 = ColumnType.integer(Int64.min...Int64.max)

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

/// The value of one field, as its attribute stores it.
public enum FieldValue: Sendable, Hashable {
  /// The field is empty or the dialect's text for nil. The value is nil, even if the model has a default.
  case null
  /// Also Booleans, as 0 and 1.
  case integer(Int64)
  /// Also dates, as seconds since 2001-01-01 UTC.
  case real(Double)
  /// The field's bytes unchanged; the caller has them.
  case text
  /// A value that differs from the field's bytes: other bytes, digits or a URI. `FieldParser.store(_:at:in:)` stores
  /// it.
  case encoded
}

/// A violation by one field. It is small, so that recording it is cheap. ``FieldParser/issue(for:bytes:at:field:)``
/// makes the message.
public struct FieldFault: Sendable, Hashable {
  /// Index of the column in its ``ColumnSet``.
  public var column: Int
  /// Index of the rule in the column's definition; -1 if the text does not match the column's type; -2 and less for
  /// its transforms, first to last.
  public var rule: Int
  public var severity: Severity

  public init(column: Int, rule: Int, severity: Severity) {
    self.column = column
    self.rule = rule
    self.severity = severity
  }

  enum Subject {
    case type, rule(Int), transform(Int)
  }

  var subject: Subject { rule >= 0 ? .rule(rule) : rule == -1 ? .type : .transform(-2 - rule) }
  /// A text that a conversion refuses does not match the declared type of its column, like a text that is not a
  /// number.
  var code: IssueCode { rule < 0 ? .typeError : .constraintError }

  static func rule(ofTransform index: Int) -> Int { -2 - index }
}
