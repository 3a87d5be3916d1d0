import Foundation
import SurfJournal
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Many runs in one process, as a service makes them: each gives back what it has taken. Each kind of leak is planted
/// once, and is found.
@Suite("Runs leave no descriptor, no thread and no memory in their process", .serialized)
struct NightLeakTests {
  /// What a night keeps on purpose.
  enum Plant: String, CaseIterable, Codable, Sendable {
    case descriptor, bytes

    /// What is said of it.
    var finding: String { self == .bytes ? "bytes more" : "more descriptors" }
  }

  private static let nights = TestLength.rounds(20, long: 400)

  @Test func `Imports, dry runs, exports, undos, and runs that fail or are cancelled`() async throws {
    // The other process has no other way to say what it finds.
    let report = try TemporaryFolder()
    await #expect(processExitsWith: .success) { [path = report.path("found") as String] in
      let found = try await NightLeakTests.problems(nights: NightLeakTests.nights)
      try found.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }
    let found = try report.text("found")
    #expect(found.isEmpty, "\(found)")
  }

  @Test(arguments: Plant.allCases) func `What is kept on purpose is found`(_ plant: Plant) async {
    await #expect(processExitsWith: .success) { [plant = plant as Plant] in
      let found = try await NightLeakTests.problems(nights: 12, plant)
      // A sanitizer has an allocator of its own, which malloc's figures do not show.
      let isHidden = plant == .bytes && HeldResources().allocatedBytes == 0
      #expect(isHidden || found.contains { $0.contains(plant.finding) }, "\(plant): \(found)")
    }
  }

  private static func problems(nights: Int, _ plant: Plant? = nil) async throws -> [String] {
    let night = try Night()
    var (growth, kept): (Growth, [Any]) = (Growth(rounds: nights), [])
    for number in 0..<nights {
      try await night.pass(number)
      switch plant {
      case .descriptor: kept.append(try FileHandle(forReadingFrom: night.folder.file("journal.sqlite")))
      case .bytes: kept.append([UInt8](repeating: 1, count: 200_000))
      case nil: break
      }
      growth.add()
    }
    withExtendedLifetime(kept) {}
    return growth.problems(bytesPerRoundMax: 40_000)
  }
}

/// The runs of a night, on one store.
private struct Night {
  let folder: TemporaryFolder
  private let definition: PipelineDefinition

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      #"""
      {"name": "nightly", "columns": [{"name": "date", "required": true, "rules": ["required"]}, "location", "rating"],
       "key": ["date", "location"], "duplicates": "update", "chunkRows": 20, "store": "journal.sqlite",
       "report": ["report.json", "report.html"], "log": "run.log", "rejects": "rejects.csv",
       "limits": {"historyDays": 1, "inputsDays": 2}}
      """#, to: "nightly.json")
    definition = try PipelineDefinition(
      contentsOf: folder.file("nightly.json"), environment: DefinitionEnvironment(vocabulary: .journal))
  }

  /// The number of entries stays the same from the third night on.
  func pass(_ night: Int) async throws {
    let lines = (0..<60).map { "2020-01-\(String(format: "%02d", $0 % 28 + 1)),Spot \($0),\((night + $0) % 5 + 1)\n" }
    let name = "log \(night).csv"
    try folder.write("date,location,rating\n" + lines.joined() + "soon,A,\(night)\n", to: name)
    #expect(try await run(.validate, night, input: name).counts.read == 61)
    #expect(try await run(.import, night, input: name, cancelled: true).counts.isConserved)
    #expect(try await run(.import, night, input: name).counts.rejected == 1)
    #expect(try await run(.import, night, input: "none.csv").exitCode == .noInput)
    try folder.write("date\n\u{0}\u{1}", to: "broken.csv")
    #expect(try await run(.import, night, input: "broken.csv").failure != nil)
    #expect(try await run(.export, night).exitCode == .ok)
    if night % 3 == 1 {
      #expect(try await run(.import, night, input: name, again: true).counts.isConserved)
      try StoreUndo(store: folder.path("journal.sqlite"), vocabulary: .journal).apply()
    }
    for name in try folder.names where name.hasPrefix("rejects") || name.hasPrefix("log ") || name == "run.log" {
      try FileManager.default.removeItem(at: folder.file(name))
    }
  }

  private func run(
    _ kind: RunSummary.Kind, _ night: Int, input: String = "", cancelled: Bool = false, again: Bool = false
  ) async throws -> RunSummary {
    var options = RunOptions()
    if kind == .export {
      options.output = folder.path("out.csv.gz")
    } else {
      options.inputs = [folder.path(input)]
      options.again = again
    }
    options.now = { Date(timeIntervalSinceReferenceDate: 400_000_000 + 86_400 * Double(night)) }
    let runner = PipelineRunner(definition, kind, options: options)
    if cancelled { runner.cancel() }
    return try await runner.run()
  }
}
