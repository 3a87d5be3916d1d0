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
  private(set) var end: Finding<String?>
  private(set) var dialect: CandidateDialect
  /// The number of fields that most records have in the end.
  private(set) var width: Int

  init(_ bytes: [UInt8], best: DialectScore, alternatives: [DialectScore]) {
    var dialect = best.dialect
    dialect.escape = nil
    end = Self.end(bytes, dialect)
    if case .some(let text) = end.value { dialect.end = .only(Array(text.utf8)) }
    escape = EscapeSniffer(bytes, dialect).guess()
    if case .escaped(let byte) = escape.value { dialect.escape = byte }
    skipsInitialSpace = Self.spaces(bytes, dialect)
    let final = DialectScore(bytes, dialect)
    quote = Self.quote(final, alternatives)
    width = final.width
    self.dialect = dialect
  }

  private static func quote(_ best: DialectScore, _ alternatives: [DialectScore]) -> Finding<String?> {
    let usual = "\""
    guard alternatives.contains(where: { $0.quotedCells > 0 }) else {
      return Finding(usual, confidence: 1, evidence: "no field is quoted")
    }
    let name = best.dialect.quote.map { String(Character(Unicode.Scalar($0))) }
    let others = alternatives.filter { $0.dialect.quote != best.dialect.quote }
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

  /// The end of records, where others are text: LF in a file whose records end with CR.
  private static func end(_ bytes: [UInt8], _ dialect: CandidateDialect) -> Finding<String?> {
    var counts: [String: Int] = [:]
    var index = 0
    while index < bytes.count {
      let isPair = bytes[index] == 13 && index + 1 < bytes.count && bytes[index + 1] == 10
      if isPair || bytes[index] == 10 || bytes[index] == 13 {
        counts[isPair ? "\r\n" : bytes[index] == 10 ? "\n" : "\r", default: 0] += 1
      }
      index += isPair ? 2 : 1
    }
    let usual = Finding<String?>(nil, confidence: 1, evidence: "records end with LF, CRLF or CR")
    guard counts.count > 1, let most = counts.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { return usual }
    var strict = dialect
    strict.end = .only(Array(most.key.utf8))
    let (any, only) = (DialectScore(bytes, dialect), DialectScore(bytes, strict))
    guard only.regularity > any.regularity, only.brokenRecords <= any.brokenRecords, only.width == any.width
    else { return usual }
    let name = most.key == "\r" ? "CR" : most.key == "\n" ? "LF" : "CRLF"
    return Finding(
      most.key, confidence: 0.9,
      evidence: "records end with \(name), and other line ends are within fields; read so, more records are regular")
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
