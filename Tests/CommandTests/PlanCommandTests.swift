import Foundation
import TestSupport
import Testing

/// A folder with a pipeline and logs, and a schema of its own on the server.
struct PlannedImport {
  let folder: TemporaryFolder
  let server: PostgreSQLServer
  let schema: String
  let database: String
  var address: String

  /// In a schema of its own.
  init(on server: PostgreSQLServer? = PostgreSQLServer.shared) throws {
    let server = try #require(server)
    let schema = "p\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    _ = try server.psql("CREATE SCHEMA \(schema)")
    try self.init(on: server, schema: schema, at: server.address(["options": "-csearch_path=\(schema)"]))
  }

  /// - Parameter address: Leads to the schema, also over a pooler.
  init(
    on server: PostgreSQLServer, schema: String = "public", database: String = "postgres", at address: URL?
  ) throws {
    folder = try TemporaryFolder()
    (self.server, self.schema, self.database) = (server, schema, database)
    self.address = try #require(address).absoluteString
    try folder.write(Self.pipeline, to: "nightly.json")
  }

  private static let pipeline = """
    {
      "name": "nightly",
      "columns": [
        { "name": "date", "rules": ["required"] }, "location",
        { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] }
      ],
      "chunkRows": 100
    }
    """

  /// Writes a log whose places have line ends within quotation marks, and of which every 50th record is rejected.
  func writeLog(_ name: String, records: Int, first: Int = 0) throws {
    let script = """
      import sys
      name, count, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
      with open(name, "w") as log:
          log.write("date,location,rating\\n")
          for n in range(first, first + count):
              place = f'"Place {n}\\nof ""{n % 7}"", the sea"' if n % 3 == 0 else f"Place {n}"
              log.write(f"2014-{n // 28 % 12 + 1:02}-{n % 28 + 1:02},{place},{9 if n % 50 == 7 else n % 5 + 1}\\n")
      """
    try Programs.output(of: ["python3", "-c", script, name, "\(records)", "\(first)"], in: folder)
  }

  func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  /// The number of a new plan.
  func plan(_ files: String..., shardBytes: Int = 20_000, options: [String] = []) throws -> String {
    let output = try Programs.run(
      Tool.url.path,
      ["plan", "./nightly.json"] + files + ["--store", address, "--shard-bytes", "\(shardBytes)", "--quiet"]
        + options, in: folder
    )
    try #require(output.status == 0, "\(output.messages)")
    return output.text.trimmingCharacters(in: .newlines)
  }

  func worker(_ plan: String, _ arguments: String...) -> ChildProcess {
    let process = Programs.process(
      Tool.url.path, ["work", "--plan", plan, "--store", address, "--quiet"] + arguments, in: folder)
    process.standardError = FileHandle.nullDevice
    return process
  }

  /// The imported values, sorted.
  func rows(of store: String) throws -> [String] {
    let output = try Programs.run(
      Tool.url.path, ["export", store, "--columns", "date,location,rating", "--format", "jsonl"], in: folder)
    try #require(output.status == 0, "\(output.messages)")
    return output.text.split(separator: "\n").map(String.init).sorted()
  }

  func psql(_ statement: String) throws -> String { try server.psql(statement, schema: schema, database: database) }

  /// Imports the same files on one machine.
  private func importOnOneMachine(_ files: [String]) throws -> Summary {
    try folder.makeFolder("one")
    let output = try Programs.run(
      Tool.url.path,
      ["import"] + files + ["--pipeline", "./nightly.json", "--store", "one.sqlite", "--rejects", "one/", "--json"],
      in: folder)
    return try output.json()
  }

  /// Closes the plan, and compares everything with an import of the same files on one machine.
  func compare(_ plan: String, files: String...) throws {
    let report = try Programs.run(
      Tool.url.path,
      ["report", "--plan", plan, "--store", address, "--rejects", "rejects.csv", "--json", "--report", "r.json"],
      in: folder)
    #expect(report.status == 65, "\(report.messages)")
    let summary = try report.json()
    let expected = try importOnOneMachine(files)
    #expect(summary.counts == expected.counts && summary.counts.isConserved, "\(summary.counts)")
    #expect(summary.issues.counts == expected.issues.counts)
    #expect(summary.issues.listed == expected.issues.listed)
    // The rejects of all files are in one, under one header.
    func rest(_ name: String) throws -> [Substring] { Array(try folder.text(name).split(separator: "\n").dropFirst()) }
    #expect(try rest("rejects.csv") == files.flatMap { try rest("one/\($0).rejects.csv") })
    let details = try rest("rejects.csv.jsonl").filter { !$0.contains("\"rejects\":") }
    #expect(try details == files.flatMap { try rest("one/\($0).rejects.csv.jsonl") })
    #expect(try rows(of: address) == rows(of: "one.sqlite"))
  }
}

