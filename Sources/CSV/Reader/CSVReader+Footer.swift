// The end of the records, where it is not the end of the input.
extension CSVReader {
  /// Drops the records of the block that are among the last ones, for which it looks ahead.
  ///
  /// The position remains behind the dropped records: a reader that continues there finds as few records before the
  /// end, and drops those too.
  func dropLastRows(of block: inout RecordBlock) {
    if block.records.isEmpty || window.failure != nil { return }
    let missing = dialect.droppedLastRows - recordsAhead(dialect.droppedLastRows)
    // An input that ends with an error has no known last records.
    guard missing > 0, window.failure == nil else { return }
    block.records.removeLast(min(missing, block.records.count))
    isInFooter = true
  }

  /// Number of records that follow, up to `countMax`, without passing them.
  private func recordsAhead(_ countMax: Int) -> Int {
    if isInFooter { return 0 }
    var ahead = RecordBlock()
    ahead.reset(at: position, FieldSyntax(dialect), encoding)
    // Offset from the window's first unread byte.
    var passed = 0
    while ahead.records.count < countMax {
      let start = window.next + passed
      if start >= window.end {
        if window.isFinal { break }
        window.refill(unreadMax: passed + sufficientBytes)
        continue
      }
      var output = ScanOutput(
        fields: buffers.fields, fieldCapacity: buffers.fieldCapacity, records: buffers.records, recordCapacity: 1,
        fieldBase: ahead.fields.count, blockShift: ahead.bytes.count - start, inputShift: 0, next: start, line: 1)
      let stop = ReferenceScanner.scan(rules, window.scanInput, into: &output)
      if case .needsMoreBytes = stop {
        if window.isFinal { break }
        window.refill(unreadMax: passed + sufficientBytes)
        continue
      }
      let first = ahead.records.count
      var keptEnd = output.next
      if case .skip(_, let end) = stop { keptEnd = end }
      ahead.bytes.append(contentsOf: window.bytes(start..<keptEnd))
      ahead.fields.append(contentsOf: UnsafeBufferPointer(start: output.fields, count: output.fieldCount))
      ahead.records.append(contentsOf: UnsafeBufferPointer(start: output.records, count: output.recordCount))
      if let footer, let index = footer.start(in: ahead, from: first) { return index }
      passed = output.next - window.next
      if case .skip(let skipper, _) = stop { passed = offsetAfter(skipper, from: passed) }
    }
    return ahead.records.count
  }

  /// Offset from the window's first unread byte at which the skipper ends.
  private func offsetAfter(_ skipper: RecordTailSkipper, from passed: Int) -> Int {
    var (skipper, passed) = (skipper, passed)
    while true {
      passed += skipper.take(window.bytes(window.next + passed..<window.end))
      if skipper.isDone || window.isFinal { return passed }
      window.refill(unreadMax: .max)
    }
  }

  /// Skips the footer, or what follows the last record and is not text.
  func passToEnd() {
    while isInFooter, window.failure?.code != .encoding {
      var counter = LineCounter(joinsCRLF: dialect.joinsCRLF)
      while window.unreadCount > 0 || !window.isFinal {
        counter.take(window.unread())
        window.advance(to: window.end)
        window.refill(unreadMax: 0)
      }
      position.line += counter.lines
      isInFooter = false
    }
    window.advanceToEnd()
    position.byteOffset = window.inputOffset
  }
}
