/// The first record of a file, which names the columns.
public struct CSVHeader: Sendable, Hashable {
  /// The names as written, without a byte order mark; bytes that are not UTF-8 are U+FFFD. Empty for a blank line.
  public var names: [String]
  /// Physical line (from 1) of the header's first byte.
  public var line: Int
  /// Offset in the inflated input of the header's first byte.
  public var byteOffset: Int
  /// The original bytes, line end included.
  public var bytes: [UInt8]
  public var problems: RecordProblems
}
