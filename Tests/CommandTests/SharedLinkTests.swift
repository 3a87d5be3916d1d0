import Foundation
import TestSupport
import Testing

/// Workers of a plan find and create what records lead to in the store: objects, links and counts are those of one run,
/// whichever shard is imported first, how often, and whatever is killed.
@Suite(
  .serialized, .seeded, .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct SharedLinkTests {
  @Test(arguments: ["create", "reject", "leave"], Randomness.seeds(1, long: 30))
  func `Any order of shards, with kills, gives the objects, links and counts of one run`(
    ifMissing: String, seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let linked = try LinkedPlan(pipeline: LinkedSample.pipeline(chunkRows: 40, ifMissing: "create"))
    // Both stores have some of the objects already.
    try linked.writeLog("old.csv", records: .random(in: 1...100, using: &random), seed: seed)
    for store in [linked.many, linked.one] { try linked.importFiles(["old.csv"], into: store) }
    // Where nothing is created, what records say of the objects is compared with what the store has.
    let different = ifMissing == "create" ? "keep" : "reject"
    try linked.folder.write(
      LinkedSample.pipeline(chunkRows: 40, ifMissing: ifMissing, more: ", \"ifDifferent\": \"\(different)\""),
      to: "nightly.json")
    let files = Bool.random(using: &random) ? ["a.csv"] : ["a.csv", "b.csv"]
    for (number, file) in files.enumerated() {
      try linked.writeLog(file, records: .random(in: 200...700, using: &random), seed: seed &+ UInt64(number) + 1)
    }
    let expected = try linked.importFiles(files, into: linked.one)
    let plan = try linked.plan(files, shardBytes: .random(in: 1000...1800, using: &random))
    let kills = try linked.many.workInAnyOrder(on: plan, atOnce: 3, using: &random)
    Figures.add("kills of workers that share related objects", kills, suite: Self.self)
    try linked.compare(plan, files: files, with: expected)
  }

  @Test func `Workers that are killed again and again create each object once, and lose and double no link`() throws {
    let linked = try LinkedPlan(pipeline: LinkedSample.pipeline(chunkRows: 100))
    try linked.writeLog("a.csv", records: 12_000, seed: Randomness.seed, spots: 700)
    try linked.writeLog("b.csv", records: 3000, seed: Randomness.seed &+ 1, spots: 900)
    let files = ["a.csv", "b.csv"]
    let expected = try linked.importFiles(files, into: linked.one)
    let plan = try linked.plan(files, shardBytes: 30_000)
    let kills = try linked.many.workUnderKills(on: plan, atOnce: 4, killsMax: TestLength.rounds(12, long: 100))
    Figures.add("kills of workers that share related objects", kills, suite: Self.self)
    try linked.compare(plan, files: files, with: expected)
  }

  @Test func `Eight workers that name the same new objects at once create each of them once`() throws {
    let linked = try LinkedPlan(pipeline: LinkedSample.pipeline(chunkRows: 300))
    // Every shard is one chunk, and every chunk names all the spots and boards.
    try linked.writeLog("a.csv", records: 4000, seed: 7, spots: 40)
    let expected = try linked.importFiles(["a.csv"], into: linked.one)
    let plan = try linked.plan(["a.csv"], shardBytes: 8000)
    let shards = try #require(Int(try linked.many.psql("SELECT count(*) FROM sj_shard")))
    #expect(shards >= 8)
    try linked.run((0..<8).map { linked.many.worker(plan, "--shard", "\($0)") })
    try linked.run([linked.many.worker(plan)])
    try linked.compare(plan, files: ["a.csv"], with: expected)
  }

  @Test func `An object has the values of the first record that names it, though a later shard has created it`() throws
  {
    let linked = try LinkedPlan(pipeline: LinkedSample.pipeline(chunkRows: 20))
    let rows = (0..<600).map { "2014-01-\(10 + $0 % 19),Spot \($0 % 3),Country \($0),,3\n" }
    try linked.folder.write("date,spot,country,boards,rating\n" + rows.joined(), to: "a.csv")
    let expected = try linked.importFiles(["a.csv"], into: linked.one)
    let plan = try linked.plan(["a.csv"], shardBytes: 1000)
    let shards = try #require(Int(try linked.many.psql("SELECT count(*) FROM sj_shard")))
    #expect(shards > 3)
    for shard in (0..<shards).reversed() {
      #expect(
        try linked.many.run("work", "--plan", plan, "--store", linked.many.address, "--shard", "\(shard)").status == 0)
    }
    #expect(try linked.many.psql("SELECT \"ZCOUNTRY\" FROM \"ZSPOT\" WHERE \"ZNAME\" = 'Spot 0'") != "Country 0")
    try linked.compare(plan, files: ["a.csv"], with: expected)
    #expect(try linked.many.psql("SELECT \"ZCOUNTRY\" FROM \"ZSPOT\" WHERE \"ZNAME\" = 'Spot 0'") == "Country 0")
  }

  /// The canary: these tests would notice if workers did not share what they create.
  @Test func `Without the rows of what others have created, objects are doubled`() throws {
    let linked = try LinkedPlan()
    try linked.writeLog("a.csv", records: 400, seed: 3, spots: 10)
    let plan = try linked.plan(["a.csv"], shardBytes: 4000)
    let id = plan.replacingOccurrences(of: "-", with: "")
    for shard in ["0", "1"] {
      #expect(try linked.many.run("work", "--plan", plan, "--store", linked.many.address, "--shard", shard).status == 0)
      _ = try linked.many.psql("DELETE FROM sj_link_\(id)")
    }
    let graph = try LinkedPlan.graph(of: linked.many)
    #expect(graph.count { $0.hasPrefix("spot|Spot 1|") } == 2)
    #expect(graph.count { $0 == "board|Fish" } == 2)
  }

  /// The order that `ShardLinkProtocolTests` explores.
  @Test func `A chunk's transaction takes the names of new objects before it has rows, and no worker waits for ever`()
    throws
  {
    let server = try PostgreSQLServer(settings: ["log_statement=all", "log_min_messages=log", "log_line_prefix=#%p "])
    defer { server.stop() }
    let linked = try LinkedPlan(pipeline: LinkedSample.pipeline(chunkRows: 100), on: server)
    try linked.writeLog("a.csv", records: 3000, seed: 5, spots: 300)
    let expected = try linked.importFiles(["a.csv"], into: linked.one)
    let plan = try linked.plan(["a.csv"], shardBytes: 8000)
    try linked.run((0..<4).map { _ in linked.many.worker(plan) })
    try linked.compare(plan, files: ["a.csv"], with: expected)
    let log = try String(contentsOfFile: "\(server.socketFolder)/log", encoding: .utf8)
    #expect(!log.contains("deadlock detected"))
    let kinds = [
      "BEGIN", "COMMIT", "UPDATE SJ_SHARD", "INSERT INTO SJ_LINK_", "COPY \"ZSPOT\"", "COPY \"ZSESSION\"",
      "INSERT INTO SJ_LINKCHUNK_",
    ]
    var transactions: [[String]] = []
    var open: [Substring: [String]] = [:]
    for line in log.split(separator: "\n") where line.hasPrefix("#") {
      let process = line.prefix { $0 != " " }
      if line.hasSuffix(": ROLLBACK") { open[process] = nil }
      guard let kind = kinds.first(where: { line.contains(": \($0)") || line.contains("; \($0)") }) else { continue }
      open[process, default: []].append(kind)
      if kind == "COMMIT" { transactions.append(open.removeValue(forKey: process) ?? []) }
    }
    let chunks = transactions.filter { $0.contains("UPDATE SJ_SHARD") }
    let creating = chunks.filter { $0.contains("COPY \"ZSPOT\"") }
    #expect(!creating.isEmpty && chunks.count == 30, "\(chunks.count)")
    for chunk in creating {
      let names = chunk.filter { $0 == "INSERT INTO SJ_LINK_" }
      #expect(Array(chunk.prefix(3)) == ["BEGIN", "UPDATE SJ_SHARD", "INSERT INTO SJ_LINK_"], "\(chunk)")
      // The second one has the values of earlier records.
      #expect(names.count <= 2 && chunk.contains("INSERT INTO SJ_LINKCHUNK_"), "\(chunk)")
    }
  }

  @Test func `An undo takes back a plan's sessions, and a plan that was ended`() throws {
    let linked = try LinkedPlan()
    try linked.writeLog("old.csv", records: 80, seed: 1)
    try linked.importFiles(["old.csv"], into: linked.many)
    func sessions() throws -> [String] { try LinkedPlan.graph(of: linked.many).filter { $0.hasPrefix("session") } }
    let before = try sessions()
    try linked.writeLog("a.csv", records: 200, seed: 2)
    let plan = try linked.plan(["a.csv"])
    try linked.run([linked.many.worker(plan), linked.many.worker(plan)])
    _ = try linked.report(plan)
    #expect(try sessions().count > before.count)
    let undo = try linked.many.run("undo", linked.many.address, plan, "--model", "Surfing.xcdatamodeld", "--yes")
    #expect(undo.status == 0, "\(undo.messages)")
    #expect(try sessions() == before)
    // What a plan has linked is counted among the changes of the spots, so that an undo of these knows them.
    try linked.writeLog("b.csv", records: 200, seed: 3)
    let second = try linked.plan(["b.csv"])
    #expect(try linked.many.run("work", "--plan", second, "--store", linked.many.address, "--shard", "1").status == 0)
    #expect(try linked.many.run("report", "--plan", second, "--store", linked.many.address, "--abandon").status == 0)
    #expect(try linked.tableCount() == 0)
    let last = try linked.many.run("undo", linked.many.address, "--model", "Surfing.xcdatamodeld", "--yes")
    #expect(last.status == 0, "\(last.messages)")
    #expect(try sessions() == before)
    let all = try linked.many.run("verify", linked.many.address, "--model", "Surfing.xcdatamodeld")
    #expect(all.status == 0, "\(all.text)\(all.messages)")
  }

  @Test func `While a plan is open, nothing else is imported that its workers would not know`() throws {
    let linked = try LinkedPlan()
    try linked.writeLog("a.csv", records: 100, seed: 1)
    try linked.writeLog("b.csv", records: 100, seed: 2)
    try linked.folder.write("name,country\nNew,FR\n", to: "spots.csv")
    try linked.folder.write(
      """
      { "name": "spots", "model": "Surfing.xcdatamodeld", "entity": "Spot", "columns": ["name", "country"] }
      """, to: "spots.json")
    let plan = try linked.plan(["a.csv"])
    for (command, arguments) in [
      ("import", ["b.csv", "--pipeline", "./nightly.json"]), ("plan", ["./nightly.json", "b.csv"]),
      ("import", ["spots.csv", "--pipeline", "./spots.json"]), ("plan", ["./spots.json", "spots.csv"]),
    ] {
      let output = try Programs.run(
        Tool.url.path, [command] + arguments + ["--store", linked.many.address], in: linked.folder)
      #expect(output.status == 75 && output.messages.contains("the plan \(plan) is open"), "\(output.messages)")
    }
    try linked.run([linked.many.worker(plan)])
    _ = try linked.report(plan)
    try linked.importFiles(["b.csv"], into: linked.many)
    // A plan of spots has some that sessions may name.
    let spots = try linked.many.run("plan", "./spots.json", "spots.csv", "--store", linked.many.address, "--quiet")
    #expect(spots.status == 0, "\(spots.messages)")
    try linked.writeLog("c.csv", records: 10, seed: 3)
    let third = try linked.many.run("plan", "./nightly.json", "c.csv", "--store", linked.many.address)
    #expect(
      third.status == 75 && third.messages.contains("its Spot entries are not all in the store"), "\(third.messages)")
  }

  @Test func `An object that another program deletes ends workers with the reason, and nothing leads to it`() throws {
    let linked = try LinkedPlan()
    try linked.folder.write("date,spot,country,boards,rating\n2014-01-10,Rincon,US,,3\n", to: "old.csv")
    try linked.importFiles(["old.csv"], into: linked.many)
    _ = try linked.many.psql("UPDATE \"ZSESSION\" SET \"ZSPOT\" = NULL")
    try linked.folder.write("date,spot,country,boards,rating\n2014-01-11,Rincon,US,,3\n", to: "a.csv")
    let plan = try linked.plan(["a.csv"])
    _ = try linked.many.psql("DELETE FROM \"ZSPOT\"")
    let work = try linked.many.run("work", "--plan", plan, "--store", linked.many.address)
    #expect(work.status == 65 && work.messages.contains("another program has deleted an object"), "\(work.messages)")
    #expect(work.messages.contains("report --plan \(plan) --abandon"))
    #expect(try linked.many.psql("SELECT count(*) FROM \"ZSESSION\"") == "1")
  }

  @Test func `After an object was deleted, the plan is ended, taken back and made again, as the message says`() throws {
    let linked = try LinkedPlan()
    try linked.writeLog("old.csv", records: 80, seed: 1, spots: 10)
    for store in [linked.many, linked.one] { try linked.importFiles(["old.csv"], into: store) }
    try linked.writeLog("a.csv", records: 300, seed: 2, spots: 10)
    let plan = try linked.plan(["a.csv"])
    try linked.run([linked.many.worker(plan, "--shard", "1")])
    let delete = """
      UPDATE "ZSESSION" SET "ZSPOT" = NULL WHERE "ZSPOT" = (SELECT "Z_PK" FROM "ZSPOT" WHERE "ZNAME" = 'Spot 1');
      DELETE FROM "ZSPOT" WHERE "ZNAME" = 'Spot 1'
      """
    for store in [linked.many, linked.one] { _ = try store.psql(delete) }
    let work = try linked.many.run("work", "--plan", plan, "--store", linked.many.address)
    #expect(work.status == 65 && work.messages.contains("--abandon"), "\(work.messages)")
    let ended = try linked.many.run("report", "--plan", plan, "--store", linked.many.address, "--abandon")
    #expect(ended.status == 0 && ended.messages.contains("surfjournal undo"), "\(ended.messages)")
    let undo = try linked.many.run(
      "undo", linked.many.address, plan, "--model", "Surfing.xcdatamodeld", "--yes", "--keep-changed")
    #expect(undo.status == 0, "\(undo.messages)")
    let expected = try linked.importFiles(["a.csv"], into: linked.one)
    let second = try linked.plan(["a.csv"])
    try linked.run([linked.many.worker(second)])
    #expect(try linked.report(second).status == expected.status)
    func sessions(_ store: PlannedImport) throws -> [String] {
      try LinkedPlan.graph(of: store).filter { $0.hasPrefix("session") }
    }
    #expect(try sessions(linked.many).count == sessions(linked.one).count)
  }

  @Test(arguments: ["ZSPOT", "ZBOARD"])
  func `Where an object of any link is deleted while a plan runs, nothing of the chunk is saved`(table: String) throws {
    let linked = try LinkedPlan()
    try linked.folder.write("date,spot,country,boards,rating\n2014-01-10,Rincon,US,Fish;Log,3\n", to: "old.csv")
    try linked.importFiles(["old.csv"], into: linked.many)
    let rows = "2014-01-11,Rincon,US,Fish,3\n2014-01-12,Bells,AU,Gun,3\n2014-01-13,Rincon,US,Log,3\n"
    try linked.folder.write("date,spot,country,boards,rating\n" + rows, to: "a.csv")
    let plan = try linked.plan(["a.csv"])
    _ = try linked.many.psql(
      "UPDATE \"ZSESSION\" SET \"ZSPOT\" = NULL; DELETE FROM \"Z_1SESSIONS\"; DELETE FROM \"\(table)\"")
    let work = try linked.many.run("work", "--plan", plan, "--store", linked.many.address)
    #expect(work.status == 65 && work.messages.contains("another program has deleted an object"), "\(work.messages)")
    #expect(try linked.many.psql("SELECT count(*) FROM \"ZSESSION\"") == "1")
    let ended = try linked.many.run("report", "--plan", plan, "--store", linked.many.address, "--abandon")
    #expect(ended.status == 0 && ended.messages.contains("had read nothing"), "\(ended.messages)")
  }

  @Test func `An object that is deleted and whose values are compared ends workers, and no record is rejected for it`()
    throws
  {
    let linked = try LinkedPlan()
    try linked.folder.write("date,spot,country,boards,rating\n2014-01-10,Rincon,US,,3\n", to: "old.csv")
    try linked.importFiles(["old.csv"], into: linked.many)
    try linked.folder.write(
      LinkedSample.pipeline(chunkRows: 2, ifMissing: "reject", more: ", \"ifDifferent\": \"reject\""),
      to: "nightly.json")
    let rows = "2014-01-11,Rincon,US,,3\n2014-01-12,Rincon,FR,,3\n2014-01-13,Rincon,US,,3\n"
    try linked.folder.write("date,spot,country,boards,rating\n" + rows, to: "a.csv")
    let plan = try linked.plan(["a.csv"])
    _ = try linked.many.psql("UPDATE \"ZSESSION\" SET \"ZSPOT\" = NULL; DELETE FROM \"ZSPOT\"")
    let work = try linked.many.run("work", "--plan", plan, "--store", linked.many.address)
    #expect(work.status == 65 && work.messages.contains("another program has deleted an object"), "\(work.messages)")
    #expect(try linked.many.psql("SELECT sum(recordsread), sum(rejected) FROM sj_shard") == "0|0")
  }

  @Test func `What depends on the order of records is refused with the reason`() throws {
    let linked = try LinkedPlan()
    try linked.writeLog("a.csv", records: 10, seed: 1)
    func refusal(_ pipeline: String, _ more: String...) throws -> String {
      try linked.folder.write(pipeline, to: "nightly.json")
      let output = try Programs.run(
        Tool.url.path, ["plan", "./nightly.json", "a.csv"] + (more.isEmpty ? ["--store", linked.many.address] : more),
        in: linked.folder)
      #expect(output.status == 78, "\(output.messages)")
      return output.messages
    }
    func pipeline(_ different: String, ifMissing: String = "create") -> String {
      LinkedSample.pipeline(ifMissing: ifMissing, more: ", \"ifDifferent\": \"\(different)\"")
    }
    #expect(try refusal(pipeline("reject")).contains("an earlier one has created is rejected"))
    #expect(try refusal(pipeline("update")).contains("records change the Spot that they lead to"))
    #expect(try refusal(pipeline("keep"), "--dry-run", "-o", "plan.json").contains("these workers have none"))
  }
}
