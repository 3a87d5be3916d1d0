/// The form of a CSV file: the delimiter, quoting, the header, line ends.
///
/// The default is RFC 4180 with a header. Readers accept LF, CRLF and CR as line ends, also mixed, in every dialect.
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

  /// The ASCII byte between fields.
  public var delimiter: UInt8
  /// Encloses fields that contain delimiters, quotes or line ends. If nil, no field is quoted and a quote is ordinary
  /// text.
  public var quote: UInt8?
  /// Whether the first record names the columns.
  public var hasHeader: Bool
  /// The columns of a file without a header, where the dialect defines them.
  public var columns: [String]?
  /// Whether a record may end with an additional delimiter. The delimiter is dropped when a record has exactly one
  /// field more than there are columns and that field is empty. So the columns must be known, from `columns` or a
  /// header.
  public var toleratesTrailingDelimiter: Bool
  /// Whether a writer ends each record with a delimiter.
  public var writesTrailingDelimiter: Bool
  /// Whether empty lines are skipped. Otherwise each is a record marked `blank`.
  public var skipsBlankLines: Bool
  /// Lines that start with this byte are skipped. If nil, there are no comments.
  public var comment: UInt8?
  /// The line end that a writer puts after each record.
  public var lineEnd: LineEnd
  /// The text of an unquoted field without a value. If nil, such a field is empty and cannot be distinguished from an
  /// empty text.
  public var nullToken: [UInt8]?
  /// Whether a zero byte is ordinary text. Otherwise it marks its record `nulByte`.
  public var keepsNulBytes: Bool

  public init(
    delimiter: UInt8 = UInt8(ascii: ","), quote: UInt8? = UInt8(ascii: "\""), hasHeader: Bool = true,
    columns: [String]? = nil, toleratesTrailingDelimiter: Bool = false, writesTrailingDelimiter: Bool = false,
    skipsBlankLines: Bool = false, comment: UInt8? = nil, lineEnd: LineEnd = .lf,
    nullToken: [UInt8]? = nil, keepsNulBytes: Bool = false
  ) {
    self.delimiter = delimiter
    self.quote = quote
    self.hasHeader = hasHeader
    self.columns = columns
    self.toleratesTrailingDelimiter = toleratesTrailingDelimiter
    self.writesTrailingDelimiter = writesTrailingDelimiter
    self.skipsBlankLines = skipsBlankLines
    self.comment = comment
    self.lineEnd = lineEnd
    self.nullToken = nullToken
    self.keepsNulBytes = keepsNulBytes
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

  /// Checks that the dialect's bytes are distinct and allowed.
  /// - Throws: `CSVError` with the code `dialect-error` that names the contradiction.
  public func validate() throws(CSVError) {
    try check(delimiter, "delimiter")
    if let quote { try check(quote, "quote") }
    if let comment { try check(comment, "comment sign") }
    if delimiter == quote { throw CSVError(.dialect, "delimiter and quote are the same byte; use two") }
    if delimiter == comment { throw CSVError(.dialect, "delimiter and comment sign are the same byte; use two") }
    if let quote, quote == comment {
      throw CSVError(.dialect, "quote and comment sign are the same byte; use two")
    }
    if let columns, columns.isEmpty {
      throw CSVError(.dialect, "the list of columns is empty; name them or leave it out")
    }
    if let nullToken, let fault = fault(ofNullToken: nullToken) {
      throw CSVError(.dialect, "the text for no value \(fault); use one such as \\N")
    }
  }

  /// Why these bytes, unquoted, would not be read back as a field with this content; nil if they would be.
  public func fault(ofNullToken token: [UInt8]) -> String? {
    if token.isEmpty { return "is empty, as the empty text is" }
    if token.first == ASCII.space || token.last == ASCII.space { return "begins or ends with a space" }
    if token.first == comment { return "begins with the comment sign" }
    if token.starts(with: ASCII.byteOrderMark) { return "begins with a byte order mark" }
    let special = [delimiter, quote ?? delimiter, ASCII.lf, ASCII.cr, 0]
    return token.contains { special.contains($0) } ? "holds a delimiter, a quote, a line end or a zero byte" : nil
  }

  private func check(_ byte: UInt8, _ role: String) throws(CSVError) {
    if byte == 0 || byte == 0x0A || byte == 0x0D || byte >= 0x80 {
      throw CSVError(.dialect, "byte \(byte) cannot be the \(role); use an ASCII character other than a line end")
    }
  }
}
