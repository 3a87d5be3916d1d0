import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

// The promises of an import: every record is accounted for, file order is kept, chunks are whole, refused entries are
// named and the rest is saved, the policy is obeyed.

@Suite("An import accounts for every record and keeps the file's order")
struct ImportRunTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test(
    "The store is the same through one context and through three, whatever the chunk and what notifications carry",
    arguments: [1, 7, 100, 5000], [ChangeNotificationContents.objectIDs, .objects])
  func chainsAgree(chunkRows: Int, contents: ChangeNotificationContents) async throws {
    let input = try folder.write(log(100), to: "log.csv")
    var dumps: Set<String> = []
    for chain in RunOptions.ContextChain.allCases {
      let store = folder.path("\(chain).sqlite")
      let summary = try await run(.plain { $0.chunkRows = chunkRows }, .import, inputs: [input], store: store) {
        $0.contextChain = chain
        $0.notificationContents = contents
      }
      #expect(summary.counts == RunCounts(read: 100, inserted: 100))
      #expect(summary.exitCode == .ok)
      dumps.insert(try sqlite(store, "SELECT * FROM ZJOURNALENTRY; SELECT * FROM Z_PRIMARYKEY"))
    }
    #expect(dumps.count == 1)
    let rows = try #require(dumps.first).split(separator: "\n")
    #expect(rows.count == 101)
    #expect(rows.first?.hasPrefix("1|1|1|1|") == true)
    #expect(rows[99].hasPrefix("100|1|1|5|"))
    #expect(rows[99].contains("|Spot 99|"))
  }

  @Test("A second import goes on with the keys where the first ended")
  func keysContinue() async throws {
    let input = try folder.write(log(10), to: "log.csv")
    let store = folder.path("store.sqlite")
    for _ in 0..<2 { _ = try await run(.plain(), .import, inputs: [input], store: store) { $0.again = true } }
    #expect(try sqlite(store, "SELECT count(*), min(Z_PK), max(Z_PK) FROM ZJOURNALENTRY") == "20|1|20")
    #expect(try sqlite(store, "SELECT Z_MAX FROM Z_PRIMARYKEY") == "20")
  }

  @Test("Bad records are rejected as their original bytes and leave no gap in the keys")
  func rejects() async throws {
    let input = try folder.write(
      "date,location,rating\r\n2020-01-01,A,1\r\nsoon,\"B, b\",2\r\n2020-01-03,C,x\r\n2020-01-04,D,4", to: "log.csv")
    let store = folder.path("store.sqlite")
    let summary = try await run(.plain(), .import, inputs: [input], store: store)
    #expect(summary.counts == RunCounts(read: 4, inserted: 2, rejected: 2))
    #expect(summary.exitCode == .dataError)
    #expect(summary.issues.listed.map(\.code) == [.typeError, .typeError])
    #expect(summary.issues.listed.map(\.line) == [3, 4])
    #expect(summary.issues.listed.map(\.record) == [2, 3])
    #expect(summary.rejects == folder.path("log.csv.rejects.csv"))
    #expect(
      try folder.text("log.csv.rejects.csv")
        == "date,location,rating\r\nsoon,\"B, b\",2\r\n2020-01-03,C,x\r\n")
    #expect(try sqlite(store, "SELECT Z_PK, ZLOCATION FROM ZJOURNALENTRY") == "1|A\n2|D")
  }

  @Test("A corrected file of rejects can be imported as it is")
  func rejectsReplay() async throws {
    let input = try folder.write("rating,date,location\n1,bad,A\n2,2020-01-02,B\n", to: "log.csv")
    let store = folder.path("store.sqlite")
    _ = try await run(.plain(), .import, inputs: [input], store: store)
    let mended = try folder.text("log.csv.rejects.csv").replacingOccurrences(of: "bad", with: "2020-01-01")
    let summary = try await run(.plain(), .import, inputs: [try folder.write(mended, to: "mended.csv")], store: store)
    #expect(summary.counts == RunCounts(read: 1, inserted: 1))
    #expect(try sqlite(store, "SELECT ZLOCATION FROM ZJOURNALENTRY ORDER BY ZDATE") == "A\nB")
  }

  @Test("With the policy to stop, whole chunks before the fault are saved and nothing of the faulty one")
  func stops() async throws {
    let input = try folder.write(log(12) + "never,X,1\n" + "2020-02-01,Y,1\n", to: "log.csv")
    let store = folder.path("store.sqlite")
    let definition = PipelineDefinition.plain {
      $0.errorPolicy = .stop
      $0.chunkRows = 5
    }
    let summary = try await run(definition, .import, inputs: [input], store: store)
    #expect(summary.outcome == .stopped)
    #expect(summary.counts == RunCounts(read: 10, inserted: 10))
    #expect(summary.issues.counts == [.typeError: 1])
    #expect(
      summary.stopReason
        == "a record was rejected, and the pipeline tolerates none; only records 1 to 10 of \(input) were imported")
    #expect(summary.exitCode == .dataError)
    #expect(try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") == "10")
  }

  @Test(
    "Of records with one key the first is taken, also when keys spill to a temporary database", arguments: [1, 1000])
  func duplicates(keysInMemoryMax: Int) async throws {
    let input = try folder.write(
      log(30) + log(30).split(separator: "\n").dropFirst().joined(separator: "\n"), to: "log.csv")
    let definition = PipelineDefinition.plain {
      $0.key = ["date", "location"]
      $0.chunkRows = 7
      $0.limits.keysInMemoryMax = keysInMemoryMax
    }
    let store = folder.path("store.sqlite")
    let summary = try await run(definition, .import, inputs: [input], store: store)
    #expect(summary.counts == RunCounts(read: 60, inserted: 30, rejected: 30))
    #expect(summary.issues.counts == [.primaryKey: 30])
    #expect(
      summary.issues.listed.first?.message
        == "an earlier record of this input has the same key (date, location); remove one of the two")
    #expect(try sqlite(store, "SELECT count(*), max(Z_PK) FROM ZJOURNALENTRY") == "30|30")
  }

  @Test("Several inputs are one run; one that is missing does not keep the others out")
  func severalInputs() async throws {
    let first = try folder.write(log(3), to: "a.csv")
    let second = try folder.write(log(4).replacingOccurrences(of: "Spot", with: "Beach"), to: "b.csv")
    let store = folder.path("store.sqlite")
    let summary = try await run(
      .plain(), .import, inputs: [first, folder.path("missing.csv"), second], store: store)
    #expect(summary.counts == RunCounts(read: 7, inserted: 7))
    #expect(summary.outcome == .failed)
    #expect(summary.exitCode == .noInput)
    #expect(summary.issues.counts == [.sourceError: 1])
    #expect(summary.inputs.map(\.records) == [3, 4])
  }

  @Test("A header may have any order and case; a missing required column makes the file unusable")
  func headers() async throws {
    let good = try folder.write("RATING, Location ,DATE\n3,A,2020-01-01\n", to: "good.csv")
    let store = folder.path("store.sqlite")
    #expect(try await run(.plain(), .import, inputs: [good], store: store).counts == RunCounts(read: 1, inserted: 1))
    let bad = try folder.write("rating,location\n3,A\n", to: "bad.csv")
    let summary = try await run(.plain(), .import, inputs: [bad], store: store)
    #expect(summary.outcome == .failed)
    #expect(summary.issues.counts[.missingLabel] == 1)
    #expect(summary.exitCode == .dataError)
  }

  @Test("A run that is cancelled before it begins leaves nothing behind")
  func cancels() async throws {
    let input = try folder.write(log(500), to: "log.csv")
    var options = RunOptions()
    options.inputs = [input]
    options.store = folder.path("store.sqlite")
    options.model = RunModel.make()
    let runner = PipelineRunner(.plain { $0.chunkRows = 50 }, .import, options: options)
    runner.cancel()
    let summary = try await runner.run()
    #expect(summary.outcome == .cancelled)
    #expect(summary.exitCode == .temporaryFailure)
    #expect(summary.counts == RunCounts())
    #expect(!FileManager.default.fileExists(atPath: folder.path("store.sqlite")))
  }

  @Test("Progress ends with the run and never runs ahead of what was saved")
  func progress() async throws {
    let input = try folder.write(log(200), to: "log.csv")
    var options = RunOptions()
    options.inputs = [input]
    options.store = folder.path("store.sqlite")
    options.model = RunModel.make()
    let runner = PipelineRunner(.plain { $0.chunkRows = 10 }, .import, options: options)
    let steps = Task {
      var seen: [Int] = []
      for await step in runner.progress { seen.append(step.records) }
      return seen
    }
    _ = try await runner.run()
    let seen = await steps.value
    #expect(seen == seen.sorted())
    #expect(seen.last == 200)
  }
}
