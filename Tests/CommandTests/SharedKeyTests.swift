import Foundation
import TestSupport
import Testing

/// An import by key into a schema of its own by workers, and the same on one machine.
struct KeyedImport {
  let world: PlannedImport
  private let duplicates: String
  var folder: TemporaryFolder { world.folder }

  /// The policies that workers can share, as JSON.
  static let policies = [
    "\"skip\"", "\"update\"", "{ \"policy\": \"update\", \"columns\": [\"rating\"] }",
    "{ \"policy\": \"keepNewest\", \"by\": \"rating\" }",
  ]

  /// - Parameters:
  ///   - duplicates: The policy, as JSON.
  ///   - world: Nil for a schema of its own.
  init(duplicates: String, in world: PlannedImport? = nil) throws {
    self.world = try world ?? PlannedImport()
    self.duplicates = duplicates
    try folder.makeFolder("one")
    try folder.write(
      """
      {
        "name": "nightly", "key": ["location", "wind"], "duplicates": \(duplicates), "chunkRows": 40,
        "columns": [
          { "name": "date", "rules": ["required"] }, "location", "wind", "height",
          { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] }
        ]
      }
      """, to: "nightly.json")
  }

  /// Writes a log in which many records have the key of another, some have none, and some are rejected.
  func writeLog(_ name: String, records: Int, seed: UInt64, places: Int = 150) throws {
    let script = """
      import random, sys
      name, count, places = sys.argv[1], int(sys.argv[2]), int(sys.argv[4])
      random.seed(int(sys.argv[3]))
      with open(name, "w") as log:
          log.write("date,location,wind,height,rating\\n")
          for n in range(count):
              place = random.choice(["", '"Two\\nlines"'] + [f"Place {random.randrange(places)}"] * 30)
              wind = random.choice(["", "N", "SW"])
              rating = 9 if random.random() < 0.03 else random.randint(1, 5)
              log.write(f"2014-{n // 28 % 12 + 1:02}-{n % 28 + 1:02},{place},{wind},{random.randint(1, 4)} ft,{rating}\\n")
      """
    try Programs.output(of: ["python3", "-c", script, name, "\(records)", "\(seed)", "\(places)"], in: folder)
  }

  /// Imports on one machine.
  @discardableResult
  func importFiles(_ files: [String], into store: String) throws -> Summary {
    let output = try Programs.run(
      Tool.url.path,
      ["import"] + files + ["--pipeline", "./nightly.json", "--store", store, "--rejects", "one/", "--json"], in: folder
    )
    try #require([0, 65].contains(output.status), "\(output.messages)")
    return try output.json()
  }

  func rows(of store: String) throws -> [String] {
    let output = try Programs.run(
      Tool.url.path, ["export", store, "--columns", "date,location,wind,height,rating", "--format", "jsonl"], in: folder
    )
    try #require(output.status == 0, "\(output.messages)")
    return output.text.split(separator: "\n").map(String.init).sorted()
  }

  func report(_ plan: String) throws -> Summary {
    let output = try world.run(
      "report", "--plan", plan, "--store", world.address, "--rejects", "rejects.csv", "--json", "--report", "r.json")
    try #require([0, 65].contains(output.status), "\(output.messages)")
    return try output.json()
  }

