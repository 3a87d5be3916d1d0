import Foundation
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// What the page says: the same as the other renderings, and no more than it shows.
@Suite struct PageTests {
  static let verdicts: [(outcome: RunSummary.Outcome, kind: RunSummary.Kind, tone: String, says: [String])] = [
    (
      .completed, .import, "errors",
      [
        "<span>Done, 1,234 errors</span>",
        "12,345 records read: 11,111 in the store, 205 already present, 1,029 rejected.",
      ]
    ),
    (
      .completed, .validate, "errors",
      ["the store left as it was: 11,111 could be imported", "would be inserted", "What is in the data"]
    ),
    (
      .stopped, .import, "stopped",
      ["<span>Stopped</span>", "was ended after 12,345 records", "more than it tolerates"]
    ),
    (.cancelled, .import, "cancelled", ["<span>Cancelled</span>", "Run it again."]),
    (
      .failed, .import, "failed",
      ["<span>Failed</span>", "no room left; make some", "could not continue after 12,345 records"]
    ),
    (.completed, .export, "errors", ["7 entries written.", "<dt>exported</dt>"]),
  ]

  @Test(arguments: verdicts)
  func `The verdict is on top, with what it means for the data`(
    outcome: RunSummary.Outcome, kind: RunSummary.Kind, tone: String, says: [String]
  ) throws {
    var summary = try ReportSample.dirty()
    summary.outcome = outcome
    summary.kind = kind
    summary.exported = 7
    if outcome == .stopped { summary.stopReason = "more than it tolerates" }
    if outcome == .failed { summary.failure = .init(message: "no room left; make some", exitCode: .ioError) }
    let html = summary.html()
    #expect(html.contains("<header class=\"verdict \(tone)\">"))
    for text in says { #expect(html.contains(text), "\(text)") }
  }

  @Test func `Examples are capped, and the page says of how many and where the others are`() throws {
    let full = try Self.withDifferentMessages(ReportSample.dirty(listedMax: 5000))
    let count = TextTable.grouped(full.issues.counts[.typeError] ?? 0)
    #expect(
      full.html(issuesListedIn: "r.json").contains(
        "20 of \(count) shown; all are in <span class=\"path\">r.json</span>."))
    #expect(full.html().contains("20 of \(count) shown. A report that ends in .json lists more."))
    #expect(!full.html().contains("issuesListedMax"))
    let cut = try Self.withDifferentMessages(ReportSample.dirty(listedMax: 30)).html(issuesListedIn: "r.json")
    #expect(cut.contains("of \(count) shown; the first 30 of all issues are in"))
    #expect(cut.contains("Only the first 30 issues of 1,235 were listed, as the pipeline's limit issuesListedMax says"))
    #expect(cut.components(separatedBy: "<li>").count - 1 <= 30)
  }

  /// Issues with equal messages are one example.
  private static func withDifferentMessages(_ summary: RunSummary) -> RunSummary {
    var summary = summary
    for index in summary.issues.listed.indices { summary.issues.listed[index].message += " (\(index))" }
    return summary
  }

  @Test func `Issues with equal messages are one example, with the lines of the others`() throws {
    let html = try ReportSample.dirty(listedMax: 5000).html()
    let lines = IssueGroup.all(of: try ReportSample.dirty(listedMax: 5000).issues.listed).compactMap(\.others)
    #expect(!lines.isEmpty && lines.allSatisfy { html.contains("(" + $0.prefix { $0 != "\"" }) })
    #expect(!html.contains(" shown. A report"))
  }

  @Test func `What the ledger made of an input is next to it, and a run with nothing to do says so`() throws {
    var summary = try ReportSample.clean()
    summary.note = "the report can't be had twice"
    summary.inputs[0].state = .resumed
    summary.inputs[0].firstRecord = 1501
    summary.inputs[0].contentHash = "0123456789abcdef0123456789abcdef"
    #expect(summary.html().contains(">resumed at record 1,501</span></td>"))
    #expect(summary.html().contains("xxh128 <span class=\"path\">0123456789abcdef0123456789abcdef</span>"))
    #expect(summary.html().contains("<strong>Note</strong> the report can&#39;t be had twice"))
    #expect(summary.junit().contains("4,000 records, resumed at record 1,501</system-out>"))
    summary.inputs[0].state = .known
    summary.inputs[0].records = 0
    #expect(summary.html().contains("Every input was imported before; the store is as it was."))
  }

