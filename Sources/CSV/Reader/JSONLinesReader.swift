/// Reads JSON Lines from a `ByteSource`, block by block, into the same blocks as `CSVReader`.
///
/// Each line that is not blank is one JSON object (RFC 8259) in UTF-8 and one record. Its fields are the members that
/// the selection names, always in the selection's order: the content of a string, or a number or Boolean as written. A
/// member that is null or missing is an empty field without quotes (`RecordBlock.lacksMember` distinguishes them).
/// Lines end with LF or CRLF; the last one needs no line end. What is wrong with a record is in its `problems` and in
/// the block's `memberFaults`.
///
/// Use a reader from one thread at a time.
package final class JSONLinesReader: RecordReader {
  /// The records that name the columns are the first ones, at most this many, which begin in the first so many bytes.
  package static let surveyedRecordsMax = 1000
  private static let surveyedBytesMax = 1 << 20

  package private(set) var position = ReaderPosition.start
  package var contentHash: ContentHash? {
    get { window.hash }
    set { window.hash = newValue }
  }

  private let window: InputWindow
  private let limits: CSVLimits
  private var scanner: JSONRecordScanner
  private var hasBegun = false

  init(_ window: InputWindow, _ selection: MemberSelection, limits: CSVLimits) throws(CSVError) {
    try limits.validate()
    self.window = window
    self.limits = limits
    scanner = JSONRecordScanner(selection, fieldBytesMax: limits.fieldBytesMax)
  }

  /// The members of the first records, which remain to be read. Call it once, before any record is read.
  /// - Throws: as `next(into:recordsMax:)`, if nothing can be read.
  package func readSurvey() throws(CSVError) -> MemberSurvey {
    begin()
    scanner.survey = MemberSurvey()
    var offset = 0
    var text: [UInt8] = []
    var lines = 0
    while lines < Self.surveyedRecordsMax, offset < Self.surveyedBytesMax,
      case .whole(let content, let total) = line(at: offset)
    {
      let range = window.next + offset..<window.next + offset + content
      text.removeAll(keepingCapacity: true)
      text.append(contentsOf: window.bytes(range))
      offset += total
      if isBlank(range) { continue }
      lines += 1
      if isUTF8(range) { _ = scanner.scan(text.span, 0..<text.count) }
    }
    let survey = scanner.survey ?? MemberSurvey()
    scanner.survey = nil
    if lines == 0, let failure = window.failure { throw failure }
    return survey
  }

  /// Rejects the records that have a value for one of these fields, which the first records lack.
  package func refuse(fields: [Int]) {
    for field in fields { scanner.isMissing[field] = true }
  }

  package func next(into block: inout RecordBlock, recordsMax: Int) throws(CSVError) -> Bool {
    // The caller's mistake.
    precondition(recordsMax > 0, "recordsMax must be at least 1")
    begin()
    block.reset(at: position, .json, .utf8)
    // Bytes of the window that were read but not advanced over.
    var passed = 0
    reading: while block.records.count < recordsMax, block.bytes.count < limits.blockBytesMax {
      var found = lineInWindow(at: passed)
      if found == nil {
        advance(passed)
        passed = 0
        found = line(at: 0)
      }
      switch found {
      case .whole(let content, let total)?:
        append(content: content, total: total, at: passed, to: &block)
        passed += total
        position.line += 1
      case .tooLong?:
        advance(passed)
        passed = 0
        appendTooLong(to: &block)
        skipLine()
      case .end?, nil: break reading
      }
    }
    advance(passed)
    if block.records.isEmpty {
      window.advanceToEnd()
      position.byteOffset = window.inputOffset
    }
    position.record = block.start.record + block.records.count
    block.end = position
    if !block.records.isEmpty { return true }
    if let failure = window.failure { throw failure }
    return false
  }

  package func skip(to target: ReaderPosition) throws(CSVError) {
    if !window.isAtStart(of: target) {
      begin()
      try window.skip(to: target)
    }
    position = target
  }

  // MARK: Lines

  private enum Line {
    /// The numbers of bytes without and with the line end.
    case whole(content: Int, total: Int)
    case tooLong
    /// No line follows.
    case end
  }

  /// Refuses other encodings, and skips a byte order mark.
  private func begin() {
    guard !hasBegun else { return }
    hasBegun = true
    while window.unreadCount < EncodingDetection.frontBytes && !window.isFinal {
      window.refill(unreadMax: EncodingDetection.frontBytes)
    }
    let found = try? EncodingDetection(window.unread(), declared: nil, path: window.source.name)
    if let found, found.encoding.form == .utf8 {
      window.advance(to: window.next + found.markBytes)
    } else {
      let name = found.map { "\($0.encoding)".uppercased() } ?? "UTF-16 or UTF-32"
      window.fail(
        CSVError(
          .encoding,
          "JSON Lines are in UTF-8, and this text is in \(name); convert it first, for example with "
            + "iconv -f \(found.map { "\($0.encoding)".uppercased() } ?? "UTF-16LE") -t UTF-8",
          path: window.source.name, byte: 0))
    }
    position.byteOffset = window.inputOffset
  }

  private func advance(_ count: Int) {
    if count > 0 { window.advance(to: window.next + count) }
    position.byteOffset = window.inputOffset
  }

  /// The line that begins at an offset from the first unread byte, if its end is in memory.
  private func lineInWindow(at offset: Int) -> Line? {
    if window.failure?.code == .encoding { return .end }
    let text = window.bytes(window.next + offset..<window.end)
    guard let lineEnd = text.firstIndex(of: ASCII.lf) else { return nil }
    return whole(content: lineEnd, total: lineEnd + 1, in: text)
  }

  /// A carriage return before the line feed belongs to the line end.
  private func whole(content: Int, total: Int, in text: UnsafeBufferPointer<UInt8>) -> Line {
    let content = content > 0 && content < total && text[content - 1] == ASCII.cr ? content - 1 : content
    return content > limits.recordBytesMax ? .tooLong : .whole(content: content, total: total)
  }

  /// The line that begins at an offset from the first unread byte. It is read if it is not in memory.
  private func line(at offset: Int) -> Line {
    while true {
      if let line = lineInWindow(at: offset) { return line }
      let text = window.bytes(window.next + offset..<window.end)
      if text.count > limits.recordBytesMax + 1 { return .tooLong }
      if window.isFinal {
        // The incomplete line before an error is not a record.
        return text.isEmpty || window.failure != nil ? .end : whole(content: text.count, total: text.count, in: text)
      }
      window.refill(unreadMax: offset + limits.recordBytesMax + 2)
    }
  }

  private func isBlank(_ range: Range<Int>) -> Bool { window.bytes(range).allSatisfy { JSONText.isSpace($0) } }

  private func isUTF8(_ range: Range<Int>) -> Bool {
    firstInvalidUTF8(UnsafeRawBufferPointer(window.bytes(range))) == nil
  }

  // MARK: Records

  private func append(content: Int, total: Int, at offset: Int, to block: inout RecordBlock) {
    let first = window.next + offset
    let range = first..<first + content
    if isBlank(range) { return }
    let start = block.bytes.count
    block.bytes.append(contentsOf: window.bytes(first..<first + total))
    let (firstField, index) = (block.fields.count, block.records.count)
    var problems: RecordProblems = .invalidUTF8
    if isUTF8(range) {
      problems = scanner.scan(block.bytes.span, start..<start + content)
      for var fault in scanner.faults {
        fault.record = index
        block.memberFaults.append(fault)
      }
      if !problems.contains(.refusedMember) { block.fields += scanner.fields }
    }
    block.records.append(
      RecordSlice(
        firstField32: UInt32(truncatingIfNeeded: firstField),
        fieldCount32: UInt32(truncatingIfNeeded: block.fields.count - firstField),
        start32: UInt32(truncatingIfNeeded: start), end32: UInt32(truncatingIfNeeded: start + total),
        line: position.line, byteOffset: window.inputOffset + offset, problems: problems,
        lineEndBytes: UInt8(truncatingIfNeeded: total - content), linesInDoubt32: 0))
  }

  /// Appends the beginning of the line at the first unread byte, which is over the limit.
  private func appendTooLong(to block: inout RecordBlock) {
    let start = block.bytes.count
    let count = min(window.unreadCount, CSVLimits.cutRecordBytesMax)
    block.bytes.append(contentsOf: window.bytes(window.next..<window.next + count))
    block.records.append(
      RecordSlice(
        firstField32: UInt32(truncatingIfNeeded: block.fields.count), fieldCount32: 0,
        start32: UInt32(truncatingIfNeeded: start), end32: UInt32(truncatingIfNeeded: start + count),
        line: position.line, byteOffset: window.inputOffset, problems: [.recordTooLong, .cut], lineEndBytes: 0,
        linesInDoubt32: 0))
  }

  /// Advances behind the next line end.
  private func skipLine() {
    while true {
      if let lineEnd = window.unread().firstIndex(of: ASCII.lf) {
        position.line += 1
        return advance(lineEnd + 1)
      }
      advance(window.unreadCount)
      if window.isFinal { return }
      window.refill(unreadMax: 0)
    }
  }
}
