import DefinitionTestSupport
import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

// What an export promises: one snapshot, any order and choice, the whole file or none.

@Suite("An export writes what the store holds, whole or not at all")
struct ExportRunTests {
  private let folder: TemporaryFolder
  private let store: String
  init() async throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
    let text = """
      date,location,rating
      2020-01-03T06:30:00Z,"Queens, Waikiki",5
      2020-01-01,"Todos Santos, ""Killers\""",1
      2020-01-02T00:00:00.25Z,,3
      2019-12-31T23:59:59Z,Kauaʻi,

      """
    let summary = try await run(.plain(), .import, inputs: [try folder.write(text, to: "in.csv")], store: store)
    try #require(summary.counts.inserted == 4)
    // Entries without a date are part of every store that the app writes.
    _ = try sqlite(store, "INSERT INTO ZJOURNALENTRY(Z_PK, Z_ENT, Z_OPT, ZRATING) VALUES(5, 1, 1, 2)")
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let id: String
    let change: @Sendable (inout ExportDefinition) -> Void
    let output: String
    var testDescription: String { id }
  }

  static let cases: [Case] = [
    Case(
      id: "everything by key", change: { $0.columns = [.init("date"), .init("location"), .init("rating")] },
      output: """
        date,location,rating
        2020-01-03T06:30:00Z,"Queens, Waikiki",5
        2020-01-01T00:00:00Z,"Todos Santos, ""Killers\""",1
        2020-01-02T00:00:00.25Z,,3
        2019-12-31T23:59:59Z,Kauaʻi,
        ,,2

        """),
    Case(
      id: "sorted by date, nil first",
      change: {
        $0.columns = [.init("rating")]
        $0.sort = [.init("date")]
      }, output: "rating\n2\n\"\"\n1\n3\n5\n"),
    Case(
      id: "sorted the other way with a limit",
      change: {
        $0.columns = [.init("rating")]
        $0.sort = [.init("date", ascending: false)]
        $0.limit = 2
      }, output: "rating\n5\n3\n"),
    Case(
      id: "a predicate, renamed columns and a date format",
      change: {
        $0.columns = [.init("day", attribute: "date", format: ["dd.MM.yyyy"]), .init("stars", attribute: "rating")]
        $0.predicate = "rating >= 3 AND location != nil"
      }, output: "day,stars\n03.01.2020,5\n"),
    Case(id: "a limit of none", change: { $0.limit = 0 }, output: "date,height,location,period,rating,wind\n"),
  ]

  @Test("Columns, order, choice and formats", arguments: cases)
  func exports(_ example: Case) async throws {
    var export = ExportDefinition()
    example.change(&export)
    let summary = try await run(
      .plain {
        $0.export = export
        $0.chunkRows = 2
      }, .export, store: store
    ) { $0.output = folder.path("out.csv") }
    #expect(try folder.text("out.csv") == example.output)
    #expect(summary.exitCode == .ok)
    let lines = example.output.split(separator: "\n").count - 1
    #expect(summary.exported == lines)
  }

  @Test("Export, import and export again give the same bytes, plain and gzipped alike")
  func roundTrip() async throws {
    func export(_ store: String, _ name: String) async throws {
      _ = try await run(.plain { $0.columns[0].rules = [] }, .export, store: store) {
        $0.output = folder.path(name)
      }
    }
    try await export(store, "first.csv.gz")
    let copy = folder.path("copy.sqlite")
    _ = try await run(
      .plain { $0.columns[0].rules = [] }, .import, inputs: [folder.path("first.csv.gz")], store: copy)
    try await export(copy, "second.csv.gz")
    try await export(store, "plain.csv")
    let bytes = try ["first.csv.gz", "second.csv.gz"].map {
      try Data(contentsOf: folder.url.appendingPathComponent($0))
    }
    #expect(bytes[0] == bytes[1])
    #expect(bytes[0].starts(with: [0x1F, 0x8B]))
    #expect(try folder.text("plain.csv").hasPrefix("date,height,location,period,rating,wind\n"))
  }

  @Test("An entry that the dialect can't carry is left out and named; the others are written")
  func refusesUnquotable() async throws {
    let summary = try await run(
      .plain { $0.export = ExportDefinition(dateFormat: ["journal-app"], dialect: .journalApp) }, .export, store: store
    ) { $0.output = folder.path("app.csv") }
    #expect(try folder.text("app.csv") == "1/2/20,,,,,3\n12/31/19,,,,Kauaʻi,\n,,,,,2\n")
    #expect(summary.issues.counts == [.unwritableValue: 2])
    #expect(summary.issues.listed.first?.message.contains("p1") == true)
    #expect(summary.exitCode == .dataError)
  }

  @Test("A run that fails or is cancelled leaves an older output as it was")
  func allOrNothing() async throws {
    _ = try folder.write("older", to: "out.csv")
    var options = RunOptions()
    options.store = store
    options.output = folder.path("out.csv")
    options.model = RunModel.make()
    let runner = PipelineRunner(.plain { $0.chunkRows = 1 }, .export, options: options)
    runner.cancel()
    let summary = try await runner.run()
    #expect(summary.outcome == .cancelled)
    #expect(summary.outputs.isEmpty)
    #expect(try folder.text("out.csv") == "older")
    let missing = try await run(.plain(), .export, store: folder.path("none.sqlite")) {
      $0.output = folder.path("out.csv")
    }
    #expect(missing.exitCode == .noInput)
    #expect(try folder.text("out.csv") == "older")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("tmp") })
  }

  @Test("A store of another model is refused, and says which entities differ")
  func otherModel() async throws {
    let other = RunModel.make()
    other.entities[0].properties.removeLast()
    let summary = try await run(.plain { $0.columns = [] }, .export, store: store, model: other) {
      $0.output = folder.path("out.csv")
    }
    #expect(summary.outcome == .failed)
    #expect(summary.failure?.message.contains("JournalEntry") == true)
  }
}
