import CSV

/// Guesses the encoding of an input from its sample.
struct EncodingSniffer {
  let sample: FileSample

  /// The encoding, and whether a byte order mark names it.
  func guess() -> (finding: Finding<CSVEncoding>, hasMark: Bool) {
    if let mark = CSVEncoding.byteOrderMarks.first(where: { sample.head.starts(with: $0.bytes) }) {
      return (marked(mark.encoding), true)
    }
    if let wide = wideEncoding() { return (wide, false) }
    return (narrowEncoding(), false)
  }

  private func marked(_ encoding: CSVEncoding) -> Finding<CSVEncoding> {
    let evidence = "the file begins with the byte order mark of \(encoding.displayName)"
    guard encoding == .utf8 else { return Finding(encoding, confidence: 1, evidence: evidence) }
    let count = utf8Count
    guard count.strayBytes > 0 else { return Finding(encoding, confidence: 1, evidence: evidence) }
    return Finding(
      encoding, confidence: 0.9, evidence: "\(evidence), although \(stray(count)) not UTF-8")
  }

  // MARK: UTF-16 and UTF-32

  /// Text of Western languages has zero bytes at fixed positions in UTF-16 and UTF-32.
  private func wideEncoding() -> Finding<CSVEncoding>? {
    let bytes = sample.head.prefix(4096)
    guard bytes.count >= 8 else { return nil }
    var zeros = [0, 0, 0, 0]
    for index in bytes.indices where bytes[index] == 0 { zeros[index % 4] += 1 }
    let total = bytes.count / 4
    let shares = zeros.map { Double($0) / Double(total) }
    let candidates: [(encoding: CSVEncoding, full: [Int], free: [Int])] = [
      (.utf32LE, [2, 3], [0]), (.utf32BE, [0, 1], [3]),
      (.utf16LE, [1, 3], [0, 2]), (.utf16BE, [0, 2], [1, 3]),
    ]
    for candidate in candidates {
      let needed = candidate.free.count == 1 ? 0.99 : 0.7
      guard candidate.full.allSatisfy({ shares[$0] >= needed }), candidate.free.allSatisfy({ shares[$0] <= 0.05 })
      else { continue }
      let text = candidate.encoding.utf8(Array(bytes))
      guard !text.text.unicodeScalars.dropLast().contains("\u{FFFD}") else { continue }
      let share = Int((candidate.full.map { shares[$0] }.min() ?? 0) * 100)
      return Finding(
        candidate.encoding, confidence: 0.97,
        evidence: "\(share) % of the bytes at the positions of \(candidate.encoding.displayName)'s high bytes are zero")
    }
    return nil
  }

  // MARK: UTF-8 and single bytes

  private var utf8Count: UTF8Count {
    var count = UTF8Count(sample.head, isCutAtEnd: !sample.isWhole)
    for block in sample.blocks { count.add(UTF8Count(block, isCutAtStart: true, isCutAtEnd: true)) }
    count.add(UTF8Count(sample.tail, isCutAtStart: true))
    return count
  }

  private func narrowEncoding() -> Finding<CSVEncoding> {
    let count = utf8Count
    if count.strayBytes == 0 {
      let evidence =
        count.characters == 0
        ? "every byte is ASCII, which all encodings read alike"
        : "\(counted(count.characters, "character")) beyond ASCII, all valid UTF-8"
      return Finding(.utf8, confidence: count.characters == 0 && !sample.isWhole ? 0.95 : 1, evidence: evidence)
    }
    if count.characters > 20 * count.strayBytes {
      return Finding(
        .utf8, confidence: 0.9,
        evidence: "\(count.characters) characters beyond ASCII are UTF-8, \(stray(count)) not")
    }
    let single = singleByteEncoding(count)
    guard count.characters * 4 < count.strayBytes else {
      return Finding(
        single.value, confidence: 0.4,
        evidence: """
          \(count.characters) characters beyond ASCII are UTF-8 and \(stray(count)) not: the \
          file mixes encodings
          """, choices: ["utf-8", single.value.name])
    }
    return single
  }

  private func stray(_ count: UTF8Count) -> String {
    "\(counted(count.strayBytes, "byte")) \(count.strayBytes == 1 ? "is" : "are")"
  }

  private func singleByteEncoding(_ count: UTF8Count) -> Finding<CSVEncoding> {
    let bytes = ([sample.head] + sample.blocks + [sample.tail]).flatMap { $0 }
    let scored = CSVEncoding.singleByteCandidates
      .map { (encoding: $0, plausibility: Plausibility(bytes, as: $0)) }
      .sorted { $0.plausibility.score > $1.plausibility.score }
    let best = scored[0]
    let margin = best.plausibility.score - (scored.dropFirst().first?.plausibility.score ?? 0)
    var confidence = 0.3
    if best.plausibility.score >= 0.6, margin >= 0.2, best.plausibility.languageShare >= 0.6 {
      confidence = best.plausibility.undefined == 0 ? 0.95 : 0.7
    } else if best.plausibility.score >= 0.4, margin >= 0.2 {
      confidence = 0.7
    }
    let name = best.encoding.displayName
    let between = bytes.contains { (0x80...0x9F).contains($0) }
    var evidence = "\(stray(count)) not UTF-8, and "
    if confidence < 0.6 {
      evidence += "what they are in \(name) does not look like text"
    } else {
      evidence +=
        "\(count.strayBytes == 1 ? "it is part of" : "they are in") "
        + "\(quoted(Self.examples(bytes, best.encoding))) in \(name)"
      if best.encoding == .windows1252 {
        evidence += between ? ", which Latin-1 lacks in part" : ", the same as in Latin-1"
      }
    }
    let choices = confidence < 0.9 ? ["windows-1252", "iso-8859-2", "windows-1251", "macintosh", "cp850"] : []
    return Finding(best.encoding, confidence: confidence, evidence: evidence, choices: choices)
  }

  /// The first words with characters beyond ASCII.
  private static func examples(_ bytes: [UInt8], _ encoding: CSVEncoding) -> [String] {
    var words: [String] = []
    var index = 0
    while words.count < 3, let high = bytes[index...].firstIndex(where: { $0 >= 0x80 }) {
      func isInner(_ byte: UInt8) -> Bool { byte >= 0x80 || byte.isLetter || byte.isDigit }
      let start = bytes[index..<high].lastIndex { !isInner($0) }.map { $0 + 1 } ?? index
      let end = bytes[high...].firstIndex { !isInner($0) } ?? bytes.count
      let word = encoding.utf8(Array(bytes[start..<end])).text
      if !words.contains(word) { words.append(word) }
      index = end
    }
    return words
  }
}
