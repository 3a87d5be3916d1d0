/// Guesses how fields are separated and quoted.
struct DialectSniffer {
  struct Result: Sendable {
    var delimiter: Finding<String>
    var quote: Finding<String?>
    var escape: Finding<QuoteEscape>
    /// What ends a record, where other line ends are text; nil for any.
    var end: Finding<String?>
    var skipsInitialSpace: Finding<Bool>
    /// The line that declares the delimiter, as spreadsheets write it.
    var hasDelimiterLine: Bool
    /// What all the above say, for the splitter.
    var dialect: CandidateDialect
    var width: Int

    /// That of a file without delimiters.
    static let none = Result(
      delimiter: Finding("", confidence: 1, evidence: ""), quote: Finding(nil, confidence: 1, evidence: ""),
      escape: Finding(.doubled, confidence: 1, evidence: ""), end: Finding(nil, confidence: 1, evidence: ""),
      skipsInitialSpace: Finding(false, confidence: 1, evidence: ""), hasDelimiterLine: false,
      dialect: CandidateDialect(delimiter: []), width: 0)
  }

  private static let singles = ",;\t|:~^ \u{1F}\u{1}".utf8.map { [$0] }
  private static let multiples = [
    "||", "::", ";;", "\t\t", "~~", "|~|", "~|~", "^|^", "|;|", ";|;", "$$", "@@", "##", "&&", "<>",
  ]
  .map { Array($0.utf8) }

  private let bytes: [UInt8]
  private let declared: [UInt8]?

  init(_ sample: DecodedSample) {
    let sniffed = sample.sniffed
    declared = Self.declaration(sniffed)
    bytes = declared == nil ? sniffed : Self.afterFirstLine(sniffed)
  }

  func guess() -> Result {
    let candidates = delimiters.flatMap { delimiter in
      quotes(with: delimiter).flatMap { quote in
        escapes(quote).map { DialectScore(bytes, CandidateDialect(delimiter: delimiter, quote: quote, escape: $0)) }
      }
    }
    let single = DialectScore(bytes, CandidateDialect(delimiter: []))
    var ranked = Dictionary(grouping: candidates, by: \.dialect.delimiter).values
      .compactMap { $0.max { $0.value < $1.value } }
    ranked = Self.withoutHalves(ranked)
    ranked.append(single)
    ranked.sort { ($0.value, $0.dialect.delimiter.count) > ($1.value, $1.dialect.delimiter.count) }
    let best = ranked.first { declared == nil || $0.dialect.delimiter == declared } ?? single
    let second = ranked.first { $0.dialect.delimiter != best.dialect.delimiter }
    let alternatives = candidates.filter { $0.dialect.delimiter == best.dialect.delimiter }
    let quoting = QuotingSniffer(bytes, best: best, alternatives: alternatives)
    return Result(
      delimiter: delimiter(best, second), quote: quoting.quote, escape: quoting.escape, end: quoting.end,
      skipsInitialSpace: quoting.skipsInitialSpace, hasDelimiterLine: declared != nil, dialect: quoting.dialect,
      width: quoting.width)
  }

  private func delimiter(_ best: DialectScore, _ second: DialectScore?) -> Finding<String> {
    let text = best.dialect.delimiter.text
    if let declared {
      return Finding(text, confidence: 1, evidence: "the first line is sep=\(declared.text)")
    }
    let share = Int((best.regularity * 100).rounded(.down))
    var evidence = "\(share) % of \(counted(best.records, "record")) have \(counted(best.width, "field"))"
    if text.isEmpty { evidence = "no delimiter gives the records the same number of fields" }
    guard best.value > 0 else { return Finding(text, confidence: 0, evidence: evidence) }
    let margin = (best.value - (second?.value ?? 0)) / best.value
    var confidence = min(1, 0.55 + margin)
    // With a single column there is nothing to be regular.
    if text.isEmpty { confidence = min(confidence, 0.8) } else if best.regularity < 0.5 { confidence *= 0.8 }
    var choices: [String] = []
    if let second, second.value > 0, confidence < 0.95 {
      let other = second.dialect.delimiter.text
      evidence += "; with \(Self.shown(other)) \(Int(second.regularity * 100)) % have \(counted(second.width, "field"))"
      choices = [Self.shown(text), Self.shown(other)]
    }
    return Finding(text, confidence: confidence, evidence: evidence, choices: choices)
  }

