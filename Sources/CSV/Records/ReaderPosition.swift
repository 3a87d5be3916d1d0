/// A position between two records, which a checkpoint keeps and from which reading can continue.
public struct ReaderPosition: Sendable, Hashable, Codable {
  /// Number of the next data record. The first is 1; the header, skipped blank lines and comments are not counted.
  public var record: Int
  /// Physical line (from 1) at which the next record starts.
  public var line: Int
  /// Offset (from 0) in the inflated input at which the next record starts.
  public var byteOffset: Int

  /// Makes a position. Line and record count from 1, the offset from 0.
  public init(record: Int, line: Int, byteOffset: Int) {
    self.record = record
    self.line = line
    self.byteOffset = byteOffset
  }

  /// The start of an input.
  public static let start = ReaderPosition(record: 1, line: 1, byteOffset: 0)
}
