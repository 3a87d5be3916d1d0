import Testing

@testable import PipelineEngine

/// What a command that is notified gets in its environment.
@Suite struct NoticeTests {
  @Test func `A long value is cut at a whole character, and a list of paths at a whole path`() throws {
    var summary = EventLogTests.summary
    summary.failure = RunSummary.Failure(message: "a" + String(repeating: "é", count: 100_000), exitCode: .dataError)
    let reports = (0..<2000).map { "/reports/\($0).html" }
    let variables = Notice(summary, after: nil, reports: reports).variables
    #expect(variables.values.allSatisfy { $0.utf8.count <= 8 << 10 })
    let message = try #require(variables.first { $0.key.hasSuffix("_MESSAGE") }?.value)
    #expect(message.utf8.count == (8 << 10) - 1 && message.last == "é")
    let listed = try #require(variables.first { $0.key.hasSuffix("_REPORTS") }?.value).split(separator: ":")
    #expect(listed.count > 300 && listed.map(String.init) == Array(reports.prefix(listed.count)))
  }
}
