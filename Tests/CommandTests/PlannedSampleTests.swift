import Foundation
import TestSupport
import Testing

/// The pipelines with related objects in `SampleData`, as they are, planned and imported by workers.
@Suite(.enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct PlannedSampleTests {
  private let many: PlannedImport
  private let one: PlannedImport
  private static let files = ["surfing", "surf-spots", "surf-boards", "surf-sessions"].map { "\($0).json" }

  init() throws {
    (many, one) = (try PlannedImport(), try PlannedImport())
    for folder in [many.folder, one.folder] {
      for file in Self.files + ["Surfing.xcdatamodeld", "spots.csv", "boards.csv", "sessions.csv"] {
        try FileManager.default.copyItem(at: Repository.file("SampleData/\(file)"), to: folder.file(file))
      }
    }
  }

  /// Plans a pipeline, lets workers import it, and closes it.
  private func work(_ pipeline: String) throws {
    let plan = try many.run("plan", "./\(pipeline)", "--store", many.address, "--shard-bytes", "2000", "--quiet")
    try #require(plan.status == 0, "\(pipeline): \(plan.messages)")
    let id = plan.text.trimmingCharacters(in: .newlines)
    let workers = (0..<3).map { _ in many.worker(id) }
    for worker in workers { try worker.start() }
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    let report = try many.run("report", "--plan", id, "--store", many.address)
    #expect(report.status == 0, "\(pipeline): \(report.messages)")
  }

  private func compare() throws {
    #expect(try one.run("run", "./surfing.json", "--store", one.address).status == 0)
    #expect(try LinkedPlan.graph(of: many) == LinkedPlan.graph(of: one))
    for rest in ["\"ZNAME\", \"ZLENGTH\" FROM \"ZBOARD\"", "\"ZDATE\", \"ZNOTES\" FROM \"ZSESSION\""] {
      #expect(try many.psql("SELECT \(rest) ORDER BY 1") == one.psql("SELECT \(rest) ORDER BY 1"))
    }
    #expect(try many.psql("SELECT count(*) FROM \"ZSESSION\"") == "300")
  }

  @Test func `The pipeline of all entities gives what one run gives`() throws {
    try work("surfing.json")
    try compare()
  }

  @Test func `The pipelines of single entities, one plan after the other, give what one run gives`() throws {
    for pipeline in Self.files.dropFirst() { try work(pipeline) }
    try compare()
  }
}
