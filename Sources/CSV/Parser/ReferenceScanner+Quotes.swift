// Quotes that close a field, and those that break the rules.
extension ReferenceScanner {
  private enum Answer { case yes, no, unknown }

  mutating func stepQuoteInQuotes(firstField: Int, into output: inout ScanOutput) -> Stop? {
    let after = position + 1
    if after == input.end, !input.isFinal { return .needsMoreBytes }
    if rules.doublesQuotes, after < input.end, input.bytes[after] == rules.quote {
      flags |= FieldSlice.unescapingFlag
      position += 2
      return nil
    }
    switch endsField(at: after) {
    case .yes: close(at: position, next: after)
    case .no: return takeStrayQuote(firstField: firstField, into: &output)
    case .unknown: return .needsMoreBytes
    }
    return nil
  }

  /// Records a quote in an unquoted field, or after a closing quote.
  mutating func noteQuoteInText() {
    let isRepairable = rules.isLenient && flags & FieldSlice.quotedFlag == 0 && !hasRepairedQuotedField
    problems.insert(isRepairable ? .repairedStrayQuote : .strayQuote)
  }

  private mutating func close(at quote: Int, next: Int) {
    flags |= FieldSlice.closedFlag
    state = .closed
    quoteEnd = quote
    position = next
  }

  /// A single quote within quotes, followed by text.
  private mutating func takeStrayQuote(firstField: Int, into output: inout ScanOutput) -> Stop? {
    if firstLineEnd(in: contentStart..<position) != nil {
      return endUnterminated(firstField: firstField, into: &output)
    }
    if rules.isLenient {
      let spacesEnd = endOfSpaces(from: position + 1)
      switch spacesEnd > position + 1 ? endsField(at: spacesEnd) : .no {
      case .yes:
        problems.insert(.repairedStrayQuote)
        close(at: position, next: spacesEnd)
        return nil
      case .unknown: return .needsMoreBytes
      case .no: break
      }
      switch isClosedInLine(from: position + 1) {
      case .yes:
        problems.insert(.repairedStrayQuote)
        hasRepairedQuotedField = true
        flags |= FieldSlice.unescapingFlag
        position += 1
        return nil
      case .unknown: return .needsMoreBytes
      case .no: break
      }
    }
    problems.insert(.strayQuote)
    flags |= FieldSlice.unescapingFlag
    state = .text
    position += 1
    return nil
  }

  /// Whether a later quote of the same line closes the field. A delimiter and a quote before it would open another
  /// field, so that there are two readings.
  private mutating func isClosedInLine(from first: Int) -> Answer {
    if first <= knownClosingQuote { return .yes }
    var index = first
    while index < input.end, index - start < rules.recordBytesMax {
      let byte = input.bytes[index]
      switch lineEnd(at: index) {
      case .end: return .no
      case .unknown: return .unknown
      case .none: break
      }
      if byte == rules.escape {
        index += 2
        continue
      }
      if byte == rules.quote {
        let after = index + 1
        if after == input.end, !input.isFinal { return .unknown }
        if rules.doublesQuotes, after < input.end, input.bytes[after] == rules.quote {
          index += 2
          continue
        }
        let answer = endsField(at: after)
        if answer == .yes { knownClosingQuote = index }
        if answer != .no { return answer }
      }
      switch rules.delimiterToken.match(at: index, in: input) {
      case .yes:
        index += rules.delimiterToken.count
        if index == input.end { return input.isFinal ? .no : .unknown }
        if input.bytes[index] == rules.quote { return .no }
      case .unknown: return .unknown
      case .no: index += 1
      }
    }
    return index >= input.end && !input.isFinal ? .unknown : .no
  }

  /// Whether a delimiter, a line end or the end of the input is at the offset.
  private func endsField(at index: Int) -> Answer {
    if index >= input.end { return input.isFinal ? .yes : .unknown }
    switch rules.delimiterToken.match(at: index, in: input) {
    case .yes: return .yes
    case .unknown: return .unknown
    case .no: break
    }
    switch lineEnd(at: index) {
    case .end: return .yes
    // A CR ends the line with or without what follows.
    case .unknown: return rules.lineTerminator == nil ? .yes : .unknown
    case .none: return .no
    }
  }

  private func endOfSpaces(from first: Int) -> Int {
    var index = first
    while index < input.end, input.bytes[index] == ASCII.space { index += 1 }
    return index
  }

  private func firstLineEnd(in range: Range<Int>) -> Int? {
    range.first { index in
      if case .none = lineEnd(at: index) { false } else { true }
    }
  }

  /// Ends the record with the line in which the open quote is. `position` is where that became clear: at the end of
  /// the input, at the limit, or at a quote that cannot close the field.
  mutating func endUnterminated(firstField: Int, into output: inout ScanOutput) -> Stop {
    // The flags so far describe quotes in lines that turned out not to belong to the field.
    flags = FieldSlice.quotedFlag
    let lineBreak = firstLineEnd(in: contentStart..<input.end) ?? input.end
    let content = UnsafeBufferPointer(start: input.bytes + contentStart, count: lineBreak - contentStart)
    if content.contains(where: { $0 == rules.quote || $0 == rules.escape }) { flags |= FieldSlice.unescapingFlag }
    if problems.contains(.recordTooLong), lineBreak - start >= rules.recordBytesMax {
      problems.insert(.unterminatedQuote)
      return cut(skipper: RecordTailSkipper(.line, rules), firstField: firstField, into: &output)
    }
    var end = lineBreak
    if lineBreak < input.end {
      guard case .end(let next) = lineEnd(at: lineBreak) else { return .needsMoreBytes }
      end = next
    }
    let isRepairable = rules.isLenient && end == input.end && position == input.end && input.isFinal
    problems.insert(isRepairable ? .repairedOpenQuote : .unterminatedQuote)
    if position > end { linesInDoubt = lines(in: end..<position) + (endsLine(before: position) ? 0 : 1) }
    return endRecord(contentEnd: lineBreak, end: end, firstField: firstField, into: &output)
  }

  /// Whether the byte before the offset ends a line.
  private func endsLine(before offset: Int) -> Bool {
    let byte = input.bytes[offset - 1]
    return byte == ASCII.lf || byte == ASCII.cr
  }
}
