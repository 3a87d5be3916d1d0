import DefinitionTestSupport
import Foundation
import OpenCoreData
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("An input goes into a store once, however often it is given and however far it came")
struct ExactlyOnceTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private var rows: String {
    get throws { try sqlite(store, "SELECT count(*) FROM ZJOURNALENTRY") }
  }

  private func places() throws -> [String] {
    try sqlite(store, "SELECT ZLOCATION FROM ZJOURNALENTRY ORDER BY Z_PK").split(separator: "\n").map(String.init)
  }

  @Test("A known input does nothing, says so, and leaves the store byte for byte as it was")
  func known() async throws {
    let input = try folder.write(log(100), to: "log.csv")
    #expect(try await run(.plain(), .import, inputs: [input], store: store).inputs.map(\.state) == [.imported])
    let before = try Data(contentsOf: URL(fileURLWithPath: store))
    for kind in [RunSummary.Kind.import, .validate] {
      let second = try await run(.plain(), kind, inputs: [input], store: store)
      #expect(second.outcome == .completed)
      #expect(second.exitCode == .ok)
      #expect(second.isNothingNew)
      #expect(second.inputs.map(\.state) == [.known])
      #expect(second.inputs.first?.importedAt != nil)
      #expect(second.counts == RunCounts())
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
  }

  @Test("An input is known by its content, not by its name or its packing")
  func knownByContent() async throws {
    _ = try await run(.plain(), .import, inputs: [try folder.write(log(5000), to: "log.csv")], store: store)
    let other = try folder.write(log(5000), to: "renamed.csv")
    #expect(try await run(.plain(), .import, inputs: [other], store: store).inputs.map(\.state) == [.known])
    try gzip(other)
    #expect(try await run(.plain(), .import, inputs: [other + ".gz"], store: store).inputs.map(\.state) == [.known])
    #expect(try rows == "5000")
  }

  @Test("Content that differs anywhere is another input", arguments: [30, 100_000])
  func otherContent(byte: Int) async throws {
    var bytes = Array(log(5000).utf8)
    let first = try folder.write(String(decoding: bytes, as: UTF8.self), to: "a.csv")
    _ = try await run(.plain(), .import, inputs: [first], store: store)
    let place = try #require(bytes[byte...].firstIndex(of: UInt8(ascii: "S")))
    bytes[place] = UInt8(ascii: "X")
    let second = try folder.write(String(decoding: bytes, as: UTF8.self), to: "a.csv")
    let changed = try await run(.plain(), .import, inputs: [second], store: store)
    #expect(changed.issues.counts == [.inputRefused: 1])
    #expect(changed.failure?.message.contains("4,999 of its 5,000 records are in the store") == true)
    #expect(try rows == "5000")
  }

  @Test("With again it goes in once more")
  func again() async throws {
    let input = try folder.write(log(3), to: "log.csv")
    for _ in 0..<2 { _ = try await run(.plain(), .import, inputs: [input], store: store) { $0.again = true } }
    #expect(try rows == "6")
    #expect(try await run(.plain(), .import, inputs: [input], store: store).inputs.map(\.state) == [.known])
  }

  @Test("Within one run the same content goes in once")
  func twiceInOneRun() async throws {
    let inputs = [try folder.write(log(4), to: "a.csv"), try folder.write(log(4), to: "b.csv")]
    for kind in [RunSummary.Kind.validate, .import] {
      let summary = try await run(.plain(), kind, inputs: inputs, store: store)
      #expect(summary.inputs.map(\.state) == [.imported, .known])
      #expect(summary.counts == RunCounts(read: 4, inserted: 4))
    }
    #expect(try rows == "4")
  }

  // MARK: Going on

  @Test("A run that was stopped goes on at its checkpoint once the input is corrected, also without a key")
  func mended() async throws {
    let definition = PipelineDefinition.plain {
      $0.errorPolicy = .stop
      $0.chunkRows = 10
    }
    let lines = log(35).split(separator: "\n").map(String.init)
    var broken = lines
    broken[28] = "never,X,1"
    let input = try folder.write(broken.joined(separator: "\n") + "\n", to: "log.csv")
    for _ in 0..<2 {
      let stopped = try await run(definition, .import, inputs: [input], store: store)
      #expect(stopped.outcome == .stopped)
      #expect(stopped.counts == RunCounts(read: 20, inserted: 20))
      #expect(stopped.issues.listed.map(\.line) == [29])
    }
    _ = try folder.write(lines.joined(separator: "\n") + "\n", to: "log.csv")
    let summary = try await run(definition, .import, inputs: [input], store: store)
    #expect(summary.inputs.map(\.state) == [.resumed])
    #expect(summary.inputs.map(\.firstRecord) == [21])
    #expect(summary.counts == RunCounts(read: 35, inserted: 35))
    #expect(summary.issues.errors == 0)
    #expect(try places() == (0..<35).map { "Spot \($0)" })
    #expect(try await run(definition, .import, inputs: [input], store: store).isNothingNew)
  }

  @Test("An input that changed before its checkpoint is refused, for what of it is stored is unknown")
  func changed() async throws {
    let definition = PipelineDefinition.plain {
      $0.errorPolicy = .stop
      $0.chunkRows = 10
    }
    let input = try folder.write(log(20) + "never,X,1\n", to: "log.csv")
    _ = try await run(definition, .import, inputs: [input], store: store)
    _ = try folder.write(log(20).replacingOccurrences(of: "Spot 3,", with: "Spot three,"), to: "log.csv")
    for kind in [RunSummary.Kind.validate, .import] {
      let refused = try await run(definition, kind, inputs: [input], store: store)
      #expect(refused.outcome == .failed)
      #expect(refused.exitCode == .dataError)
      #expect(refused.issues.counts == [.inputRefused: 1])
      #expect(refused.failure?.message.contains("imported up to record 20") == true)
    }
    #expect(try await run(definition, .import, inputs: [input], store: store) { $0.again = true }.counts.inserted == 20)
  }

  @Test("A run that was killed before it could report is reported by the next")
  func unreported() async throws {
    let input = try folder.write(log(3) + "never,X,1\n", to: "log.csv")
    let first = try await run(.plain(), .import, inputs: [input], store: store) { $0.profilesEntries = true }
    let issue = try #require(first.issues.listed.first)
    let json = String(decoding: try JSONEncoder().encode(issue), as: UTF8.self).replacingOccurrences(
      of: "'", with: "''")
    _ = try sqlite(
      store,
      """
      UPDATE SJ_INPUT SET state = 'unreported'; UPDATE SJ_RUN SET outcome = 'running', endedAt = NULL;
      INSERT INTO SJ_ISSUE VALUES (1, 0, '\(json)')
      """)
    let second = try await run(.plain(), .import, inputs: [input], store: store) { $0.profilesEntries = true }
    #expect(second.counts == first.counts)
    #expect(second.issues == first.issues)
    #expect(second.profile == first.profile)
    #expect(second.rejects == first.rejects)
    #expect(second.exitCode == .dataError)
    #expect(try sqlite(store, "SELECT outcome FROM SJ_RUN ORDER BY outcome") == "completed\ninterrupted")
    #expect(try await run(.plain(), .import, inputs: [input], store: store).isNothingNew)
  }

  // MARK: Growing inputs

  static let growth: [(name: String, first: String, added: String, records: Int?)] = [
    ("at a line end", "date,location\n2020-01-01,A\n", "2020-01-02,B\n2020-01-03,C\n", 2),
    ("CRLF", "date,location\r\n2020-01-01,A\r\n", "2020-01-02,B\r\n", 1),
    ("the line end comes with what is new", "date,location\n2020-01-01,A", "\n2020-01-02,B", 1),
    ("CRLF comes with what is new", "date,location\n2020-01-01,A", "\r\n2020-01-02,B\r\n", 1),
    ("only the line end comes", "date,location\n2020-01-01,A", "\n", 0),
    ("the last record goes on", "date,location\n2020-01-01,A", "BC\n2020-01-02,B\n", nil),
    ("a header alone before", "date,location\n", "2020-01-02,B\n", 1),
  ]

  @Test("Only what is new in an append-only input that grew goes in", arguments: growth)
  func grown(name: String, first: String, added: String, records: Int?) async throws {
    let definition = PipelineDefinition.plain { $0.appendOnly = true }
    let input = try folder.write(first, to: "log.csv")
    let before = try await run(definition, .import, inputs: [input], store: store).counts.inserted
    _ = try folder.write(first + added, to: "log.csv")
    let dry = try await run(definition, .validate, inputs: [input], store: store)
    let summary = try await run(definition, .import, inputs: [input], store: store)
    #expect(dry.counts == summary.counts)
    guard let records else {
      #expect(summary.issues.counts == [.inputRefused: 1])
      #expect(summary.failure?.message.contains("number 1") == true)
      #expect(try rows == "\(before)")
      return
    }
    #expect(summary.inputs.map(\.state) == [.grown])
    #expect(summary.inputs.map(\.firstRecord) == [before + 1])
    #expect(summary.counts == RunCounts(read: records, inserted: records))
    #expect(try rows == "\(before + records)")
    #expect(try await run(definition, .import, inputs: [input], store: store).isNothingNew)
  }

  @Test("Records of what is new keep their numbers and lines in the whole input")
  func grownPlaces() async throws {
    let definition = PipelineDefinition.plain { $0.appendOnly = true }
    let input = try folder.write(log(10), to: "log.csv")
    _ = try await run(definition, .import, inputs: [input], store: store)
    _ = try folder.write(log(10) + "never,X,1\n", to: "log.csv")
    let summary = try await run(definition, .import, inputs: [input], store: store)
    #expect(summary.issues.listed.map(\.record) == [11])
    #expect(summary.issues.listed.map(\.line) == [12])
    #expect(summary.issues.listed.map(\.byte) == [UInt64(log(10).utf8.count)])
  }

  @Test("Without a word on it an input that grew is refused: its old records would be there twice")
  func grownUndeclared() async throws {
    _ = try await run(.plain(), .import, inputs: [try folder.write(log(10), to: "log.csv")], store: store)
    let longer = try folder.write(log(11), to: "longer.csv")
    for kind in [RunSummary.Kind.validate, .import] {
      let refused = try await run(.plain(), kind, inputs: [longer], store: store)
      #expect(refused.issues.counts == [.inputRefused: 1])
      #expect(refused.failure?.message.contains("10 records that would be in the store twice") == true)
    }
    #expect(try rows == "10")
    let keyed = PipelineDefinition.plain {
      $0.key = ["date", "location"]
      $0.duplicates = .skip
    }
    #expect(
      try await run(keyed, .import, inputs: [longer], store: store).counts
        == RunCounts(read: 11, inserted: 1, duplicate: 10))
    #expect(try await run(.plain(), .import, inputs: [longer], store: store) { $0.again = true }.counts.inserted == 11)
  }

  @Test("What was begun and is given up leaves neither its checkpoint nor its rejects behind")
  func givenUp() async throws {
    let definition = PipelineDefinition.plain {
      $0.errorBudget = ErrorBudget(errors: 1)
      $0.chunkRows = 10
    }
    let input = try folder.write(
      "date,location\nnever,A\n" + String(repeating: "2020-01-01,B\n", count: 20) + "never,C\n", to: "log.csv")
    let stopped = try await run(definition, .import, inputs: [input], store: store)
    #expect(stopped.rejects == folder.path("log.csv.rejects.csv.part"))
    var patient = definition
    patient.errorBudget = nil
    let again = try await run(patient, .import, inputs: [input], store: store) { $0.again = true }
    #expect(again.counts == RunCounts(read: 22, inserted: 20, rejected: 2))
    #expect(try sqlite(store, "SELECT group_concat(state) FROM SJ_INPUT") == "complete")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(names.filter { $0.hasSuffix(".part") } == [])
  }

  // MARK: Pipelines

  static let changes: [(name: String, isSame: Bool, change: @Sendable (inout PipelineDefinition) -> Void)] = [
    ("name", true, { $0.name = "other" }), ("description", true, { $0.description = "x" }),
    ("chunk size", true, { $0.chunkRows = 3 }), ("error policy", true, { $0.errorPolicy = .stop }),
    ("reports", true, { $0.report = ["r.json"] }), ("limits", true, { $0.limits.issuesListedMax = 3 }),
    ("a rule", false, { $0.columns[2].rules = [ValueRule(.range(min: 1, max: 5))] }),
    ("a synonym", false, { $0.columns[1].synonyms = ["spot"] }),
    ("the dialect", false, { $0.dialect.trailingComma = true }),
  ]

  @Test("What decides which entries a record makes is part of an input's identity", arguments: changes)
  func pipelines(
    name: String, isSame: Bool, change: @Sendable (inout PipelineDefinition) -> Void
  ) async throws {
    let input = try folder.write(log(10), to: "log.csv")
    _ = try await run(.plain(), .import, inputs: [input], store: store)
    let changed = PipelineDefinition.plain { change(&$0) }
    let summary = try await run(changed, .import, inputs: [input], store: store) { $0.reports = [] }
    if isSame {
      #expect(summary.isNothingNew)
    } else {
      // Not silently twice, and not silently not at all.
      #expect(summary.issues.counts == [.inputRefused: 1])
      #expect(summary.exitCode == .dataError)
      #expect(summary.failure?.message.contains("--replace") == true)
    }
    #expect(try rows == "10")
  }

  @Test("A pipeline with a key may read again what another has imported")
  func pipelinesWithKey() async throws {
    let input = try folder.write(log(10), to: "log.csv")
    _ = try await run(.plain(), .import, inputs: [input], store: store)
    let keyed = PipelineDefinition.plain {
      $0.key = ["date", "location"]
      $0.duplicates = .skip
    }
    #expect(
      try await run(keyed, .import, inputs: [input], store: store).counts == RunCounts(read: 10, duplicate: 10))
    #expect(try rows == "10")
  }

  // MARK: The tables

  @Test("Everything but the ledger's tables is as without it, and dropping it leaves nothing of it")
  func schema() async throws {
    let schema =
      "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE '%SJ\\_%' ESCAPE '\\' ORDER BY 1, 2"
    let fresh = folder.path("fresh.sqlite")
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: RunModel.make())
    let added = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: fresh))
    try coordinator.remove(added)
    let input = try folder.write(log(10), to: "log.csv")
    _ = try await run(.plain(), .import, inputs: [input], store: store)
    #expect(try sqlite(store, schema) == sqlite(fresh, schema))
    #expect(try sqlite(store, "SELECT count(*) FROM sqlite_master WHERE name LIKE 'SJ\\_%' ESCAPE '\\'") == "8")
    #expect(try LedgerHistory.drop(store: store, vocabulary: .journal))
    #expect(try !LedgerHistory.drop(store: store, vocabulary: .journal))
    #expect(try sqlite(store, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%SJ\\_%' ESCAPE '\\'") == "0")
    #expect(try sqlite(store, "PRAGMA integrity_check") == "ok")
    #expect(try LedgerHistory(store: store, vocabulary: .journal).runs.isEmpty)
    #expect(try await run(.plain(), .import, inputs: [input], store: store).counts.inserted == 10)
  }

  @Test("The history tells runs, inputs and counts")
  func history() async throws {
    let input = try folder.write(log(3) + "never,X,1\n", to: "log.csv")
    let summary = try await run(.plain(), .import, inputs: [input], store: store)
    let history = try LedgerHistory(store: store, vocabulary: .journal)
    let reported = try #require(history.runs.first)
    #expect(history.runs.count == 1)
    #expect(reported.run == summary.run)
    #expect(reported.outcome == "completed")
    #expect(reported.exitCode == 65)
    #expect(reported.counts == summary.counts)
    #expect(reported.inputs.map(\.path) == [input])
    #expect(reported.inputs.map(\.state) == ["complete"])
    #expect(reported.inputs.map(\.counts) == [summary.counts])
    #expect(reported.inputs.map(\.rejects) == [folder.path("log.csv.rejects.csv")])
    #expect(reported.inputs.map(\.contentHash) == [try xxhsum(input)])
  }

  @Test("A ledger of another layout is not touched")
  func otherVersion() async throws {
    let input = try folder.write(log(3), to: "log.csv")
    _ = try await run(.plain(), .import, inputs: [input], store: store)
    _ = try sqlite(store, "UPDATE SJ_LEDGER SET version = 5")
    let summary = try await run(.plain(), .import, inputs: [input], store: store)
    #expect(summary.exitCode == .dataError)
    #expect(summary.failure?.message.contains("layout 5") == true)
    #expect(try rows == "3")
  }

  private func gzip(_ path: String) throws { try Programs.output(of: ["gzip", "-k", path]) }

  private func xxhsum(_ path: String) throws -> String {
    String(try Programs.output(of: ["xxhsum", "-H2", path]).prefix(32))
  }
}
