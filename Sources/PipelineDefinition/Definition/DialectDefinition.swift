/// The form of a CSV file, as a pipeline declares it, in the terms of frictionless' Table Dialect.
///
/// ```swift
/// var dialect = DialectDefinition.rfc4180
/// dialect.delimiter = ";"
/// dialect.decimalChar = ","
/// dialect.nullSequences = ["\\N"]
/// ```
public struct DialectDefinition: Sendable, Hashable {
  /// The line ends that an export writes.
  public enum LineEnding: String, Sendable, Codable, CaseIterable {
    /// A line feed.
    case lf
    /// A carriage return and a line feed.
    case crlf
  }

  /// How records that contain a NUL byte are treated.
  public enum NulBytes: String, Sendable, Codable, CaseIterable {
    /// They are errors: a file with them is usually damaged, or not text.
    case refuse
    /// NUL is an ordinary character of a text.
    case keep
  }

  /// The format of an input.
  public enum Format: String, Sendable, Codable, CaseIterable {
    /// Comma-separated values, in the form that the other keys say.
    case csv
    /// JSON Lines: one object for each line, see *Pipeline files* in the manual. Keys that say how CSV is written do not
    /// apply.
    case jsonl
  }

  /// How a record is treated whose number of fields differs from the header's.
  public enum RaggedRows: String, Sendable, Codable, CaseIterable {
    /// The record is rejected.
    case error
    /// Missing fields at its end are empty.
    case pad
    /// Surplus fields at its end are dropped.
    case truncate
    /// Surplus fields belong to the last column, with their delimiters.
    case joinLast
  }

  /// Which labels a header must have, as in a Table Schema.
  public enum FieldsMatch: String, Sendable, Codable, CaseIterable {
    /// All columns and no others, in the pipeline's order.
    case exact
    /// All columns and no others.
    case equal
    /// All columns, and maybe others.
    case subset
    /// No others, and maybe not all columns.
    case superset
  }

  /// How irregular records are read.
  public enum Mode: String, Sendable, Codable, CaseIterable {
    /// They are rejected.
    case strict
    /// What has one sensible reading is repaired, counted by kind and listed as a warning.
    case lenient
  }

  /// The named dialect that this one is, or is based on.
  public var name: String
  /// The format of the input; the ending of its name, and then its first line, decide when nil.
  public var format: Format?
  /// The encoding of the input; UTF-8, or by its byte order mark UTF-16 or UTF-32, when nil.
  public var encoding: String?
  /// The text between fields: one ASCII character, or several characters. As long as it is not set, an input whose name
  /// ends in `.tsv` or `.tab` has tabs.
  public var delimiter: String { didSet { origin.isDeclared = true } }
  private var origin: DelimiterOrigin
  /// One ASCII character around fields; `nil` if no field is ever quoted.
  public var quote: String?
  /// Whether a quote within a quoted field is written twice.
  public var doubleQuote = true
  /// The character that makes the next one ordinary text; none when nil.
  public var escapeChar: String?
  /// The end of a record that is read; LF, CRLF and CR, also mixed, when nil.
  public var lineTerminator: String?
  /// Records that begin with this text are skipped; none when nil.
  public var commentChar: String?
  /// Whether spaces after a delimiter are skipped.
  public var skipInitialSpace = false
  /// Whether the first record names the columns.
  public var header: Bool
  /// The number of records of the header, whose labels are joined by a space.
  public var headerRows = 1
  /// The number of lines before the header, or before the first record.
  public var skipRows = 0
  /// Whether empty lines, and records whose fields are all empty, are skipped.
  public var skipBlankRows = false
  /// Reading ends before a record that begins with this text; never when nil.
  public var stopAt: String?
  /// The number of records at the end that are skipped.
  public var skipLastRows = 0
  /// The columns of a file without a header, in order; an empty name is an ignored field.
  public var columns: [String]
  /// Whether written records end with a delimiter, and records that do are read.
  public var trailingComma: Bool
  /// The line end of written records.
  public var lineEnding: LineEnding
  /// The unquoted texts that represent nil, such as `\N`; unless the empty text is among them, an empty field in a
  /// column of texts is then the empty text. When empty, an empty field is nil.
  public var nullSequences: [String]
  /// The treatment of zero bytes in fields.
  public var nulBytes: NulBytes
  /// The character before the fraction of a number.
  public var decimalChar = "."
  /// The character between groups of three digits; none when nil.
  public var groupChar: String?
  /// The texts of true, ignoring the case of ASCII letters; when empty, those that *Pipeline files* in the manual
  /// lists.
  public var trueValues: [String] = []
  /// The texts of false; as `trueValues`.
  public var falseValues: [String] = []
  /// The repairs of records with too few or too many fields; `error` alone for none.
  public var raggedRows: [RaggedRows] = [.error]
  /// Which labels the header must have; when nil, `extraColumns` and `missingColumns` decide.
  public var fieldsMatch: FieldsMatch?
  /// The treatment of irregular quotes: `strict`, or `lenient` repairs.
  public var mode = Mode.strict

  /// The first of ``nullSequences`` that is not empty, which is written for nil.
  public var null: String? {
    get { nullSequences.first { !$0.isEmpty } }
    set { nullSequences = newValue.map { [$0] } ?? [] }
  }

