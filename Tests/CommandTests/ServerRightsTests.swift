import Foundation
import TestSupport
import Testing

/// The rights that docs/manual/howto/server.md names are enough for what it says that they allow.
@Suite(.enabled(if: PostgreSQLServer.isThere, serverComment))
struct ServerRightsTests {
  private var world: PlannedImport
  private let role: String

  /// A store with a ledger and the tables of plans, and a user who makes no tables there.
  init() throws {
    world = try PlannedImport()
    role = "user_\(world.schema)"
    try world.writeLog("a.csv", records: 300)
    try Self.complete(try world.plan("a.csv"), of: world)
    _ = try world.psql(
      """
      CREATE ROLE \(role) LOGIN;
      GRANT USAGE ON SCHEMA \(world.schema) TO \(role);
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(world.schema) TO \(role);
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA \(world.schema) TO \(role)
      """)
    let address = world.server.address(["options": "-csearch_path=\(world.schema)", "user": role])
    world.address = try #require(address).absoluteString
  }

  private static func complete(_ plan: String, of world: PlannedImport) throws {
    let work = try world.run("work", "--plan", plan, "--store", world.address, "--quiet")
    #expect(work.status == 0, "\(work.messages)")
    let report = try world.run(
      "report", "--plan", plan, "--store", world.address, "--rejects", "\(plan).csv", "--quiet")
    #expect(report.status == 65, "\(report.messages)")
  }

  @Test func `A user who makes no tables plans, works, reports, imports and undoes where the tables are`() throws {
    try world.writeLog("b.csv", records: 300, first: 5000)
    try Self.complete(try world.plan("b.csv", shardBytes: 3000), of: world)
    try world.writeLog("c.csv", records: 300, first: 9000)
    let imported = try world.run("import", "c.csv", "--pipeline", "./nightly.json", "--store", world.address)
    #expect(imported.status == 65, "\(imported.messages)")
    #expect(try world.rows(of: world.address).count == 3 * 294)
    let undone = try world.run("undo", world.address, "--yes")
    #expect(undone.status == 0, "\(undone.messages)")
    #expect(try world.rows(of: world.address).count == 2 * 294)
  }

  @Test func `A plan with a key needs the right to make its tables`() throws {
    let pipeline = try world.folder.text("nightly.json")
    try world.folder.write(
      pipeline.replacingOccurrences(
        of: "\"chunkRows\"", with: "\"key\": [\"location\"], \"duplicates\": \"skip\", \"chunkRows\""),
      to: "nightly.json")
    try world.writeLog("b.csv", records: 300, first: 5000)
    let refused = try world.run("plan", "./nightly.json", "b.csv", "--store", world.address)
    #expect(refused.status == 77, "\(refused.status) \(refused.messages)")
    _ = try world.psql("GRANT CREATE ON SCHEMA \(world.schema) TO \(role)")
    try Self.complete(try world.plan("b.csv", shardBytes: 3000), of: world)
    #expect(try world.rows(of: world.address).count == 2 * 294)
  }
}
