/// Scans one record byte by byte, whatever it contains. It defines the rules; `FastScanner` is an optimisation that
/// must give the same result.
///
/// - A field that begins with a quote extends to the next single quote; two quotes stand for one where the dialect
///   doubles them. The byte after an escape character is text.
/// - Text after the closing quote, and quotes within an unquoted field, are text: `strayQuote`.
/// - A quote that is not closed by the end of the input, or within `recordBytesMax`, ends its record with the line in
///   which it opened. The following lines are read as if the quote were absent, so that one missing quote does not
///   swallow a file. The same holds if the next single quote is in a later line and text follows it: it opens a field
///   of another record rather than closes this one.
/// - A lenient dialect repairs a stray quote, and a quote that the last line of the input does not close, where there
///   is one sensible reading (`ReferenceScanner+Quotes`).
/// - A record over `recordBytesMax` is truncated; `Stop.skip` says how to skip the rest.
struct ReferenceScanner {
  enum Stop {
    case done
    /// The window must contain more: up to `recordBytesMax` + `lookaheadBytes` bytes from the record's start, or the
    /// end of the input.
    case needsMoreBytes
    /// As `done`, but the kept bytes of the record end at `keptEnd`, and everything from `next` to the end that the
    /// skipper finds is skipped.
    case skip(RecordTailSkipper, keptEnd: Int)
  }

  enum State { case fieldStart, text, quoted, closed }

  /// A line end at an offset.
  enum LineEnd {
    case none
    /// The bytes end before it is decided.
    case unknown
    /// The offset after it.
    case end(Int)
  }

  let rules: ScanRules
  let input: ScanInput
  let start: Int
  var position: Int
  var state = State.fieldStart
  var contentStart: Int
  /// Offset of the closing quote, for a field that is closed.
  var quoteEnd = 0
  var flags: UInt32 = 0
  var fieldsSeen = 0
  var problems: RecordProblems = []
  /// Whether a stray quote within quotes was repaired; the record's other quotes are then not repaired too.
  var hasRepairedQuotedField = false
  /// Offset of the quote that closes the field after its stray quotes, so that it is looked for once; before, -1.
  var knownClosingQuote = -1
  /// Lines after the record that its open quote may have claimed.
  var linesInDoubt = 0

  init(_ rules: ScanRules, _ input: ScanInput, start: Int) {
    self.rules = rules
    self.input = input
    self.start = start
    position = start
    contentStart = start
  }

  /// Scans the record at `output.next`. Nothing is added to `output` when more bytes are needed.
  static func scan(_ rules: ScanRules, _ input: ScanInput, into output: inout ScanOutput) -> Stop {
    if let comment = rules.comment, output.next < input.end {
      switch comment.match(at: output.next, in: input) {
      case .yes: return .skip(RecordTailSkipper(.line, rules), keptEnd: output.next)
      case .unknown: return .needsMoreBytes
      case .no: break
      }
    }
    var scanner = ReferenceScanner(rules, input, start: output.next)
    return scanner.run(into: &output)
  }

  private mutating func run(into output: inout ScanOutput) -> Stop {
    let firstField = output.fieldCount
    while true {
      guard let stop = advance(firstField: firstField, into: &output) else { continue }
      if case .needsMoreBytes = stop { output.fieldCount = firstField }
      return stop
    }
  }

  /// Handles one byte, or several that belong together; a result ends the record.
  private mutating func advance(firstField: Int, into output: inout ScanOutput) -> Stop? {
    if position == input.end { return runOut(firstField: firstField, into: &output) }
    if state != .quoted {
      switch lineEnd(at: position) {
      case .end(let end): return endRecord(contentEnd: position, end: end, firstField: firstField, into: &output)
      case .unknown: return .needsMoreBytes
      case .none: break
      }
    }
    if position - start >= rules.recordBytesMax { return overrun(firstField: firstField, into: &output) }
    let byte = input.bytes[position]
    if byte == rules.escape { return stepEscape() }
    let isQuote = rules.hasQuotes && byte == rules.quote
    if state == .quoted {
      if isQuote { return stepQuoteInQuotes(firstField: firstField, into: &output) }
      position += 1
      return nil
    }
    return step(byte, isQuote: isQuote, into: &output)
  }

