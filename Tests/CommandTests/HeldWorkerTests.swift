import Foundation
import TestSupport
import Testing

/// A worker that is held up at any look at the shards, while another one completes a part of the plan.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct HeldWorkerTests {
  /// The third part needs the second one, and that the first one.
  private static let pipeline = """
    {
      "name": "surfing", "model": "Surfing.xcdatamodeld", "rejects": "rejects/",
      "parts": [
        { "entity": "Spot", "source": ["first.csv"], "key": "name", "duplicates": "update", "columns": ["name", "country"] },
        { "entity": "Spot", "source": ["second.csv"], "columns": ["name"] },
        {
          "entity": "Session", "source": ["sessions.csv"],
          "columns": ["date", { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "reject" } }]
        }
      ]
    }
    """

  /// A worker for all shards, and one for that of the last part.
  @Test(arguments: [[], ["--shard", "2"]])
  func `It begins no part before those that it needs, and ends with 0 only when all shards are complete`(
    options: [String]
  ) throws {
    var looks = 0
    for number in 1...TestLength.rounds(5, long: 40) {
      let linked = try LinkedPlan(pipeline: Self.pipeline)
      try linked.folder.write("name,country\nRincon,US\n", to: "first.csv")
      try linked.folder.write("name\nBells\n", to: "second.csv")
      try linked.folder.write("date,spot\n2014-01-10,Bells\n", to: "sessions.csv")
      let plan = try linked.plan([])
      let cutter = try ConnectionCutter(before: linked.many.server)
      defer { cutter.stop() }
      cutter.hold("FROM SJ_SHARD", number: number)
      let address = try #require(URL(string: linked.many.address).flatMap(cutter.address(instead:)))
      let worker = Programs.process(
        Tool.url.path, ["work", "--plan", plan, "--store", address.absoluteString, "--quiet"] + options,
        in: linked.folder)
      try worker.start()
      while !cutter.isHolding, worker.isRunning { usleep(5000) }
      if cutter.isHolding { looks += 1 }
      // The other worker has the first part only.
      try linked.run([linked.many.worker(plan, "--shard", "0")])
      cutter.goOn()
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0, "look \(number)")
      let open = try linked.many.psql("SELECT count(*) FROM sj_shard WHERE state <> 'complete'")
      let rejected = try linked.many.psql("SELECT sum(rejected) FROM sj_shard")
      #expect(open == "0", "look \(number)")
      #expect(rejected == "0", "look \(number)")
    }
    #expect(looks > 3)
  }
}
