/// Scans whole well-formed records and looks only at structural characters. It stops before anything unusual (stray
/// quotes, limits, the end of the bytes) and leaves it to `ReferenceScanner`.
struct FastScanner {
  enum Stop {
    /// The buffers are full, or the requested number of records or bytes is reached.
    case full
    /// The record at `next` needs the reference scanner.
    case needsSlowPath
    /// The record at `next` does not end in these bytes.
    case incomplete
  }

  let rules: ScanRules
  let input: ScanInput
  /// The scan stops after the record that reaches this many bytes.
  let bytesMax: Int

  /// The record being scanned.
  private struct OpenRecord {
    var fieldStart: Int
    var firstField: Int
    var fieldFlags: UInt32 = 0
    var isInQuotes = false
    var line: Int
    var problems: RecordProblems = []
    var highBits: UInt64 = 0
    /// Structural characters before this offset are already consumed: the LF of CR LF, the second of two quotes.
    var spentEnd: Int
  }

  func scan(into result: inout ScanOutput) -> Stop {
    // A local variable, so that the optimiser can keep it in registers.
    var output = result
    // Two copies of the code: the ordinary dialects pay nothing for the others.
    let stop = rules.isPlain ? scanWords(&output, isPlain: true) : scanWords(&output, isPlain: false)
    result = output
    return stop
  }

  @inline(__always)
  private func scanWords(_ output: inout ScanOutput, isPlain: Bool) -> Stop {
    if !isPlain, mayBeComment(at: output.next) { return .needsSlowPath }
    let delimiters = StructuralMask.repeated(rules.delimiter)
    let quotes = StructuralMask.repeated(rules.hasQuotes ? rules.quote : 0)
    let bytesEnd = output.next + bytesMax
    var open = OpenRecord(fieldStart: output.next, firstField: 0, line: output.line, spentEnd: output.next)
    var word = output.next
    while word < input.end {
      let hasCapacity = output.fieldCount &+ 64 < output.fieldCapacity
      if !hasCapacity || output.fieldCount &- open.firstField > rules.fieldsMax {
        output.fieldCount = open.firstField
        return output.recordCount > 0 ? .full : .needsSlowPath
      }
      let mask = StructuralMask(
        input.bytes + word, delimiters: delimiters, quotes: quotes, isDelimiterASCII: isPlain)
      var structurals = mask.bits
      if input.end &- word < 64 { structurals &= (1 &<< UInt64(input.end &- word)) &- 1 }
      open.highBits |= mask.highBits
      while structurals != 0 {
        let position = word &+ structurals.trailingZeroBitCount
        structurals &= structurals &- 1
        let stop = take(
          at: position, highBits: mask.highBits, bytesEnd: bytesEnd, record: &open, into: &output, isPlain: isPlain)
        if let stop {
          output.fieldCount = open.firstField
          return stop
        }
      }
      word &+= 64
    }
    output.fieldCount = open.firstField
    return .incomplete
  }

  /// Handles one structural character; a result ends the pass.
  @inline(__always)
  private func take(
    at position: Int, highBits: UInt64, bytesEnd: Int, record open: inout OpenRecord, into output: inout ScanOutput,
    isPlain: Bool
  ) -> Stop? {
    let byte = input.bytes[position]
    if byte == rules.delimiter {
      if !isPlain { return takeDelimiter(at: position, record: &open, into: &output) }
      if !open.isInQuotes {
        endField(at: position, record: &open, into: &output, isPlain: isPlain)
        open.fieldStart = position &+ 1
      }
    } else if byte == ASCII.lf || byte == ASCII.cr {
      if position < open.spentEnd { return nil }
      var end = position &+ 1
      if byte == ASCII.cr {
        if end == input.end && !input.isFinal { return .incomplete }
        if end < input.end && input.bytes[end] == ASCII.lf {
          end &+= 1
          open.spentEnd = end
        }
      }
      open.line &+= 1
      if !open.isInQuotes {
        return endRecord(
          contentEnd: position, end: end, highBits: highBits, bytesEnd: bytesEnd, record: &open, into: &output,
          isPlain: isPlain)
      }
    } else if byte == rules.quote {
      return takeQuote(at: position, record: &open, isPlain: isPlain)
    } else if byte == 0 {
      if !rules.keepsNulBytes { open.problems.insert(.nulByte) }
    }
    return nil
  }

