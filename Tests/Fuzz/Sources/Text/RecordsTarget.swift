import CSV

/// Records, by both scanners and in pieces of any size, are those that a slow reader finds.
enum RecordsTarget: FuzzTarget {
  static let name = "records"
  static let seeds = DialectChoice.seeds(DialectChoice.texts)
  static let words = ["\"\"", "\r\n", "||", "::", "§", "aab", "EOL", "//", "bc", "\u{FEFF}", "\" ,"]

  static func run(_ input: inout FuzzInput) {
    var dialect = DialectChoice.take(from: &input)
    dialect.headerRows = 0
    let bytes = input.rest
    let marks: [[UInt8]] = [[0xFF, 0xFE], [0xFE, 0xFF], [0, 0, 0xFE, 0xFF]]
    if marks.contains(where: { bytes.starts(with: $0) }) { return }
    guard let whole = read(bytes, dialect) else { return }
    let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let plain = PlainReader(text: Array(bytes.dropFirst(mark)), dialect: dialect)
    let expected = plain.records().map { record in
      ReadRecord(
        values: record.fields.map(\.value), areQuoted: record.fields.map(\.isQuoted), problems: record.problems,
        line: record.line, linesInDoubt: record.linesInDoubt, byte: record.range.lowerBound + mark,
        original: Array(plain.text[record.range]))
    }
    if whole.records != expected { broken("records are those of the slow reader", difference(whole.records, expected)) }
    requireEqual(whole.end.byteOffset, bytes.count, rule: "a text is read to its end")
    for (size, recordsMax) in [(1, 1), (3, 7), (64, 1000)] {
      requireEqual(
        read(bytes, dialect, readBytes: size, recordsMax: recordsMax), whole,
        rule: "pieces of \(size) give the same records")
    }
    requireEqual(read(bytes, dialect, fast: false), whole, rule: "both scanners find the same records")
  }

  private static func read(
    _ bytes: [UInt8], _ dialect: CSVDialect, readBytes: Int = 16 << 10, fast: Bool = true, recordsMax: Int = 1000
  ) -> ReadText? {
    ReadText(bytes, dialect, limits: .quick, readBytes: readBytes, fast: fast, recordsMax: recordsMax)
  }

  private static func difference(_ found: [ReadRecord], _ expected: [ReadRecord]) -> String {
    let index = zip(found, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    guard let index else { return "\(found.count) records, \(expected.count) expected" }
    return "record \(index)\n\(found[index])\n\(expected[index])"
  }
}
