import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Issues: counted in full, listed up to a limit, shown safely.
@Suite struct IssueLogTests {
  private static func issue(_ code: IssueCode, record: UInt64, severity: Severity = .error) -> RecordIssue {
    RecordIssue(
      code, severity: severity, at: RecordPosition(input: "-", record: record, line: record + 1, byte: 0), message: "m")
  }

  @Test func `The list ends at its limit, the counts go on, and the log says so`() {
    var log = IssueLog(listedMax: 3)
    #expect(log.isEmpty)
    for record: UInt64 in 1...3 { log.add(Self.issue(.typeError, record: record)) }
    #expect(!log.isTruncated)
    var made = 0
    for record: UInt64 in 4...1000 {
      log.add(.blankRow, severity: .warning) {
        made += 1
        return Self.issue(.blankRow, record: record, severity: .warning)
      }
    }
    #expect(made == 0)
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
