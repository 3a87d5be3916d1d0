import CSV

/// Reads CSV slowly: the whole text is in memory, and every question looks at the bytes again. It shares nothing with
/// the scanners that it is compared with. It knows no limits.
struct PlainReader {
  struct Field: Equatable {
    var value: [UInt8]
    var isQuoted: Bool
    /// Whether nothing is written, not even quotes.
    var isBare: Bool
  }

  struct Record: Equatable {
    var fields: [Field] = []
    var problems: RecordProblems = []
    var range: Range<Int>
    /// Empty at the end of a text that ends without one.
    var lineEnd: [UInt8] = []
    var line = 1
    var linesInDoubt = 0
  }

  let text: [UInt8]
  let dialect: CSVDialect

  /// The records, footer and last rows left out.
  func records() -> [Record] {
    var (at, line) = (0, 1)
    var found: [Record] = []
    var usualLineEnd: [UInt8]?
    func pass(to end: Int) { (line, at) = (line + lines(in: at..<end), end) }
    for _ in 0..<dialect.skippedRows { pass(to: endOfLine(at)) }
    while at < text.count {
      if let comment = dialect.comment, has(comment, at: at) {
        pass(to: endOfLine(at))
        continue
      }
      var reading = PlainRecordReading(self, start: at)
      var record = reading.read()
      record.line = line
      if let stop = dialect.stopAt, let first = record.fields.first, first.value.starts(with: stop.utf8) { break }
      pass(to: record.range.upperBound)
      if dialect.skipsBlankLines, record.problems.contains(.blank) { continue }
      if dialect.mode == .lenient, dialect.lineTerminator == nil, !record.lineEnd.isEmpty {
        if let usualLineEnd, record.lineEnd != usualLineEnd { record.problems.insert(.repairedLineEnd) }
        usualLineEnd = usualLineEnd ?? record.lineEnd
      }
      found.append(record)
    }
    found.removeLast(min(dialect.droppedLastRows, found.count))
    return found
  }

  /// The length of the line end at an offset; nil if there is none.
  func lineEnd(_ at: Int) -> Int? {
    if let own = dialect.lineTerminator { return has(own, at: at) ? own.count : nil }
    if has([13, 10], at: at) { return 2 }
    return has([10], at: at) || has([13], at: at) ? 1 : nil
  }

  func has(_ token: [UInt8], at: Int) -> Bool { at < text.count && text[at...].starts(with: token) }

  func firstLineEnd(in range: Range<Int>) -> Int? { range.first { lineEnd($0) != nil } }

  private func endOfLine(_ start: Int) -> Int {
    firstLineEnd(in: start..<text.count).map { $0 + (lineEnd($0) ?? 0) } ?? text.count
  }

  /// The physical lines that end in a range. CR LF is two line ends where each record ends with CR.
  func lines(in range: Range<Int>) -> Int {
    let joinsCRLF = dialect.lineTerminator?.last != 13
    return range.count {
      text[$0] == 10 || (text[$0] == 13 && !(joinsCRLF && $0 + 1 < range.upperBound && text[$0 + 1] == 10))
    }
  }
}