  /// Whether an empty field of a text is an empty text instead of nil.
  package var keepsEmptyText: Bool {
    format == .jsonl || !nullSequences.isEmpty && !nullSequences.contains("")
  }

  private static let defaultName = "rfc4180"
  private static let defaultDelimiter = ","

  /// The dialect for an input of this name, the start of whose header is known: the name decides about tabs where
  /// nothing else does, unless the header has none.
  package func forInput(named path: String, headerHasTab: () -> Bool) -> DialectDefinition {
    guard !origin.isDeclared, format != .jsonl, FileEnding(input: path).isTabs, headerHasTab() else { return self }
    var dialect = self
    dialect.delimiter = "\t"
    return dialect
  }

  /// RFC 4180 with a header; written with LF.
  public static let rfc4180 = DialectDefinition(
    name: defaultName, delimiter: defaultDelimiter, quote: "\"", header: true, columns: [], trailingComma: false,
    lineEnding: .lf)

  /// Makes a dialect. The parameters are the properties of the same names.
  public init(
    name: String, delimiter: String, quote: String?, header: Bool, columns: [String], trailingComma: Bool,
    lineEnding: LineEnding, null: String? = nil, nulBytes: NulBytes = .refuse
  ) {
    self.name = name
    self.delimiter = delimiter
    origin = DelimiterOrigin(isDeclared: name != Self.defaultName || delimiter != Self.defaultDelimiter)
    self.quote = quote
    self.header = header
    self.columns = columns
    self.trailingComma = trailingComma
    self.lineEnding = lineEnding
    nullSequences = null.map { [$0] } ?? []
    self.nulBytes = nulBytes
  }
}

extension DialectDefinition: Codable {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case name, format, encoding, delimiter, quote, doubleQuote, escapeChar, lineTerminator, commentChar,
      skipInitialSpace
    case header, headerRows, skipRows, skipBlankRows, stopAt, skipLastRows, columns, trailingComma, lineEnding, null
    case nullSequences, nulBytes, decimalChar, groupChar, trueValues, falseValues, raggedRows, fieldsMatch, mode
  }

  /// Encodes the keys that were there first, including a `quote` that is null: without the key, the default of the
  /// dialect's name would apply. Other keys are encoded only if they have a value, so that a dialect without them keeps
  /// its digest.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(delimiter, forKey: .delimiter)
    try container.encode(quote, forKey: .quote)
    try container.encode(header, forKey: .header)
    try container.encode(columns, forKey: .columns)
    try container.encode(trailingComma, forKey: .trailingComma)
    try container.encode(lineEnding, forKey: .lineEnding)
    if nullSequences.count > 1 || nullSequences == [""] {
      try container.encode(nullSequences, forKey: .nullSequences)
    } else {
      try container.encode(nullSequences.first, forKey: .null)
    }
    try container.encode(nulBytes, forKey: .nulBytes)
    func encode<Value: Encodable & Equatable>(_ value: Value, unless usual: Value, _ key: CodingKeys) throws {
      if value != usual { try container.encode(value, forKey: key) }
    }
    try encode(format, unless: nil, .format)
    try encode(encoding, unless: nil, .encoding)
    try encode(doubleQuote, unless: true, .doubleQuote)
    try encode(escapeChar, unless: nil, .escapeChar)
    try encode(lineTerminator, unless: nil, .lineTerminator)
    try encode(commentChar, unless: nil, .commentChar)
    try encode(skipInitialSpace, unless: false, .skipInitialSpace)
    try encode(headerRows, unless: 1, .headerRows)
    try encode(skipRows, unless: 0, .skipRows)
    try encode(skipBlankRows, unless: false, .skipBlankRows)
    try encode(stopAt, unless: nil, .stopAt)
    try encode(skipLastRows, unless: 0, .skipLastRows)
    try encode(decimalChar, unless: ".", .decimalChar)
    try encode(groupChar, unless: nil, .groupChar)
    try encode(trueValues, unless: [], .trueValues)
    try encode(falseValues, unless: [], .falseValues)
    try encode(raggedRows, unless: [.error], .raggedRows)
    try encode(fieldsMatch, unless: nil, .fieldsMatch)
    try encode(mode, unless: .strict, .mode)
  }

  /// Decodes what ``encode(to:)`` wrote. The names of a vocabulary are not needed: every key that differs from
  /// RFC 4180 is there.
  public init(from decoder: any Decoder) throws {
    let name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
    var known = DialectDefinition.rfc4180
    known.name = name
    let mistakes = MistakeList()
    self = Self.read(try JSONValue(from: decoder), path: "", named: [known], mistakes: mistakes)
    origin.isDeclared = name != Self.defaultName || delimiter != Self.defaultDelimiter
    if !mistakes.mistakes.isEmpty { throw PipelineError(mistakes: mistakes.mistakes) }
  }
}

/// Whether a delimiter is more than the default. Two dialects that differ in nothing else are equal.
private struct DelimiterOrigin: Sendable, Hashable {
  var isDeclared: Bool

  static func == (left: DelimiterOrigin, right: DelimiterOrigin) -> Bool { true }
  func hash(into hasher: inout Hasher) {}
}
