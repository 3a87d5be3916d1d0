import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("A run is compared with what its pipeline expects of all records together")
struct ExpectationTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private static func expecting(
    _ records: ExpectDefinition.Records? = nil, _ columns: [ExpectDefinition.Column] = [],
    change: (inout PipelineDefinition) -> Void = { _ in }
  ) -> PipelineDefinition {
    var expect = ExpectDefinition()
    (expect.records, expect.columns) = (records, columns)
    return .plain {
      $0.expect = expect
      change(&$0)
    }
  }

  /// Twelve records, two of them rejected: three locations, a third of ratings empty.
  private static let text =
    "date,location,rating\n"
    + (1...10).map { "2020-01-\($0 + 10),Spot \($0 % 3),\($0 % 3 == 0 ? "" : "4")\n" }.joined()
    + "never,Spot 8,1\n2020-02-30,Spot 9,2\n"

  static let cases: [(records: ExpectDefinition.Records?, column: ExpectDefinition.Column?, message: String?)] = [
    (.init(min: 12, max: 12), nil, nil),
    (.init(min: 13), nil, "12 records were read; expected at least 13"),
    (.init(max: 11), nil, "12 records were read; expected at most 11"),
    (nil, .init("rating", emptyPercentMax: 30), nil),
    (
      nil, .init("rating", emptyPercentMax: 29.9),
      "rating: 3 of 10 values are empty, 30 %; expected at most 29.9 %"
    ),
    (nil, .init("location", distinctMin: 3, distinctMax: 3), nil),
    (nil, .init("location", distinctMin: 4), "location: 3 different values; expected at least 4"),
    (nil, .init("date", distinctMax: 4), "date: at least 5 different values; expected at most 4"),
    (nil, .init("rating", distinctMin: 1, distinctMax: 1), nil),
    (nil, .init("rating", distinctMax: 0), "rating: at least 1 different value; expected at most 0"),
    (nil, .init("date", newestWithinDays: 5), nil),
    (
      nil, .init("date", newestWithinDays: 4.5),
      "date: the newest date is 2020-01-20T00:00:00Z; expected one within 4.5 days before the run"
    ),
  ]

  @Test("Each expectation, in imports and dry runs", arguments: cases)
  func each(
    one: (records: ExpectDefinition.Records?, column: ExpectDefinition.Column?, message: String?)
  ) async throws {
    let input = try folder.write(Self.text, to: "log.csv")
    let now = Date(timeIntervalSince1970: 1_579_910_400)  // 2020-01-25
    for severity in Severity.allCases {
      var (records, column) = (one.records, one.column)
      records?.severity = severity
      column?.severity = severity
      let definition = Self.expecting(records, column.map { [$0] } ?? []) { $0.chunkRows = 3 }
      for kind in [RunSummary.Kind.validate, .import] {
        let store = folder.path("\(severity)")
        let summary = try await run(definition, kind, inputs: [input], store: store) { $0.now = { now } }
        let issue = summary.issues.listed.first { $0.code == .expectationError }
        #expect(issue.map { ($0.column.map { "\($0): " } ?? "") + $0.message } == one.message)
        #expect(issue?.severity == (one.message == nil ? nil : severity))
        #expect(issue?.input == (one.message == nil ? nil : input))
        let fails = one.message != nil && severity == .error
        #expect(summary.outcome == (fails ? .failed : .completed))
        #expect(summary.exitCode == .dataError)  // Also without it: two records are rejected.
        #expect(summary.counts == RunCounts(read: 12, inserted: 10, rejected: 2))
        if let message = one.message, fails { #expect(summary.failure?.message.contains(message) == true) }
        #expect(summary.failure?.message.contains("Its entries are in the store") == (fails ? kind == .import : nil))
      }
      #expect(try sqlite(folder.path("\(severity)"), "SELECT count(*) FROM ZJOURNALENTRY") == "10")
    }
  }

  @Test("An atomic run that is not as expected saves nothing, and says so")
  func atomic() async throws {
    let input = try folder.write(log(5), to: "log.csv")
    let definition = Self.expecting(.init(min: 6)) { $0.atomic = true }
    let summary = try await run(definition, inputs: [input], store: store)
    #expect(summary.exitCode == .dataError)
    #expect(summary.counts == RunCounts())
    #expect(summary.failure?.message.hasSuffix("at least 6. Nothing of this run is in the store") == true)
    #expect(summary.issues.counts == [.expectationError: 1])
    #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "0")
    let enough = try folder.write(log(6), to: "log.csv")
    #expect(try await run(definition, inputs: [enough], store: store).exitCode == .ok)
  }

  @Test("The mean is that of the last completed imports of the pipeline, and without any the report says so")
  func mean() async throws {
    func imported(
      _ count: Int, _ name: String, lastRuns: Int = 10, change: (inout PipelineDefinition) -> Void = { _ in }
    ) async throws -> RunSummary {
      let input = try folder.write(log(count), to: name)
      let records = ExpectDefinition.Records(minPercentOfMean: 50, maxPercentOfMean: 200, lastRuns: lastRuns)
      return try await run(
        Self.expecting(records, change: change), inputs: [input], store: store, change: { $0.again = true })
    }
    let first = try await imported(40, "1.csv")
    #expect(first.exitCode == .ok)
    #expect(first.note?.contains("was not compared with earlier runs: the store's ledger has none") == true)
    #expect(try await imported(60, "2.csv").exitCode == .ok)
    let few = try await imported(24, "3.csv")
    #expect(few.failure?.message.contains("at least 50 % of 50, the mean of the last 2 runs") == true)
    // A failed run, and those of other pipelines, do not count.
    #expect(try await imported(24, "4.csv", change: { $0.name = "other" }).exitCode == .ok)
    #expect(try await imported(25, "5.csv").exitCode == .ok)
    #expect(try await imported(121, "6.csv", lastRuns: 2).failure?.message.contains("200 % of 42.5") == true)
    #expect(try await imported(50, "7.csv", lastRuns: 1).exitCode == .ok)
    let many = try await imported(101, "8.csv", lastRuns: 1)
    #expect(many.failure?.message.contains("of 50, the mean of the last run") == true)
  }

  @Test("The last run is the one that began last, also among the runs of one second, as in the history")
  func runsOfOneSecond() async throws {
    let second = Date(timeIntervalSinceReferenceDate: 700_000_000)
    // The clock was set back between the first two.
    for (count, name, fraction) in [(40, "1.csv", 0.9), (60, "2.csv", 0.1), (25, "3.csv", 0.95)] {
      let input = try folder.write(log(count), to: name)
      let definition = Self.expecting(.init(minPercentOfMean: 50, lastRuns: 1))
      let summary = try await run(definition, inputs: [input], store: store) { options in
        options.again = true
        options.now = { second.addingTimeInterval(fraction) }
      }
      #expect(summary.exitCode == .ok, "\(name): \(summary.failure?.message ?? "")")
    }
    let runs = try LedgerHistory(store: store, vocabulary: .journal).runs
    #expect(runs.map(\.counts?.read) == [25, 40, 60])
  }

  @Test("A run that reads nothing new is not compared")
  func nothingNew() async throws {
    let input = try folder.write(log(5), to: "log.csv")
    let definition = Self.expecting(.init(min: 1, max: 5))
    #expect(try await run(definition, inputs: [input], store: store).exitCode == .ok)
    let again = try await run(definition, inputs: [input], store: store)
    #expect(again.exitCode == .ok)
    #expect(again.note?.contains("nothing new was read") == true)
    let empty = try folder.write("date,location,rating\n", to: "empty.csv")
    #expect(try await run(definition, inputs: [empty], store: store).exitCode == .dataError)
  }

  @Test("The statistics are those of a brute-force count, over any inputs and chunks", .seeded)
  func model() async throws {
    var random = Randomness.generator()
    for round in 0..<TestLength.rounds(15, long: 300) {
      var values: [(location: String, rating: String)] = []
      var inputs: [String] = []
      for part in 0..<Int.random(in: 1...3, using: &random) {
        let rows = (0..<Int.random(in: 0...40, using: &random)).map { _ -> (String, String) in
          let location = ["", "  ", "A", "B", "É", "Z1", "Z2", "Z3", "Z4"].randomElement(using: &random) ?? ""
          return (location, ["", "1", "5"].randomElement(using: &random) ?? "")
        }
        values += rows.map { ($0.0, $0.1) }
        let lines = rows.enumerated().map { "2020-01-01T00:\($0 + 10):\(part + 10)Z,\($1.0),\($1.1)\n" }
        inputs.append(try folder.write("date,location,rating\n" + lines.joined(), to: "\(round)-\(part).csv"))
      }
      let locations = Set(values.map(\.location).filter { !$0.allSatisfy(\.isWhitespace) }).count
      let empty = values.count { $0.rating.isEmpty }
      let bound = Int.random(in: 0...12, using: &random)
      let percent = Double(Int.random(in: 0...100, using: &random))
      let columns = [
        ExpectDefinition.Column("location", distinctMin: bound, distinctMax: bound),
        ExpectDefinition.Column("rating", emptyPercentMax: percent),
      ]
      let definition = Self.expecting(nil, columns) { $0.chunkRows = Int.random(in: 1...20, using: &random) }
      let summary = try await run(definition, inputs: inputs, store: folder.path("\(round)"))
      let found = summary.issues.listed.filter { $0.code == .expectationError }.map(\.message)
      var expected: [String] = []
      let different = "\(locations) different value\(locations == 1 ? "" : "s")"
      if locations < bound { expected.append("\(different); expected at least \(bound)") }
      if locations > bound {
        expected.append("at least \(bound + 1) different value\(bound == 0 ? "" : "s"); expected at most \(bound)")
      }
      #expect(found.filter { $0.contains("different") } == expected)
      #expect(found.contains { $0.contains("empty") } == (Double(empty) * 100 > percent * Double(values.count)))
    }
  }
}
