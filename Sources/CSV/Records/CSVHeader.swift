/// The first record of a file, or the first few, which name the columns.
public struct CSVHeader: Sendable, Hashable {
  /// The names as written, without a byte order mark; bytes that are not UTF-8 are U+FFFD. Empty for a blank line. The
  /// names of several rows are joined (`CSVDialect.headerRows`).
  public var names: [String]
  /// Physical line (from 1) of the header's first byte.
  public var line: Int
  /// Offset in the inflated input of the header's first byte, in the bytes of its encoding.
  public var byteOffset: Int
  /// The original bytes, converted to UTF-8, line ends included.
  public var bytes: [UInt8]
  /// The problems of all rows.
  public var problems: RecordProblems
  /// How many physical lines the header extends over. If there are more than the dialect has header rows, a name has
  /// several lines, or a quote opens in the header and is closed only by that of a later record.
  public var lineCount: Int
  /// See `RecordSlice.linesInDoubt`.
  public var linesInDoubt: Int

  init(
    names: [String], line: Int, byteOffset: Int, bytes: [UInt8], problems: RecordProblems, lineCount: Int = 1,
    linesInDoubt: Int = 0
  ) {
    self.names = names
    self.line = line
    self.byteOffset = byteOffset
    self.bytes = bytes
    self.problems = problems
    self.lineCount = lineCount
    self.linesInDoubt = linesInDoubt
  }
}
