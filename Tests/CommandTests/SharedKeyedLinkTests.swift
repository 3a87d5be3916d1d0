import Foundation
import TestSupport
import Testing

/// Workers of a plan with a key whose records lead to objects: entries, links and objects are those of one import, whichever
/// shard is imported first, how often, and whatever is killed.
@Suite(
  .serialized, .seeded, .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct SharedKeyedLinkTests {
  /// What records with one key say, and what becomes of what they name.
  struct Policy: Sendable, CustomTestStringConvertible {
    let duplicates: String
    let ifMissing: String
    var ifDifferent = "keep"
    var testDescription: String { "\(duplicates) \(ifMissing) \(ifDifferent)" }

    static let all = [
      Policy(duplicates: "\"update\"", ifMissing: "create"),
      Policy(duplicates: "\"update\"", ifMissing: "reject", ifDifferent: "reject"),
      Policy(duplicates: "\"skip\"", ifMissing: "reject"), Policy(duplicates: "\"skip\"", ifMissing: "leave"),
      Policy(duplicates: "{ \"policy\": \"keepNewest\", \"by\": \"rating\" }", ifMissing: "reject"),
      Policy(duplicates: "{ \"policy\": \"update\", \"columns\": [\"rating\"] }", ifMissing: "leave"),
      Policy(duplicates: "{ \"policy\": \"update\", \"columns\": [\"spot.name\"] }", ifMissing: "reject"),
    ]

    func pipeline(chunkRows: Int) -> String {
      """
      {
        "name": "sessions", "model": "Surfing.xcdatamodeld", "entity": "Session", "chunkRows": \(chunkRows),
        "key": "notes", "duplicates": \(duplicates),
        "columns": [
          "date", "rating", "notes",
          {
            "name": "spot", "attribute": "spot.name",
            "link": { "ifMissing": "\(ifMissing)", "ifDifferent": "\(ifDifferent)" }
          },
          { "name": "country", "attribute": "spot.country" },
          { "name": "boards", "attribute": "boards.name", "link": { "ifMissing": "\(ifMissing)", "separator": ";" } }
        ]
      }
      """
    }
  }

  /// Writes a log in which many records have the key of another one, and some have none. A few name what no other record
  /// names.
  private func writeLog(_ name: String, records: Int, seed: UInt64, keys: Int = 90, in folder: TemporaryFolder) throws {
    let script = """
      import random, sys
      name, count, seed, keys = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
      random.seed(seed)
      with open(name, "w") as log:
          log.write("date,spot,country,boards,rating,notes\\n")
          for n in range(count):
              note = random.choice([""] + [f"Session {random.randrange(keys)}"] * 20)
              spot = random.choice(["", f"Rare {seed} {n}"] + [f"Spot {random.randrange(25)}"] * 10)
              country = random.choice(["US", "AU", "FR", ""]) if spot else ""
              boards = ";".join(random.choices(["Fish", "Log", "Gun", "Twin", "Foil"], k=random.choice([0, 0, 1, 2])))
              rating = "much" if random.random() < 0.03 else random.randint(1, 5)
              log.write(f"2014-{n // 28 % 12 + 1:02}-{n % 28 + 1:02},{spot},{country},{boards},{rating},{note}\\n")
      """
    try Programs.output(of: ["python3", "-c", script, name, "\(records)", "\(seed)", "\(keys)"], in: folder)
  }

  /// Imports spots and boards that records can lead to, some of them with another country, and sessions with some of the
  /// keys, into both stores.
  private func prepare(_ linked: LinkedPlan, hasEntries: Bool, seed: UInt64) throws {
    let base = Policy(duplicates: "\"update\"", ifMissing: "create")
    try linked.folder.write(base.pipeline(chunkRows: 50), to: "nightly.json")
    let spots = (0..<20).map { "2013-01-01,Spot \($0),\(["US", "AU", "FR", ""][$0 % 4]),Fish;Log;Gun,1,\n" }
    try linked.folder.write("date,spot,country,boards,rating,notes\n" + spots.joined(), to: "base.csv")
    try writeLog("old.csv", records: 120, seed: seed, in: linked.folder)
    for store in [linked.many, linked.one] {
      try linked.importFiles(["base.csv"] + (hasEntries ? ["old.csv"] : []), into: store)
    }
  }

  private static func linkCounts(of store: PlannedImport) throws -> [String: Int] {
    let text = try store.psql(
      "SELECT 'Board', count(*) FROM \"Z_1SESSIONS\" UNION ALL SELECT 'Spot', count(\"ZSPOT\") FROM \"ZSESSION\"")
    let rows = text.split(separator: "\n").map { $0.split(separator: "|") }
    return Dictionary(uniqueKeysWithValues: rows.map { (String($0[0]), Int($0[1]) ?? -1) })
  }

  private struct Links: Decodable {
    struct Count: Decodable {
      let entity: String
      let created: Int
      let linked: Int
    }
    let links: [Count]?

    init(_ output: ProgramOutput) throws { self = try JSONDecoder().decode(Links.self, from: output.bytes) }
    var created: [String: Int] { counts(\.created) }
    var linked: [String: Int] { counts(\.linked) }

    private func counts(_ count: KeyPath<Count, Int>) -> [String: Int] {
      Dictionary(uniqueKeysWithValues: (links ?? []).map { ($0.entity, $0[keyPath: count]) }).filter { $0.value > 0 }
    }
  }

  /// Closes the plan, and compares everything with one import.
  ///
  /// - Parameter before: The links that the store had; nil where it had entries with these keys.
  private func compare(
    _ linked: LinkedPlan, _ plan: String, files: [String], with expected: ProgramOutput, policy: Policy,
    before: [String: Int]?
  ) throws {
    let found = try linked.report(plan)
    #expect(found.status == expected.status)
    #expect(try LinkedPlan.graph(of: linked.many) == LinkedPlan.graph(of: linked.one))
    let (own, other) = (try found.json() as Summary, try expected.json() as Summary)
    #expect(own.counts.isConserved)
    // A record with the key of an earlier file is compared with that one in one import only.
    if files.count == 1 || policy.duplicates == "\"skip\"" { #expect(own.counts == other.counts) }
    #expect(own.counts.inserted == other.counts.inserted && own.counts.rejected == other.counts.rejected)
    #expect(own.issues.counts == other.issues.counts)
    func rest(_ name: String) throws -> [Substring] {
      linked.folder.exists(name) ? Array(try linked.folder.text(name).split(separator: "\n").dropFirst()) : []
    }
    #expect(try rest("rejects.csv") == files.flatMap { try rest("one/\($0).rejects.csv") })
    #expect(try Links(found).created == Links(expected).created)
    // Links are counted that are there in the end.
    if let before {
      #expect(
        try Links(found).linked
          == Self.linkCounts(of: linked.many).merging(before, uniquingKeysWith: -).filter { $0.value > 0 })
    }
    #expect(try linked.tableCount() == 0)
    let verified = try linked.many.run("verify", linked.many.address, "--model", "Surfing.xcdatamodeld")
    #expect(verified.status == 0, "\(verified.text)\(verified.messages)")
  }

  @Test(arguments: Policy.all, Randomness.seeds(1, long: 20))
  func `Any order of shards, with kills, gives the entries, links and objects of one import`(
    policy: Policy, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let linked = try LinkedPlan()
    let hasEntries = Bool.random(using: &random)
    try prepare(linked, hasEntries: hasEntries, seed: seed)
    let before = hasEntries ? nil : try Self.linkCounts(of: linked.many)
    try linked.folder.write(policy.pipeline(chunkRows: 40), to: "nightly.json")
    let files = Bool.random(using: &random) ? ["a.csv"] : ["a.csv", "b.csv"]
    for (number, file) in files.enumerated() {
      try writeLog(
        file, records: .random(in: 200...600, using: &random), seed: seed &+ UInt64(number) + 1, in: linked.folder)
    }
    let expected = try linked.importFiles(files, into: linked.one)
    let plan = try linked.plan(files, shardBytes: .random(in: 1500...2500, using: &random))
    let kills = try linked.many.workInAnyOrder(on: plan, atOnce: 3, using: &random)
    Figures.add("kills of workers that compare keys and share related objects", kills, suite: Self.self)
    try compare(linked, plan, files: files, with: expected, policy: policy, before: before)
  }

  @Test func `Workers that are killed again and again lead each entry where the last record says`() throws {
    let linked = try LinkedPlan()
    let policy = Policy.all[0]
    try linked.folder.write(policy.pipeline(chunkRows: 100), to: "nightly.json")
    let files = ["a.csv", "b.csv"]
    for (number, file) in files.enumerated() {
      try writeLog(
        file, records: 6000 - number * 3000, seed: Randomness.seed &+ UInt64(number), keys: 900, in: linked.folder)
    }
    let expected = try linked.importFiles(files, into: linked.one)
    let plan = try linked.plan(files, shardBytes: 20_000)
    let kills = try linked.many.workUnderKills(on: plan, atOnce: 4, killsMax: TestLength.rounds(12, long: 100))
    Figures.add("kills of workers that compare keys and share related objects", kills, suite: Self.self)
    try compare(linked, plan, files: files, with: expected, policy: policy, before: [:])
  }

  @Test func `A chunk that changes no entry creates what it names`() throws {
    let linked = try LinkedPlan()
    let policy = Policy.all[0]
    try linked.folder.write(policy.pipeline(chunkRows: 40), to: "nightly.json")
    // The records of the second shard are neither the first nor the last ones of their keys.
    let rows = (0..<120).map { "2014-01-\(10 + $0 % 19),Spot \($0),US,Board \($0 / 2),3,Session \($0 % 40)\n" }
    try linked.folder.write("date,spot,country,boards,rating,notes\n" + rows.joined(), to: "a.csv")
    let expected = try linked.importFiles(["a.csv"], into: linked.one)
    let plan = try linked.plan(["a.csv"], shardBytes: 1500)
    #expect(try linked.many.psql("SELECT count(*) FROM sj_shard") == "3")
    for shard in ["2", "0", "1"] { try linked.run([linked.many.worker(plan, "--shard", shard)]) }
    try compare(linked, plan, files: ["a.csv"], with: expected, policy: policy, before: [:])
  }

  @Test func `No worker waits for ever for another one that leads entries elsewhere`() throws {
    let server = try PostgreSQLServer(settings: ["log_min_messages=log"])
    defer { server.stop() }
    let linked = try LinkedPlan(on: server)
    let policy = Policy.all[0]
    try linked.folder.write(policy.pipeline(chunkRows: 100), to: "nightly.json")
    // Each chunk has keys and names of all others.
    try writeLog("a.csv", records: 4000, seed: 5, keys: 400, in: linked.folder)
    let expected = try linked.importFiles(["a.csv"], into: linked.one)
    let plan = try linked.plan(["a.csv"], shardBytes: 12_000)
    try linked.run((0..<4).map { _ in linked.many.worker(plan) })
    try compare(linked, plan, files: ["a.csv"], with: expected, policy: policy, before: [:])
    let log = try String(contentsOfFile: "\(server.socketFolder)/log", encoding: .utf8)
    #expect(!log.contains("deadlock detected"))
  }

  @Test(arguments: [Policy.all[0], Policy.all[2]])
  func `An undo takes a plan back, and entries lead where they led before`(policy: Policy) throws {
    let linked = try LinkedPlan()
    try prepare(linked, hasEntries: true, seed: 1)
    func sessions() throws -> [String] { try LinkedPlan.graph(of: linked.many).filter { $0.hasPrefix("session") } }
    let before = try sessions()
    try linked.folder.write(policy.pipeline(chunkRows: 40), to: "nightly.json")
    try writeLog("a.csv", records: 400, seed: 2, in: linked.folder)
    let plan = try linked.plan(["a.csv"])
    let shards = try #require(Int(try linked.many.psql("SELECT count(*) FROM sj_shard")))
    for shard in (0..<shards).reversed() { try linked.run([linked.many.worker(plan, "--shard", "\(shard)")]) }
    _ = try linked.report(plan)
    #expect(try sessions() != before)
    let undo = try linked.many.run("undo", linked.many.address, plan, "--model", "Surfing.xcdatamodeld", "--yes")
    #expect(undo.status == 0, "\(undo.messages)")
    #expect(try sessions() == before)
  }

  @Test func `What depends on which records with a key come before is refused with the reason`() throws {
    let linked = try LinkedPlan()
    try writeLog("a.csv", records: 10, seed: 1, in: linked.folder)
    try linked.folder.write("date,rating,notes\n2014-01-10,3,Session 1\n", to: "b.csv")
    func refusal(_ policy: Policy, _ files: String...) throws -> String {
      let pipeline = policy.pipeline(chunkRows: 40).replacingOccurrences(
        of: "\"chunkRows\"", with: "\"missingColumns\": \"ignore\", \"chunkRows\"")
      try linked.folder.write(pipeline, to: "nightly.json")
      let output = try Programs.run(
        Tool.url.path, ["plan", "./nightly.json"] + files + ["--store", linked.many.address], in: linked.folder)
      #expect(output.status == 78, "\(output.messages)")
      return output.messages
    }
    let newest = "{ \"policy\": \"keepNewest\", \"by\": \"rating\" }"
    #expect(try refusal(Policy(duplicates: "\"skip\"", ifMissing: "create"), "a.csv").contains("creates no Spot"))
    #expect(try refusal(Policy(duplicates: newest, ifMissing: "create"), "a.csv").contains("creates no Spot"))
    #expect(
      try refusal(Policy(duplicates: "\"update\"", ifMissing: "leave"), "a.csv").contains("names a missing Spot leaves")
    )
    #expect(
      try refusal(Policy(duplicates: "\"skip\"", ifMissing: "reject", ifDifferent: "reject"), "a.csv")
        .contains("is not compared with its Spot"))
    #expect(
      try refusal(Policy(duplicates: "\"skip\"", ifMissing: "reject"), "a.csv", "b.csv")
        .contains("b.csv has other columns that lead to objects than a.csv"))
  }
}
