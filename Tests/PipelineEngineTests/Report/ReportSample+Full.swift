import Foundation
import TestSupport

@testable import PipelineDefinition
@testable import PipelineEngine

extension ReportSample {
  /// A night with all that a page can say: a damaged file, rejects, columns, rules, and earlier runs.
  static func full() throws -> RunSummary {
    var summary = try dirty()
    let inbox = "/var/lib/surfjournal/inbox/"
    summary.inputs[0].counts = summary.counts
    summary.inputs[0].state = .imported
    summary.inputs[0].movedTo = inbox + "processed/2026-11-21/club.csv"
    var cut = RunSummary.File(path: "cut.csv.gz", bytes: 61_234, records: 0)
    cut.failure = "the gzip data end in the middle; fetch the file again"
    cut.movedTo = inbox + "failed/2026-11-21/cut.csv.gz"
    summary.unreadInputs = [cut]
    for (code, message) in [
      (IssueCode.compressionError, "the gzip data end in the middle; fetch the file again"),
      (.expectationError, "12 records were read; expected at least 50 % of 4000, the mean of the last 10 runs"),
    ] {
      summary.issues.counts[code] = 1
      summary.issues.errors += 1
      summary.issues.listed.append(
        RecordIssue(code, at: RecordPosition(input: "cut.csv.gz", record: 0, line: 0, byte: 0), message: message))
    }
    summary.columns = columns
    summary.rules = [
      .init(column: "date", rule: "is a date", failed: 0), .init(column: "rating", rule: "range 1 to 5", failed: 384),
      .init(rule: "date must not be empty; fill it in", failed: 0),
    ]
    var random = SeededGenerator(seed: 11)
    summary.recentRuns = (0..<40).map { night in
      let size = night % 13 == 12 ? 0 : Int.random(in: 3000...5200, using: &random)
      return RunPoint(
        startedAt: summary.startedAt.addingTimeInterval(Double(night - 40) * 86_400), size: size,
        rejected: night % 5 == 0 ? 40 : 0, headline: size == 0 ? "Failed" : "Clean", hasFailed: size == 0)
    }
    return summary
  }

  private static var columns: [EntryProfile.Column] {
    var date = EntryProfile.Column(name: "date", filled: 11_111, empty: 0, refused: 0)
    (date.least, date.greatest, date.counted, date.distinct) = ("2012-03-09T08:00:00Z", "2020-02-29", 10_000, 50)
    date.hasMoreDistinct = true
    var rating = EntryProfile.Column(name: "rating", filled: 10_833, empty: 278, refused: 384)
    (rating.least, rating.greatest, rating.counted, rating.distinct) = ("1", "5", 10_000, 5)
    rating.frequent = [.init("3", 4210), .init("4", 3011), .init("2", 1702), .init("5", 666), .init("1", 411)]
    var location = EntryProfile.Column(name: "location", filled: 11_000, empty: 111, refused: 0)
    (location.counted, location.distinct, location.hasMoreDistinct) = (10_000, 50, true)
    location.frequent = places.prefix(5).enumerated().map { .init($1, 900 - $0 * 7) }
    return [date, rating, location]
  }

  /// An export.
  static func exported() -> RunSummary {
    var summary = RunSummary(
      kind: .export, pipeline: "copy", startedAt: Date(timeIntervalSinceReferenceDate: 427_015_800), seconds: 0.4,
      outputs: [.init(path: "/srv/exports/surf-log-2026-11-21.csv.gz", bytes: 61_234, records: 3210)],
      store: "journal.sqlite", exported: 3210, program: "surfjournal")
    summary.exportedAs = .init(
      entity: "JournalEntry", columns: ["date", "height", "period", "wind", "location", "rating"],
      predicate: "rating >= 3 AND location CONTAINS[c] 'cruz'", order: "date, then rating (greatest first)",
      format: "csv")
    return summary
  }

  /// The index of many runs.
  static func index() -> IndexPage {
    let message = "/var/lib/surfjournal/inbox/cut.csv.gz: the gzip data end in the middle; fetch the file again"
    let records = (0..<40).map { night -> RunRecord in
      let isBad = night % 13 == 12
      let summary = RunSummary(
        kind: .import, pipeline: night % 4 == 3 ? "second" : "nightly", outcome: isBad ? .failed : .completed,
        failure: isBad ? .init(message: message, exitCode: .dataError) : nil, run: "run-\(night)",
        startedAt: Date(timeIntervalSinceReferenceDate: 427_015_800 + Double(night) * 86_400), seconds: 1.25,
        counts: RunCounts(read: 4000 + night * 7, inserted: 3990 + night * 7, rejected: 10))
      return RunRecord(summary, reports: ["nightly-\(night).html"])
    }
    return IndexPage(records, program: "surfjournal")
  }

  /// Adds hostile texts wherever a summary can have others.
  static func addHostile(to summary: inout RunSummary) {
    let start = summary.startedAt
    summary.recentRuns = hostile.map {
      RunPoint(startedAt: start, size: 3, rejected: 1, headline: $0, hasFailed: true)
    }
    summary.columns = hostile.map { text in
      var column = EntryProfile.Column(name: text, filled: 1, empty: 2, refused: 3)
      (column.least, column.greatest, column.counted) = (text, text, 3)
      column.frequent = [.init(text, 2)]
      return column
    }
    summary.rules = hostile.map { .init(column: $0, rule: $0, failed: 1) }
    summary.undelivered = hostile
    for index in summary.inputs.indices {
      (summary.inputs[index].failure, summary.inputs[index].movedTo) = (hostile[index], hostile[index])
    }
    summary.unreadInputs = summary.inputs
    summary.exportedAs = .init(
      entity: hostile[0], columns: hostile, predicate: hostile[1], order: hostile[2], format: "csv")
  }

  /// Pages whose charts have few and many years, and large numbers.
  static func pagesOfYears() -> [String] {
    [(2013, 4), (2013, 9), (1990, 20), (1950, 70), (1, 2000)].map { first, years in
      var summary = RunSummary(kind: .import, pipeline: "years", startedAt: Date(), seconds: 1)
      let months = (0..<years).flatMap { year in
        [1, 7, 12].map { month in
          EntryProfile.Chart.Count(MonthCounter.name(Int64((first + year) * 12 + month - 1)), 1_234_567)
        }
      }
      let numbers = (0..<12).map { EntryProfile.Chart.Count(String($0 * 100_000), 1_234_567 + $0) }
      summary.profile = EntryProfile(charts: [
        .init(attribute: "date", kind: .months, counts: Array(months.prefix(600))),
        .init(attribute: "depth", kind: .integers, counts: numbers),
        .init(attribute: "rating", kind: .integers, counts: (1...12).map { .init(String($0), $0 * 1000) }),
      ])
      return summary.html()
    }
  }
}
