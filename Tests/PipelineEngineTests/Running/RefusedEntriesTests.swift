import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

// A save that fails above the import context is rolled back at every level; the records at fault are named and
// rejected and the rest of the chunk is saved.

@Suite("Entries that the model or the store refuses are rejected, and the rest of their chunk is saved")
struct RefusedEntriesTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("A uniqueness constraint of the store", arguments: RunOptions.ContextChain.allCases)
  func uniqueness(chain: RunOptions.ContextChain) async throws {
    let input = try folder.write(
      """
      date,location,rating
      2020-01-01,A,1
      2020-01-02,B,2
      2020-01-03,A,3
      2020-01-04,C,4
      2020-01-05,B,5
      2020-01-06,A,1
      2020-01-07,D,2

      """, to: "log.csv")
    let store = folder.path("store.sqlite")
    let summary = try await run(
      .plain { $0.chunkRows = 100 }, .import, inputs: [input], store: store, model: RunModel.make(unique: ["location"])
    ) { $0.contextChain = chain }
    #expect(summary.counts == RunCounts(read: 7, inserted: 4, rejected: 3))
    #expect(summary.issues.listed.map(\.record) == [3, 5, 6])
    #expect(Set(summary.issues.listed.map(\.code)) == [.storeConstraint])
    #expect(try sqlite(store, "SELECT Z_PK, ZLOCATION FROM ZJOURNALENTRY") == "1|A\n2|B\n3|C\n4|D")
    #expect(try sqlite(store, "SELECT Z_MAX FROM Z_PRIMARYKEY") == "4")
    #expect(
      try folder.text("log.csv.rejects.csv")
        == "date,location,rating\n2020-01-03,A,3\n2020-01-05,B,5\n2020-01-06,A,1\n")
  }

  @Test("A bound of the model", arguments: RunOptions.ContextChain.allCases)
  func modelBound(chain: RunOptions.ContextChain) async throws {
    let input = try folder.write(
      "date,location,rating\n2020-01-01,A,1\n2020-01-02,B,9\n2020-01-03,C,3\n2020-01-04,D,8\n", to: "log.csv")
    let store = folder.path("store.sqlite")
    let summary = try await run(.plain(), .import, inputs: [input], store: store, model: RunModel.make(ratingMax: 5)) {
      $0.contextChain = chain
    }
    #expect(summary.counts == RunCounts(read: 4, inserted: 2, rejected: 2))
    #expect(summary.issues.counts == [.modelError: 2])
    #expect(try sqlite(store, "SELECT Z_PK, ZLOCATION FROM ZJOURNALENTRY") == "1|A\n2|C")
  }

  @Test("A trigger in the store's file")
  func trigger() async throws {
    let store = folder.path("store.sqlite")
    let first = try folder.write(log(2).replacingOccurrences(of: "Spot", with: "Beach"), to: "first.csv")
    _ = try await run(.plain(), .import, inputs: [first], store: store)
    _ = try sqlite(
      store,
      """
      CREATE TRIGGER refuse BEFORE INSERT ON ZJOURNALENTRY WHEN NEW.ZRATING = 3
      BEGIN SELECT RAISE(ABORT, 'no threes today'); END
      """)
    let summary = try await run(.plain(), .import, inputs: [try folder.write(log(10), to: "log.csv")], store: store)
    #expect(summary.counts == RunCounts(read: 10, inserted: 8, rejected: 2))
    #expect(summary.issues.listed.allSatisfy { $0.message.contains("no threes today") })
    #expect(try sqlite(store, "SELECT count(*), max(Z_PK) FROM ZJOURNALENTRY") == "10|10")
  }

  @Test("With the policy to stop, the run ends at the first refused entry")
  func stops() async throws {
    let input = try folder.write(
      "date,location,rating\n2020-01-01,A,1\n2020-01-02,A,2\n2020-01-03,C,3\n", to: "log.csv")
    let store = folder.path("store.sqlite")
    let summary = try await run(
      .plain { $0.errorPolicy = .stop }, .import, inputs: [input], store: store,
      model: RunModel.make(unique: ["location"]))
    #expect(summary.outcome == .stopped)
    #expect(summary.counts == RunCounts())
    #expect(summary.issues.counts == [.storeConstraint: 1])
    #expect(summary.issues.listed.map(\.record) == [2])
    #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "0")
  }
}
