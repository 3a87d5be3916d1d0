import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Issues: counted in full, listed up to a limit, shown safely.
@Suite struct IssueLogTests {
  private static func issue(
    _ code: IssueCode, record: UInt64, of input: String = "-", severity: Severity = .error
  ) -> RecordIssue {
    let position = RecordPosition(input: input, record: record, line: record + 1, byte: 0)
    return RecordIssue(code, severity: severity, at: position, message: "m")
  }

  @Test func `The list ends at its limit, the counts go on, and the log says so`() {
    var log = IssueLog(listedMax: 3)
    #expect(log.isEmpty)
    for record: UInt64 in 1...3 { log.add(Self.issue(.typeError, record: record)) }
    #expect(!log.isTruncated)
    for record: UInt64 in 4...1000 { log.add(Self.issue(.blankRow, record: record, severity: .warning)) }
    #expect(log.isTruncated)
    #expect(log.listed.map(\.record) == [1, 2, 3])
    #expect(log.counts == [.typeError: 3, .blankRow: 997])
    #expect(log.warningCounts == [.blankRow: 997])
    #expect((log.errorsTotal, log.warningsTotal, log.total) == (3, 997, 1000))
  }

  @Test func `The most frequent code does not fill the list: ten of each code are kept`() {
    var log = IssueLog(listedMax: 30)
    for record: UInt64 in 1...1000 { log.add(Self.issue(.typeError, record: record)) }
    var later = IssueLog(listedMax: 30)
    for record: UInt64 in 1001...1015 { later.add(Self.issue(.blankRow, record: record, severity: .warning)) }
    later.add(Self.issue(.primaryKey, record: 1016))
    log.merge(later)
    #expect(log.listed.map(\.record) == Array(1...19) + Array(1001...1010) + [1016])
    #expect(log.counts == [.typeError: 1000, .blankRow: 15, .primaryKey: 1] && log.isTruncated)
  }

  @Test func `The first inputs do not fill the list: those of a code share its part`() {
    var log = IssueLog(listedMax: 40)
    for record: UInt64 in 1...1000 { log.add(Self.issue(.primaryKey, record: record, of: "a.csv")) }
    for record: UInt64 in 1...15 { log.add(Self.issue(.primaryKey, record: record, of: "b.csv")) }
    log.add(Self.issue(.sourceError, record: 0, of: "c.csv"))
    for record: UInt64 in 1...2 { log.add(Self.issue(.primaryKey, record: record, of: "d.csv")) }
    let listed = Dictionary(grouping: log.listed, by: \.input).mapValues { $0.map(\.record) }
    #expect(listed == ["a.csv": Array(1...27), "b.csv": Array(1...10), "c.csv": [0], "d.csv": [1, 2]])
    #expect(log.counts == [.primaryKey: 1017, .sourceError: 1])
  }

  @Test func `More inputs than the list is long are listed with one issue each, the first ones`() {
    var log = IssueLog(listedMax: 40)
    for input in 1...1000 {
      for record: UInt64 in 1...3 { log.add(Self.issue(.typeError, record: record, of: "\(input).csv")) }
    }
    #expect(log.listed.map(\.input) == (1...40).map { "\($0).csv" })
    #expect(log.listed.allSatisfy { $0.record == 1 })
  }

  @Test(.seeded, arguments: Randomness.seeds(20, long: 500))
  func `A list has each code and input in its share, in the order of the issues`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let codes: [IssueCode] = [.typeError, .primaryKey, .blankRow, .sourceError]
    var log = IssueLog(listedMax: Int.random(in: 40..<80, using: &random))
    var all: [RecordIssue] = []
    for number in 0..<Int.random(in: 1..<600, using: &random) {
      let rare = Int.random(in: 0..<40, using: &random)
      let code = rare < codes.count ? codes[rare] : codes[0]
      let input = "\(Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<4, using: &random) : 0).csv"
      all.append(Self.issue(code, record: UInt64(number), of: input))
      log.add(all[number])
    }
    #expect(log.listed.count == min(all.count, log.listedMax))
    #expect(log.listed.map(\.record) == log.listed.map(\.record).sorted())
    for code in codes {
      let (given, listed) = (all.filter { $0.code == code }, log.listed.filter { $0.code == code })
      #expect(listed.count >= min(10, given.count), "\(code)")
      #expect(listed.isEmpty == given.isEmpty)
      for input in Set(given.map(\.input)) {
        let first = given.filter { $0.input == input }.map(\.record)
        let kept = listed.filter { $0.input == input }.map(\.record)
        #expect(kept == Array(first.prefix(kept.count)), "The first issues of \(input) are kept.")
        // A code that has no more than ten in the list has the first ones, of whatever input.
        if listed.count > 10 || listed.count == given.count { #expect(!kept.isEmpty, "\(code) of \(input)") }
      }
    }
  }

