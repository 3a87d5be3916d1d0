/// Reads CSV (RFC 4180 and its variants) from a `ByteSource`, block by block.
///
/// Records end with LF, CRLF or CR, also mixed; the last record needs no line end. Any input has a parse:
/// irregularities are recorded in `RecordSlice.problems`, and the caller decides what to do. Errors that prevent
/// reading on (a truncated gzip file, a failing disk) are thrown after every whole record before them was returned.
/// The incomplete record before the error is dropped.
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
  public private(set) var position = ReaderPosition.start
  /// Whether the input began with a UTF-8 byte order mark, which is not part of the first record.
  public private(set) var hasByteOrderMark = false
  /// The header, once it has been read.
  public private(set) var header: CSVHeader?

  /// Hashes every byte that was read up to `position`, including separators and skipped lines. Set it before the
  /// first read; with a start position, or after `skip`, set it to a hash of everything before that position.
  public var contentHash: ContentHash? {
    get { window.hash }
    set { window.hash = newValue }
  }

  let window: InputWindow
  private var rules: ScanRules
  private let buffers: ScanBuffers
  private let usesFastScanner: Bool
  private var hasBegun = false
  private var needsHeader: Bool

  /// Creates a reader.
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
    try self.init(source, dialect: dialect, limits: limits, readBytes: 256 << 10, usesFastScanner: true)
    if let start { try skip(to: start) }
  }

  /// - Parameters:
  ///   - readBytes: how many bytes to read at a time.
  ///   - usesFastScanner: false scans every record with the reference scanner, for comparison.
  init(
    _ source: ByteSource, dialect: CSVDialect, limits: CSVLimits, readBytes: Int, usesFastScanner: Bool
  ) throws(CSVError) {
    try dialect.validate()
    try limits.validate()
    self.dialect = dialect
    self.limits = limits
    rules = ScanRules(dialect, limits)
    buffers = ScanBuffers(fieldsMax: limits.fieldsMax)
    window = InputWindow(source, readBytes: readBytes)
    needsHeader = dialect.hasHeader
    // A comment may contain quotes, so it must be recognised before its bytes are interpreted.
    self.usesFastScanner = usesFastScanner && dialect.comment == nil
  }

  /// Reads the first record as the names of the columns.
  ///
  /// `next` does this itself if the dialect has a header; call this function first to see the names. A second call
  /// returns the same header.
  ///
  /// ```swift
  /// let reader = try CSVReader(ByteSource(path: "surf-log.csv"))
  /// let names = try reader.readHeader()?.names ?? []
  /// ```
  ///
  /// - Returns: the header, or nil if the input contains no record.
  /// - Throws: as `next`.
  public func readHeader() throws(CSVError) -> CSVHeader? {
    if header != nil { return header }
    precondition(position.record == 1, "the header is read before the records")
    needsHeader = false
    var block = RecordBlock()
    guard try fill(&block, recordsMax: 1) else { return nil }
    let record = block.records[0]
    var names = block.fields(of: record).map { block.string(of: $0) }
    if dialect.toleratesTrailingDelimiter, names.count > 1, names.last == "" { names.removeLast() }
    rules.columnCount = names.count
    position = ReaderPosition(record: 1, line: position.line, byteOffset: position.byteOffset)
    header = CSVHeader(
      names: names, line: record.line, byteOffset: record.byteOffset, bytes: Array(block.originalBytes(of: record)),
      problems: record.problems)
    return header
  }

  /// Reads the next records into `block` and replaces its content.
  ///
  /// Fewer than `recordsMax` records are read at the end, before an error, and when `CSVLimits.blockBytesMax` is
  /// reached. Which records share a block depends only on their bytes, never on how the input arrives.
  /// - Parameters:
  ///   - block: receives the records; its memory is used again.
  ///   - recordsMax: the largest number of records to read, at least 1.
  /// - Returns: whether there was a record; at the end false, with an empty block.
  /// - Throws: `CSVError` with the code `source-error`, `compression-error`, or `encoding-error` for an input in
  ///   UTF-16. Every later call throws the same error.
  public func next(into block: inout RecordBlock, recordsMax: Int) throws(CSVError) -> Bool {
    precondition(recordsMax > 0, "recordsMax must be at least 1")
    if needsHeader { _ = try readHeader() }
    return try fill(&block, recordsMax: recordsMax)
  }

  /// Advances to the start of a record known from an earlier reading (`RecordBlock.end`) and continues counting from
  /// there. The header may be read before, so that its names are known; it is not read afterwards.
  /// - Throws: `CSVError` with the code `source-error` if the position is behind the current one or beyond the end;
  ///   otherwise as `next`.
  public func skip(to target: ReaderPosition) throws(CSVError) {
    guard target.byteOffset >= window.inputOffset else {
      throw CSVError(
        .source, "cannot go back to byte \(target.byteOffset); open the input again", path: source.name,
        byte: window.inputOffset)
    }
    try window.skip(toInputOffset: target.byteOffset)
    position = target
    needsHeader = false
    hasBegun = hasBegun || target.byteOffset > 0
  }

  private func fill(_ block: inout RecordBlock, recordsMax: Int) throws(CSVError) -> Bool {
    if !hasBegun { begin() }
    repeat {
      block.reset(at: position)
      while block.records.count < recordsMax, block.bytes.count < limits.blockBytesMax {
        guard scan(&block, recordsMax: recordsMax) else { break }
      }
      // A block in which every line was skipped is not a result.
    } while block.records.isEmpty && block.bytes.count >= limits.blockBytesMax
    position.record = block.start.record + block.records.count
    block.end = position
    if !block.records.isEmpty { return true }
    if let failure = window.failure { throw failure }
    return false
  }

  /// Detects a byte order mark.
  private func begin() {
    hasBegun = true
    while window.unreadCount < 4 && !window.isFinal { window.refill(unreadMax: 4) }
    let front = window.unread()
    if front.starts(with: ASCII.byteOrderMark) {
      hasByteOrderMark = true
      window.advance(to: window.next + ASCII.byteOrderMark.count)
      position.byteOffset = window.inputOffset
    } else if front.count >= 4, isUTF16(front) {
      window.fail(
        CSVError(
          .encoding, "the text is UTF-16, not UTF-8; convert it, for example with iconv -f UTF-16 -t UTF-8",
          path: source.name, byte: 0))
    }
  }

  /// A UTF-16 byte order mark alone could be two stray bytes; followed by half of an ASCII character it is certain.
  private func isUTF16(_ front: UnsafeBufferPointer<UInt8>) -> Bool {
    (front.starts(with: [0xFF, 0xFE]) && front[3] == 0) || (front.starts(with: [0xFE, 0xFF]) && front[2] == 0)
  }
}

