import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// What a report says of each column is what a slow count says, whatever the run was divided into.
@Suite struct ColumnTallyTests {
  private static func tallies() -> [ColumnTally] {
    let entity = ReportSample.entity
    return ColumnTally.all(ReportSample.definition, types: entity.columnTypes) { entity.slot(named: $0) }
  }

  private static func tally(_ name: String) throws -> ColumnTally {
    try #require(tallies().first { $0.name == name })
  }

  private static func add(_ sessions: [ReportSample.Session], to tally: inout ColumnTally) {
    let batch = ReportSample.batch(sessions)
    tally.add(batch, 0..<batch.count)
  }

  @Test func `Filled, bounds, different and frequent values are those of a slow count`() throws {
    let sessions = ReportSample.sessions(3000)
    var rating = try Self.tally("rating")
    Self.add(sessions, to: &rating)
    let ratings = sessions.compactMap(\.rating)
    let column = rating.column(refused: 7)
    #expect((column.filled, column.empty, column.refused) == (ratings.count, 3000 - ratings.count, 7))
    #expect((column.least, column.greatest) == (ratings.min().map(String.init), ratings.max().map(String.init)))
    #expect((column.counted, column.distinct, column.hasMoreDistinct) == (3000, Set(ratings).count, false))
    let counts = Dictionary(ratings.map { (String($0), 1) }, uniquingKeysWith: +)
    #expect(column.frequent.allSatisfy { counts[$0.value] == $0.entries })
    #expect(column.frequent.map(\.entries) == counts.values.sorted(by: >).prefix(5).map { $0 })

    var places = try Self.tally("location")
    Self.add(sessions, to: &places)
    let location = places.column(refused: 0)
    #expect(location.least == nil && location.distinct == Set(sessions.compactMap(\.place)).count)
    #expect(location.filled == sessions.count { $0.place != nil })

    var dates = try Self.tally("date")
    Self.add(sessions, to: &dates)
    let date = dates.column(refused: 0)
    #expect(date.least == DateText.iso8601(sessions.compactMap(\.date).min() ?? 0))
    #expect(date.hasMoreDistinct && date.distinct == ColumnTally.distinctMax)
    #expect(date.frequent.isEmpty, "each occurs once among those that are counted")
  }

  @Test func `Beyond the first entries only the values are no longer counted one by one`() throws {
    var tally = try Self.tally("rating")
    let sessions = (0..<ColumnTally.countedMax + 500).map { ReportSample.Session(rating: Int64($0 / 4000)) }
    for start in stride(from: 0, to: sessions.count, by: 700) {
      Self.add(Array(sessions[start..<min(start + 700, sessions.count)]), to: &tally)
    }
    let column = tally.column(refused: 0)
    #expect((column.filled, column.counted, column.greatest) == (sessions.count, ColumnTally.countedMax, "2"))
    #expect(column.frequent.reduce(0) { $0 + $1.entries } == ColumnTally.countedMax)
  }

  @Test(.seeded) func `A run that was interrupted anywhere ends with the same columns`() throws {
    var generator = Randomness.generator()
    let hostile = ReportSample.hostile + ["a\nb 3:c", "", "12 4:ab\n"]
    let sessions = ReportSample.sessions(400, places: hostile)
    for name in ["date", "rating", "location"] {
      var whole = try Self.tally(name)
      Self.add(sessions, to: &whole)
      for _ in 0..<20 {
        let cut = Int.random(in: 0...sessions.count, using: &generator)
        var first = try Self.tally(name)
        Self.add(Array(sessions[..<cut]), to: &first)
        var resumed = try Self.tally(name)
        let isResumed = resumed.resume(first.keptText)
        #expect(isResumed)
        Self.add(Array(sessions[cut...]), to: &resumed)
        #expect(resumed.column(refused: 0) == whole.column(refused: 0), "\(name) at \(cut)")
        var second = try Self.tally(name)
        Self.add(Array(sessions[cut...]), to: &second)
        #expect(first.merged(with: second).column(refused: 0) == whole.column(refused: 0), "\(name) at \(cut)")
      }
    }
  }

  @Test(arguments: ["", "1 2\n", "1 2 3 4 5 6 7\n", "1 2 3 4 5 6 7\n0\nx", "1 2 3 4 5 6 7\n0\n3 99:a\n"])
  func `What no checkpoint has written is refused`(_ text: String) throws {
    var tally = try Self.tally("location")
    let isResumed = tally.resume(text)
    #expect(!isResumed)
  }
}
