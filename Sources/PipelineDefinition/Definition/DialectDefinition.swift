/// The form of a CSV file, as a pipeline declares it.
///
/// ```swift
/// var dialect = DialectDefinition.rfc4180
/// dialect.delimiter = ";"
/// dialect.null = "\\N"
/// ```
public struct DialectDefinition: Sendable, Hashable, Codable {
  public enum LineEnding: String, Sendable, Codable, CaseIterable {
    case lf, crlf
  }

  /// How records that contain a NUL byte are treated.
  public enum NulBytes: String, Sendable, Codable, CaseIterable {
    /// They are errors: a file with them is usually damaged, or not text.
    case refuse
    /// NUL is an ordinary character of a text.
    case keep
  }

  /// The named dialect that this one is, or is based on.
  public var name: String
  /// One ASCII character between fields.
  public var delimiter: String
  /// One ASCII character around fields; `nil` if no field is ever quoted.
  public var quote: String?
  /// Whether the first record names the columns.
  public var header: Bool
  /// The columns of a file without a header, in order; an empty name is an ignored field.
  public var columns: [String]
  /// Whether written records end with a delimiter. If `columns` are declared, records with and without one are read.
  public var trailingComma: Bool
  /// The line end of written records; LF, CRLF and CR are all read.
  public var lineEnding: LineEnding
  /// The unquoted text that represents nil, such as `\N`; an empty field in a column of texts is then the empty text.
  /// When `nil`, an empty field is nil.
  public var null: String?
  public var nulBytes: NulBytes

  /// RFC 4180 with a header; written with LF.
  public static let rfc4180 = DialectDefinition(
    name: "rfc4180", delimiter: ",", quote: "\"", header: true, columns: [], trailingComma: false, lineEnding: .lf)

  public init(
    name: String, delimiter: String, quote: String?, header: Bool, columns: [String], trailingComma: Bool,
    lineEnding: LineEnding, null: String? = nil, nulBytes: NulBytes = .refuse
  ) {
    self.name = name
    self.delimiter = delimiter
    self.quote = quote
    self.header = header
    self.columns = columns
    self.trailingComma = trailingComma
    self.lineEnding = lineEnding
    self.null = null
    self.nulBytes = nulBytes
  }

  private enum CodingKeys: String, CodingKey {
    case name, delimiter, quote, header, columns, trailingComma, lineEnding, null, nulBytes
  }

  /// Encodes all keys, including a `quote` that is null: without the key, the default of the dialect's name would
  /// apply.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(delimiter, forKey: .delimiter)
    try container.encode(quote, forKey: .quote)
    try container.encode(header, forKey: .header)
    try container.encode(columns, forKey: .columns)
    try container.encode(trailingComma, forKey: .trailingComma)
    try container.encode(lineEnding, forKey: .lineEnding)
    try container.encode(null, forKey: .null)
    try container.encode(nulBytes, forKey: .nulBytes)
  }
}

extension DialectDefinition {
  static let keys = [
    "name", "delimiter", "quote", "header", "columns", "trailingComma", "lineEnding", "null", "nulBytes",
  ]

  /// Reads a name, or an object whose keys change the dialect given by its `name` (`rfc4180` by default).
  static func read(
    _ value: JSONValue, path: String, named dialects: [DialectDefinition], mistakes: MistakeList
  ) -> DialectDefinition {
    if case .string(let name) = value { return dialect(named: name, in: dialects, path: path, mistakes: mistakes) }
    guard let reader = ObjectReader(value, path: path, keys: keys, mistakes: mistakes) else { return .rfc4180 }
    var dialect = rfc4180
    if let name = reader.string("name") {
      dialect = Self.dialect(named: name, in: dialects, path: reader.path("name"), mistakes: mistakes)
    }
    dialect.delimiter = reader.character("delimiter") ?? dialect.delimiter
    // Here null is meaningful: no field is ever quoted.
    dialect.quote = reader.isNull("quote") ? nil : reader.character("quote") ?? dialect.quote
    let columns = reader.strings("columns", emptyAllowed: true)
    // Columns without a `header` key mean a file without a header.
    dialect.header = reader.bool("header") ?? (reader.value("columns") == nil ? dialect.header : false)
    // A header replaces the columns that the dialect's name implies.
    dialect.columns = columns ?? (dialect.header ? [] : dialect.columns)
    dialect.trailingComma = reader.bool("trailingComma") ?? dialect.trailingComma
    dialect.lineEnding = reader.choice("lineEnding", LineEnding.self) ?? dialect.lineEnding
    dialect.null = reader.isNull("null") ? nil : reader.string("null") ?? dialect.null
    dialect.nulBytes = reader.choice("nulBytes", NulBytes.self) ?? dialect.nulBytes
    if let fault = dialect.nullFault { reader.note("null", fault) }
    if dialect.delimiter == dialect.quote {
      reader.note("delimiter", "delimiter and quote are the same character; change one of them")
    }
    if !dialect.header, dialect.columns.isEmpty {
      reader.note("header", "without a header the columns must be named: add \"columns\": [\"date\", …]")
    }
    if dialect.header, !dialect.columns.isEmpty {
      reader.note("columns", "columns are for files without a header; remove them or set \"header\": false")
    }
    return dialect
  }

  /// Why `null` can't represent nil; `nil` if it can, or is not set.
  package var nullFault: String? {
    null.flatMap { csv.fault(ofNullToken: Array($0.utf8)) }
      .map { "the text for no value \($0); use one such as \"\\\\N\"" }
  }

  private static func dialect(
    named name: String, in dialects: [DialectDefinition], path: String, mistakes: MistakeList
  ) -> DialectDefinition {
    if let dialect = dialects.first(where: { $0.name == name }) { return dialect }
    let names = dialects.map(\.name)
    let hint = NearestName.hint(for: name, in: names)
    mistakes.add(path, "unknown dialect '\(name)'; known are \(ObjectReader.list(names))\(hint)")
    return .rfc4180
  }
}

extension ObjectReader {
  /// One ASCII character that can separate or enclose fields.
  fileprivate func character(_ key: String) -> String? {
    guard let text = string(key) else { return nil }
    let scalars = Array(text.unicodeScalars)
    if scalars.count == 1, scalars[0].isASCII, !["\n", "\r", "\0"].contains(text) { return text }
    note(key, "expected one ASCII character such as \",\" \";\" or \"\\t\", found \"\(RawText.shortened(text.utf8))\"")
    return nil
  }
}