  /// Handles the first byte of a delimiter that may have several.
  @inline(__always)
  private func takeDelimiter(at position: Int, record open: inout OpenRecord, into output: inout ScanOutput) -> Stop? {
    if open.isInQuotes || position < open.spentEnd { return nil }
    let token = rules.delimiterToken
    let end = position &+ token.count
    if end > input.end { return input.isFinal ? nil : .incomplete }
    if token.isAt(input.bytes + position) {
      endField(at: position, record: &open, into: &output, isPlain: false)
      open.fieldStart = end
      open.spentEnd = end
    }
    return nil
  }

  @inline(__always)
  private func takeQuote(at position: Int, record open: inout OpenRecord, isPlain: Bool) -> Stop? {
    if !open.isInQuotes {
      if position != open.fieldStart {
        if isPlain || !hasOnlySpaces(from: open.fieldStart, to: position) { return .needsSlowPath }
        open.fieldStart = position
      }
      open.isInQuotes = true
      open.fieldFlags = FieldSlice.quotedFlag | FieldSlice.closedFlag
      return nil
    }
    if position < open.spentEnd { return nil }
    let after = position &+ 1
    if after == input.end { return .incomplete }
    let next = input.bytes[after]
    if next == rules.quote {
      open.spentEnd = after &+ 1
      open.fieldFlags |= FieldSlice.unescapingFlag
    } else if next == ASCII.lf || next == ASCII.cr {
      open.isInQuotes = false
    } else if isPlain ? next == rules.delimiter : rules.delimiterToken.match(at: after, in: input) == .yes {
      open.isInQuotes = false
    } else {
      return .needsSlowPath
    }
    return nil
  }

  /// Whether the bytes are spaces that do not belong to the field.
  private func hasOnlySpaces(from start: Int, to end: Int) -> Bool {
    rules.skipsInitialSpace && (start..<end).allSatisfy { input.bytes[$0] == ASCII.space }
  }

  /// A comment may contain quotes, so it must be recognised before its bytes are interpreted.
  @inline(__always)
  private func mayBeComment(at offset: Int) -> Bool {
    guard let comment = rules.comment else { return false }
    return offset < input.end && input.bytes[offset] == comment.first
  }

  @inline(__always)
  private func endField(at end: Int, record open: inout OpenRecord, into output: inout ScanOutput, isPlain: Bool) {
    if !isPlain, rules.skipsInitialSpace, open.fieldFlags == 0 {
      while open.fieldStart < end, input.bytes[open.fieldStart] == ASCII.space { open.fieldStart &+= 1 }
    }
    // 1 for a quoted field, whose quotes are not part of its content.
    let quote = Int(open.fieldFlags & FieldSlice.quotedFlag)
    output.addField(start: open.fieldStart &+ quote, end: end &- quote, flags: open.fieldFlags)
    open.fieldFlags = 0
  }

  @inline(__always)
  private func endRecord(
    contentEnd: Int, end: Int, highBits: UInt64, bytesEnd: Int, record open: inout OpenRecord,
    into output: inout ScanOutput, isPlain: Bool
  ) -> Stop? {
    let length = contentEnd &- output.next
    if length > rules.fastPathBytesMax { return .needsSlowPath }
    if length == 0 {
      open.problems.insert(.blank)
    } else {
      endField(at: contentEnd, record: &open, into: &output, isPlain: isPlain)
      if output.fieldCount &- open.firstField > rules.fieldsMax { return .needsSlowPath }
      if open.highBits != 0 && !isUTF8(from: output.next, count: length) { open.problems.insert(.invalidUTF8) }
    }
    output.addRecord(
      contentEnd: contentEnd, end: end, firstField: open.firstField, problems: open.problems,
      nextLine: open.line, rules: rules)
    open.firstField = output.fieldCount
    open.fieldStart = end
    open.problems = []
    // The rest of this word belongs to the next record.
    open.highBits = highBits
    if !isPlain, mayBeComment(at: end) { return .full }
    return output.recordCount == output.recordCapacity || end >= bytesEnd ? .full : nil
  }

  private func isUTF8(from start: Int, count: Int) -> Bool {
    firstInvalidUTF8(UnsafeRawBufferPointer(start: input.bytes + start, count: count)) == nil
  }
}
