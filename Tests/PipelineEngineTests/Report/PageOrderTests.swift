import Foundation
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// What a reader of the page sees first, and in which words.
@Suite struct PageOrderTests {
  /// The headings of the second order, in their order.
  private static func headings(_ html: String) -> [String] {
    html.matches(of: /<h2 id="([a-z0-9]+)">/).map { String($0.output.1) }
  }

  private static func section(_ name: String, of html: String) throws -> String {
    try #require(html.components(separatedBy: "<h2 id=\"\(name)\">").last?.components(separatedBy: "</section>").first)
  }

  @Test func `Files come first, then what is wrong, then the data, then the last runs`() throws {
    let html = try ReportSample.full().html(isOfSeries: true)
    #expect(Self.headings(html) == ["files", "problems", "totals", "columns", "rules", "profile", "recent"])
    let foot = try #require(html.components(separatedBy: "<footer>").last)
    for name in ["Time", "Speed", "Throughput", "Peak memory", "Exit status"] {
      #expect(foot.contains("<dt>\(name)</dt>"))
    }
  }

  @Test func `What concerns a file comes before frequent records, and warnings come last`() throws {
    let html = try ReportSample.full().html()
    let codes = html.matches(of: /<span class="code">([a-z-]+)</).map { String($0.output.1) }
    #expect(codes.prefix(2) == ["compression-error", "expectation-error"])
    #expect(codes.last == "extra-label")
    #expect(codes.contains("primary-key"))
    #expect(html.contains("<span class=\"title\">Compressed file damaged</span>"))
  }

  @Test func `Every code has a heading in people's words`() {
    for code in IssueCode.all {
      let title = code.title ?? ""
      #expect(!title.isEmpty && title.count <= 36 && !title.contains("-") && !title.hasSuffix("."), "\(code)")
    }
    #expect(Set(IssueCode.all.compactMap(\.title)).count == IssueCode.all.count)
  }

  @Test func `Each file has its fate, its numbers and its new place`() throws {
    let summary = try ReportSample.full()
    let html = summary.html()
    let rows = html.components(separatedBy: "<tr").filter { $0.contains("class=\"path\"") }
    #expect(rows[0].contains("cut.csv.gz") && rows[0].contains("<strong>not imported</strong>"))
    #expect(rows[0].contains("the gzip data end in the middle"))
    #expect(rows[0].contains("inbox/failed/2026-11-21/cut.csv.gz"))
    #expect(rows[1].contains("club.csv") && rows[1].contains(">imported</span></td>"))
    #expect(rows[1].contains(">12,345</span></td>") && rows[1].contains(">1,029</span></td>"))
    #expect(html.contains("<strong>Next</strong>") == (summary.nextStep != nil))
    #expect(!html.contains("named above"))
  }

  @Test func `Columns and rules have their numbers, and what is broken comes first`() throws {
    let html = try ReportSample.full().html()
    let columns = try Self.section("columns", of: html)
    #expect(columns.contains("<th scope=\"row\">location</th>"))
    #expect(columns.contains("over 50") && columns.contains("those of the first 10,000 entries"))
    let rules = try Self.section("rules", of: html)
    #expect(rules.contains("1 of 3 is broken by some records."))
    let names = rules.matches(of: /aria-hidden="true">(.)<\/span> ([^<]+)</).map { "\($0.output.1) \($0.output.2)" }
    #expect(names == ["✕ range 1 to 5", "✓ is a date", "✓ date must not be empty; fill it in"])
  }

  @Test func `The last runs are bars, at most thirty, with a mark under failed ones`() throws {
    var summary = try ReportSample.full()
    let html = summary.html()
    #expect(html.components(separatedBy: "class=\"hit\"").count - 1 == 30)
    #expect(html.components(separatedBy: "class=\"failed\"").count - 1 == 3)
    summary.recentRuns = []
    #expect(!Self.headings(summary.html()).contains("recent"))
  }

  @Test func `The page of an export says what was exported`() throws {
    var summary = ReportSample.exported()
    summary.exportedAs?.columns = ["date", "<wind>"]
    summary.exportedAs?.predicate = "rating > 3 && wind != \"<b>\""
    summary.exportedAs?.limit = 1000
    let html = summary.html()
    #expect(Self.headings(html) == ["files", "exported", "totals"])
    for text in [
      "those for which rating &gt; 3 &amp;&amp; wind != &quot;&lt;b&gt;&quot;", "date, &lt;wind&gt;", ">1,000<",
      "date, then rating (greatest first)", "surf-log-2026-11-21.csv.gz",
    ] {
      #expect(html.contains(text), "\(text)")
    }
  }

  @Test func `A page of years has as many labels as there is room for, and fewer on a phone`() {
    for (first, last) in [(2013, 2016), (1990, 2009), (1950, 2019)] {
      let chart = ChartBars(months: [.init("\(first)-01", 1), .init("\(last)-12", 2)])
      let (all, minor) = (chart.bars.count { $0.label != nil }, chart.bars.count { $0.isMinor })
      #expect(all > 2 && all - minor > 0 && all - minor <= 6, "\(first): \(all), \(minor)")
    }
  }
}
