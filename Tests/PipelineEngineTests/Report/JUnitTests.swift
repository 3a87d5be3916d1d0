import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// The XML report: Python's parser reads it, and what it counts is what is there.
@Suite struct JUnitTests {
  /// The totals as declared and as counted, then a line for each case: group, name, what it holds.
  private func read(_ summary: RunSummary) throws -> [String] {
    try python(
      """
      import sys, xml.etree.ElementTree as tree
      root = tree.fromstring(open(0, "rb").read())
      suite, = root
      cases = suite.findall("testcase")
      for holder in (root, suite):
          kinds = (("tests", cases), ("failures", suite.findall(".//failure")), ("errors", suite.findall(".//error")),
                   ("skipped", suite.findall(".//skipped")))
          assert all(int(holder.get(name)) == len(found) for name, found in kinds), holder.attrib
      for case in cases:
          print(case.get("classname"), case.get("name"), *(child.tag for child in case), sep="|")
      print(*(f"{one.get('name')}={one.get('value')}" for one in suite.find("properties")))
      print(ascii([text for one in suite.iter() for text in (one.get("message"), one.get("name"), one.text) if text]))
      """, input: summary.junit()
    ).split(separator: "\n").map(String.init)
  }

  @Test func `A clean run passes, with a case for itself and one for its input`() throws {
    let lines = try read(ReportSample.clean())
    #expect(
      lines.dropLast() == [
        "surf-log|import|system-out", "surf-log.input|inbox/surf-log.csv.gz|system-out",
        "read=4000 inserted=4000 updated=0 unchanged=0 duplicate=0 repeated=0 rejected=0 exported=0 errors=0 warnings=0 exitCode=0",
      ])
  }

  @Test func `Each code is a case that fails for errors and passes with warnings`() throws {
    let summary = try ReportSample.dirty()
    let lines = try read(summary)
    #expect(
      lines.dropLast(2) == [
        "surf-log|import|system-out", "surf-log.input|club.csv|failure|system-out", "surf-log.code|blank-row|failure",
        "surf-log.code|constraint-error|failure", "surf-log.code|extra-label|system-out",
        "surf-log.code|missing-cell|failure", "surf-log.code|primary-key|failure", "surf-log.code|stray-quote|failure",
        "surf-log.code|type-error|failure",
      ])
    // The warning came after the list was full, and took the place of an error of the most frequent code.
    #expect(lines.last?.contains("no column knows it") == true)
    #expect(lines.last?.contains("\\u2026 and 1 more that the report does not list") == false)
    let listed = summary.issues.listed.count { $0.code == .typeError }
    let hidden = (summary.issues.counts[.typeError] ?? 0) - listed
    #expect(hidden > 0)
    #expect(lines.last?.contains("\\u2026 and \(hidden) more that the report does not list") == true)
  }

  @Test func `A failed run is an error, a stopped one a failure`() throws {
    #expect(try read(ReportSample.failed()).first == "surf-log|import|error")
    var summary = try ReportSample.clean()
    summary.outcome = .stopped
    #expect(try read(summary).first == "surf-log|import|failure")
    summary.outcome = .cancelled
    #expect(try read(summary).first == "surf-log|import|failure")
  }

  @Test func `Of several inputs, one without a listed error passes only if all errors are listed`() throws {
    var summary = try ReportSample.dirty(listedMax: 5)
    summary.inputs.append(.init(path: "other.csv", bytes: 1, records: 1))
    #expect(
      try read(summary)[1...2] == [
        "surf-log.input|club.csv|failure|system-out", "surf-log.input|other.csv|skipped|system-out",
      ])
    summary = try ReportSample.dirty(listedMax: 5000)
    summary.inputs.append(.init(path: "other.csv", bytes: 1, records: 1))
    #expect(try read(summary)[2] == "surf-log.input|other.csv|system-out")
  }

  @Test func `Hostile values come back as they are, what XML can't hold by its number`() throws {
    let text = try #require(try read(ReportSample.hostileEverywhere()).last)
    for value in ReportSample.hostile where !value.contains("\u{202E}") && !value.contains("\u{1B}") {
      let answer = try python("import sys; print(ascii(sys.stdin.read())[1:-1].replace('\"', '\\\\\"'))", input: value)
      let ascii = answer.trimmingCharacters(in: .newlines).replacingOccurrences(of: "\\\"", with: "\"")
      #expect(text.contains(ascii), "\(value)")
    }
    #expect(text.contains(#"\\u{1B}[31mred\\u{7}"#))
    #expect(text.contains(#"\\u{202E}evil"#))
  }
}
