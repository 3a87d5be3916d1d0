/// The form of a CSV file: the encoding, delimiter, quoting, the header, line ends.
///
/// The default is RFC 4180 with a header, in UTF-8 or what a byte order mark says. Readers accept LF, CRLF and CR as
/// line ends, also mixed, unless `lineTerminator` names another.
///
/// ```swift
/// var dialect = CSVDialect.semicolon
/// dialect.hasHeader = false
/// dialect.columns = ["date", "location", "rating"]
/// try dialect.validate()
/// ```
public struct CSVDialect: Sendable, Hashable {
  /// The line end that a writer puts after each record.
  public enum LineEnd: Sendable, Hashable { case lf, crlf }

  /// What a reader does with quotes that break the rules.
  public enum Mode: Sendable, Hashable {
    /// They are problems of their record.
    case strict
    /// Those with one sensible reading are read that way and marked as repaired (`RecordProblems.repairs`); the
    /// others are problems.
    case lenient
  }

  /// The encoding of a file that is read. If nil, a byte order mark decides, and UTF-8 applies without one. A byte
  /// order mark in the file also decides over an encoding that is set here. Writers write UTF-8; where another encoding
  /// is set they put UTF-8's mark in front, so that a reader with the same dialect reads UTF-8.
  public var encoding: CSVEncoding?
  /// The text between fields: one or several characters in UTF-8, without line ends.
  public var delimiter: [UInt8]
  /// Encloses fields that contain delimiters, quotes or line ends. If nil, no field is quoted and a quote is ordinary
  /// text.
  public var quote: UInt8?
  /// Whether two quotes in a quoted field stand for one.
  public var doublesQuotes = true
  /// Takes the special meaning from the byte that follows it, in quoted and in unquoted fields. If nil, there is no
  /// such byte.
  public var escape: UInt8?
  /// Whether spaces at the start of a field, before its quote if it has one, are not part of it.
  public var skipsInitialSpace = false
  /// What ends a record: one or several ASCII bytes. If nil, LF, CRLF and CR do, also mixed.
  public var lineTerminator: [UInt8]?
  /// How many lines before the header, or before the first record, are skipped whatever they contain.
  public var skippedRows = 0
  /// How many records name the columns: 0 for a file without a header. The names of several are joined with a space,
  /// column by column; empty ones, and those that repeat the one above, are left out.
  public var headerRows: Int
  /// The columns of a file without a header, where the dialect defines them.
  public var columns: [String]?
  /// Whether a record may end with an additional delimiter. The delimiter is dropped when a record has exactly one
  /// field more than there are columns and that field is empty and unquoted. So the columns must be known, from
  /// `columns` or a header.
  public var toleratesTrailingDelimiter: Bool
  /// Whether a writer ends each record with a delimiter.
  public var writesTrailingDelimiter: Bool
  /// Whether empty lines are skipped. Otherwise each is a record marked `blank`.
  public var skipsBlankLines: Bool
  /// Lines that start with these bytes are skipped. If nil, there are no comments.
  public var comment: [UInt8]?
  /// A regular expression (ICU). Reading stops before the first record, header rows excluded, whose first field's text
  /// begins with a match: that record and everything after it is the footer. A plain word is a prefix.
  public var stopAt: String?
  /// How many records before the end, or before the footer that `stopAt` finds, are dropped. To find them a reader
  /// looks ahead by that number of records.
  public var droppedLastRows = 0
  /// The line end that a writer puts after each record, where `lineTerminator` is nil.
  public var lineEnd: LineEnd
  /// The texts of an unquoted field without a value; a writer writes the first. If empty, such a field is empty and
  /// cannot be distinguished from an empty text.
  public var nullTokens: [[UInt8]]
  /// Whether a zero byte is ordinary text. Otherwise it marks its record `nulByte`.
  public var keepsNulBytes: Bool
  /// Whether irregular quotes are errors (`strict`) or read as well as possible; see `Mode`.
  public var mode = Mode.strict

  /// Whether there is a header. Setting it to true makes one row the header, unless several are.
  public var hasHeader: Bool {
    get { headerRows > 0 }
    set { headerRows = newValue ? max(1, headerRows) : 0 }
  }

  /// The first of `nullTokens`; setting it replaces them.
  public var nullToken: [UInt8]? {
    get { nullTokens.first }
    set { nullTokens = newValue.map { [$0] } ?? [] }
  }

  /// Makes a dialect. The parameters are the properties of the same names; by default a header, the quote of RFC 4180,
  /// no comments, and line feeds.
  public init(
    delimiter: [UInt8], quote: UInt8? = UInt8(ascii: "\""), hasHeader: Bool = true, columns: [String]? = nil,
    toleratesTrailingDelimiter: Bool = false, writesTrailingDelimiter: Bool = false, skipsBlankLines: Bool = false,
    comment: [UInt8]? = nil, lineEnd: LineEnd = .lf, nullToken: [UInt8]? = nil, keepsNulBytes: Bool = false
  ) {
    self.delimiter = delimiter
    self.quote = quote
    headerRows = hasHeader ? 1 : 0
    self.columns = columns
    self.toleratesTrailingDelimiter = toleratesTrailingDelimiter
    self.writesTrailingDelimiter = writesTrailingDelimiter
    self.skipsBlankLines = skipsBlankLines
    self.comment = comment
    self.lineEnd = lineEnd
    nullTokens = nullToken.map { [$0] } ?? []
    self.keepsNulBytes = keepsNulBytes
  }

  /// A dialect whose delimiter and comment sign are one byte each.
  public init(
    delimiter: UInt8 = UInt8(ascii: ","), quote: UInt8? = UInt8(ascii: "\""), hasHeader: Bool = true,
    columns: [String]? = nil, toleratesTrailingDelimiter: Bool = false, writesTrailingDelimiter: Bool = false,
    skipsBlankLines: Bool = false, comment: UInt8? = nil, lineEnd: LineEnd = .lf,
    nullToken: [UInt8]? = nil, keepsNulBytes: Bool = false
  ) {
    self.init(
      delimiter: [delimiter], quote: quote, hasHeader: hasHeader, columns: columns,
      toleratesTrailingDelimiter: toleratesTrailingDelimiter, writesTrailingDelimiter: writesTrailingDelimiter,
      skipsBlankLines: skipsBlankLines, comment: comment.map { [$0] }, lineEnd: lineEnd, nullToken: nullToken,
      keepsNulBytes: keepsNulBytes)
  }

  /// RFC 4180 with a header: comma, double quote.
  public static let csv = CSVDialect()
  /// Semicolons, as spreadsheets write in locales where the comma is the decimal separator.
  public static let semicolon = CSVDialect(delimiter: UInt8(ascii: ";"))
  /// Tabs, quoted where needed, as spreadsheets write.
  public static let tab = CSVDialect(delimiter: UInt8(ascii: "\t"))
  /// The names that `named(_:)` accepts, in display order.
  public static let names = ["csv", "semicolon", "tab"]

  /// The dialect with that name, ignoring letter case; nil if there is none (see `names`).
  public static func named(_ name: String) -> CSVDialect? {
    switch name.lowercased() {
    case "csv": csv
    case "semicolon": semicolon
    case "tab": tab
    default: nil
    }
  }
}
