extension CSVReader {
  /// Reads the first records, `CSVDialect.headerRows` of them, as the names of the columns.
  ///
  /// `next` does this itself if the dialect has a header; call this function first to see the names. Without header
  /// rows in the dialect, the first record is read.
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
    // The caller's mistake: of the order of its calls.
    precondition(position.record == 1, "the header is read before the records")
    needsHeader = false
    var block = RecordBlock()
    var rows = HeaderRows()
    while rows.count < max(1, dialect.headerRows), try readRecords(into: &block, recordsMax: 1, isHeader: true) {
      rows.append(block)
    }
    if rows.count == 0 { return nil }
    header = rows.header(dropsTrailing: dialect.toleratesTrailingDelimiter, end: position)
    rules.columnCount = header?.names.count ?? 0
    position.record = 1
    return header
  }

  /// Detects the encoding, and skips what precedes the header.
  func begin() {
    guard !hasBegun else { return }
    hasBegun = true
    while window.unreadCount < EncodingDetection.frontBytes && !window.isFinal {
      window.refill(unreadMax: EncodingDetection.frontBytes)
    }
    do throws(CSVError) {
      let found = try EncodingDetection(window.unread(), declared: dialect.encoding, path: source.name)
      encoding = found.encoding
      hasByteOrderMark = found.markBytes > 0
      window.advance(to: window.next + found.markBytes)
      if found.encoding.form != .utf8 {
        let lineEnds = dialect.lineTerminator.map { Array($0.suffix(1)) } ?? [ASCII.lf, ASCII.cr]
        try window.decode(found.encoding, lineEnds: lineEnds)
      }
    } catch {
      window.fail(error)
    }
    position.byteOffset = window.inputOffset
  }

  func skipRows() {
    while rowsToSkip > 0, window.failure?.code != .encoding, window.unreadCount > 0 || !window.isFinal {
      rowsToSkip -= 1
      skip(RecordTailSkipper(.line, rules))
    }
    rowsToSkip = 0
  }
}

/// The records that name the columns.
private struct HeaderRows {
  private(set) var count = 0
  private var names: [String] = []
  /// The last text of each column, and whether any is quoted.
  private var last: [String] = []
  private var isQuoted: [Bool] = []
  private var first: RecordSlice?
  private var bytes: [UInt8] = []
  private var problems: RecordProblems = []
  private var linesInDoubt = 0

  /// Adds the block's only record.
  mutating func append(_ block: RecordBlock) {
    let record = block.records[0]
    for (column, field) in block.fields(of: record).enumerated() {
      let text = block.string(of: field)
      if column == names.count {
        names.append(text)
        last.append(text)
        isQuoted.append(field.isQuoted)
        continue
      }
      isQuoted[column] = isQuoted[column] || field.isQuoted
      if text.isEmpty || text == last[column] { continue }
      names[column] += names[column].isEmpty ? text : " " + text
      last[column] = text
    }
    first = first ?? record
    bytes += block.originalBytes(of: record)
    problems.formUnion(record.problems)
    linesInDoubt += record.linesInDoubt
    count += 1
  }

  func header(dropsTrailing: Bool, end: ReaderPosition) -> CSVHeader? {
    guard let first else { return nil }
    var names = names
    if dropsTrailing, names.count > 1, names.last == "", isQuoted.last == false { names.removeLast() }
    return CSVHeader(
      names: names, line: first.line, byteOffset: first.byteOffset, bytes: bytes, problems: problems,
      lineCount: end.line - first.line, linesInDoubt: linesInDoubt)
  }
}
