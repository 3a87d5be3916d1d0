/// How a quote inside a quoted field is written.
package enum QuoteEscape: Sendable, Hashable {
  case doubled
  /// With this byte before it.
  case escaped(UInt8)
}

/// Guesses quotes, their escapes, and spaces before fields, for a known delimiter.
struct QuotingSniffer {
  private(set) var quote: Finding<String?>
  private(set) var escape = Finding(QuoteEscape.doubled, confidence: 1, evidence: "no quoted field holds a quote")
  private(set) var skipsInitialSpace = Finding(false, confidence: 1, evidence: "no field begins with a space")
  private(set) var dialect: CandidateDialect

  init(_ bytes: [UInt8], best: DialectScore, rivals: [DialectScore]) {
    dialect = best.dialect
    quote = Self.quote(best, rivals)
    dialect.quote = quote.value?.utf8.first
    if best.quotedCells > 0, let mark = dialect.quote {
      escape = Self.escape(bytes, dialect, quote: mark)
      if case .escaped(let byte) = escape.value { dialect.escape = byte }
    }
    skipsInitialSpace = Self.spaces(bytes, dialect)
  }

  private static func quote(_ best: DialectScore, _ rivals: [DialectScore]) -> Finding<String?> {
    let usual = "\""
    guard rivals.contains(where: { $0.quotedCells > 0 }) else {
      return Finding(usual, confidence: 1, evidence: "no field is quoted")
    }
    let name = best.dialect.quote.map { String(Character(Unicode.Scalar($0))) }
    let others = rivals.filter { $0.dialect.quote != best.dialect.quote }
    let second = others.max { $0.value < $1.value }
    guard let name else {
      return Finding(
        nil, confidence: 0.6, evidence: "quotes at the start of fields are not closed at their end",
        choices: ["\"", "null"])
    }
    var evidence =
      "\(counted(best.quotedCells, "field")) of the first \(counted(best.records, "record")) are in \(name)"
    if best.brokenRecords > 0 {
      evidence += "; in \(counted(best.brokenRecords, "record")) a quote is not closed, or text follows it"
    }
    // Another quote that encloses as many fields would be as good.
    let isRivalled = second.map { $0.dialect.quote != nil && $0.quotedCells * 2 > best.quotedCells } ?? false
    let isDamaged = best.brokenRecords * 4 > best.records
    let confidence = isRivalled ? 0.6 : isDamaged ? 0.7 : best.brokenRecords > 0 ? 0.9 : 1
    return Finding(name, confidence: confidence, evidence: evidence, choices: isRivalled ? ["\"", "'"] : [])
  }

  private static func escape(_ bytes: [UInt8], _ dialect: CandidateDialect, quote: UInt8) -> Finding<QuoteEscape> {
    let backslash = UInt8(ascii: "\\")
    let pairs = bytes.indices.dropLast().count { bytes[$0] == backslash && bytes[$0 + 1] == quote }
    let doubled = bytes.indices.dropLast().count { bytes[$0] == quote && bytes[$0 + 1] == quote }
    guard pairs > 0 else {
      let evidence = doubled > 0 ? "quotes inside quoted fields are doubled" : "no quoted field holds a quote"
      return Finding(.doubled, confidence: 1, evidence: evidence)
    }
    var escaping = dialect
    escaping.escape = backslash
    let plain = DialectScore(bytes, dialect)
    let escaped = DialectScore(bytes, escaping)
    func faults(_ score: DialectScore) -> Double {
      Double(score.brokenRecords) + (1 - score.regularity) * Double(score.records)
    }
    let evidence = "\(counted(pairs, "quote")) follow a backslash"
    if faults(escaped) < faults(plain) {
      return Finding(.escaped(backslash), confidence: 0.95, evidence: evidence + "; read so, fewer records are broken")
    }
    if faults(escaped) > faults(plain) {
      return Finding(
        .doubled, confidence: 0.95, evidence: evidence + ", which are ordinary text before a closing quote")
    }
    let isSame =
      RecordSplitter.records(of: bytes, dialect, limit: 400)
      == RecordSplitter.records(of: bytes, escaping, limit: 400)
    return Finding(
      .doubled, confidence: isSame ? 1 : 0.5, evidence: evidence + ", and both readings are regular",
      choices: isSame ? [] : ["\"doubleQuote\": true", "\"escapeChar\": \"\\\\\""])
  }

  private static func spaces(_ bytes: [UInt8], _ dialect: CandidateDialect) -> Finding<Bool> {
    guard !dialect.delimiter.isEmpty, dialect.delimiter != [32] else {
      return Finding(false, confidence: 1, evidence: "spaces are not before fields")
    }
    var (spaced, plain, quoted) = (0, 0, 0)
    for record in RecordSplitter.records(of: bytes, dialect, limit: DialectScore.recordsMax) {
      for cell in record.cells.dropFirst() where !cell.bytes.isEmpty || cell.isQuoted {
        if cell.isSpaced { spaced += 1 } else { plain += 1 }
        if cell.isSpaced, cell.isQuoted { quoted += 1 }
      }
    }
    guard spaced > 0 else { return Finding(false, confidence: 1, evidence: "no field begins with a space") }
    let all = spaced + plain
    let evidence = "\(spaced) of \(all) fields after a delimiter begin with a space"
    if quoted > 0 { return Finding(true, confidence: 0.98, evidence: "\(evidence), \(quoted) of them before a quote") }
    if spaced * 10 >= all * 9 { return Finding(true, confidence: 0.97, evidence: evidence) }
    return Finding(false, confidence: 0.95, evidence: evidence)
  }
}
