import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Issues that differ in their lines and values only are shown once.
@Suite struct IssueGroupTests {
  private static func issue(
    _ line: UInt64, value: String? = nil, of input: String = "log.csv", message: String = "is not a whole number"
  ) -> RecordIssue {
    let position = RecordPosition(input: input, record: line, line: line, byte: 0)
    return RecordIssue(.typeError, at: position, field: 6, column: "rating", value: value, message: message)
  }

  static let lines: [(lines: [UInt64], text: String?)] = [
    ([12], nil), ([12, 15], "also in line 15"), ([12, 13, 14], "also in lines 13–14"),
    ([12, 15, 16, 17, 20], "also in lines 15–17 and 20"), ([12, 14, 14], "also in line 14"),
    ([1] + (2...13).map { $0 * 2 }, "also in lines 4, 6, 8, 10, 12, 14, 16, 18 and 4 more"),
  ]

  @Test(arguments: lines)
  func `The lines of a group follow its first issue, in ranges`(lines: [UInt64], text: String?) throws {
    let groups = IssueGroup.all(of: lines.map { Self.issue($0) })
    let group = try #require(groups.first)
    #expect(groups.count == 1 && group.count == lines.count && group.first.line == lines[0])
    #expect(group.others == text)
  }

  @Test func `Three other values are shown`() {
    let values = ["six", "six", "seven", "nine", "ten"]
    let three = IssueGroup.all(of: values.enumerated().map { Self.issue(UInt64($0 + 1), value: $1) })
    #expect(three.map(\.others) == ["also in lines 2–5, with \"seven\", \"nine\", \"ten\""])
    let four = IssueGroup.all(of: (values + ["two"]).enumerated().map { Self.issue(UInt64($0 + 1), value: $1) })
    #expect(four.map(\.others) == ["also in lines 2–6, with \"seven\", \"nine\", \"ten\", …"])
  }

  @Test func `Issues of one line, and of a whole file, are shown one by one`() {
    for line: UInt64 in [0, 12] {
      let groups = IssueGroup.all(of: ["a", "b", "c"].map { Self.issue(line, value: $0) })
      #expect(groups.map(\.first.value) == ["a", "b", "c"] && groups.allSatisfy { $0.others == nil })
    }
  }

  @Test func `Issues of other inputs, or with other messages, are other groups`() {
    let groups = IssueGroup.all(of: [
      Self.issue(1), Self.issue(2, of: "b.csv"), Self.issue(3, message: "is too great"), Self.issue(4),
    ])
    #expect(groups.map(\.first.line) == [1, 2, 3] && groups.map(\.count) == [2, 1, 1])
  }

  @Test func `A text report counts what it does not show`() {
    var log = IssueLog()
    for line: UInt64 in 1...50 { log.add(Self.issue(line)) }
    for line: UInt64 in 51...80 { log.add(Self.issue(line, message: "is refused as number \(line)")) }
    let text = RunSummaryTests.summary { $0.issues = .init(log) }.text(issuesShownMax: 5)
    let grouped = "  log.csv:1: rating: type-error: is not a whole number\n    also in lines 2–50\n  log.csv:51:"
    #expect(text.contains(grouped))
    #expect(text.contains("is refused as number 54\n  … and 26 more\n"))
  }
}
