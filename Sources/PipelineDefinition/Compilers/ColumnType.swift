/// What a column's text is read as; the model's attribute decides.
public enum ColumnType: Sendable, Hashable {
  case text
  /// A whole number within the attribute's width.
  case integer(ClosedRange<Int64>)
  case real
  /// A number that is kept in single precision.
  case single
  /// A decimal number, exactly; one with more digits than a store keeps is refused.
  case decimal
  /// `true`, `false`, `yes`, `no`, `1`, `0`, letter case aside.
  case boolean
  case date
  /// See ``TextFormat/uuid``; braces, `urn:uuid:` before it and 32 digits without hyphens are accepted too.
  case uuid
  /// A URI with or without a scheme, as RFC 3986 writes it.
  case uri
  /// Bytes, written as the column's ``BinaryFormat`` says.
  case binary
  /// What a transformer made of an object, as bytes: they are taken and given as they are, and nothing is made of them.
  case archive

  public static let integer16 = ColumnType.integer(Int64(Int16.min)...Int64(Int16.max))
  public static let integer32 = ColumnType.integer(Int64(Int32.min)...Int64(Int32.max))
  public static let integer64 = ColumnType.integer(Int64.min...Int64.max)

  /// The type in words, for messages.
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

  /// Whether it is bytes that a ``BinaryFormat`` writes as text.
  package var isBinary: Bool { self == .binary || self == .archive }
}

/// The value of one field, as its attribute stores it.
public enum FieldValue: Sendable, Hashable {
  /// The field is empty, or the dialect's text for nil: nil, whatever default the model has.
  case null
  /// Also Booleans, as 0 and 1.
  case integer(Int64)
  /// Also dates, as seconds since 2001-01-01 UTC.
  case real(Double)
  /// The field's bytes as they are; the caller has them.
  case text
  /// What the field's bytes stand for: other bytes, digits or a URI. `FieldParser.store(_:at:in:)` puts it in place.
  case encoded
}

/// What one field broke: small, so that noting it costs nothing. ``FieldParser/issue(for:bytes:at:field:)`` puts it
/// in words.
public struct FieldFault: Sendable, Hashable {
  /// Index of the column in its ``ColumnSet``.
  public var column: Int
  /// Index of the rule in the column's definition; -1 when the text is not of the column's type, -2 and less for its
  /// transforms, first to last.
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
  /// What is no quantity is not of the type that its column is declared to have, just as what is no number.
  var code: IssueCode { rule < 0 ? .typeError : .constraintError }

  static func rule(ofTransform index: Int) -> Int { -2 - index }
}
