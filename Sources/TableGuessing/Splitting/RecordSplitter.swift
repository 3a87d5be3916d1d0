/// Splits decoded text into records and fields by a candidate dialect. It always finds a reading; what a strict reader
/// would refuse is marked broken.
package struct RecordSplitter {
  /// A quoted field with more line ends than this is taken for a quote that is never closed.
  static let quotedLinesMax = 200

  let dialect: CandidateDialect
  private let bytes: [UInt8]
  private var at = 0
  private var line = 1

  package init(_ bytes: [UInt8], _ dialect: CandidateDialect) {
    self.bytes = bytes
    self.dialect = dialect
  }

  /// All records of `bytes`, at most `limit`.
  package static func records(
    of bytes: [UInt8], _ dialect: CandidateDialect, limit: Int = .max
  ) -> [SplitRecord] {
    var splitter = RecordSplitter(bytes, dialect)
    var records: [SplitRecord] = []
    while records.count < limit, let record = splitter.next() { records.append(record) }
    return records
  }

  /// The next record; nil at the end.
  package mutating func next() -> SplitRecord? {
    guard at < bytes.count else { return nil }
    var record = SplitRecord(cells: [], line: line, start: at)
    while true {
      record.cells.append(field())
      if isDelimiter(at) {
        at += dialect.delimiter.count
        continue
      }
      endLine()
      return record
    }
  }

  private func isDelimiter(_ index: Int) -> Bool {
    guard let first = dialect.delimiter.first, index < bytes.count, bytes[index] == first else { return false }
    return dialect.delimiter.count == 1 || bytes.has(dialect.delimiter, at: index)
  }

  private func isLineEnd(_ index: Int) -> Bool {
    if index >= bytes.count { return true }
    return switch dialect.end {
    case .any: bytes[index] == 10 || bytes[index] == 13
    case .only(let end): bytes.has(end, at: index)
    }
  }

  private mutating func endLine() {
    guard at < bytes.count else { return }
    if case .only(let end) = dialect.end {
      at += end.count
    } else {
      at += bytes[at] == 13 && at + 1 < bytes.count && bytes[at + 1] == 10 ? 2 : 1
    }
    line += 1
  }

  private mutating func field() -> SplitCell {
    let isSpaced = at < bytes.count && bytes[at] == 32
    if let quote = dialect.quote {
      // Blanks before a quote are not text, unless they are the delimiter.
      var start = at
      while start < bytes.count, bytes[start] == 32, !isDelimiter(start) { start += 1 }
      if start < bytes.count, bytes[start] == quote, var cell = quoted(from: start + 1, quote) {
        cell.isSpaced = isSpaced
        return cell
      }
    }
    let content = plain()
    let opens = dialect.quote.map { content.trimmed.first == $0 } ?? false
    return SplitCell(content, isBroken: opens, isSpaced: isSpaced)
  }

  /// The quoted field whose text begins at `start`; nil if its quote is never closed.
  private mutating func quoted(from start: Int, _ quote: UInt8) -> SplitCell? {
    var content: [UInt8] = []
    var index = start
    var lines = 0
    while index < bytes.count {
      let byte = bytes[index]
      if byte == dialect.escape, index + 1 < bytes.count {
        content.append(bytes[index + 1])
        index += 2
      } else if byte == quote {
        if index + 1 < bytes.count, bytes[index + 1] == quote {
          content.append(quote)
          index += 2
          continue
        }
        line += lines
        at = index + 1
        return closed(content)
      } else {
        if byte == 10 || byte == 13 && !(index + 1 < bytes.count && bytes[index + 1] == 10) { lines += 1 }
        if lines > Self.quotedLinesMax { return nil }
        content.append(byte)
        index += 1
      }
    }
    return nil
  }

  /// The field after its closing quote: only blanks may follow.
  private mutating func closed(_ content: [UInt8]) -> SplitCell {
    while at < bytes.count, bytes[at] == 32, !isDelimiter(at) { at += 1 }
    if isLineEnd(at) || isDelimiter(at) { return SplitCell(content, isQuoted: true) }
    return SplitCell(content + plain(), isQuoted: true, isBroken: true)
  }

  /// The text up to the next delimiter or line end.
  private mutating func plain() -> [UInt8] {
    let start = at
    guard let escape = dialect.escape else {
      while !isLineEnd(at), !isDelimiter(at) { at += 1 }
      return Array(bytes[start..<at])
    }
    var content: [UInt8] = []
    while at < bytes.count, bytes[at] == escape || !isLineEnd(at) && !isDelimiter(at) {
      if bytes[at] == escape, at + 1 < bytes.count { at += 1 }
      content.append(bytes[at])
      at += 1
    }
    return content
  }
}