  /// A delimiter as a user would name it.
  static func shown(_ delimiter: String) -> String {
    switch delimiter {
    case "": "none (one column)"
    case "\t": "tab"
    case " ": "space"
    default:
      delimiter.replacing("\t", with: "\\t").replacing("\u{1F}", with: "\\u001F").replacing("\u{1}", with: "\\u0001")
    }
  }

  // MARK: Candidates

  private var delimiters: [[UInt8]] {
    var isThere = [Bool](repeating: false, count: 256)
    for byte in bytes { isThere[Int(byte)] = true }
    let singles = Self.singles.filter { isThere[Int($0[0])] }
    let multiples = Self.multiples.filter { $0.allSatisfy { isThere[Int($0)] } && contains($0) }
    let all = singles + multiples
    return all + (declared.map { all.contains($0) ? [] : [$0] } ?? [])
  }

  private func contains(_ pattern: [UInt8]) -> Bool { bytes.indices.contains { bytes.has(pattern, at: $0) } }

  /// A backslash counts as an escape if it precedes a quote.
  private func escapes(_ quote: UInt8?) -> [UInt8?] {
    guard let quote, contains([UInt8(ascii: "\\"), quote]) else { return [nil] }
    return [nil, UInt8(ascii: "\\")]
  }

  /// The quotes that begin a field with this delimiter.
  private func quotes(with delimiter: [UInt8]) -> [UInt8?] {
    let marks: [UInt8] = [UInt8(ascii: "\""), UInt8(ascii: "'")]
    var counts = [0, 0]
    for (index, byte) in bytes.enumerated() {
      guard let mark = marks.firstIndex(of: byte) else { continue }
      var before = index
      while before > 0, bytes[before - 1] == 32, delimiter != [32] { before -= 1 }
      let opens =
        before == 0 || bytes[before - 1] == 10 || bytes[before - 1] == 13
        || before >= delimiter.count && bytes.has(delimiter, at: before - delimiter.count)
      if opens { counts[mark] += 1 }
    }
    let found = marks.indices.filter { counts[$0] > 0 }.map { Optional(marks[$0]) }
    return found.isEmpty ? [marks[0]] : found + [nil]
  }

  /// A delimiter of two characters also separates as each of its characters, with an empty field between.
  private static func withoutHalves(_ scores: [DialectScore]) -> [DialectScore] {
    scores.filter { score in
      let delimiter = score.dialect.delimiter
      guard let double = scores.first(where: { $0.dialect.delimiter == delimiter + delimiter }) else {
        // Part of a longer one, such as | of |~|.
        return !scores.contains { other in
          other.dialect.delimiter.count > 2 && delimiter.count == 1 && other.dialect.delimiter.contains(delimiter[0])
            && other.regularity >= 0.9 && other.types > score.types
        }
      }
      let isHalf = score.hasHollowColumns && double.regularity >= score.regularity - 0.05
      return !isHalf
    }
  }

  // MARK: The line of the delimiter

  /// The delimiter of a first line such as `sep=;`.
  private static func declaration(_ bytes: [UInt8]) -> [UInt8]? {
    let end = bytes.firstIndex { $0 == 10 || $0 == 13 } ?? bytes.count
    var line = Array(bytes[..<end])
    if line.first == UInt8(ascii: "\""), line.last == UInt8(ascii: "\""), line.count > 2 {
      line = Array(line[1..<(line.count - 1)])
    }
    guard line.count >= 5, line.count <= 8, line.prefix(4).map({ $0 | 0x20 }) == Array("sep=".utf8).map({ $0 | 0x20 })
    else { return nil }
    return Array(line[4...])
  }

  private static func afterFirstLine(_ bytes: [UInt8]) -> [UInt8] {
    guard let end = bytes.firstIndex(where: { $0 == 10 || $0 == 13 }) else { return [] }
    let isPair = bytes[end] == 13 && end + 1 < bytes.count && bytes[end + 1] == 10
    return Array(bytes[(end + (isPair ? 2 : 1))...])
  }
}
