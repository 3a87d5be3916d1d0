import CSV

/// The reading of one record by `PlainReader`.
struct PlainRecordReading {
  private let reader: PlainReader
  private var record: PlainReader.Record
  private let start: Int
  private var at: Int
  /// Whether a quote within quotes was repaired.
  private var hasRepairedQuotes = false

  private var text: [UInt8] { reader.text }
  private var dialect: CSVDialect { reader.dialect }

  init(_ reader: PlainReader, start: Int) {
    self.reader = reader
    self.start = start
    at = start
    record = PlainReader.Record(range: start..<start)
  }

  mutating func read() -> PlainReader.Record {
    if reader.lineEnd(at) != nil {
      record.problems.insert(.blank)
    } else {
      readField()
      while reader.has(dialect.delimiter, at: at), reader.lineEnd(at) == nil {
        at += dialect.delimiter.count
        readField()
      }
    }
    let content = text[start..<at]
    if !dialect.keepsNulBytes, content.contains(0) { record.problems.insert(.nulByte) }
    if String(validating: content, as: UTF8.self) == nil { record.problems.insert(.invalidUTF8) }
    if let columns = dialect.columns, dialect.toleratesTrailingDelimiter, record.fields.count == columns.count + 1,
      record.fields.last?.isBare == true
    {
      record.fields.removeLast()
    }
    record.range = start..<at + (reader.lineEnd(at) ?? 0)
    record.lineEnd = Array(text[at..<record.range.upperBound])
    return record
  }

  /// Reads from `at` to the delimiter, the line end or the end of the text.
  private mutating func readField() {
    if dialect.skipsInitialSpace {
      while at < text.count, text[at] == 32, !endsField(at) { at += 1 }
    }
    if at < text.count, text[at] == dialect.quote, !endsField(at) { return readQuoted() }
    let first = at
    readText(isQuoted: false)
    addField(first..<at, isQuoted: false, isClosed: false)
  }

  private mutating func readText(isQuoted: Bool) {
    while !endsField(at) {
      if text[at] == dialect.escape {
        at = min(at + 2, text.count)
        continue
      }
      if text[at] == dialect.quote {
        let isRepaired = dialect.mode == .lenient && !isQuoted && !hasRepairedQuotes
        record.problems.insert(isRepaired ? .repairedStrayQuote : .strayQuote)
      }
      at += 1
    }
  }

  private mutating func readQuoted() {
    at += 1
    let first = at
    while at < text.count {
      if text[at] == dialect.escape {
        at = min(at + 2, text.count)
      } else if text[at] != dialect.quote {
        at += 1
      } else if isDoubled(at) {
        at += 2
      } else if endsField(at + 1) {
        addField(first..<at, isQuoted: true, isClosed: true)
        at += 1
        return
      } else if reader.firstLineEnd(in: first..<at) != nil {
        return endOpen(first)
      } else if let spacesEnd = repairableSpaces {
        record.problems.insert(.repairedStrayQuote)
        addField(first..<at, isQuoted: true, isClosed: true)
        at = spacesEnd
        return
      } else if dialect.mode == .lenient, isClosedInLine(at + 1) {
        record.problems.insert(.repairedStrayQuote)
        hasRepairedQuotes = true
        at += 1
      } else {
        record.problems.insert(.strayQuote)
        at += 1
        readText(isQuoted: true)
        return addField(first..<at, isQuoted: true, isClosed: false)
      }
    }
    endOpen(first)
  }

  /// The end of the spaces after the quote at `at`, if a lenient dialect closes the field before them.
  private var repairableSpaces: Int? {
    guard dialect.mode == .lenient else { return nil }
    var end = at + 1
    while end < text.count, text[end] == 32 { end += 1 }
    return end > at + 1 && endsField(end) ? end : nil
  }

  /// Whether a later quote of the line closes the field, before a delimiter and a quote that would open another one.
  private func isClosedInLine(_ first: Int) -> Bool {
    var index = first
    while index < text.count, reader.lineEnd(index) == nil {
      if text[index] == dialect.escape || (text[index] == dialect.quote && isDoubled(index)) {
        index += 2
      } else if text[index] == dialect.quote, endsField(index + 1) {
        return true
      } else if reader.has(dialect.delimiter, at: index) {
        index += dialect.delimiter.count
        if index >= text.count || text[index] == dialect.quote { return false }
      } else {
        index += 1
      }
    }
    return false
  }

  private func isDoubled(_ index: Int) -> Bool {
    dialect.doublesQuotes && index + 1 < text.count && text[index + 1] == dialect.quote
  }

  private func endsField(_ index: Int) -> Bool {
    index >= text.count || reader.has(dialect.delimiter, at: index) || reader.lineEnd(index) != nil
  }

  /// Ends the record with the line in which a quote is open; `at` is where that became clear.
  private mutating func endOpen(_ first: Int) {
    let decided = at
    at = reader.firstLineEnd(in: first..<text.count) ?? text.count
    let end = at + (reader.lineEnd(at) ?? 0)
    let isRepaired = dialect.mode == .lenient && end == text.count && decided == text.count
    record.problems.insert(isRepaired ? .repairedOpenQuote : .unterminatedQuote)
    if decided > end {
      let endsLine = text[decided - 1] == 10 || text[decided - 1] == 13
      record.linesInDoubt = reader.lines(in: end..<decided) + (endsLine ? 0 : 1)
    }
    addField(first..<at, isQuoted: true, isClosed: false)
  }

  /// Without escapes, and with two quotes as one. A single quote ends the quoting of a field that nothing closes.
  private mutating func addField(_ range: Range<Int>, isQuoted: Bool, isClosed: Bool) {
    var value: [UInt8] = []
    var index = range.lowerBound
    var isWithinQuotes = isQuoted
    while index < range.upperBound {
      if text[index] == dialect.escape, index + 1 < range.upperBound {
        value.append(text[index + 1])
        index += 2
        continue
      }
      let isQuote = isWithinQuotes && text[index] == dialect.quote
      if isQuote, isDoubled(index), index + 1 < range.upperBound {
        value.append(text[index])
        index += 2
        continue
      }
      if isQuote, !isClosed { isWithinQuotes = false } else { value.append(text[index]) }
      index += 1
    }
    record.fields.append(.init(value: value, isQuoted: isQuoted, isBare: !isQuoted && range.isEmpty))
  }
}
