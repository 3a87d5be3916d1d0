import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("Runs that fail, are stopped or are cancelled are in the ledger, with the reason")
struct FailedRunTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private static let start = Date(timeIntervalSinceReferenceDate: 500_000_000)

  private func load(
    _ names: String..., definition: PipelineDefinition = .plain(), day: Int = 1,
    change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    try await run(definition, .import, inputs: names.map(folder.path), store: store) { options in
      options.now = { Self.start.addingTimeInterval(86_400 * Double(day)) }
      change(&options)
    }
  }

  private var history: LedgerHistory { get throws { try LedgerHistory(store: store, vocabulary: .journal) } }

  private func loadFirst() async throws {
    try folder.write(log(3), to: "good.csv")
    #expect(try await load("good.csv", day: 0).exitCode == .ok)
  }

  @Test func `A file that is missing, empty or without the required column`() async throws {
    try await loadFirst()
    try folder.write("", to: "empty.csv")
    try folder.write("place\nRincon\n", to: "other.csv")
    for (day, name) in ["missing.csv", "empty.csv", "other.csv"].enumerated() {
      let summary = try await load(name, day: day + 1)
      #expect(summary.outcome == .failed)
      let newest = try #require(try history.runs.first)
      #expect(newest.run == summary.run)
      #expect((newest.outcome, newest.exitCode) == ("failed", Int(summary.exitCode.rawValue)))
      #expect(newest.message == summary.failure?.message && newest.message?.contains(name) == true)
      #expect(newest.inputs.isEmpty)
      #expect(newest.endedAt != nil && newest.counts == summary.counts)
    }
    #expect(try history.runs.map(\.outcome) == ["failed", "failed", "failed", "completed"])
    #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "3")
  }

  @Test(arguments: [false, true])
  func `A run that the error budget stops before its first save, and one that is rolled back`(
    _ isAtomic: Bool
  ) async throws {
    try await loadFirst()
    try folder.write("date,location,rating\n2020-02-01,A,1\nnever,B,2\n", to: "bad.csv")
    let summary = try await load(
      "bad.csv",
      definition: .plain {
        $0.errorPolicy = .stop
        $0.atomic = isAtomic
      })
    #expect(summary.outcome == .stopped)
    let newest = try #require(try history.runs.first)
    #expect((newest.outcome, newest.message) == ("stopped", summary.stopReason))
    #expect(newest.exitCode == 65)
  }

  @Test func `The first run on a store without entries, and none on a store of entries that no run has imported`()
    async throws
  {
    try folder.write("date,location,rating\nnever,B,2\n", to: "bad.csv")
    let strict = PipelineDefinition.plain { $0.errorPolicy = .stop }
    #expect(try await load("bad.csv", definition: strict, day: -1).outcome == .stopped)
    #expect(try history.runs.map(\.outcome) == ["stopped"])
    try await loadFirst()
    #expect(try history.runs.map(\.outcome) == ["completed", "stopped"])
    #expect(try LedgerHistory.drop(store: store, vocabulary: .journal))
    #expect(try await load("bad.csv", definition: strict, day: 2).outcome == .stopped)
    #expect(try sqlite(store, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'SJ%'") == "0")
  }

  @Test func `A run that is cancelled before its first save`() async throws {
    try await loadFirst()
    try folder.write(log(5), to: "more.csv")
    var options = RunOptions()
    (options.inputs, options.store, options.model) = ([folder.path("more.csv")], store, RunModel.make())
    let runner = PipelineRunner(.plain(), .import, options: options)
    runner.cancel()
    #expect(try await runner.run().outcome == .cancelled)
    #expect(try history.runs.first?.outcome == "cancelled")
  }

  @Test func `A failed run has no part in what later runs are compared with, and none in an undo`() async throws {
    try await loadFirst()
    _ = try await load("missing.csv")
    try StoreUndo(store: store, vocabulary: .journal).apply()
    #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "0")
    #expect(try history.runs.map(\.outcome) == ["failed", "undone"])
  }

  @Test func `A store without a ledger, a run with nothing to do, and a dry run change nothing`() async throws {
    _ = try await load("missing.csv")
    #expect(!folder.exists("store.sqlite"))
    try folder.write("not a store", to: "store.sqlite")
    _ = try await load("missing.csv")
    #expect(try folder.text("store.sqlite") == "not a store")
    try FileManager.default.removeItem(atPath: store)
    try await loadFirst()
    let before = try folder.data("store.sqlite")
    #expect(try await load("good.csv").isNothingNew)
    _ = try await run(.plain(), .validate, inputs: [folder.path("missing.csv")], store: store)
    #expect(try folder.data("store.sqlite") == before)
  }

  @Test func `The ledger of the layout before is read, and brought up to date by a failed run too`() async throws {
    try await loadFirst()
    _ = try sqlite(
      store,
      "UPDATE SJ_LEDGER SET version = 3; ALTER TABLE SJ_RUN DROP COLUMN message; ALTER TABLE SJ_RUN DROP COLUMN began")
    #expect(try history.runs.map(\.message) == [nil])
    _ = try await load("missing.csv")
    #expect(try history.runs.map { $0.message != nil } == [true, false])
    #expect(try sqlite(store, "SELECT version FROM SJ_LEDGER") == "4")
  }
}