// MARK: - Passes over the window

extension CSVReader {
  /// Scans the bytes in the window, or reads more. False when no more records can follow.
  private func scan(_ block: inout RecordBlock, recordsMax: Int) -> Bool {
    guard window.failure?.code != .encoding else { return false }
    if window.unreadCount == 0 {
      if window.isFinal { return false }
      window.refill(unreadMax: 0)
      return true
    }
    let input = window.scanInput
    if usesFastScanner {
      var output = makeOutput(block, recordsMax: recordsMax)
      let scanner = FastScanner(
        rules: rules, input: input, bytesMax: limits.blockBytesMax - block.bytes.count)
      let stop = scanner.scan(into: &output)
      collect(output, keptEnd: output.next, &block)
      switch stop {
      case .full: return true
      case .needsSlowPath: break
      case .incomplete:
        if !window.isFinal && window.unreadCount < sufficientBytes {
          window.refill(unreadMax: sufficientBytes)
          return true
        }
        if window.unreadCount == 0 { return false }
      }
    }
    return scanSlowly(&block, input, recordsMax: recordsMax)
  }

  /// The number of unread bytes that suffices to decide any record.
  private var sufficientBytes: Int { limits.recordBytesMax + 2 }

  private func scanSlowly(_ block: inout RecordBlock, _ input: ScanInput, recordsMax: Int) -> Bool {
    var output = makeOutput(block, recordsMax: recordsMax)
    switch ReferenceScanner.scan(rules, input, into: &output) {
    case .done: collect(output, keptEnd: output.next, &block)
    case .needsMoreBytes:
      if window.isFinal { return false }
      window.refill(unreadMax: sufficientBytes)
    case .skip(var skipper, let keptEnd):
      collect(output, keptEnd: keptEnd, &block)
      while true {
        window.advance(to: window.next + skipper.take(window.unread()))
        if skipper.isDone || (window.unreadCount == 0 && window.isFinal) { break }
        window.refill(unreadMax: 0)
      }
      position.line += skipper.counter.lines
      position.byteOffset = window.inputOffset
    }
    return true
  }

  private func makeOutput(_ block: RecordBlock, recordsMax: Int) -> ScanOutput {
    ScanOutput(
      fields: buffers.fields, fieldCapacity: buffers.fieldCapacity, records: buffers.records,
      recordCapacity: min(buffers.recordCapacity, recordsMax - block.records.count), fieldBase: block.fields.count,
      blockShift: block.bytes.count - window.next, inputShift: window.inputShift, next: window.next,
      line: position.line)
  }

  /// Moves the result of a pass into the block: the slices, and the bytes up to `keptEnd`.
  private func collect(_ output: ScanOutput, keptEnd: Int, _ block: inout RecordBlock) {
    block.bytes.append(contentsOf: window.bytes(window.next..<keptEnd))
    block.fields.append(contentsOf: UnsafeBufferPointer(start: output.fields, count: output.fieldCount))
    block.records.append(contentsOf: UnsafeBufferPointer(start: output.records, count: output.recordCount))
    window.advance(to: output.next)
    position.line = output.line
    position.byteOffset = window.inputOffset
  }
}
