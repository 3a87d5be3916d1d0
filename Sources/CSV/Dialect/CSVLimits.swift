/// The largest permitted sizes of the parts of a file. They bound memory for any input.
public struct CSVLimits: Sendable, Hashable {
  /// Longest field in bytes, without its surrounding quotes. A longer one marks its record `fieldTooLong`.
  public var fieldBytesMax: Int
  /// Longest record in bytes, without its line end. A longer one is truncated and marked `recordTooLong`.
  public var recordBytesMax: Int
  /// Most fields of a record. Additional fields are not listed, and the record is marked `tooManyFields`.
  public var fieldsMax: Int
  /// A block ends early, after the record that brings it to this many bytes.
  public var blockBytesMax: Int

  /// How many bytes of a record over `recordBytesMax` are kept, so that it can be identified.
  static let cutRecordBytesMax = 64 << 10

  /// Makes limits. The parameters are the properties of the same names.
  public init(
    fieldBytesMax: Int = 1 << 20, recordBytesMax: Int = 16 << 20, fieldsMax: Int = 10_000,
    blockBytesMax: Int = 8 << 20
  ) {
    self.fieldBytesMax = fieldBytesMax
    self.recordBytesMax = recordBytesMax
    self.fieldsMax = fieldsMax
    self.blockBytesMax = blockBytesMax
  }

  /// Checks the ranges: records up to 256 MiB, blocks up to 1 GiB, a million fields.
  /// - Throws: `dialect-error` that names the limit.
  public func validate() throws(CSVError) {
    try check(fieldBytesMax, in: 1...(256 << 20), name: "fieldBytesMax")
    try check(recordBytesMax, in: 1...(256 << 20), name: "recordBytesMax")
    try check(fieldsMax, in: 1...1_000_000, name: "fieldsMax")
    try check(blockBytesMax, in: 1...(1 << 30), name: "blockBytesMax")
  }

  private func check(_ value: Int, in range: ClosedRange<Int>, name: String) throws(CSVError) {
    if !range.contains(value) {
      throw CSVError(.dialect, "\(name) is \(value); it must be from \(range.lowerBound) to \(range.upperBound)")
    }
  }
}
