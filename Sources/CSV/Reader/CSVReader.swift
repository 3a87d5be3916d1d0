/// Reads CSV (RFC 4180 and its variants) from a `ByteSource`, block by block.
///
/// Records end with LF, CRLF or CR, also mixed, unless the dialect names another line terminator; the last record needs
/// no line end. Text in another encoding is converted to UTF-8 block by block; positions and hashes remain those of the
/// input's own bytes. Any input has a parse: irregularities are recorded in `RecordSlice.problems`, and the caller
/// decides what to do. Errors that prevent reading on (a truncated gzip file, a failing disk) are thrown after every
/// whole record before them was returned. The incomplete record before the error is dropped.
///
/// ```swift
/// let reader = try CSVReader(ByteSource(path: "surf-log.csv"), dialect: .semicolon)
/// var block = RecordBlock()
/// while try reader.next(into: &block, recordsMax: 1000) {
///   for record in block.records {
///     print(record.line, block.fields(of: record).map { block.string(of: $0) })
///   }
/// }
/// ```
///
/// Use a reader from one thread at a time. It may be created on one thread and used on another.
public final class CSVReader {
  /// The form of the file, as the reader was made with.
  public let dialect: CSVDialect
  /// The largest permitted sizes, as the reader was made with.
  public let limits: CSVLimits
  /// Where the bytes come from. Only the reader may read from it.
  public var source: ByteSource { window.source }
  /// The position at which the next record starts.
  public internal(set) var position = ReaderPosition.start
  /// The encoding of the input, once its first bytes have been read.
  public internal(set) var encoding: CSVEncoding?
  /// Whether the input began with a byte order mark, which is not part of the first record.
  public internal(set) var hasByteOrderMark = false
  /// The header, once it has been read.
  public internal(set) var header: CSVHeader?

  /// Hashes every byte of the inflated input up to `position`, including separators and skipped lines, before its
  /// conversion. Set it before the first read; with a start position, or after `skip`, set it to a hash of everything
  /// before that position.
  public var contentHash: ContentHash? {
    get { window.hash }
    set { window.hash = newValue }
  }

  let window: InputWindow
  var rules: ScanRules
  let buffers: ScanBuffers
  let usesFastScanner: Bool
  let footer: FooterPattern?
  var hasBegun = false
  var needsHeader: Bool
  /// Lines before the header that are still to be skipped.
  var rowsToSkip: Int
  /// Whether the footer was reached; no records are read from it.
  var isInFooter = false
  /// The line end of the first record, where others are marked; empty until it is known.
  var usualLineEnd: [UInt8] = []

  /// Creates a reader.
  ///
  /// ```swift
  /// var limits = CSVLimits()
  /// limits.fieldBytesMax = 64 << 10
  /// let reader = try CSVReader(ByteSource(path: "surf-log.csv"), dialect: .semicolon, limits: limits)
  /// ```
  ///
  /// - Parameters:
  ///   - source: the bytes, from their start.
  ///   - dialect: the form of the file.
  ///   - limits: the largest permitted sizes.
  ///   - start: where to continue in an input that was read before (see `skip(to:)`); a header is then not read.
  /// - Throws: `CSVError` with the code `dialect-error` for a contradictory dialect or limits out of range; with
  ///   `start`, as `skip(to:)`.
  public convenience init(
    _ source: ByteSource, dialect: CSVDialect = .csv, limits: CSVLimits = CSVLimits(),
    startingAt start: ReaderPosition? = nil
  ) throws(CSVError) {
    try self.init(source, dialect: dialect, limits: limits, readBytes: Self.readBytes, usesFastScanner: true)
    if let start { try skip(to: start) }
  }

  /// How many bytes are read at a time.
  static let readBytes = 256 << 10

  /// - Parameters:
  ///   - readBytes: how many bytes to read at a time.
  ///   - usesFastScanner: false scans every record with the reference scanner, for comparison.
  convenience init(
    _ source: ByteSource, dialect: CSVDialect, limits: CSVLimits, readBytes: Int, usesFastScanner: Bool
  ) throws(CSVError) {
    try self.init(
      InputWindow(source, readBytes: readBytes), dialect: dialect, limits: limits, usesFastScanner: usesFastScanner)
  }

  /// Reads the rest of a window, whose first bytes may be in memory.
  init(
    _ window: InputWindow, dialect: CSVDialect, limits: CSVLimits, usesFastScanner: Bool
  ) throws(CSVError) {
    try dialect.validate()
    try limits.validate()
    self.dialect = dialect
    self.limits = limits
    rules = ScanRules(dialect, limits)
    buffers = ScanBuffers(fieldsMax: limits.fieldsMax)
    self.window = window
    needsHeader = dialect.hasHeader
    rowsToSkip = dialect.skippedRows
    footer = try dialect.stopAt.map { pattern throws(CSVError) in try FooterPattern(pattern) }
    self.usesFastScanner = usesFastScanner && rules.canScanFast
  }

  /// Reads the next records into `block` and replaces its content.
  ///
  /// Fewer than `recordsMax` records are read at the end, before an error, and when `CSVLimits.blockBytesMax` is
  /// reached. Which records share a block depends only on their bytes, never on how the input arrives. At the end of the
  /// records `position` is the end of the input, footer included.
  ///
  /// ```swift
  /// var block = RecordBlock()
  /// var count = 0
  /// while try reader.next(into: &block, recordsMax: 1000) { count += block.records.count }
  /// ```
  ///
  /// - Parameters:
  ///   - block: receives the records; its memory is used again.
  ///   - recordsMax: the largest number of records to read, at least 1.
  /// - Returns: whether there was a record; at the end false, with an empty block.
  /// - Throws: `CSVError` with the code `source-error`, `compression-error`, or `encoding-error` for an input whose
  ///   encoding must be declared. Every later call throws the same error.
  public func next(into block: inout RecordBlock, recordsMax: Int) throws(CSVError) -> Bool {
    // The caller's mistake.
    precondition(recordsMax > 0, "recordsMax must be at least 1")
    if needsHeader { _ = try readHeader() }
    return try fill(&block, recordsMax: recordsMax)
  }

  /// Advances to the start of a record known from an earlier reading (`RecordBlock.end`) and continues counting from
  /// there. The header may be read before, so that its names are known; it is not read afterwards.
  ///
  /// The input is positioned where it and its encoding allow. An encoding that iconv converts is converted from the
  /// start, because it may depend on what precedes.
  /// - Throws: `CSVError` with the code `source-error` if the position is behind the current one or beyond the end;
  ///   otherwise as `next`.
  public func skip(to target: ReaderPosition) throws(CSVError) {
    needsHeader = false
    if !window.isAtStart(of: target) {
      begin()
      try findUsualLineEnd(before: target)
      try window.skip(to: target)
      rowsToSkip = 0
    }
    position = target
  }
}
