import Foundation
import TestSupport
import Testing

/// A report of a plan that is killed before the ledger has it, and one that can't begin.
@Suite(.enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct InterruptedReportTests {
  @Test func `A report that was killed after it had written the rejects writes the same files again`() throws {
    let world = try PlannedImport()
    // Two headers, so two files of rejects.
    try world.folder.write("date,location,rating\n2014-01-10,Rincon,9\n2014-01-11,Bells,3\n", to: "a.csv")
    try world.folder.write("rating,date,location\n8,2014-01-12,Pico\n2,2014-01-13,Teahupoo\n", to: "b.csv")
    let plan = try world.plan("a.csv", "b.csv")
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--quiet").status == 0)
    // The rejects of another run keep their name.
    try world.folder.write("rating\n7\n", to: "one.3.csv")
    try world.folder.write("{\"rejects\":2,\"run\":\"another\",\"input\":\"c.csv\"}\n", to: "one.3.csv.jsonl")
    let holder = Programs.process(
      "/usr/bin/env", ["psql", "-X", "-q"], in: world.folder,
      environment: world.server.environment.merging(["PGOPTIONS": "-csearch_path=\(world.schema)"]) { $1 })
    let (input, output) = (Pipe(), Pipe())
    (holder.standardInput, holder.standardOutput) = (input, output)
    try holder.start()
    try input.fileHandleForWriting.write(contentsOf: Data("BEGIN; SELECT 1 FROM sj_plan FOR UPDATE;\n".utf8))
    _ = output.fileHandleForReading.availableData
    for _ in 1...2 {
      let report = Programs.process(
        Tool.url.path, ["report", "--plan", plan, "--store", world.address, "--rejects", "one.csv"], in: world.folder)
      try report.start()
      let deadline = Date(timeIntervalSinceNow: 30)
      while try world.server.psql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0", Date() < deadline {
        usleep(20_000)
      }
      #expect(world.folder.exists("one.csv") && world.folder.exists("one.2.csv"))
      kill(report.processIdentifier, SIGKILL)
      report.waitUntilExit()
    }
    try input.fileHandleForWriting.close()
    holder.waitUntilExit()
    let report = try world.run("report", "--plan", plan, "--store", world.address, "--rejects", "one.csv")
    #expect(report.status == 65, "\(report.messages)")
    let names = try FileManager.default.contentsOfDirectory(atPath: world.folder.file("").path)
      .filter { $0.hasPrefix("one") }.sorted()
    #expect(
      names == ["one.2.csv", "one.2.csv.jsonl", "one.3.csv", "one.3.csv.jsonl", "one.csv", "one.csv.jsonl"])
    #expect(try world.folder.text("one.csv") == "date,location,rating\n2014-01-10,Rincon,9\n")
    #expect(try world.folder.text("one.2.csv") == "rating,date,location\n8,2014-01-12,Pico\n")
    #expect(try world.folder.text("one.3.csv") == "rating\n7\n")
  }

  @Test func `A report whose rejects have no folder is refused before it writes anything, as a run is`() throws {
    let world = try PlannedImport()
    try world.writeLog("a.csv", records: 100)
    let plan = try world.plan("a.csv")
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--quiet").status == 0)
    let report = try world.run(
      "report", "--plan", plan, "--store", world.address, "--rejects", "missing/", "--report", "r.json")
    #expect(report.status == 73, "\(report.messages)")
    #expect(report.messages.contains("/missing does not exist; make it, or check the path"), "\(report.messages)")
    #expect(!world.folder.exists("r.json") && !world.folder.exists("missing"))
    #expect(try world.psql("SELECT state FROM sj_plan") == "open")
  }
}
