/// Reads CSV (RFC 4180, and whatever else comes) from a `ByteSource`, block by block.
///
/// Records end with LF, CRLF or CR, mixed if need be; the last needs no line end. Any input has a parse: oddities
/// are noted in `RecordSlice.problems` and the caller decides. What cannot go on (a cut gzip file, a failing
/// disk) is thrown, after every whole record before it was handed out; the piece of a record before the fault is
/// not.
///
/// One thread at a time; a reader may be made on one thread and used up on another.
public final class CSVReader {
  public let dialect: CSVDialect
  public let limits: CSVLimits
  public var source: ByteSource { window.source }
  /// Where the next record starts.
  public private(set) var position = ReaderPosition.start
  /// Whether the input began with a UTF-8 byte order mark, which is not part of the first record.
  public private(set) var hasByteOrderMark = false
  /// The header, once it was read.
  public private(set) var header: CSVHeader?

  /// Hashes every byte that was read, up to `position`: what separates records, and what was passed over, included.
  /// Set it before anything is read; with a start or after `skip`, to a hash of all that lies before.
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

  /// - Parameters:
  ///   - source: the bytes, from their front.
  ///   - dialect: how records and fields are parted.
  ///   - limits: how large they may grow.
  ///   - start: where to go on in an input read before (see `skip(to:)`); a header is not looked for then.
  /// - Throws: `dialect-error` for a dialect or limits that cannot be; with `start`, as `skip(to:)`.
  public convenience init(
    _ source: ByteSource, dialect: CSVDialect = .csv, limits: CSVLimits = CSVLimits(),
    startingAt start: ReaderPosition? = nil
  ) throws(CSVError) {
    try self.init(source, dialect: dialect, limits: limits, readBytes: 256 << 10, usesFastScanner: true)
    if let start { try skip(to: start) }
  }

  /// - Parameters:
  ///   - readBytes: how much to read at a time.
  ///   - usesFastScanner: false takes every record the careful way, for comparison.
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
    // A comment may hold quotes, so it must be recognised before anything is made of its bytes.
    self.usesFastScanner = usesFastScanner && dialect.comment == nil
  }

  /// Reads the first record as the names of the columns. `next` does it by itself where the dialect has a header;
  /// call it before to see the names. Nil if the input holds no record.
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

  /// Puts the next records into `block`, whose earlier content goes. Fewer than `recordsMax` come at the end, before
  /// a fault, and when `CSVLimits.blockBytesMax` is reached; which records share a block depends on their bytes
  /// alone, never on how the input arrives. False, with an empty block, at the end.
  /// - Throws: `source-error`, `compression-error`, or `encoding-error` for an input in UTF-16. Every later call
  ///   throws the same.
  public func next(into block: inout RecordBlock, recordsMax: Int) throws(CSVError) -> Bool {
    precondition(recordsMax > 0, "recordsMax must be at least 1")
    if needsHeader { _ = try readHeader() }
    return try fill(&block, recordsMax: recordsMax)
  }

  /// Goes ahead to the start of a record known from an earlier reading (`RecordBlock.end`), counting on from there.
  /// A header may be read before, so that its names are known; it is not looked for afterwards.
  /// - Throws: `source-error` if the position lies behind or beyond the end; else as `next`.
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
      // A block full of skipped blank lines is no answer.
    } while block.records.isEmpty && block.bytes.count >= limits.blockBytesMax
    position.record = block.start.record + block.records.count
    block.end = position
    if !block.records.isEmpty { return true }
    if let failure = window.failure { throw failure }
    return false
  }

  /// Looks for a byte order mark.
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

  /// A UTF-16 byte order mark alone could be stray bytes; with half of an ASCII character after it, it is none.
  private func isUTF16(_ front: UnsafeBufferPointer<UInt8>) -> Bool {
    (front.starts(with: [0xFF, 0xFE]) && front[3] == 0) || (front.starts(with: [0xFE, 0xFF]) && front[2] == 0)
  }
}

// MARK: - Passes over the window

extension CSVReader {
  /// Scans what is in the window, or reads on. False when nothing more can come of it.
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

  /// So many unread bytes settle any record.
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

  /// Moves what a pass found into the block: the slices, and the bytes up to `keptEnd`.
  private func collect(_ output: ScanOutput, keptEnd: Int, _ block: inout RecordBlock) {
    block.bytes.append(contentsOf: window.bytes(window.next..<keptEnd))
    block.fields.append(contentsOf: UnsafeBufferPointer(start: output.fields, count: output.fieldCount))
    block.records.append(contentsOf: UnsafeBufferPointer(start: output.records, count: output.recordCount))
    window.advance(to: output.next)
    position.line = output.line
    position.byteOffset = window.inputOffset
  }
}
