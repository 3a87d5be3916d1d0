import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Random imports one after the other, compared with simple models: multisets of records, and copies of the store's
/// entries to which an undo must lead back.
@Suite(.seeded) struct ChangedInputModelTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  /// Records of few values, so that many are equal.
  private static func records(_ random: inout SeededGenerator) -> [String] {
    (0..<Int.random(in: 1...60, using: &random)).map { _ in
      let place = Int.random(in: 0...4, using: &random)
      let rating = Int.random(in: 0...3, using: &random)
      let fields = [
        "2020-01-0\(Int.random(in: 1...4, using: &random))", place == 0 ? "" : "P\(place)",
        rating == 0 ? "" : "\(rating)",
      ]
      return fields.joined(separator: ",")
    }
  }

  private func input(_ records: [String], number: Int) throws -> String {
    try folder.write("date,location,rating\n" + records.map { $0 + "\n" }.joined(), to: "\(number).csv")
  }

  private func entries() throws -> [String] {
    let query =
      "SELECT date(ZDATE + 978307200, 'unixepoch') || ',' || ifnull(ZLOCATION, '') || ',' || ifnull(ZRATING, '') "
      + "FROM ZJOURNALENTRY ORDER BY 1"
    return try sqlite(store, query).split(separator: "\n").map(String.init)
  }

  private static func counts(_ records: [String]) -> [String: Int] {
    records.reduce(into: [:]) { $0[$1, default: 0] += 1 }
  }

  @Test(arguments: Randomness.seeds(5, long: 500))
  func `Only what is new: of each record the store has as many as the input with the most`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let definition = PipelineDefinition.plain {
      $0.changedInputs = .onlyNew
      $0.chunkRows = [1, 7, 1000].randomElement(using: &random) ?? 1
      $0.limits.keysInMemoryMax = [1, 10, 100_000].randomElement(using: &random) ?? 1
    }
    var expected: [String: Int] = [:]
    var number = 0
    for _ in 0..<3 {
      // One run can have several inputs.
      var inputs: [String] = []
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let records = Self.records(&random)
        expected.merge(Self.counts(records)) { max($0, $1) }
        number += 1
        inputs.append(try input(records, number: number))
      }
      let dry = try await run(definition, .validate, inputs: inputs, store: store)
      let real = try await run(definition, .import, inputs: inputs, store: store)
      #expect(dry.counts == real.counts && real.exitCode == .ok)
      #expect(try Self.counts(entries()) == expected)
    }
  }

  @Test(arguments: Randomness.seeds(5, long: 500))
  func `Undoing every import in turn leads back through every state of the store`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let policies: [(key: [String], policy: DuplicatePolicy)] = [
      ([], .reject), (["location"], .update(columns: nil)), (["date", "location"], .update(columns: nil)),
      (["location"], .keepNewest(by: "date")), (["location"], .skip), (["location"], .update(columns: ["rating"])),
    ]
    var states: [String] = []
    let dump = "SELECT Z_PK, ZDATE, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK"
    for number in 0..<6 {
      let choice = policies.randomElement(using: &random) ?? policies[0]
      let definition = PipelineDefinition.plain {
        ($0.key, $0.duplicates) = choice
        $0.chunkRows = [1, 7, 1000].randomElement(using: &random) ?? 1
      }
      states.append(number == 0 ? "" : try sqlite(store, dump))
      let path = try input(Self.records(&random), number: number)
      _ = try await run(definition, .import, inputs: [path], store: store) { $0.again = true }
    }
    for state in states.reversed() {
      let undo = try StoreUndo(store: store, vocabulary: .journal)
      try undo.apply()
      #expect(try sqlite(store, dump) == state)
    }
    #expect(throws: StoreUndo.Failure.self) { try StoreUndo(store: store, vocabulary: .journal) }
  }
}