  /// Closes the plan, and compares everything with an import of the same files into `one.sqlite`, which has had the entries
  /// of the store.
  func compare(_ plan: String, fileCount: Int, with one: Summary) throws {
    let found = try report(plan)
    #expect(try rows(of: world.address) == rows(of: "one.sqlite"))
    let own = found.counts
    #expect(own.isConserved)
    #expect(own.read == one.counts.read && own.inserted == one.counts.inserted)
    #expect(own.repeated == one.counts.repeated && own.rejected == one.counts.rejected)
    // A record with the key of an earlier file is compared with that one on one machine only.
    if fileCount == 1 || duplicates == "\"skip\"" { #expect(own == one.counts) }
    #expect(found.issues.counts == one.issues.counts)
    #expect(try keyTableCount() == 0)
  }

  /// The tables by which workers compare keys.
  func keyTableCount() throws -> Int {
    let count = try world.psql(
      "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'sj\\_key%' AND schemaname = current_schema()")
    return Int(count) ?? -1
  }
}

/// Workers of a plan compare keys in the store: the entries are those of an import on one machine, whichever shard is
/// imported first, how often, and whatever is killed.
@Suite(.seeded, .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct SharedKeyTests {
  @Test(arguments: KeyedImport.policies, Randomness.seeds(1, long: 20))
  func `Any order of shards, with kills, gives the entries and counts of one machine`(
    policy: String, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let keyed = try KeyedImport(duplicates: policy)
    let (world, folder) = (keyed.world, keyed.folder)
    // The stores have some of the keys already.
    try keyed.writeLog("old.csv", records: .random(in: 1...200, using: &random), seed: seed)
    for store in [world.address, "one.sqlite"] { try keyed.importFiles(["old.csv"], into: store) }
    let files = Bool.random(using: &random) ? ["a.csv"] : ["a.csv", "b.csv"]
    for (number, file) in files.enumerated() {
      try keyed.writeLog(file, records: .random(in: 200...700, using: &random), seed: seed &+ UInt64(number) + 1)
    }
    let expected = try keyed.importFiles(files, into: "one.sqlite")
    let plan = try #require(
      try Programs.run(
        Tool.url.path,
        ["plan", "./nightly.json"] + files + [
          "--store", world.address, "--shard-bytes", "\(Int.random(in: 1000...1800, using: &random))", "--quiet",
        ], in: folder
      ).text.split(separator: "\n").first.map(String.init))
    let kills = try world.workInAnyOrder(on: plan, atOnce: 2, using: &random)
    Figures.add("kills of workers that compare keys", kills, suite: Self.self)
    try keyed.compare(plan, fileCount: files.count, with: expected)
  }

  @Test(arguments: KeyedImport.policies)
  func `An undo takes back all of a plan, and no single file of it`(policy: String) throws {
    let keyed = try KeyedImport(duplicates: policy)
    let world = keyed.world
    try keyed.writeLog("old.csv", records: 100, seed: 1)
    try keyed.importFiles(["old.csv"], into: world.address)
    let before = try keyed.rows(of: world.address)
    try keyed.writeLog("a.csv", records: 200, seed: 2)
    try keyed.writeLog("b.csv", records: 200, seed: 3)
    let plan = try world.plan("a.csv", "b.csv", shardBytes: 2000)
    let shards = try #require(Int(try world.psql("SELECT count(*) FROM sj_shard")))
    for shard in (0..<shards).reversed() {
      #expect(try world.run("work", "--plan", plan, "--store", world.address, "--shard", "\(shard)").status == 0)
    }
    _ = try keyed.report(plan)
    #expect(try keyed.rows(of: world.address) != before)
    let part = try world.run("undo", world.address, "a.csv", "--yes")
    #expect(part.status == 66 && part.messages.contains("have entries in common"), "\(part.messages)")
    let whole = try world.run("undo", world.address, plan, "--yes")
    #expect(whole.status == 0, "\(whole.messages)")
    #expect(try keyed.rows(of: world.address) == before)
  }

  @Test func `While a plan compares keys, nothing else is imported into its entity`() throws {
    let keyed = try KeyedImport(duplicates: "\"update\"")
    let world = keyed.world
    try keyed.writeLog("a.csv", records: 100, seed: 1)
    try keyed.writeLog("b.csv", records: 100, seed: 2)
    let plan = try world.plan("a.csv")
    for command in ["import", "plan"] {
      let pipeline = command == "import" ? ["b.csv", "--pipeline", "./nightly.json"] : ["./nightly.json", "b.csv"]
      let output = try Programs.run(
        Tool.url.path, [command] + pipeline + ["--store", world.address], in: keyed.folder)
      #expect(output.status == 75 && output.messages.contains("the plan \(plan) is open"), "\(output.messages)")
    }
    #expect(try world.run("work", "--plan", plan, "--store", world.address).status == 0)
    _ = try keyed.report(plan)
    try keyed.importFiles(["b.csv"], into: world.address)
  }

  @Test func `A plan that was ended leaves no tables, and is undone`() throws {
    let keyed = try KeyedImport(duplicates: "\"update\"")
    let world = keyed.world
    try keyed.writeLog("a.csv", records: 200, seed: 1)
    let plan = try world.plan("a.csv", shardBytes: 2000)
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--shard", "1").status == 0)
    #expect(try world.run("report", "--plan", plan, "--store", world.address, "--abandon").status == 0)
    #expect(try keyed.keyTableCount() == 0)
    #expect(try world.run("undo", world.address, "--yes").status == 0)
    #expect(try keyed.rows(of: world.address) == [])
  }

  @Test func `A constraint of the model and the rule unique are kept where they have the key`() throws {
    let world = try PlannedImport()
    let folder = world.folder
    try folder.makeFolder("Club.xcdatamodel")
    try folder.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <model userDefinedModelVersionIdentifier="">
        <entity name="Surfer" representedClassName="Surfer">
          <attribute name="name" optional="YES" attributeType="String"/>
          <attribute name="club" optional="YES" attributeType="String"/>
          <attribute name="points" optional="YES" attributeType="Integer 32" usesScalarValueType="NO"/>
          <uniquenessConstraints>
            <uniquenessConstraint><constraint value="name"/><constraint value="club"/></uniquenessConstraint>
          </uniquenessConstraints>
        </entity>
      </model>
      """, to: "Club.xcdatamodel/contents")
    func setKey(_ key: String, rules: String = "") throws {
      try folder.write(
        """
        { "name": "club", "entity": "Surfer", "model": "Club.xcdatamodel", "key": ["\(key)"], "duplicates": "update",
          "chunkRows": 20, "columns": [{ "name": "name", "rules": [\(rules)] }, "club", "points"] }
        """, to: "nightly.json")
    }
    let lines = (0..<600).map { "Surfer \($0 * 7 % 90),Club \($0 % 3),\($0)\n" }
    try folder.write("name,club,points\n" + lines.joined(), to: "a.csv")
    try setKey("points")
    let other = try world.run("plan", "./nightly.json", "a.csv", "--store", world.address)
    #expect(other.status == 78 && other.messages.contains("uniqueness constraint for Surfer"), "\(other.messages)")
    try setKey("name", rules: "\"unique\"")
    let plan = try world.plan("a.csv", shardBytes: 2000)
    let workers = (0..<3).map { _ in world.worker(plan) }
    for worker in workers { try worker.start() }
    for worker in workers {
      worker.waitUntilExit()
      #expect(worker.terminationStatus == 0)
    }
    #expect(try world.run("report", "--plan", plan, "--store", world.address).status == 0)
    let one = try world.run("import", "a.csv", "--pipeline", "./nightly.json", "--store", "one.sqlite")
    #expect(one.status == 0, "\(one.messages)")
    func rows(_ store: String) throws -> [Substring] {
      let output = try world.run(
        "export", store, "--entity", "Surfer", "--model", "Club.xcdatamodel", "--format", "csv", "-o", "-")
      return output.text.split(separator: "\n").sorted()
    }
    #expect(try rows(world.address).count == 91)
    #expect(try rows(world.address) == rows("one.sqlite"))
  }

  @Test func `Another key with the same digest is noticed`() throws {
    let keyed = try KeyedImport(duplicates: "\"update\"")
    let world = keyed.world
    try keyed.writeLog("a.csv", records: 400, seed: 1, places: 3)
    let plan = try world.plan("a.csv", shardBytes: 4000)
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--shard", "0").status == 0)
    let table = "sj_key_\(plan.replacingOccurrences(of: "-", with: ""))"
    #expect(try world.psql("SELECT count(*) > 3 FROM \(table)") == "t")
    _ = try world.psql("UPDATE \(table) SET keyvalues = keyvalues || '\\x00'")
    let before = try keyed.rows(of: world.address)
    let work = try world.run("work", "--plan", plan, "--store", world.address, "--shard", "1")
    #expect(work.status == 65 && work.messages.contains("has the digest of another JournalEntry"), "\(work.messages)")
    #expect(try keyed.rows(of: world.address) == before)
    // What the message says.
    #expect(try world.run("report", "--plan", plan, "--store", world.address, "--abandon").status == 0)
    #expect(try world.run("undo", world.address, plan, "--yes").status == 0)
    for store in [world.address, "one.sqlite"] { try keyed.importFiles(["a.csv"], into: store) }
    #expect(try keyed.rows(of: world.address) == keyed.rows(of: "one.sqlite"))
  }

  @Test func `What depends on the order of records is refused with the reason`() throws {
    func refusal(duplicates: String, _ files: String...) throws -> String {
      let keyed = try KeyedImport(duplicates: duplicates)
      try keyed.writeLog("a.csv", records: 10, seed: 1)
      try keyed.folder.write("date,location,wind\n2014-01-01,Place,N\n", to: "b.csv")
      try keyed.folder.write("{\"date\": \"2014-01-01\", \"location\": \"Place\", \"wind\": \"N\"}\n", to: "c.jsonl")
      let output = try Programs.run(
        Tool.url.path, ["plan", "./nightly.json"] + files + ["--store", keyed.world.address], in: keyed.folder)
      #expect(output.status == 78, "\(output.messages)")
      return output.messages
    }
    #expect(try refusal(duplicates: "\"reject\"", "a.csv").contains("the second one would be rejected"))
    #expect(try refusal(duplicates: "\"update\"", "a.csv", "b.csv").contains("b.csv has other columns than a.csv"))
    #expect(try refusal(duplicates: "\"update\"", "c.jsonl").contains("records of JSON Lines may leave values out"))
  }
}
