import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("A key and a policy decide what becomes of a record that is there already, in the input or in the store")
struct DuplicatePolicyTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private static let header = "date,location,rating\n"
  /// A is in the store with rating 3, B with 4.
  private static let before = header + "2020-01-01,A,3\n2020-01-02,B,4\n"

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let policy: DuplicatePolicy
    let records: String
    let counts: RunCounts
    let rows: String
    var testDescription: String { name }
  }

  static let cases = [
    Case(
      name: "reject: against the store and the input", policy: .reject,
      records: "2020-01-01,A,5\n2020-01-03,C,1\n2020-01-03,C,2\n",
      counts: RunCounts(read: 3, inserted: 1, rejected: 2), rows: "A|3|1\nB|4|1\nC|1|1"),
    Case(
      name: "skip: against the store and the input", policy: .skip,
      records: "2020-01-01,A,5\n2020-01-03,C,1\n2020-01-03,C,2\n",
      counts: RunCounts(read: 3, inserted: 1, duplicate: 1, repeated: 1), rows: "A|3|1\nB|4|1\nC|1|1"),
    Case(
      name: "update: what differs is written, what does not is unchanged", policy: .update(columns: nil),
      records: "2020-01-01,A,5\n2020-01-02,B,4\n2020-01-03,C,1\n",
      counts: RunCounts(read: 3, inserted: 1, updated: 1, unchanged: 1), rows: "A|5|2\nB|4|1\nC|1|1"),
    Case(
      name: "update: an empty field is a value", policy: .update(columns: nil), records: "2020-01-01,A,\n",
      counts: RunCounts(read: 1, updated: 1), rows: "A||2\nB|4|1"),
    Case(
      name: "update: an entry of the same chunk", policy: .update(columns: nil),
      records: "2020-01-03,C,1\n2020-01-03,C,2\n2020-01-03,C,2\n2020-01-03,C,1\n",
      counts: RunCounts(read: 4, inserted: 1, repeated: 3), rows: "A|3|1\nB|4|1\nC|1|1"),
    Case(
      name: "update: a stored entry twice in one chunk", policy: .update(columns: nil),
      records: "2020-01-01,A,1\n2020-01-01,A,2\n", counts: RunCounts(read: 2, updated: 1, repeated: 1),
      rows: "A|2|2\nB|4|1"),
    Case(
      name: "update: there and back again writes nothing", policy: .update(columns: nil),
      records: "2020-01-01,A,1\n2020-01-01,A,3\n", counts: RunCounts(read: 2, updated: 1, repeated: 1),
      rows: "A|3|1\nB|4|1"),
    Case(
      name: "a key of nulls is like no other", policy: .reject, records: "2020-01-05,,1\n2020-01-05,,1\n",
      counts: RunCounts(read: 2, inserted: 1, rejected: 1), rows: "A|3|1\nB|4|1\n|1|1"),
  ]

  @Test("Each policy", arguments: cases)
  func policies(one: Case) async throws {
    let definition = PipelineDefinition.plain {
      $0.key = ["date", "location"]
      $0.duplicates = one.policy
    }
    _ = try await run(.plain(), .import, inputs: [try folder.write(Self.before, to: "before.csv")], store: store)
    let input = try folder.write(Self.header + one.records, to: "log.csv")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
    let dry = try await run(definition, .validate, inputs: [input], store: store)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == bytes)
    let real = try await run(definition, .import, inputs: [input], store: store)
    #expect(real.counts == one.counts)
    #expect(dry.counts == one.counts)
    #expect(dry.issues == real.issues)
    #expect(real.issues.errors == one.counts.rejected)
    #expect(try sqlite(store, "SELECT ZLOCATION, ZRATING, Z_OPT FROM ZJOURNALENTRY ORDER BY Z_PK") == one.rows)
    #expect(try sqlite(store, "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name LIKE 'Z%'") == "0")
  }

  @Test("An update of named columns leaves the others as they are")
  func namedColumns() async throws {
    let definition = PipelineDefinition.plain {
      $0.key = ["location"]
      $0.duplicates = .update(columns: ["rating"])
    }
    _ = try await run(.plain(), .import, inputs: [try folder.write(Self.before, to: "before.csv")], store: store)
    let input = try folder.write(Self.header + "2021-01-01,A,5\n2021-01-01,B,4\n", to: "log.csv")
    let dry = try await run(definition, .validate, inputs: [input], store: store)
    let real = try await run(definition, .import, inputs: [input], store: store)
    #expect(real.counts == RunCounts(read: 2, updated: 1, unchanged: 1))
    #expect(dry.counts == real.counts)
    #expect(
      try sqlite(store, "SELECT ZLOCATION, ZRATING, date(ZDATE + 978307200, 'unixepoch') FROM ZJOURNALENTRY")
        == "A|5|2020-01-01\nB|4|2020-01-02")
  }

  @Test("Columns that the input lacks are not changed")
  func absentColumns() async throws {
    let definition = PipelineDefinition.plain {
      $0.key = ["date"]
      $0.duplicates = .update(columns: nil)
    }
    _ = try await run(.plain(), .import, inputs: [try folder.write(Self.before, to: "before.csv")], store: store)
    let input = try folder.write("date,rating\n2020-01-01,5\n2020-01-02,4\n", to: "log.csv")
    #expect(
      try await run(definition, .import, inputs: [input], store: store).counts
        == RunCounts(read: 2, updated: 1, unchanged: 1))
    #expect(try sqlite(store, "SELECT ZLOCATION, ZRATING FROM ZJOURNALENTRY") == "A|5\nB|4")
  }

  @Test("The newest record of a key is kept, whatever the order")
  func keepNewest() async throws {
    let definition = PipelineDefinition.plain {
      $0.key = ["location"]
      $0.duplicates = .keepNewest(by: "date")
    }
    _ = try await run(.plain(), .import, inputs: [try folder.write(Self.before, to: "before.csv")], store: store)
    let input = try folder.write(
      Self.header + "2019-01-01,A,1\n2020-01-01,A,3\n2020-01-01,A,2\n2020-03-01,A,4\n2020-02-01,A,5\n2020-01-09,C,1\n"
        + "2020-01-08,C,2\n", to: "log.csv")
    let dry = try await run(definition, .validate, inputs: [input], store: store)
    let real = try await run(definition, .import, inputs: [input], store: store)
    // Older than the store's: A of 2019. All others after it and the first C repeat keys of the input.
    #expect(real.counts == RunCounts(read: 7, inserted: 1, duplicate: 1, repeated: 5))
    #expect(dry.counts == real.counts)
    #expect(try sqlite(store, "SELECT ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK") == "A|4\nB|4\nC|1")
  }

  @Test("Without a column of the key an input is refused: every record would be new")
  func missingKeyColumn() async throws {
    let definition = PipelineDefinition.plain { $0.key = ["location"] }
    let summary = try await run(
      definition, .import, inputs: [try folder.write("date,rating\n2020-01-01,5\n", to: "log.csv")], store: store)
    #expect(summary.outcome == .failed)
    #expect(summary.issues.counts == [.missingLabel: 1])
    #expect(summary.exitCode == .dataError)
  }

  @Test("Another program's entries count as well, also when keys spill")
  func foreignEntries() async throws {
    _ = try await run(.plain(), .import, inputs: [try folder.write(log(50), to: "before.csv")], store: store)
    let definition = PipelineDefinition.plain {
      $0.key = ["date", "location"]
      $0.duplicates = .skip
      $0.limits.keysInMemoryMax = 7
      $0.chunkRows = 9
    }
    let summary = try await run(definition, .import, inputs: [try folder.write(log(80), to: "log.csv")], store: store)
    #expect(summary.counts == RunCounts(read: 80, inserted: 30, duplicate: 50))
  }
}