  @Test func `Numbers that don't add up are an alarm`() throws {
    var summary = try ReportSample.clean()
    #expect(!summary.html().contains("add up</strong>"))
    summary.counts.rejected = 1
    #expect(summary.html().contains("4000 records were read but 4001 are accounted for"))
  }

  static let months: [(counts: [(String, Int)], unit: String, bars: Int, labels: [String])] = [
    ([("2014-07", 3)], "month", 1, ["2014-07"]),
    (
      [("2014-01", 3), ("2014-12", 1)], "month", 12, ["2014-01", "2014-03", "2014-05", "2014-07", "2014-09", "2014-11"]
    ),
    ([("2012-03", 1), ("2014-02", 2)], "month", 24, ["2013", "2014"]),
    (
      [("1990-01", 1), ("2009-12", 1)], "month", 240,
      ["1990", "1992", "1994", "1996", "1998", "2000", "2002", "2004", "2006", "2008"]
    ),
    (
      [("1990-01", 1), ("2010-01", 1)], "year", 21,
      ["1990", "1992", "1994", "1996", "1998", "2000", "2002", "2004", "2006", "2008", "2010"]
    ),
    (
      [("0001-01", 1), ("9999-12", 1)], "100 years", 100, (0...14).map { String($0 * 700) }
    ),
    ([], "month", 0, []),
  ]

  @Test(arguments: months)
  func `Months have a bar each, empty ones too, and share one where they are too many`(
    counts: [(String, Int)], unit: String, bars: Int, labels: [String]
  ) {
    let chart = ChartBars(months: counts.map { .init($0.0, $0.1) })
    #expect((chart.unit, chart.bars.count) == (unit, bars))
    #expect(chart.bars.compactMap(\.label) == labels)
    #expect(chart.bars.reduce(0) { $0 + $1.entries } == counts.reduce(0) { $0 + $1.1 })
  }

  static let integers: [(values: [String], unit: String, names: [String])] = [
    (["1", "3", "5"], "value", ["1", "2", "3", "4", "5"]),
    (["-1", "1"], "value", ["-1", "0", "1"]),
    (["7", "99"], "5 values", ["5 to 9", "95 to 99"]),
    (["-9223372036854775808", "9223372036854775807"], "1,000,000,000,000,000,000 values", []),
  ]

  @Test(arguments: integers)
  func `Whole numbers have a bar each, or ranges of a round width`(values: [String], unit: String, names: [String]) {
    let chart = ChartBars(integers: values.map { .init($0, 2) })
    #expect(chart.unit == unit)
    #expect(chart.bars.count <= ChartBars.integerBarsMax)
    #expect(chart.bars.reduce(0) { $0 + $1.entries } == values.count * 2)
    let shown = chart.bars.map(\.name)
    #expect(names.allSatisfy(shown.contains))
  }

  static let durations: [(seconds: Double, text: String)] = [
    (0.034, "0.03 s"), (59.99, "59.99 s"), (59.996, "1 min 0 s"), (125.4, "2 min 5 s"), (3599.6, "1 h 0 min"),
    (11_530, "3 h 12 min"), (1e308, "2,562,047,788,015,215 h 30 min"),
  ]

  @Test(arguments: durations)
  func `A time is stated in units that fit it`(seconds: Double, text: String) {
    #expect(PageFoot.duration(seconds) == text)
  }

  @Test func `A long name ends in an ellipsis, wide letters counting twice`() {
    #expect(RowChart.shortened("Rincon") == "Rincon")
    #expect(RowChart.shortened(String(repeating: "a", count: 31)) == String(repeating: "a", count: 30) + "…")
    #expect(RowChart.shortened(String(repeating: "湘", count: 16)) == String(repeating: "湘", count: 15) + "…")
  }
}
