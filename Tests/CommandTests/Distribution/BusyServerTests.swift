import Foundation
import TestSupport
import Testing

/// A server that refuses what it would take a moment later: workers try again, and end with what one machine imports.
@Suite(.enabled(if: PostgreSQLServer.isThere, serverComment)) struct BusyServerTests {
  private let world: PlannedImport
  init() throws { world = try PlannedImport() }

  /// 40001 is a serialization failure, 40P01 a deadlock (PostgreSQL documentation: "PostgreSQL Error Codes").
  @Test(arguments: ["40001", "40P01"])
  func `A chunk that the server rolls back for other transactions is saved again`(_ code: String) throws {
    try world.writeLog("a.csv", records: 600)
    let plan = try world.plan("a.csv", shardBytes: 8000)
    // Every third transaction with entries; a sequence counts those that are rolled back, too.
    _ = try world.psql(
      """
      CREATE SEQUENCE attempts;
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('attempts') % 3 = 1 THEN RAISE EXCEPTION 'rolled back by a test' USING ERRCODE = '\(code)'; END IF;
        RETURN NULL; END $$;
      CREATE TRIGGER refuse AFTER INSERT ON "ZJOURNALENTRY" FOR EACH STATEMENT EXECUTE FUNCTION refuse()
      """)
    let worked = try world.run("work", "--plan", plan, "--store", world.address, "--quiet")
    #expect(worked.status == 0, "\(worked.messages)")
    #expect(try world.psql("SELECT last_value > 8 FROM attempts") == "t")
    try world.compare(plan, files: "a.csv")
  }

  @Test func `Workers wait for a connection where the server has none to give`() throws {
    try world.writeLog("a.csv", records: 2000)
    let plan = try world.plan("a.csv", shardBytes: 8000)
    let role = "few_\(world.schema)"
    _ = try world.psql(
      """
      CREATE ROLE \(role) LOGIN CONNECTION LIMIT 3;
      GRANT ALL ON SCHEMA \(world.schema) TO \(role);
      GRANT ALL ON ALL TABLES IN SCHEMA \(world.schema) TO \(role);
      GRANT ALL ON ALL SEQUENCES IN SCHEMA \(world.schema) TO \(role)
      """)
    let address = try #require(
      world.server.address(["options": "-csearch_path=\(world.schema)", "user": role])?.absoluteString)
    var limited = world
    limited.address = address
    let workers = (0..<8).map { _ in limited.worker(plan) }
    for worker in workers { try worker.start() }
    for worker in workers { worker.waitUntilExit() }
    #expect(workers.map(\.terminationStatus) == Array(repeating: 0, count: 8))
    try world.compare(plan, files: "a.csv")
  }
}
