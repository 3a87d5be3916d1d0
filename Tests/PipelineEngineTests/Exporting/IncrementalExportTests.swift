import Foundation
import OpenCoreData
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// Incremental exports: every entry once, no file where nothing is new, and another store is refused.
@Suite struct IncrementalExportTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let definition = PipelineDefinition.plain {
    $0.chunkRows = 2
    $0.export = ExportDefinition(columns: [.init("location")], incremental: true)
  }

  /// Imports as many entries into the store, each named by `name` and its number.
  private func add(_ count: Int, _ name: String, to store: String = "s") async throws {
    let rows = (1...count).map { "2020-01-01,\"\(name)\($0)\",1\n" }.joined()
    let input = try folder.write("date,location,rating\n" + rows, to: "in-\(name).csv")
    let summary = try await run(.plain(), .import, inputs: [input], store: folder.path(store))
    try #require(summary.counts.inserted == count)
  }

  private func export(
    _ output: String = "out-{time}.csv", store: String = "s", at seconds: Double = 0,
    _ change: (inout PipelineDefinition) -> Void = { _ in }
  ) async throws -> RunSummary {
    var definition = Self.definition
    change(&definition)
    return try await run(definition, .export, store: folder.path(store)) {
      $0.output = folder.path(output)
      $0.now = { Date(timeIntervalSinceReferenceDate: seconds) }
    }
  }

  @Test func `Each export has what was added since the one before, and none where nothing was`() async throws {
    try await add(3, "a")
    let before = try Data(contentsOf: URL(fileURLWithPath: folder.path("s")))
    let first = try await export()
    #expect(first.exported == 3)
    #expect(first.note == nil)
    #expect(try folder.text("out-000000.csv") == "location\na1\na2\na3\n")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("s"))) == before)
    let second = try await export(at: 3600)
    #expect(second.exitCode == .ok)
    #expect(second.outputs.isEmpty && second.exported == 0)
    #expect(second.note == "nothing is new since 2001-01-01T00:00:00Z, so no file was written")
    #expect(second.text().contains("note        nothing is new since"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("out-010000.csv")))
    try await add(5, "b")
    let third = try await export(at: 7200)
    #expect(third.exported == 5)
    #expect(try folder.text("out-020000.csv") == "location\nb1\nb2\nb3\nb4\nb5\n")
    // An entry that was changed has the key that it had, and one that was deleted leaves its key unused.
    _ = try sqlite(
      folder.path("s"), "UPDATE ZJOURNALENTRY SET ZLOCATION = 'x'; DELETE FROM ZJOURNALENTRY WHERE Z_PK = 8")
    #expect(try await export(at: 9000).outputs.isEmpty)
    try await add(1, "c")
    #expect(try await export(at: 10_800).exported == 1)
    #expect(try folder.text("out-030000.csv") == "location\nc1\n")
  }

  /// A killed export leaves an unfinished mark, and another one may have exported the entries since.
  @Test func `An export that has nothing new removes an unfinished mark`() async throws {
    try await add(3, "a")
    _ = try await export()
    try folder.write("", to: ".out.csv.mark.json.3tbr81isg7is8.partial")
    #expect(try await export(at: 3600).outputs.isEmpty)
    #expect(try folder.names.filter { $0.hasSuffix(".partial") } == [])
  }

  @Test func `The mark says what was exported`() async throws {
    try await add(3, "a")
    _ = try await export(at: 427_015_800)
    let mark = try #require(try ExportMark.read(folder.path("out.csv.mark.json")))
    let uuid = try sqlite(folder.path("s"), "SELECT Z_UUID FROM Z_METADATA")
    #expect(
      mark
        == ExportMark(
          pipeline: "plain", store: uuid, entity: "JournalEntry", greatestKey: 3, exported: 3,
          exportedAt: Date(timeIntervalSinceReferenceDate: 427_015_800)))
  }

  @Test func `With a limit the rest comes with the next exports; split and sorted ones go on too`() async throws {
    try await add(5, "a")
    #expect(try await export(at: 0) { $0.export?.limit = 2 }.exported == 2)
    #expect(try await export(at: 3600) { $0.export?.limit = 2 }.exported == 2)
    #expect(try folder.text("out-010000.csv") == "location\na3\na4\n")
    try await add(4, "b")
    let split = try await export(at: 7200) {
      $0.export?.split = .rows(2)
      $0.export?.sort = [.init("location", ascending: false)]
    }
    #expect(split.outputs.map(\.records) == [2, 2, 1])
    #expect(try folder.text("out-020000-00001.csv") == "location\nb4\nb3\n")
    #expect(try await export(at: 9000).outputs.isEmpty)
  }

  @Test func `An export that fails leaves the mark as it was`() async throws {
    try await add(2, "a")
    _ = try await export()
    try await add(2, "b")
    let mark = try folder.text("out.csv.mark.json")
    try FileManager.default.createDirectory(atPath: folder.path("out-010000.csv"), withIntermediateDirectories: true)
    #expect(try await export(at: 3600).outcome == .failed)
    #expect(try folder.text("out.csv.mark.json") == mark)
    #expect(try await export(at: 7200).exported == 2)
  }

  @Test func `An entry that the output can't carry is named once and passed over`() async throws {
    try await add(1, "a,")
    try await add(1, "b")
    let summary = try await export { $0.export?.dialect.quote = nil }
    #expect(summary.exported == 1)
    #expect(summary.exitCode == .dataError)
    #expect(try await export(at: 3600) { $0.export?.dialect.quote = nil }.exitCode == .ok)
  }

  @Test func `Another store, an older copy, another pipeline and a broken mark are refused with the next step`()
    async throws
  {
    try await add(2, "a")
    try FileManager.default.copyItem(atPath: folder.path("s"), toPath: folder.path("older"))
    try await add(2, "b")
    _ = try await export()
    try await add(2, "c", to: "other")
    let mark = try folder.text("out.csv.mark.json")
    let refused = [
      (try await export(store: "other"), "it is of another store"),
      (try await export(store: "older"), "entry 4 was exported, and the store has given no key above 2"),
      (try await export { $0.name = "p" }, "it is of the pipeline 'plain', and this one is 'p'"),
    ]
    for (summary, reason) in refused {
      #expect(summary.exitCode == .dataError)
      #expect(summary.failure?.message.contains(reason) == true, "\(summary.failure?.message ?? "")")
      #expect(summary.failure?.message.contains("remove the mark to export everything again") == true)
    }
    #expect(try folder.text("out.csv.mark.json") == mark)
    _ = try folder.write("{}", to: "out.csv.mark.json")
    #expect(try await export().failure?.message.contains("is not a mark of earlier exports") == true)
    try FileManager.default.removeItem(atPath: folder.path("out.csv.mark.json"))
    #expect(try await export(at: 3600, { $0.name = "p" }).exported == 4)
  }

  @Test func `An empty store gives no file and no mark`() async throws {
    try await add(1, "a")
    _ = try sqlite(folder.path("s"), "DELETE FROM ZJOURNALENTRY")
    let summary = try await export()
    #expect(summary.note == "nothing is new, so no file was written")
    #expect(!FileManager.default.fileExists(atPath: folder.path("out.csv.mark.json")))
  }
}
