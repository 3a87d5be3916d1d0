import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("A compacted ledger forgets what it may, and never lets a record in twice without saying so")
struct LedgerCompactionTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private static let start = Date(timeIntervalSinceReferenceDate: 400_000_000)

  private static let keyed = PipelineDefinition.plain {
    $0.key = ["date", "location"]
    $0.duplicates = .update(columns: nil)
  }

  private func load(
    _ name: String, _ definition: PipelineDefinition = .plain(), day: Int, change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    try await run(definition, .import, inputs: [folder.path(name)], store: store) { options in
      options.now = { Self.start.addingTimeInterval(86_400 * Double(day)) }
      change(&options)
    }
  }

  private func compact(history: Int, inputs: Int? = nil, day: Int) throws -> LedgerHistory.Compaction? {
    try LedgerHistory.compact(
      store: store, vocabulary: .journal, historyDays: history, inputsDays: inputs,
      now: Self.start.addingTimeInterval(86_400 * Double(day)))
  }

  /// `count` records of one file, none of them in another.
  private func write(_ name: String, _ count: Int = 3) throws {
    var text = "date,location,rating\n"
    for index in 0..<count { text += "2020-01-0\(index % 9 + 1),\(name) \(index),\(index % 5 + 1)\n" }
    try folder.write(text, to: name)
  }

  private var rows: String { get throws { try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") } }

  @Test func `Without its history an input is still known, and can't be undone or replaced`() async throws {
    for (day, name) in ["a.csv", "b.csv"].enumerated() {
      try write(name)
      #expect(try await load(name, day: day * 100).counts.inserted == 3)
    }
    #expect(try compact(history: 50, day: 101)?.inputs == 2)
    #expect(try sqlite(store, "SELECT group_concat(inputID) FROM SJ_INSERTED") == "2")
    #expect(try await load("a.csv", day: 102).isNothingNew)
    let undo = #expect(throws: StoreUndo.Failure.self) {
      try StoreUndo(store: store, [folder.path("a.csv")], vocabulary: .journal)
    }
    #expect(undo?.description.contains("compacted") == true)
    try write("a.csv", 4)
    let refused = try await load("a.csv", day: 103)
    // Advice that can be followed: there is nothing left to replace by.
    #expect(refused.failure?.message.contains("--replace") == false, "\(refused.failure?.message ?? "")")
    #expect(refused.failure?.message.contains("--only-new") == true)
    let replaced = try await load("a.csv", day: 103) { $0.changedInputs = .replace }
    #expect(replaced.failure?.message.contains("compacted") == true)
    #expect(try rows == "6")
    #expect(try await load("a.csv", day: 103) { $0.changedInputs = .onlyNew }.counts.inserted == 1)
    try StoreUndo(store: store, [folder.path("b.csv")], vocabulary: .journal).apply()
    #expect(try rows == "4")
  }

  @Test func `Updates whose former values are gone are not undone`() async throws {
    try folder.write("date,location,rating\n2020-01-01,A,1\n", to: "a.csv")
    try folder.write("date,location,rating\n2020-01-01,A,2\n", to: "b.csv")
    _ = try await load("a.csv", Self.keyed, day: 0)
    #expect(try await load("b.csv", Self.keyed, day: 1).counts.updated == 1)
    _ = try compact(history: 10, day: 20)
    #expect(throws: StoreUndo.Failure.self) {
      try StoreUndo(store: store, [folder.path("b.csv")], vocabulary: .journal)
    }
    #expect(try sqlite(store, "SELECT ZRATING FROM ZJOURNALENTRY") == "2")
  }

  @Test func `A forgotten input is recognised by its key, or refused for its records`() async throws {
    for name in ["a.csv", "b.csv", "c.csv"] {
      try write(name)
      _ = try await load(name, Self.keyed, day: 0)
    }
    #expect(try compact(history: 10, inputs: 20, day: 30)?.inputsRemoved == 0, "each is the last of its file")
    _ = try sqlite(store, "UPDATE SJ_INPUT SET location = NULL")
    #expect(try compact(history: 10, inputs: 20, day: 30)?.inputsRemoved == 2)
    let again = try await load("a.csv", Self.keyed, day: 31)
    #expect(again.counts == RunCounts(read: 3, unchanged: 3))
    let refused = try await load("b.csv", day: 31)
    #expect(refused.issues.counts == [.inputRefused: 1])
    #expect(try rows == "9")
  }

  @Test func `What is unfinished or was not reported stays, and so do the newest runs`() async throws {
    for number in 0..<5 {
      try write("\(number).csv")
      _ = try await load("\(number).csv", day: number)
    }
    _ = try sqlite(store, "UPDATE SJ_INPUT SET state = 'partial', location = NULL WHERE inputID = 1")
    _ = try sqlite(store, "UPDATE SJ_INPUT SET state = 'unreported', location = NULL WHERE inputID = 2")
    #expect(try compact(history: 1, inputs: 1, day: 1000)?.runs == 5)
    #expect(try sqlite(store, "SELECT count(*) FROM SJ_INPUT WHERE inputID <= 2") == "2")
    #expect(try sqlite(store, "SELECT group_concat(inputID) FROM SJ_INSERTED WHERE inputID <= 2") == "1,2")
    _ = try sqlite(
      store,
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO SJ_RUN (runID, pipeline, kind, startedAt, outcome)
        SELECT 'r' || i, 'p', 'import', '2000-01-01T00:00:00Z', 'completed' FROM n
      """)
    #expect(try compact(history: 1, day: 1000)?.runs == 100)
  }

  @Test func `A pipeline's limits bound the ledger at the end of each run`() async throws {
    let definition = PipelineDefinition.plain {
      $0.key = ["date", "location"]
      $0.duplicates = .skip
      $0.limits.historyDays = 5
      $0.limits.inputsDays = 10
    }
    for day in 0..<40 {
      try write("n.csv", 1)
      try folder.write(try folder.text("n.csv") + "2021-01-01,night \(day),1\n", to: "n.csv")
      _ = try await load("n.csv", definition, day: day)
    }
    #expect(try sqlite(store, "SELECT count(*) FROM SJ_INPUT") == "11")
    #expect(try sqlite(store, "SELECT count(*) FROM SJ_INSERTED") == "6")
  }

  @Test func `The ledger of an earlier layout is not compacted, and the advice helps`() async throws {
    try write("a.csv")
    _ = try await load("a.csv", day: 0)
    _ = try sqlite(
      store,
      """
      DROP TABLE SJ_INSERTED; DROP TABLE SJ_OVERWRITTEN; DROP TABLE SJ_RESTORED; DROP TABLE SJ_LINKED;
      UPDATE SJ_LEDGER SET version = 1;
      ALTER TABLE SJ_RUN DROP COLUMN repeated; ALTER TABLE SJ_RUN DROP COLUMN message;
      ALTER TABLE SJ_RUN DROP COLUMN began;
      ALTER TABLE SJ_INPUT DROP COLUMN repeated;
      ALTER TABLE SJ_INPUT DROP COLUMN header; ALTER TABLE SJ_INPUT DROP COLUMN firstRecord;
      ALTER TABLE SJ_INPUT DROP COLUMN location
      """)
    let refused = #expect(throws: LedgerAccessError.self) { try compact(history: 1, day: 9) }
    #expect(refused?.description.contains("import something into it first") == true)
    try write("b.csv")
    _ = try await load("b.csv", day: 1)
    #expect(try compact(history: 1, day: 9)?.inputs == 2)
    #expect(try await load("a.csv", day: 10).isNothingNew)
  }

  @Test func `The history of many runs is listed without a pass over the inputs for each`() async throws {
    try write("a.csv")
    _ = try await load("a.csv", day: 0)
    let tables = LedgerTables(.journal)
    let plan = try sqlite(
      store, "EXPLAIN QUERY PLAN SELECT runID FROM \(tables.run) \(tables.joinedLastInput) ORDER BY lastInput")
    #expect(!plan.contains("CORRELATED"), "\(plan)")
    _ = try sqlite(
      store,
      """
      WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO SJ_RUN (runID, pipeline, kind, startedAt, outcome)
        SELECT 'r' || i, 'p', 'import', '2000-01-01T00:00:00Z', 'completed' FROM n;
      CREATE TEMP TABLE model AS SELECT * FROM SJ_INPUT;
      UPDATE model SET location = NULL;
      WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
      INSERT INTO SJ_INPUT SELECT i, 'r' || i, pipeline, pipelineDigest, entity, 'f' || i, state, record, line, byte,
        contentHash, headBytes, headHash, endsOpen, storedBytes, rejectsPath, rejectsBytes, rejectsDetailBytes,
        rejectsCount, baseKey, recordsRead, inserted, updated, unchanged, duplicate, rejected, tally, savedAt, repeated,
        header, firstRecord, location FROM n, model
      """)
    let history = try LedgerHistory(store: store, vocabulary: .journal)
    #expect(history.runs.count == 10_000)
    #expect(history.runs.allSatisfy { $0.inputs.count == 1 })
    #expect(history.runs.dropFirst().first?.inputs.first?.path == "f10000")
  }
}
