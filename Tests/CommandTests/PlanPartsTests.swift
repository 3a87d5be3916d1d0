import Foundation
import TestSupport
import Testing

/// Plans of several entities: a part begins when those are complete that its records lead to, and the result is that of one
/// run.
@Suite(
  .serialized, .seeded, .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct PlanPartsTests {
  private let linked: LinkedPlan
  private var many: PlannedImport { linked.many }

  init() throws {
    linked = try LinkedPlan(pipeline: Self.pipeline())
    try Self.writeFiles(linked)
    try linked.folder.makeFolder("many")
  }

  private static func pipeline(spotKey: String = "\"key\": \"name\", \"duplicates\": \"update\",") -> String {
    """
    {
      "name": "surfing", "model": "Surfing.xcdatamodeld", "chunkRows": 40, "rejects": "rejects/",
      "parts": [
        { "entity": "Spot", "source": ["spots-*.csv"], \(spotKey) "columns": ["name", "country"] },
        {
          "entity": "Session", "source": ["sessions-*.csv"],
          "columns": [
            "date", "rating", { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "reject" } },
            { "name": "boards", "attribute": "boards.name", "link": { "ifMissing": "create", "separator": ";" } }
          ]
        }
      ]
    }
    """
  }

  /// Sessions name spots of both files, some that come again with another country, and some that no file has.
  private static func writeFiles(_ linked: LinkedPlan) throws {
    let script = """
      import random
      random.seed(\(Randomness.seed))
      for name, count in (("spots-1.csv", 600), ("spots-2.csv", 300)):
          with open(name, "w") as log:
              log.write("name,country\\n")
              for n in range(count):
                  spot = "" if random.random() < 0.02 else f"Spot {random.randrange(400)}"
                  log.write(f"{spot},{random.choice(['US', 'AU', 'FR'])}\\n")
      for name, count in (("sessions-1.csv", 900), ("sessions-2.csv", 400)):
          with open(name, "w") as log:
              log.write("date,spot,boards,rating\\n")
              for n in range(count):
                  boards = ";".join(random.choices(["Fish", "Log", "Gun"], k=random.randrange(3)))
                  log.write(f"2014-{n // 28 % 12 + 1:02}-{n % 28 + 1:02},Spot {random.randrange(420)},{boards},{n % 5 + 1}\\n")
      """
    try Programs.output(of: ["python3", "-c", script], in: linked.folder)
  }

  private func importWithOneRun() throws -> ProgramOutput {
    let output = try Programs.run(
      Tool.url.path, ["run", "./nightly.json", "--store", linked.one.address, "--rejects", "one/", "--json"],
      in: linked.folder)
    try #require(output.status == 65, "\(output.messages)")
    return output
  }

  private struct Entities: Decodable, Equatable {
    struct Part: Decodable, Equatable {
      let entity: String
      let counts: Summary.Counts
    }
    let entities: [Part]
  }

  /// Closes the plan, and compares everything with one run.
  private func compare(_ plan: String) throws {
    let report = try many.run("report", "--plan", plan, "--store", many.address, "--rejects", "many/", "--json")
    try #require(report.status == 65, "\(report.messages)")
    let one = try importWithOneRun()
    #expect(try LinkedCounts(report).links == LinkedCounts(one).links)
    let (own, other) = (
      try JSONDecoder().decode(Entities.self, from: report.bytes),
      try JSONDecoder().decode(Entities.self, from: one.bytes)
    )
    #expect(own.entities.map(\.entity) == ["Spot", "Session"])
    // A record with the key of an earlier file is compared with that one in one run only.
    #expect(own.entities[1] == other.entities[1])
    #expect(own.entities.allSatisfy { $0.counts.isConserved })
    let (found, expected) = (own.entities[0].counts, other.entities[0].counts)
    #expect(found.read == expected.read && found.inserted == expected.inserted && found.rejected == expected.rejected)
    #expect(try (report.json() as Summary).issues.counts == (one.json() as Summary).issues.counts)
    func rest(_ name: String) throws -> [Substring] {
      linked.folder.exists(name) ? Array(try linked.folder.text(name).split(separator: "\n").dropFirst()) : []
    }
    for part in ["spots", "sessions"] {
      let all = try ["1", "2"].flatMap { try rest("one/\(part)-\($0).csv.rejects.csv") }
      #expect(try rest("many/\(part)-1.csv.rejects.csv") == all)
    }
    #expect(try LinkedPlan.graph(of: many) == LinkedPlan.graph(of: linked.one))
    #expect(try linked.tableCount() == 0)
  }

  private static let openSpots = """
    SELECT count(*) FROM sj_shard JOIN sj_input USING (inputid) WHERE entity = 'Spot' AND sj_shard.state <> 'complete'
    """

  @Test func `Sessions begin when all spots are there, whatever is killed, and the result is that of one run`() throws {
    let plan = try linked.plan([], shardBytes: 1500)
    var looks = 0
    let kills = try many.workUnderKills(
      on: plan, atOnce: 3, killsMax: TestLength.rounds(8, long: 60), pause: 50_000...200_000
    ) {
      let isEarly = try many.psql(
        "SELECT EXISTS (SELECT 1 FROM \"ZSESSION\") AND (\(Self.openSpots)) > 0")
      #expect(isEarly == "f")
      looks += 1
    }
    #expect(looks > 2)
    Figures.add("kills of workers of several entities", kills, suite: Self.self)
    try compare(plan)
  }

  @Test func `A worker that is sent to a shard of a later part completes those before it first`() throws {
    let plan = try linked.plan([], shardBytes: 1500)
    let last = try #require(Int(try many.psql("SELECT max(shard) FROM sj_shard")))
    // Each of a scheduler's tasks, the last ones first and four at a time: none waits for one that has not begun.
    var waiting = Array(0...last)
    while !waiting.isEmpty {
      let shards = waiting.suffix(4)
      waiting.removeLast(shards.count)
      try linked.run(shards.reversed().map { many.worker(plan, "--shard", "\($0)") })
      #expect(try many.psql(Self.openSpots) == "0")
    }
    try compare(plan)
  }

  @Test func `The files of each part can be given to plan`() throws {
    try linked.folder.write("name,country\nRincon,US\n", to: "other.csv")
    let refused = try many.run("plan", "./nightly.json", "other.csv", "--store", many.address)
    #expect(refused.status == 64 && refused.messages.contains("--input Spot=FILE"), "\(refused.messages)")
    let plan = try many.run(
      "plan", "./nightly.json", "--input", "Spot=other.csv", "--input", "Session=sessions-1.csv", "--store",
      many.address, "--json")
    #expect(plan.status == 0, "\(plan.messages)")
    let paths = try many.psql("SELECT path FROM sj_input ORDER BY inputid").split(separator: "\n")
    #expect(paths.map { $0.split(separator: "/").last } == ["other.csv", "sessions-1.csv"], "\(paths)")
  }

  @Test func `An undo takes back a plan of several entities`() throws {
    let plan = try linked.plan([])
    try linked.run([many.worker(plan), many.worker(plan)])
    let report = try many.run("report", "--plan", plan, "--store", many.address, "--rejects", "many/")
    #expect(report.status == 65, "\(report.messages)")
    let undo = try many.run("undo", many.address, plan, "--model", "Surfing.xcdatamodeld", "--yes")
    #expect(undo.status == 0, "\(undo.messages)")
    // Boards are what records have led to.
    #expect(try LinkedPlan.graph(of: many).allSatisfy { $0.hasPrefix("board") })
  }

  @Test func `A plan whose first part was imported before has the rest`() throws {
    try linked.folder.write(Self.pipeline(), to: "all.json")
    try linked.folder.write(
      """
      { "name": "surfing", "model": "Surfing.xcdatamodeld", "entity": "Spot", "chunkRows": 40, "key": "name",
        "duplicates": "update", "source": ["spots-*.csv"], "columns": ["name", "country"] }
      """, to: "nightly.json")
    #expect(try many.run("run", "./nightly.json", "--store", many.address, "--rejects", "one/").status == 65)
    try linked.folder.write(Self.pipeline(), to: "nightly.json")
    let plan = try linked.plan([])
    try linked.run([many.worker(plan)])
    #expect(try many.psql("SELECT count(*) > 0 FROM \"ZSESSION\"") == "t")
  }

  @Test func `What a later part would need of an earlier one and can't know is refused with the reason`() throws {
    func refusal(_ pipeline: String, _ more: String...) throws -> String {
      try linked.folder.write(pipeline, to: "nightly.json")
      let output = try Programs.run(
        Tool.url.path, ["plan", "./nightly.json"] + (more.isEmpty ? ["--store", many.address] : more), in: linked.folder
      )
      #expect(output.status == 78, "\(output.messages)")
      return output.messages
    }
    #expect(try refusal(Self.pipeline(), "--dry-run", "-o", "p.json").contains("it fills several entities"))
    let reversed = """
      {
        "name": "surfing", "model": "Surfing.xcdatamodeld",
        "parts": [
          { "entity": "Session", "source": ["sessions-1.csv"], "missingColumns": "ignore", "columns": [
            "date", { "name": "boards", "attribute": "boards.name", "link": { "ifMissing": "create", "separator": ";" } }] },
          { "entity": "Board", "source": ["spots-1.csv"], "key": "name", "duplicates": "update", "columns": ["name"] }
        ]
      }
      """
    #expect(try refusal(reversed).contains("set \"ifMissing\"") || refusal(reversed).contains("Board"))
    let late = """
      {
        "name": "surfing", "model": "Surfing.xcdatamodeld",
        "parts": [
          { "entity": "Session", "source": ["sessions-1.csv"], "columns": [
            "date", { "name": "spot", "attribute": "spot.name", "link": { "ifMissing": "reject" } }] },
          { "entity": "Spot", "source": ["spots-1.csv"], "columns": ["name", "country"] }
        ]
      }
      """
    #expect(try refusal(late).contains("known only when all are in the store"))
  }
}
