/// Scans one record byte by byte, whatever it contains. It defines the rules; `FastScanner` is an optimisation that
/// must give the same result.
///
/// - A field that begins with a quote extends to the next single quote; two quotes stand for one.
/// - Text after the closing quote, and quotes within an unquoted field, are text: `strayQuote`.
/// - A quote that is not closed by the end of the input, or within `recordBytesMax`, ends its record with the line in
///   which it opened. The following lines are read as if the quote were absent, so that one missing quote does not
///   swallow a file.
/// - A record over `recordBytesMax` is truncated; `Stop.skip` says how to skip the rest.
struct ReferenceScanner {
  enum Stop {
    case done
    /// The window must contain more: up to `recordBytesMax` + 2 bytes from the record's start, or the end of the
    /// input.
    case needsMoreBytes
    /// As `done`, but the kept bytes of the record end at `keptEnd`, and everything from `next` to the end that the
    /// skipper finds is skipped.
    case skip(RecordTailSkipper, keptEnd: Int)
  }

  private enum State { case fieldStart, text, quoted, closed }

  private let rules: ScanRules
  private let input: ScanInput
  private let start: Int
  private var position: Int
  private var state = State.fieldStart
  private var contentStart: Int
  private var flags: UInt32 = 0
  private var fieldsSeen = 0
  private var problems: RecordProblems = []

  init(_ rules: ScanRules, _ input: ScanInput, start: Int) {
    self.rules = rules
    self.input = input
    self.start = start
    position = start
    contentStart = start
  }

  /// Scans the record at `output.next`. Nothing is added to `output` when more bytes are needed.
  static func scan(_ rules: ScanRules, _ input: ScanInput, into output: inout ScanOutput) -> Stop {
    let bytes = input.bytes
    if let comment = rules.comment, output.next < input.end, bytes[output.next] == comment {
      return .skip(RecordTailSkipper(.line, rules), keptEnd: output.next)
    }
    var scanner = ReferenceScanner(rules, input, start: output.next)
    return scanner.run(into: &output)
  }

  private mutating func run(into output: inout ScanOutput) -> Stop {
    let firstField = output.fieldCount
    while true {
      let stop: Stop?
      if position == input.end {
        stop = runOut(firstField: firstField, into: &output)
      } else {
        let byte = input.bytes[position]
        let endsHere = state != .quoted && (byte == ASCII.lf || byte == ASCII.cr)
        if endsHere {
          stop = endLine(firstField: firstField, into: &output)
        } else if position - start >= rules.recordBytesMax {
          stop = overrun(firstField: firstField, into: &output)
        } else {
          stop = step(byte, into: &output) ? nil : .needsMoreBytes
        }
      }
      guard let stop else { continue }
      if case .needsMoreBytes = stop { output.fieldCount = firstField }
      return stop
    }
  }

  /// Handles one byte (or a pair of quotes) of a record. False if the result depends on bytes that are not available
  /// yet.
  private mutating func step(_ byte: UInt8, into output: inout ScanOutput) -> Bool {
    let isQuote = rules.hasQuotes && byte == rules.quote
    if state == .quoted {
      if isQuote { return stepQuoteInQuotes() }
    } else if byte == rules.delimiter {
      endField(at: position, into: &output)
      contentStart = position + 1
    } else if isQuote && state == .fieldStart {
      state = .quoted
      flags = FieldSlice.quotedFlag
      contentStart = position + 1
    } else {
      if isQuote { problems.insert(.strayQuote) }
      state = .text
    }
    position += 1
    return true
  }

  private mutating func stepQuoteInQuotes() -> Bool {
    let after = position + 1
    if after == input.end && !input.isFinal { return false }
    let next = after < input.end ? input.bytes[after] : ASCII.lf
    if next == rules.quote {
      flags |= FieldSlice.unescapingFlag
      position += 2
      return true
    }
    if next == rules.delimiter || next == ASCII.lf || next == ASCII.cr {
      flags |= FieldSlice.closedFlag
      state = .closed
    } else {
      problems.insert(.strayQuote)
      flags |= FieldSlice.unescapingFlag
      state = .text
    }
    position += 1
    return true
  }

  private mutating func endField(at end: Int, into output: inout ScanOutput) {
    let isClosed = flags & FieldSlice.closedFlag != 0
    let contentEnd = isClosed ? end - 1 : end
    if contentEnd - contentStart > rules.fieldBytesMax { problems.insert(.fieldTooLong) }
    if fieldsSeen < rules.fieldsMax { output.addField(start: contentStart, end: contentEnd, flags: flags) }
    fieldsSeen += 1
    if fieldsSeen > rules.fieldsMax { problems.insert(.tooManyFields) }
    flags = 0
    state = .fieldStart
  }