/// `plan`, `work` and `report`: an import by many workers is that of one machine.
@Suite(.enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct PlanCommandTests {
  private let world: PlannedImport
  init() throws { world = try PlannedImport() }

  @Test func `One worker after the other imports what one machine does, and the report is the same`() throws {
    try world.writeLog("a.csv", records: 1500)
    let plan = try world.plan("a.csv")
    let shards = try #require(Int(try world.psql("SELECT count(*) FROM sj_shard")))
    #expect(shards > 2)
    let early = try world.run("report", "--plan", plan, "--store", world.address)
    #expect(early.status == 75 && early.messages.contains("\(shards) of \(shards) shards are not complete"))
    // In an order of its own, and one of them twice.
    for shard in (0..<shards).reversed() + [0] {
      let work = try world.run("work", "--plan", plan, "--store", world.address, "--shard", "\(shard)", "--json")
      #expect(work.status == 0 && work.text.contains("\"shard\":\(shard)"), "\(work.messages)")
    }
    try world.compare(plan, files: "a.csv")
    #expect(try world.psql("SELECT count(*) FROM sj_shard") == "0")
    #expect(try world.psql("SELECT count(*) FROM sj_reject") == "0")
    #expect(try world.psql("SELECT count(*) FROM sj_issue") == "0")
    #expect(try world.psql("SELECT state, recordsread FROM sj_input") == "complete|1500")
  }

  @Test func `A file that a plan has imported is known to an import, and one that an import knows to a plan`() throws {
    try world.writeLog("a.csv", records: 300)
    try world.writeLog("b.csv", records: 300, first: 1000)
    let plan = try world.plan("a.csv")
    #expect(try world.run("work", "--plan", plan, "--store", world.address).status == 0)
    #expect(try world.run("report", "--plan", plan, "--store", world.address, "--rejects", "r.csv").status == 65)
    let again = try world.run("import", "a.csv", "--pipeline", "./nightly.json", "--store", world.address, "--json")
    #expect(try again.json().counts.read == 0, "\(again.messages)")
    #expect(
      try world.run("import", "b.csv", "--pipeline", "./nightly.json", "--store", world.address).status == 65)
    let both = try world.run("plan", "./nightly.json", "a.csv", "b.csv", "--store", world.address)
    #expect(both.status == 0 && both.messages.contains("nothing to plan"), "\(both.messages)")
    // Replaying the rejects corrects them as ever.
    let text = try world.folder.text("r.csv").replacingOccurrences(of: ",9\n", with: ",4\n")
    try world.folder.write(text, to: "r.csv")
    let replay = try world.run("replay", "r.csv", "--store", world.address, "--json")
    #expect(replay.status == 0, "\(replay.messages)")
    #expect(try replay.json().counts.inserted == 6)
  }

  @Test func `The rejects of all inputs of a plan wait, in one file that the history names once`() throws {
    for (name, first) in [("a.csv", 0), ("b.csv", 1000)] { try world.writeLog(name, records: 300, first: first) }
    let plan = try world.plan("a.csv", "b.csv")
    #expect(try world.run("work", "--plan", plan, "--store", world.address).status == 0)
    #expect(try world.run("report", "--plan", plan, "--store", world.address, "--rejects", "r.csv").status == 65)
    let rows = try world.run("history", world.address, "--format", "csv").text.split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    let column = try #require(rows.first?.firstIndex(of: "waiting"))
    #expect(rows[1][column] == "12", "\(rows[1])")
    let pending = try world.run("history", world.address, "--pending").text
    let command = try #require(pending.components(separatedBy: "surfjournal replay ").last)
    #expect(command.hasSuffix("/r.csv\n") && !command.contains(" "), "\(pending)")
  }

  @Test func `While a plan is open, its files are not imported, planned or undone otherwise`() throws {
    try world.writeLog("a.csv", records: 300)
    let plan = try world.plan("a.csv")
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--shard", "0").status == 0)
    try world.folder.write(try world.folder.text("a.csv"), to: "copy.csv")
    for file in ["a.csv", "copy.csv"] {
      for extra in [[], ["--again"]] {
        let output = try Programs.run(
          Tool.url.path,
          ["import", file, "--pipeline", "./nightly.json", "--store", world.address] + extra, in: world.folder)
        #expect(output.status == 65 && output.messages.contains(plan), "\(output.messages)")
      }
      let second = try world.run("plan", "./nightly.json", file, "--store", world.address)
      #expect(second.status == 65 && second.messages.contains(plan), "\(second.messages)")
    }
    let undo = try world.run("undo", world.address, "--yes")
    #expect(undo.status == 65 && undo.messages.contains("report --plan \(plan)"), "\(undo.messages)")
    // Ended before it is complete: what was saved can be taken back, and then the file is new.
    #expect(try world.run("report", "--plan", plan, "--store", world.address, "--abandon").status == 0)
    let late = try world.run("work", "--plan", plan, "--store", world.address)
    #expect(late.status == 65 && late.messages.contains("was ended"), "\(late.messages)")
    let taken = try world.run("undo", world.address, plan, "--yes")
    #expect(taken.status == 0, "\(taken.messages)")
    #expect(try world.rows(of: world.address).isEmpty)
    #expect(
      try world.run("import", "a.csv", "--pipeline", "./nightly.json", "--store", world.address).status == 65)
    #expect(try world.rows(of: world.address).count == 294)
  }

  @Test func `While a plan is open, the ledger is not removed, and the advice leads to its removal`() throws {
    try world.writeLog("a.csv", records: 600)
    let plan = try world.plan("a.csv", shardBytes: 5000)
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--shard", "0").status == 0)
    let refused = try world.run("ledger", "drop", world.address, "--yes")
    #expect(refused.status == 65 && refused.messages.contains("the plan \(plan) is not closed"), "\(refused.messages)")
    #expect(refused.messages.contains("or end it with --abandon, and remove the ledger then"), "\(refused.messages)")
    // The workers and the report go on as before.
    #expect(try world.run("work", "--plan", plan, "--store", world.address).status == 0)
    #expect(try world.run("report", "--plan", plan, "--store", world.address, "--quiet").status == 65)
    #expect(try world.rows(of: world.address).count == 588)
    let next = try world.run("plan", "./nightly.json", "a.csv", "--store", world.address)
    #expect(next.status == 0 && next.messages.contains("nothing to plan"), "\(next.messages)")
    #expect(try world.run("ledger", "drop", world.address, "--yes").status == 0)
    try world.writeLog("b.csv", records: 100, first: 1000)
    let second = try world.plan("b.csv")
    #expect(try world.run("ledger", "drop", world.address, "--yes").status == 65)
    #expect(try world.run("report", "--plan", second, "--store", world.address, "--abandon").status == 0)
    #expect(try world.run("ledger", "drop", world.address, "--yes").status == 0)
    #expect(
      try world.psql("SELECT count(*) FROM pg_tables WHERE tablename LIKE 'sj\\_%' AND schemaname = '\(world.schema)'")
        == "1")
  }

  @Test func `A plan that is cancelled while it reads is not made`() throws {
    try world.writeLog("a.csv", records: 400_000)
    let own = try TemporaryFolder()
    var third = Fault(.stop, calls: [.read], at: 3)
    third.nameEnd = "a.csv"
    let planning = Programs.process(
      Tool.url.path, ["plan", "./nightly.json", "a.csv", "--store", world.address, "--quiet"], in: world.folder,
      environment: try Shim.environment(third, in: world.folder, page: own.path("page")))
    planning.standardError = FileHandle.nullDevice
    planning.standardOutput = FileHandle.nullDevice
    try planning.start()
    #expect(planning.waitUntilStopped())
    kill(planning.processIdentifier, SIGTERM)
    kill(planning.processIdentifier, SIGCONT)
    planning.waitUntilExit()
    #expect(planning.terminationStatus == 75)
    #expect(
      try world.psql("SELECT count(*) FROM pg_tables WHERE tablename = 'sj_plan' AND schemaname = '\(world.schema)'")
        == "0")
  }

  @Test func `Workers of a plan that was ended fail, and what they had saved is taken back`() throws {
    try world.writeLog("a.csv", records: 1500)
    let plan = try world.plan("a.csv")
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--shard", "0").status == 0)
    #expect(try world.run("report", "--plan", plan, "--store", world.address, "--abandon").status == 0)
    for shard in [[], ["--shard", "1"]] {
      let work = try Programs.run(
        Tool.url.path, ["work", "--plan", plan, "--store", world.address] + shard, in: world.folder)
      #expect(work.status == 65 && work.messages.contains("was ended with 'report --abandon'"), "\(work.messages)")
    }
    #expect(try world.run("report", "--plan", plan, "--store", world.address).status == 64)
    #expect(try world.run("undo", world.address, "--yes").status == 0)
    #expect(try world.rows(of: world.address) == [])
  }

  @Test func `A file that has changed since it was planned is refused, and nothing of it is saved`() throws {
    try world.writeLog("a.csv", records: 700)
    let plan = try world.plan("a.csv", shardBytes: 12_000)
    let text = try world.folder.text("a.csv")
    for (changed, reason) in [
      (text.replacingOccurrences(of: "Place 290", with: "Place 291"), "changed"),
      (text + "2014-01-01,Place,3\n", "it has become longer"), (String(text.dropLast(9)), "it has become shorter"),
      (text.replacingOccurrences(of: "date,location", with: "location,date"), "otherwise"),
    ] {
      try world.folder.write(changed, to: "a.csv")
      let shards = reason == "otherwise" ? ["--shard", "1"] : []
      let work = try Programs.run(
        Tool.url.path, ["work", "--plan", plan, "--store", world.address] + shards, in: world.folder)
      #expect(work.status == 65 && work.messages.contains("has changed since it was planned"), "\(work.messages)")
      #expect(work.messages.contains(reason), "\(work.messages)")
    }
    try world.folder.write(text, to: "a.csv")
    #expect(try world.run("work", "--plan", plan, "--store", world.address).status == 0)
    try world.compare(plan, files: "a.csv")
  }

  @Test func `Workers check files without a store, and their results are those of a dry run on one machine`() throws {
    try world.writeLog("a.csv", records: 900)
    try world.writeLog("b.csv", records: 300, first: 5000)
    let plan = try world.run(
      "plan", "./nightly.json", "a.csv", "b.csv", "--dry-run", "-o", "plan.json", "--shard-bytes", "12000", "--quiet")
    #expect(plan.status == 0, "\(plan.messages)")
    let first = try world.run("work", "--dry-run", "--plan", "plan.json", "--shard", "1")
    #expect(first.status == 0 && first.text.split(separator: "\n").count == 1, "\(first.messages)")
    try world.folder.write(first.text, to: "results.jsonl")
    let early = try world.run("report", "--from", "results.jsonl", "--plan", "plan.json")
    #expect(early.status == 75 && early.messages.contains("shards: 0, 2"), "\(early.messages)")
    // A shard that was checked twice counts once.
    let rest = try world.run("work", "--dry-run", "--plan", "plan.json")
    try world.folder.write(rest.text + first.text, to: "results.jsonl")
    let report = try world.run("report", "--from", "results.jsonl", "--plan", "plan.json", "--json")
    let one = try world.run("validate", "a.csv", "b.csv", "--pipeline", "./nightly.json", "--json")
    #expect(report.status == one.status && one.status == 65)
    let (found, expected) = (try report.json(), try one.json())
    #expect(found.kind == "validate" && found.counts == expected.counts && found.counts.isConserved)
    #expect(found.issues.counts == expected.issues.counts && found.issues.listed == expected.issues.listed)
    try world.folder.write(try world.folder.text("a.csv") + "2014-01-01,Place,3\n", to: "a.csv")
    let changed = try world.run("work", "--dry-run", "--plan", "plan.json")
    #expect(
      changed.status == 65 && changed.messages.contains("has changed since it was planned"), "\(changed.messages)")
  }

  @Test func `What can't be done over shards is refused with the reason`() throws {
    try world.writeLog("a.csv", records: 10)
    func refusal(_ member: String) throws -> String {
      let pipeline = try world.folder.text("nightly.json")
      try world.folder.write(
        pipeline.replacingOccurrences(of: "\"chunkRows\"", with: "\(member), \"chunkRows\""), to: "other.json")
      let output = try world.run("plan", "./other.json", "a.csv", "--store", world.address)
      #expect(output.status == 78, "\(member)")
      return output.messages
    }
    #expect(try refusal("\"atomic\": true").contains("the transactions of several workers are not one"))
    #expect(try refusal("\"dryRun\": true").contains("its runs store nothing; take \"dryRun\" out"))
    // What the message advises.
    let check = try world.run("plan", "./other.json", "a.csv", "--dry-run", "-o", "plan.json")
    #expect(check.status == 0, "\(check.messages)")
    #expect(try refusal("\"key\": [\"date\"]").contains("of two records with the same key the second one"))
    #expect(try refusal("\"changedInputs\": \"replace\"").contains("known only when it is read"))
    let file = try world.run("plan", "./nightly.json", "a.csv", "--store", "s.sqlite")
    #expect(file.status == 64 && file.messages.contains("a store in a file is written by one machine"))
    #expect(!world.folder.exists("s.sqlite"))
  }
}
