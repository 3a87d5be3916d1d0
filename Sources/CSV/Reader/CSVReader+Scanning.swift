// Passes over the window.
extension CSVReader {
  func fill(_ block: inout RecordBlock, recordsMax: Int) throws(CSVError) -> Bool {
    try readRecords(into: &block, recordsMax: recordsMax, isHeader: false)
  }

  /// - Parameter isHeader: whether the records name the columns, and so belong to no footer.
  func readRecords(into block: inout RecordBlock, recordsMax: Int, isHeader: Bool) throws(CSVError) -> Bool {
    begin()
    if rowsToSkip > 0 { skipRows() }
    repeat {
      block.reset(at: position, FieldSyntax(dialect), encoding)
      while !isInFooter, block.records.count < recordsMax, block.bytes.count < limits.blockBytesMax {
        guard scan(&block, recordsMax: recordsMax, footer: isHeader ? nil : footer) else { break }
      }
      if !isHeader, dialect.droppedLastRows > 0 { dropLastRows(of: &block) }
      // A block in which every line was skipped is not a result.
    } while !isInFooter && block.records.isEmpty && block.bytes.count >= limits.blockBytesMax
    if block.records.isEmpty { passToEnd() }
    position.record = block.start.record + block.records.count
    block.end = position
    if !block.records.isEmpty { return true }
    if let failure = window.failure { throw failure }
    return false
  }

  /// Scans the bytes in the window, or reads more. False when no more records can follow.
  private func scan(_ block: inout RecordBlock, recordsMax: Int, footer: FooterPattern?) -> Bool {
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
      collect(output, keptEnd: output.next, into: &block, footer: footer)
      if isInFooter { return false }
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
    return scanSlowly(&block, input, recordsMax: recordsMax, footer: footer)
  }

  /// The number of unread bytes that suffices to decide any record.
  var sufficientBytes: Int { limits.recordBytesMax + rules.lookaheadBytes }

  private func scanSlowly(
    _ block: inout RecordBlock, _ input: ScanInput, recordsMax: Int, footer: FooterPattern?
  ) -> Bool {
    var output = makeOutput(block, recordsMax: recordsMax)
    switch ReferenceScanner.scan(rules, input, into: &output) {
    case .done: collect(output, keptEnd: output.next, into: &block, footer: footer)
    case .needsMoreBytes:
      if window.isFinal { return false }
      window.refill(unreadMax: sufficientBytes)
    case .skip(let skipper, let keptEnd):
      collect(output, keptEnd: keptEnd, into: &block, footer: footer)
      if !isInFooter { skip(skipper) }
    }
    return true
  }

  /// Skips to where the skipper ends.
  func skip(_ skipper: RecordTailSkipper) {
    var skipper = skipper
    while true {
      window.advance(to: window.next + skipper.take(window.unread()))
      if skipper.isDone || (window.unreadCount == 0 && window.isFinal) { break }
      window.refill(unreadMax: 0)
    }
    position.line += skipper.counter.lines
    position.byteOffset = window.inputOffset
  }

  private func makeOutput(_ block: RecordBlock, recordsMax: Int) -> ScanOutput {
    ScanOutput(
      fields: buffers.fields, fieldCapacity: buffers.fieldCapacity, records: buffers.records,
      recordCapacity: min(buffers.recordCapacity, recordsMax - block.records.count), fieldBase: block.fields.count,
      blockShift: block.bytes.count - window.next, inputShift: window.inputShift, next: window.next,
      line: position.line)
  }

  /// Moves the result of a pass into the block: the slices, and the bytes up to `keptEnd`. A record that begins the
  /// footer is left in the window.
  private func collect(
    _ output: ScanOutput, keptEnd: Int, into block: inout RecordBlock, footer: FooterPattern?
  ) {
    let first = block.records.count
    block.bytes.append(contentsOf: window.bytes(window.next..<keptEnd))
    block.fields.append(contentsOf: UnsafeBufferPointer(start: output.fields, count: output.fieldCount))
    block.records.append(contentsOf: UnsafeBufferPointer(start: output.records, count: output.recordCount))
    var (next, line) = (output.next, output.line)
    if let footer, let index = footer.start(in: block, from: first) {
      isInFooter = true
      next = block.records[index].range.lowerBound - output.blockShift
      line = block.records[index].line
      block.removeRecords(from: index)
    }
    if marksLineEnds { markLineEnds(from: first, of: &block) }
    if window.isConverted { setInputOffsets(from: first, of: &block, blockShift: output.blockShift) }
    window.advance(to: next)
    position.line = line
    position.byteOffset = window.inputOffset
  }

  /// Gives the records their positions in the input, which are not those in the converted text.
  private func setInputOffsets(from first: Int, of block: inout RecordBlock, blockShift: Int) {
    for index in first..<block.records.count {
      window.advanceConverted(to: block.records[index].range.lowerBound - blockShift)
      block.records[index].byteOffset = window.inputOffset
    }
  }
}
