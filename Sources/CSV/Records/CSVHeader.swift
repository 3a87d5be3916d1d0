/// The first record of a file that names its columns.
public struct CSVHeader: Sendable, Hashable {
  /// The names as they stand, byte order mark removed; bytes that are no UTF-8 are U+FFFD. Empty for a blank line.
  public var names: [String]
  /// Physical line (from 1) and offset in the inflated input of the header's first byte.
  public var line: Int
  public var byteOffset: Int
  /// The original bytes, line end included.
  public var bytes: [UInt8]
  public var problems: RecordProblems
}
