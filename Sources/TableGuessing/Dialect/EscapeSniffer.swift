/// Guesses whether a backslash takes the special meaning from a quote or a delimiter.
struct EscapeSniffer {
  private static let backslash = UInt8(ascii: "\\")
  private static let choices = ["\"doubleQuote\": true", "\"escapeChar\": \"\\\\\""]

  private let bytes: [UInt8]
  private let dialect: CandidateDialect

  init(_ bytes: [UInt8], _ dialect: CandidateDialect) {
    self.bytes = bytes
    self.dialect = dialect
  }

  func guess() -> Finding<QuoteEscape> {
    var after: [UInt8: Int] = [:]
    var index = 0
    while index + 1 < bytes.count {
      let isEscape = bytes[index] == Self.backslash
      if isEscape { after[bytes[index + 1], default: 0] += 1 }
      index += isEscape ? 2 : 1
    }
    let marks = [UInt8(ascii: "\""), UInt8(ascii: "'")]
    let quotes = marks.reduce(0) { $0 + (after[$1] ?? 0) }
    let special = [Self.backslash, 10, 13] + [dialect.delimiter.first].compactMap(\.self) + marks
    let delimiters = dialect.delimiter.first.flatMap { after[$0] } ?? 0
    // A program that writes a backslash before quotes or delimiters writes one before a line end within a field, too.
    let lineEnds = (after[10] ?? 0) + (after[13] ?? 0)
    guard quotes + delimiters + lineEnds > 0 else {
      let pairs = after[Self.backslash] ?? 0
      // An escape character that precedes nothing but itself looks like two in a text.
      return pairs > 0 && pairs == after.values.reduce(0, +) ? paired(pairs) : doubled
    }
    var escaping = dialect
    escaping.escape = Self.backslash
    let (plain, escaped) = (DialectScore(bytes, dialect), DialectScore(bytes, escaping))
    let others = after.reduce(0) { special.contains($1.key) ? $0 : $0 + $1.value }
    // No program writes an escape character before an ordinary one, and a text may have any before a line end.
    if quotes + delimiters == 0, others > 0 { return doubled }
    let count = quotes + delimiters + lineEnds
    let kinds =
      lineEnds > 0
      ? ("quote, delimiter or line end", "quotes, delimiters or line ends")
      : ("quote or delimiter", "quotes or delimiters")
    let evidence = "\(counted(count, kinds.0, plural: kinds.1)) after a backslash"
    if faults(escaped) < faults(plain) {
      // Programs differ in whether a backslash before an ordinary character belongs to the text.
      let isOrdinary = others > 0 || countWithoutBackslash(after, marks) > 0
      return Finding(
        .escaped(Self.backslash), confidence: isOrdinary ? 0.7 : 0.95,
        evidence: "\(evidence); read so, fewer records are broken"
          + (isOrdinary ? ", but some are before ordinary characters, and it is unknown whether they are text" : ""),
        choices: isOrdinary ? Self.choices : [])
    }
    if faults(escaped) > faults(plain) {
      return Finding(.doubled, confidence: 0.95, evidence: "\(evidence), which is ordinary text")
    }
    if count == quotes, after[Self.backslash] == nil, let text = ordinaryText(after, marks: marks, evidence) {
      return text
    }
    return undecided(evidence, escaping, quotes: quotes, others: others, cells: escaped.quotedCells)
  }

  private var doubled: Finding<QuoteEscape> {
    let quote = dialect.quote ?? 0
    let isThere = bytes.indices.dropLast().contains { bytes[$0] == quote && bytes[$0 + 1] == quote }
    let evidence = isThere ? "quotes inside quoted fields are doubled" : "no quoted field holds a quote"
    return Finding(.doubled, confidence: 1, evidence: evidence)
  }

  private func paired(_ count: Int) -> Finding<QuoteEscape> {
    Finding(
      .doubled, confidence: 0.6,
      evidence: "\(counted(count, "backslash", plural: "backslashes")) before another one, and none alone: two, or one "
        + "and its escape character",
      choices: Self.choices)
  }

  /// The finding where backslashes precede only quotes that are not the dialect's, and not all of these: a program that
  /// escapes them escapes each.
  private func ordinaryText(_ after: [UInt8: Int], marks: [UInt8], _ evidence: String) -> Finding<QuoteEscape>? {
    let alone = countWithoutBackslash(after, marks)
    if alone == 0 || dialect.quote.map({ after[$0] != nil }) ?? false { return nil }
    return Finding(
      .doubled, confidence: 0.95, evidence: "\(evidence), and \(alone) of the same kind without one: ordinary text")
  }

  /// How many quotes that are not the dialect's stand without a backslash, of the kinds that also follow one.
  private func countWithoutBackslash(_ after: [UInt8: Int], _ marks: [UInt8]) -> Int {
    marks.filter { $0 != dialect.quote }.reduce(0) { sum, mark in
      after[mark].map { count in sum + bytes.count { $0 == mark } - count } ?? sum
    }
  }

  private func faults(_ score: DialectScore) -> Double {
    Double(score.brokenRecords) + (1 - score.regularity) * Double(score.records)
  }

  /// Both readings are regular: it is an escape if no quote in a text goes without it.
  private func undecided(
    _ evidence: String, _ escaping: CandidateDialect, quotes: Int, others: Int, cells: Int
  ) -> Finding<QuoteEscape> {
    func records(_ dialect: CandidateDialect) -> [SplitRecord] {
      RecordSplitter.records(of: bytes, dialect, limit: 400)
    }
    if records(dialect) == records(escaping) { return Finding(.doubled, confidence: 1, evidence: evidence) }
    // Quotes that an escape never precedes are not of its kind.
    let kinds = [UInt8(ascii: "\""), UInt8(ascii: "'")].filter { mark in
      bytes.indices.dropFirst().contains { bytes[$0] == mark && bytes[$0 - 1] == Self.backslash }
    }
    let all = bytes.count { kinds.contains($0) }
    let structural = dialect.quote.map { kinds.contains($0) ? 2 * cells : 0 } ?? 0
    let isConsistent = others == 0 && quotes > 0 && all - structural <= quotes
    if isConsistent {
      return Finding(
        .escaped(Self.backslash), confidence: 0.9, evidence: "\(evidence), and no other quote is in a text")
    }
    return Finding(
      .doubled, confidence: 0.5, evidence: "\(evidence), and both readings are regular",
      choices: Self.choices)
  }
}