  private mutating func endLine(firstField: Int, into output: inout ScanOutput) -> Stop {
    guard let end = lineEnd(at: position) else { return .needsMoreBytes }
    return endRecord(contentEnd: position, end: end, firstField: firstField, into: &output)
  }

  /// The bytes end before the record does.
  private mutating func runOut(firstField: Int, into output: inout ScanOutput) -> Stop {
    guard input.isFinal, input.endsCleanly else { return .needsMoreBytes }
    if state == .quoted { return endUnterminated(firstField: firstField, into: &output) }
    return endRecord(contentEnd: input.end, end: input.end, firstField: firstField, into: &output)
  }

  private mutating func endRecord(
    contentEnd: Int, end: Int, firstField: Int, into output: inout ScanOutput
  ) -> Stop {
    if contentEnd == start {
      problems.insert(.blank)
    } else {
      endField(at: contentEnd, into: &output)
    }
    addRecord(contentEnd: contentEnd, end: end, firstField: firstField, into: &output)
    return .done
  }

  /// The record reached `recordBytesMax`.
  private mutating func overrun(firstField: Int, into output: inout ScanOutput) -> Stop {
    problems.insert(.recordTooLong)
    if state == .quoted { return endUnterminated(firstField: firstField, into: &output) }
    return cut(
      skipper: RecordTailSkipper(state == .fieldStart ? .fieldStart : .text, rules), firstField: firstField,
      into: &output)
  }

  /// Ends the record with the line in which the open quote is.
  private mutating func endUnterminated(firstField: Int, into output: inout ScanOutput) -> Stop {
    problems.insert(.unterminatedQuote)
    // The flags so far describe quotes in lines that turned out not to belong to the field.
    flags = FieldSlice.quotedFlag
    var lineBreak = contentStart
    while lineBreak < input.end, input.bytes[lineBreak] != ASCII.lf, input.bytes[lineBreak] != ASCII.cr {
      if input.bytes[lineBreak] == rules.quote { flags |= FieldSlice.unescapingFlag }
      lineBreak += 1
    }
    if problems.contains(.recordTooLong), lineBreak - start >= rules.recordBytesMax {
      return cut(skipper: RecordTailSkipper(.line, rules), firstField: firstField, into: &output)
    }
    guard lineBreak < input.end else {
      return endRecord(contentEnd: input.end, end: input.end, firstField: firstField, into: &output)
    }
    guard let end = lineEnd(at: lineBreak) else { return .needsMoreBytes }
    return endRecord(contentEnd: lineBreak, end: end, firstField: firstField, into: &output)
  }

  /// Keeps the front of the record and the fields within it, and the front of an open quoted field: its start shows
  /// where the quote opened.
  private mutating func cut(skipper: RecordTailSkipper, firstField: Int, into output: inout ScanOutput) -> Stop {
    problems.insert(.cut)
    let keptEnd = start + min(rules.recordBytesMax, CSVLimits.cutRecordBytesMax)
    let keptInBlock = keptEnd + output.blockShift
    while output.fieldCount > firstField, output.fields[output.fieldCount - 1].end > keptInBlock {
      output.fieldCount -= 1
    }
    if state == .quoted && contentStart <= keptEnd && fieldsSeen < rules.fieldsMax {
      output.addField(start: contentStart, end: keptEnd, flags: flags)
    }
    let passed = start + rules.recordBytesMax
    addRecord(contentEnd: keptEnd, end: keptEnd, firstField: firstField, into: &output, next: passed)
    return .skip(skipper, keptEnd: keptEnd)
  }

  private mutating func addRecord(
    contentEnd: Int, end: Int, firstField: Int, into output: inout ScanOutput, next: Int? = nil
  ) {
    let content = UnsafeRawBufferPointer(start: input.bytes + start, count: contentEnd - start)
    if !rules.keepsNulBytes, content.contains(0) { problems.insert(.nulByte) }
    if !problems.contains(.cut), firstInvalidUTF8(content) != nil { problems.insert(.invalidUTF8) }
    let next = next ?? end
    var counter = LineCounter()
    counter.take(UnsafeBufferPointer(start: input.bytes + start, count: next - start))
    output.addRecord(
      contentEnd: contentEnd, end: end, firstField: firstField, problems: problems,
      nextLine: output.line + counter.lines, rules: rules)
    output.next = next
  }

  /// Offset after the line end at `index`; nil if a CR is the last byte and an LF may still follow.
  private func lineEnd(at index: Int) -> Int? {
    let after = index + 1
    guard input.bytes[index] == ASCII.cr else { return after }
    if after == input.end { return input.isFinal ? after : nil }
    return input.bytes[after] == ASCII.lf ? after + 1 : after
  }
}