  @Test func `A later part is appended within the first one's limit`() {
    var log = IssueLog(listedMax: 3)
    log.add(Self.issue(.typeError, record: 1))
    log.add(Self.issue(.typeError, record: 2))
    var later = IssueLog(listedMax: 3)
    for record: UInt64 in 3...5 { later.add(Self.issue(.primaryKey, record: record, severity: .warning)) }
    log.merge(later)
    #expect(log.listed.map(\.record) == [1, 2, 3])
    #expect(log.counts == [.typeError: 2, .primaryKey: 3])
    #expect(log.warningCounts == [.primaryKey: 3])
    #expect((log.errorsTotal, log.warningsTotal) == (2, 3))
    #expect(log.isTruncated)
  }

  @Test func `A log that lists nothing still counts`() {
    var log = IssueLog(listedMax: 0)
    log.add(Self.issue(.typeError, record: 1))
    log.merge(log)
    #expect(log.listed.isEmpty)
    #expect(log.total == 2)
    #expect(log.isTruncated)
  }

  static let descriptions: [(issue: RecordIssue, text: String)] = [
    (
      RecordIssue(
        .typeError, at: RecordPosition(input: "log.csv", record: 11, line: 12, byte: 0), field: 6, column: "rating",
        value: "six", message: "is not a whole number"),
      "log.csv:12: rating \"six\": type-error: is not a whole number"
    ),
    (
      RecordIssue(
        .extraCell, at: RecordPosition(input: "log.csv", record: 11, line: 12, byte: 0), field: 7, message: "too much"),
      "log.csv:12: field 7: extra-cell: too much"
    ),
    (
      RecordIssue(
        .extraLabel, severity: .warning, at: RecordPosition(input: "-", record: 0, line: 1, byte: 0), value: "tide",
        message: "ignored"),
      "-:1: \"tide\": warning: extra-label: ignored"
    ),
    (
      RecordIssue(.sourceError, at: RecordPosition(input: "log.csv", record: 0, line: 0, byte: 0), message: "gone"),
      "log.csv: source-error: gone"
    ),
  ]

  @Test(arguments: descriptions)
  func `An issue in one line begins with file and line`(issue: RecordIssue, text: String) {
    #expect(issue.description == text)
  }

  static let raw: [(bytes: [UInt8], text: String)] = [
    (Array("C Street".utf8), "C Street"),
    (Array("a\n\r\t\"\\b".utf8), #"a\n\r\t\"\\b"#),
    ([0x41, 0, 0x1B, 0x7F], #"A\u{00}\u{1B}\u{7F}"#),
    ([0x41, 0xFF, 0xC3, 0x28], #"A\xFF\xC3("#),
    ([0xE2, 0x82], #"\xE2\x82"#),
    (Array("\u{202E}evil\u{2028}".utf8), #"\u{202E}evil\u{2028}"#),
    (Array("été 🏄🏽".utf8), "été 🏄🏽"),
    (Array(String(repeating: "é", count: 60).utf8), String(repeating: "é", count: 60)),
    (Array(String(repeating: "é", count: 61).utf8), String(repeating: "é", count: 60) + "…"),
    (Array(String(repeating: "x", count: 100_000).utf8), String(repeating: "x", count: 60) + "…"),
  ]

  @Test(arguments: raw)
  func `A raw value is shown on one line, harmless and short`(bytes: [UInt8], text: String) {
    #expect(RawText.shortened(bytes) == text)
    let ofSpan = RawText.shortened(bytes.span)
    #expect(ofSpan == text)
  }

  @Test func `Every code has a scope, a name of its own, and known kin`() {
    #expect(Set(IssueCode.all).count == IssueCode.all.count)
    #expect(IssueCode.all.allSatisfy { $0.scope != nil })
    #expect(IssueCode.all.filter { $0.explanation == nil } == [])
    #expect(IssueCode(rawValue: "no-such-code").scope == nil)
    #expect(!IssueCode(rawValue: "no-such-code").isFrictionless)
    #expect(IssueCode.typeError.isFrictionless)
    #expect(!IssueCode.nulByte.isFrictionless)
    #expect(IssueCode.recordLevel.allSatisfy { $0.scope == .field || $0.scope == .record })
  }
}

@Suite struct RawTextTests {
  @Test(.seeded, arguments: Randomness.seeds(20, long: 2000))
  func `Text is displayed the same with and without characters beyond ASCII`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes: [UInt8] = (0..<Int.random(in: 0..<90, using: &random)).map { _ in
      Bool.random(using: &random)
        ? .random(in: 0x20..<0x80, using: &random) : Array("\"\\\n\r\ta\u{1}".utf8).randomElement(using: &random) ?? 0
    }
    // A letter in front that is not ASCII makes the other path show the rest.
    let other = RawText.shortened(Array("é".utf8) + bytes, limit: 61)
    #expect("é" + RawText.shortened(bytes) == other)
  }
}
