import Foundation
import OpenCoreData
import PipelineEngine
import TestSupport
import Testing

// A dry run is an import into a scratch pad: the same parser, rules and model, the same counts, nothing stored.

@Suite("A dry run finds what an import into an empty store finds, and stores nothing")
struct DryRunTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test(
    "Counts and issues are the import's, over random dirty files", .seeded, arguments: Randomness.seeds(5, long: 200))
  func agrees(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var text = "date,location,rating\n"
    for index in 0..<400 {
      let date = ["2020-01-0\(index % 9 + 1)", "soon", "", "2020-02-30"].randomElement(using: &random) ?? ""
      let place = ["A", "\"B, b\"", "\"open", "C\0", "", "D"].randomElement(using: &random) ?? ""
      let rating = ["1", "5", "", "x", "9,9"].randomElement(using: &random) ?? ""
      text += "\(date),\(place),\(rating)\n"
    }
    let input = try folder.write(text, to: "dirty.csv")
    let definition = PipelineDefinition.plain {
      $0.chunkRows = 33
      $0.key = ["date", "location"]
    }
    let model = RunModel.make(ratingMax: 4)
    let dry = try await run(definition, .validate, inputs: [input], store: nil, model: model)
    let real = try await run(definition, .import, inputs: [input], store: folder.path("store.sqlite"), model: model)
    #expect(dry.counts == real.counts, "seed \(seed)")
    #expect(dry.issues == real.issues, "seed \(seed)")
    #expect(real.counts.rejected > 0 && real.counts.inserted > 0, "seed \(seed): the file tests nothing")
  }

  @Test("An existing store and its folder stay as they were, byte for byte")
  func leavesNoTrace() async throws {
    let store = folder.path("store.sqlite")
    _ = try await run(.plain(), .import, inputs: [try folder.write(log(3), to: "first.csv")], store: store)
    let input = try folder.write("date,location,rating\nbad,A,1\n", to: "log.csv")
    let before = try contents()
    let summary = try await run(.plain(), .validate, inputs: [input], store: store)
    #expect(summary.counts == RunCounts(read: 1, rejected: 1))
    #expect(try contents() == before)
  }

  private func contents() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: folder.url.appendingPathComponent($0))) })
  }
}
