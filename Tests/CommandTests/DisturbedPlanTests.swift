import Foundation
import TestSupport
import Testing

/// Plans of several entities with keys and links, whose workers reach the server over a pooler, or lose it for a moment.
@Suite(
  .serialized, .seeded, .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct DisturbedPlanTests {
  private static let pipeline = """
    {
      "name": "surfing", "model": "Surfing.xcdatamodeld", "chunkRows": 40, "rejects": "rejects/",
      "parts": [
        { "entity": "Spot", "source": ["spots.csv"], "key": "name", "duplicates": "update", "columns": ["name", "country"] },
        {
          "entity": "Session", "source": ["sessions.csv"], "key": "notes", "duplicates": "update",
          "columns": [
            "date", "notes", { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "reject" } },
            { "name": "boards", "attribute": "boards.name", "link": { "ifMissing": "create", "separator": ";" } }
          ]
        }
      ]
    }
    """

  private func writeFiles(_ linked: LinkedPlan, sessions: Int) throws {
    let script = """
      import random, sys
      random.seed(\(Randomness.seed))
      with open("spots.csv", "w") as log:
          log.write("name,country\\n")
          for n in range(400): log.write(f"Spot {random.randrange(150)},{random.choice(['US', 'AU', 'FR'])}\\n")
      with open("sessions.csv", "w") as log:
          log.write("date,spot,boards,notes\\n")
          for n in range(int(sys.argv[1])):
              boards = ";".join(random.choices(["Fish", "Log", "Gun", f"Board {n % 90}"], k=random.randrange(3)))
              log.write(f"2014-{n // 28 % 12 + 1:02}-{n % 28 + 1:02},Spot {random.randrange(160)},{boards},"
                        f"Session {random.randrange(600)}\\n")
      """
    try Programs.output(of: ["python3", "-c", script, "\(sessions)"], in: linked.folder)
  }

  /// Closes the plan, and compares what is in the store with one run.
  private func compare(_ linked: LinkedPlan, _ plan: String) throws {
    let report = try linked.many.run("report", "--plan", plan, "--store", linked.many.address, "--json")
    #expect(report.status == 65, "\(report.messages)")
    let one = try Programs.run(
      Tool.url.path, ["run", "./nightly.json", "--store", linked.one.address, "--rejects", "one/", "--json"],
      in: linked.folder)
    #expect(one.status == 65, "\(one.messages)")
    #expect(try LinkedPlan.graph(of: linked.many) == LinkedPlan.graph(of: linked.one))
    let (own, other) = (try report.json() as Summary, try one.json() as Summary)
    #expect(own.counts == other.counts && own.issues.counts == other.issues.counts)
    #expect(try linked.tableCount() == 0)
  }

  @Test(.enabled(if: ConnectionPooler.isThere, "pgbouncer is not installed"))
  func `Workers behind a pooler in transaction mode give what one run gives`() throws {
    let server = try #require(PostgreSQLServer.shared)
    let name = "d\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    let pooler = try ConnectionPooler(before: server, database: name)
    let linked = try LinkedPlan(
      PlannedImport(on: server, database: name, at: pooler.address), PlannedImport(on: server), pipeline: Self.pipeline)
    try writeFiles(linked, sessions: 1500)
    let plan = try linked.plan([], shardBytes: 4000)
    // More than the pooler has connections to the server.
    let kills = try linked.many.workUnderKills(on: plan, atOnce: 5, killsMax: TestLength.rounds(4, long: 40))
    Figures.add("kills of workers behind a pooler", kills, suite: Self.self)
    try compare(linked, plan)
  }

  @Test func `Workers go on after an immediate restart of the server, and give what one run gives`() throws {
    let server = try PostgreSQLServer()
    defer { server.stop() }
    let linked = try LinkedPlan(pipeline: Self.pipeline, on: server)
    try writeFiles(linked, sessions: 4000)
    let plan = try linked.plan([], shardBytes: 8000)
    let workers = (0..<3).map { _ in linked.many.worker(plan) }
    for worker in workers { try worker.start() }
    while try linked.many.psql("SELECT count(*) > 2 FROM sj_shard WHERE state = 'complete'") == "f" { usleep(50_000) }
    try server.restartAfterCrash()
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    // What the server has lost, which does not wait for its disk, it has lost with its checkpoints.
    try linked.run([linked.many.worker(plan)])
    try compare(linked, plan)
  }
}
