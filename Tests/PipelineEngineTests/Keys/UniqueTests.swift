import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("A unique column has each value once, in the input and in the store")
struct UniqueTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private static let header = "date,location,rating\n"

  @Test(
    "Later records and records that the store has are refused, empty fields are not compared", arguments: [1, 1000])
  func refused(chunkRows: Int) async throws {
    let definition = PipelineDefinition.plain {
      $0.columns[1].rules = [ValueRule(.unique)]
      $0.chunkRows = chunkRows
    }
    _ = try await run(
      .plain(), .import, inputs: [try folder.write(Self.header + "2020-01-01,A,1\n", to: "a.csv")], store: store)
    let input = try folder.write(
      Self.header + "2020-01-01,B,1\n2020-01-02,A,1\n2020-01-03,B,2\n2020-01-04,,3\n2020-01-05,,4\n", to: "b.csv")
    let dry = try await run(definition, .validate, inputs: [input], store: store)
    let real = try await run(definition, .import, inputs: [input], store: store)
    #expect(dry.counts == real.counts)
    #expect(dry.issues == real.issues)
    #expect(real.counts == RunCounts(read: 5, inserted: 3, rejected: 2))
    #expect(real.issues.counts == [.uniqueError: 2])
    #expect(real.issues.listed.map(\.record) == [2, 3])
    #expect(real.issues.listed.map(\.column) == ["location", "location"])
  }

  @Test("As a warning it is reported, and the record goes in")
  func warning() async throws {
    let definition = PipelineDefinition.plain { $0.columns[1].rules = [ValueRule(.unique, severity: .warning)] }
    let input = try folder.write(Self.header + "2020-01-01,B,1\n2020-01-02,B,1\n", to: "b.csv")
    let summary = try await run(definition, .import, inputs: [input], store: store)
    #expect(summary.counts == RunCounts(read: 2, inserted: 2))
    #expect(summary.issues.warnings == 1)
    #expect(summary.exitCode == .ok)
  }

  static let policies: [(policy: DuplicatePolicy, isAllowed: Bool)] = [
    (.skip, true), (.update(columns: nil), false), (.update(columns: ["rating"]), true),
    (.update(columns: ["location"]), false), (.keepNewest(by: "rating"), false),
  ]

  @Test("A column that updates may change can't be unique", arguments: policies)
  func updates(policy: DuplicatePolicy, isAllowed: Bool) throws {
    let definition = PipelineDefinition.plain {
      $0.key = ["date"]
      $0.duplicates = policy
      $0.columns[1].rules = [ValueRule(.unique)]
    }
    if isAllowed {
      try definition.check()
    } else {
      #expect(throws: PipelineError.self) { try definition.check() }
    }
  }

  @Test("An entry that is skipped or updated by its key is not compared with itself")
  func keyed() async throws {
    let definition = PipelineDefinition.plain {
      $0.key = ["date"]
      $0.duplicates = .update(columns: ["rating"])
      $0.columns[1].rules = [ValueRule(.unique)]
    }
    for (number, rating) in ["1", "2"].enumerated() {
      let input = try folder.write(Self.header + "2020-01-01,A,\(rating)\n", to: "\(number).csv")
      let summary = try await run(definition, .import, inputs: [input], store: store)
      #expect(summary.issues.errors == 0)
    }
    #expect(try sqlite(store, "SELECT ZRATING FROM ZJOURNALENTRY") == "2")
  }
}
