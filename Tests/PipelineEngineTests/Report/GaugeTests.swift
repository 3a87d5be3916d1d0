import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

@Suite("The gauges of a run show its inputs, the store, waiting rejects and the last success")
struct GaugeTests {
  private let folder: TemporaryFolder
  private let store: String
  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store.sqlite")
  }

  private static let start = Date(timeIntervalSinceReferenceDate: 500_000_000)

  private func load(
    _ names: [String], day: Int = 0, definition: PipelineDefinition = .plain(), _ kind: RunSummary.Kind = .import
  ) async throws -> [String: String] {
    _ = try await run(definition, kind, inputs: names.map(folder.path), store: store) { options in
      options.now = { Self.start.addingTimeInterval(86_400 * Double(day)) }
      options.reports = [folder.path("run.prom")]
      options.programVersion = "1.2.3 (abc)"
    }
    var values: [String: String] = [:]
    for line in try folder.text("run.prom").split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: " ")
      let name = parts.dropLast().joined(separator: " ").replacingOccurrences(
        of: "pipeline=\"plain\",kind=\"import\"", with: "")
      values[name.replacingOccurrences(of: "surfjournal_", with: "").replacingOccurrences(of: "{,", with: "{")] =
        String(parts.last ?? "")
    }
    return values
  }

  @Test func `Inputs that were read, that failed, and entries and rejects of all runs`() async throws {
    try folder.write(log(3), to: "a.csv")
    try folder.write("date,location,rating\n2020-05-01,X,1\nnever,Y,2\nsoon,Z,3\n", to: "b.csv")
    let first = try await load(["a.csv", "b.csv", "missing.csv"])
    #expect(first["last_run_inputs{state=\"processed\"}"] == "2")
    #expect(first["last_run_inputs{state=\"failed\"}"] == "1")
    #expect(first["last_run_inputs{state=\"waiting\"}"] == "0")
    #expect(first["store_entries{entity=\"JournalEntry\"}"] == "4")
    #expect(first["rejects_waiting{}"] == "2")
    #expect(first["build_info{version=\"1.2.3 (abc)\"}"] == "1")
    try folder.write("date,location,rating\nlater,Y,2\n", to: "c.csv")
    let second = try await load(["c.csv"])
    #expect(second["rejects_waiting{}"] == "3")
    #expect(second["store_entries{entity=\"JournalEntry\"}"] == "4")
  }

  @Test func `The time of the last success outlives runs that fail or are stopped`() async throws {
    try folder.write(log(3), to: "a.csv")
    try folder.write("date,location,rating\nnever,Y,2\n", to: "bad.csv")
    let name = "last_success_timestamp_seconds{}"
    #expect(try await load(["missing.csv"], day: 1)[name] == nil)
    let good = try #require(try await load(["a.csv"], day: 2)[name])
    #expect(Double(good) ?? 0 >= Self.start.addingTimeInterval(2 * 86_400).timeIntervalSince1970)
    #expect(try await load(["missing.csv"], day: 3)[name] == good)
    let strict = PipelineDefinition.plain { $0.errorPolicy = .stop }
    let stopped = try await load(["bad.csv"], day: 4, definition: strict)
    #expect(stopped[name] == good)
    #expect(stopped["last_run_inputs{state=\"failed\"}"] == "1")
    // Rejects alone do not make it a failure, and nothing new is a success.
    let rejected = try #require(try await load(["bad.csv"], day: 5)[name])
    #expect(Double(rejected) ?? 0 > Double(good) ?? 0)
    #expect(Double(try await load(["a.csv"], day: 6)[name] ?? "") ?? 0 > Double(rejected) ?? 0)
    try folder.write("surfjournal_\(name) ten\n", to: "run.prom")
    #expect(try await load(["missing.csv"], day: 7)[name] == nil)
  }

  @Test func `Files of an inbox that are not complete, or not reached, wait`() async throws {
    try FileManager.default.createDirectory(at: folder.file("in"), withIntermediateDirectories: false)
    for name in ["in/a.csv", "in/b.csv.part", "in/notes.txt"] { try folder.write(log(2), to: name) }
    try folder.write("date,location,rating\nnever,Y,2\n", to: "in/0.csv")
    var definition = PipelineDefinition.plain {
      $0.inbox = InboxDefinition(folder: "in", pattern: ["*.csv"], settleSeconds: 0)
      $0.errorPolicy = .stop
    }
    definition.baseDirectory = folder.url
    try Programs.output(of: ["touch", "-d", "2001-01-01", folder.path("in/0.csv")])
    _ = try await run(definition, .import, store: store) { options in
      options.inputs = nil
      options.reports = [folder.path("run.prom")]
    }
    let text = try folder.text("run.prom")
    #expect(text.contains("state=\"waiting\"} 2\n"), "\(text)")
    #expect(text.contains("state=\"failed\"} 1\n"))
  }
}