  /// Handles a byte outside quotes that neither ends the record nor escapes another.
  private mutating func step(_ byte: UInt8, isQuote: Bool, into output: inout ScanOutput) -> Stop? {
    switch rules.delimiterToken.match(at: position, in: input) {
    case .yes:
      endField(at: position, into: &output)
      position += rules.delimiterToken.count
      contentStart = position
      return nil
    case .unknown: return .needsMoreBytes
    case .no: break
    }
    position += 1
    if state == .fieldStart, isQuote {
      state = .quoted
      flags = FieldSlice.quotedFlag
      knownClosingQuote = -1
      contentStart = position
    } else if state == .fieldStart, byte == ASCII.space, rules.skipsInitialSpace {
      contentStart = position
    } else {
      if isQuote { noteQuoteInText() }
      state = .text
    }
    return nil
  }

  /// The byte after an escape character is text. At the end of the input there is none, and the character is text
  /// itself.
  private mutating func stepEscape() -> Stop? {
    if position + 1 == input.end, !input.isFinal { return .needsMoreBytes }
    position = min(position + 2, input.end)
    flags |= FieldSlice.unescapingFlag
    if state == .fieldStart { state = .text }
    return nil
  }

  private mutating func endField(at end: Int, into output: inout ScanOutput) {
    let contentEnd = flags & FieldSlice.closedFlag != 0 ? quoteEnd : end
    if contentEnd - contentStart > rules.fieldBytesMax { problems.insert(.fieldTooLong) }
    if fieldsSeen < rules.fieldsMax { output.addField(start: contentStart, end: contentEnd, flags: flags) }
    fieldsSeen += 1
    if fieldsSeen > rules.fieldsMax { problems.insert(.tooManyFields) }
    flags = 0
    state = .fieldStart
  }

  /// The bytes end before the record does.
  private mutating func runOut(firstField: Int, into output: inout ScanOutput) -> Stop {
    guard input.isFinal, input.endsCleanly else { return .needsMoreBytes }
    if state == .quoted { return endUnterminated(firstField: firstField, into: &output) }
    return endRecord(contentEnd: input.end, end: input.end, firstField: firstField, into: &output)
  }

  mutating func endRecord(contentEnd: Int, end: Int, firstField: Int, into output: inout ScanOutput) -> Stop {
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

  /// Keeps the front of the record and the fields within it, and the front of an open quoted field: its start shows
  /// where the quote opened.
  mutating func cut(skipper: RecordTailSkipper, firstField: Int, into output: inout ScanOutput) -> Stop {
    problems.insert(.cut)
    let keptEnd = start + min(rules.recordBytesMax, CSVLimits.cutRecordBytesMax)
    let keptInBlock = keptEnd + output.blockShift
    while output.fieldCount > firstField, output.fields[output.fieldCount - 1].end > keptInBlock {
      output.fieldCount -= 1
    }
    if state == .quoted && contentStart <= keptEnd && fieldsSeen < rules.fieldsMax {
      output.addField(start: contentStart, end: keptEnd, flags: flags)
    }
    let passed = max(position, start + rules.recordBytesMax)
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
    output.addRecord(
      contentEnd: contentEnd, end: end, firstField: firstField, problems: problems,
      nextLine: output.line + lines(in: start..<next), linesInDoubt: linesInDoubt, rules: rules)
    output.next = next
  }

  func lines(in range: Range<Int>) -> Int {
    var counter = LineCounter(joinsCRLF: rules.joinsCRLF)
    counter.take(UnsafeBufferPointer(start: input.bytes + range.lowerBound, count: range.count))
    return counter.lines
  }

  func lineEnd(at index: Int) -> LineEnd {
    if let lineTerminator = rules.lineTerminator {
      switch lineTerminator.match(at: index, in: input) {
      case .yes: return .end(index + lineTerminator.count)
      case .no: return .none
      case .unknown: return .unknown
      }
    }
    let byte = input.bytes[index]
    if byte == ASCII.lf { return .end(index + 1) }
    guard byte == ASCII.cr else { return .none }
    // A CR that is the last byte may be the first half of a CR LF.
    if index + 1 == input.end { return input.isFinal ? .end(index + 1) : .unknown }
    return .end(input.bytes[index + 1] == ASCII.lf ? index + 2 : index + 1)
  }
}
