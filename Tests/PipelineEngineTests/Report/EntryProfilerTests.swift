import Foundation
import OpenCoreData
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// A profile counts what the entries are, bounded whatever they are, and as if a run had never been interrupted.
@Suite(.seeded) struct EntryProfilerTests {
  private static func random(_ count: Int) -> [ReportSample.Session] {
    var random = Randomness.generator()
    // From year 1 to 9999, most of them close together as in a log, some without a value.
    return (0..<count).map { index in
      let date =
        index % 5 == 0 ? Double.random(in: -63_000_000_000..<252_000_000_000, using: &random) : Double(index) * 40_000
      return ReportSample.Session(
        date: index % 13 == 0 ? nil : date, rating: index % 7 == 0 ? nil : Int64.random(in: -3...3, using: &random),
        place: index % 11 == 0 ? nil : String(repeating: "é🏄", count: Int.random(in: 0...9, using: &random)))
    }
  }

  @Test func `The counts are those of a program in Python`() throws {
    let sessions = Self.random(2000).filter { session in session.date.map { $0 < 400_000_000 } ?? true }
    let profile = try ReportSample.profile(sessions)
    let lines = sessions.map { session in
      [session.date.map { "\($0)" }, session.rating.map { "\($0)" }, session.place].map { $0 ?? "-" }.joined(
        separator: "\t")
    }
    let answer = try python(
      """
      import sys, collections, datetime
      rows = [line.rstrip("\\n").split("\\t") for line in open(0, encoding="utf-8")]
      start = datetime.datetime(2001, 1, 1)
      def month(text):
          date = start + datetime.timedelta(seconds=float(text))
          return f"{date.year:04}-{date.month:02}"
      for column, read in ((0, month), (1, int), (2, str)):
          values = collections.Counter(read(row[column]) for row in rows if row[column] != "-")
          order = sorted(values.items(), key=lambda one: (-one[1], one[0].encode()) if column == 2 else one[0])
          print(sum(row[column] == "-" for row in rows), *(f"{value}={count}" for value, count in order), sep="|")
      """, input: lines.joined(separator: "\n") + "\n")
    let ours = profile.charts.map { chart in
      (["\(chart.empty)"] + chart.counts.map { "\($0.value)=\($0.entries)" }).joined(separator: "|")
    }
    #expect(ours == answer.split(separator: "\n").map(String.init))
    #expect(profile.charts.map(\.attribute) == ["date", "rating", "location"])
    #expect(profile.charts.map(\.kind) == [.months, .integers, .texts])
    #expect(profile.charts.allSatisfy { $0.entries == sessions.count && $0.other == 0 })
  }

  static let cuts = [0, 1, 999, 1000, 1999, 2000]

  @Test(arguments: cuts)
  func `A run that was interrupted ends with the counts of one that was not`(after cut: Int) throws {
    let sessions = Self.random(2000)
    let first = try ReportSample.profile(Array(sessions[..<cut]))
    let stored = try JSONDecoder().decode(EntryProfile.self, from: JSONEncoder().encode(first))
    var profiler = try EntryProfiler(ReportSample.definition, entity: ReportSample.entity)
    profiler.resume(stored, tallies: [:])
    #expect(profiler.profile == first)
    profiler.add(ReportSample.batch(Array(sessions[cut...])))
    #expect(try profiler.profile == ReportSample.profile(sessions))
  }

  @Test func `Values beyond the bound are gathered, those already counted go on`() throws {
    var sessions = (0..<1000).map { index in
      ReportSample.Session(date: Double(index) * 31 * 86_400, rating: Int64(index - 500), place: "place \(index)")
    }
    sessions.append(sessions[0])
    let profile = try ReportSample.profile(sessions)
    #expect(profile.charts.map(\.counts.count) == [600, 200, 200])
    #expect(profile.charts.allSatisfy { $0.entries == 1001 && $0.empty == 0 })
    #expect(profile.charts[2].counts.first == .init("place 0", 2))
    #expect(profile.charts[1].counts.first == .init("-500", 2))
    var resumed = try EntryProfiler(ReportSample.definition, entity: ReportSample.entity)
    resumed.resume(profile, tallies: [:])
    resumed.add(ReportSample.batch([sessions[999], sessions[1]]))
    #expect(resumed.profile.charts.map(\.other) == profile.charts.map { $0.other + 1 })
  }

  static let edges: [(seconds: Double, month: String?)] = [
    (0, "2001-01"), (-0.001, "2000-12"), (-978_307_200, "1970-01"), (-978_307_200.5, "1969-12"),
    (-63_113_904_000, "0001-01"), (-63_113_904_001, nil), (252_423_993_599, "9999-12"), (252_423_993_600, nil),
    (.nan, nil), (.infinity, nil), (-.greatestFiniteMagnitude, nil), (94_607_999, "2003-12"), (99_792_000, "2004-03"),
    (99_791_999, "2004-02"),
  ]

  @Test(arguments: edges)
  func `A month begins at its first second, and what is not a moment of the calendar has none`(
    seconds: Double, month: String?
  ) throws {
    let chart = try ReportSample.profile([ReportSample.Session(date: seconds)]).charts[0]
    #expect(chart.counts.map(\.value) == (month.map { [$0] } ?? []))
    #expect(chart.other == (month == nil ? 1 : 0))
  }

  @Test func `A text longer than the bound is one of the others, an empty one is a value`() throws {
    let texts = ["", String(repeating: "x", count: 256), String(repeating: "x", count: 257), "\0", "\0\0"]
    let chart = try ReportSample.profile(texts.map { ReportSample.Session(place: $0) }).charts[2]
    #expect(Set(chart.counts.map(\.value)) == ["", texts[1], "\0", "\0\0"])
    #expect((chart.other, chart.empty) == (1, 0))
  }

  @Test func `Some rows of a batch may be counted alone`() throws {
    let sessions = Self.random(100)
    var profiler = try EntryProfiler(ReportSample.definition, entity: ReportSample.entity)
    profiler.add(ReportSample.batch(sessions), rows: [3, 99, 40])
    #expect(try profiler.profile == ReportSample.profile([sessions[3], sessions[99], sessions[40]]))
  }

  @Test func `Without charts of its own a pipeline shows its first date and its whole numbers`() throws {
    func attributes(_ definition: PipelineDefinition) throws -> [String] {
      try EntryProfiler(definition, entity: ReportSample.entity).profile.charts.map(\.attribute)
    }
    #expect(try attributes(.plain()) == ["date", "rating"])
    #expect(try attributes(.plain { $0.charts = [] }).isEmpty)
    #expect(try attributes(.plain { $0.charts = ["location"] }) == ["location"])
  }

  @Test func `A chart of nothing that can be drawn is refused by its path`() throws {
    let height = NSAttributeDescription()
    height.name = "metres"
    height.attributeType = .doubleAttributeType
    let model = NSManagedObjectModel()
    let other = NSEntityDescription()
    other.name = "JournalEntry"
    other.properties = [height]
    model.entities = [other]
    let wrong = PipelineDefinition.plain { $0.charts = ["date", "metre", "metres"] }
    let error = #expect(throws: PipelineError.self) { try EntryProfiler(wrong, entity: other) }
    #expect(error?.mistakes.map(\.path) == ["charts[0]", "charts[1]", "charts[2]"])
    #expect(error?.mistakes[2].message.hasPrefix("no chart can be made of 'metres'") == true)
  }
}
