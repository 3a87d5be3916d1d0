import Foundation
import TestSupport
import Testing

/// What `work` and `report` say of a plan that is closed or was ended, however often they are repeated.
@Suite(.enabled(if: PostgreSQLServer.isThere, serverComment))
struct ClosedPlanTests {
  private let world: PlannedImport
  init() throws { world = try PlannedImport() }

  /// A plan of two files whose shards are complete.
  private func completePlan() throws -> String {
    try world.writeLog("a.csv", records: 600)
    try world.writeLog("b.csv", records: 300, first: 5000)
    let plan = try world.plan("a.csv", "b.csv", shardBytes: 5000)
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--quiet").status == 0)
    return plan
  }

  private func report(_ plan: String, _ options: String...) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, ["report", "--plan", plan, "--store", world.address] + options, in: world.folder)
  }

  private func shardCount() throws -> Int { try #require(Int(try world.psql("SELECT count(*) FROM sj_shard"))) }

  @Test func `A repeated report prints the summary again, with the same status, and changes no file`() throws {
    let plan = try completePlan()
    let shards = try shardCount()
    let first = try report(plan, "--rejects", "rejects.csv", "--report", "r.json", "--json")
    let names = ["rejects.csv", "rejects.csv.jsonl", "r.json"]
    let files = try names.map(world.folder.text)
    let second = try report(plan, "--rejects", "rejects.csv", "--report", "r.json", "--json")
    #expect(first.status == 65 && second.status == 65, "\(first.messages)\(second.messages)")
    #expect(try names.map(world.folder.text) == files)
    let (earlier, own): (Summary, Summary) = (try first.json(), try second.json())
    #expect(own.counts == earlier.counts && own.counts.read == 900 && own.counts.rejected == 18)
    #expect(own.outcome == earlier.outcome && own.exitCode == earlier.exitCode && own.rejects == earlier.rejects)
    #expect(own.issues.counts == earlier.issues.counts && own.issues.errors == earlier.issues.errors)
    // What the ledger has not kept is said, and what is not written.
    #expect(second.text.contains("left as they are: ") && !first.text.contains("left as they are"))
    #expect(own.issues.listed.isEmpty && !earlier.issues.listed.isEmpty)
    let text = try report(plan)
    #expect(text.status == 65, "\(text.messages)")
    #expect(text.text.contains("imported by workers as \(shards) shards. the plan was closed on 20"), "\(text.text)")
    #expect(text.text.contains("the report that was written then lists the issues"), "\(text.text)")
    #expect(text.text.contains("surfjournal replay") && text.text.contains("rejects.csv"), "\(text.text)")
    #expect(try report(plan, "--abandon").status == 64)
  }

  @Test func `A summary that could not be printed is printed by the next report`() throws {
    let plan = try completePlan()
    let lost = try Tool.shell(
      "\"$surfjournal\" report --plan \(plan) --store '\(world.address)' --rejects r.csv >/dev/full", in: world.folder)
    #expect(lost.status == 74, "\(lost.messages)")
    let again = try report(plan)
    #expect(again.status == 65 && again.text.contains("inserted    882\n"), "\(again.text)\(again.messages)")
  }

  @Test func `A report that was not written at the close is written later`() throws {
    let plan = try completePlan()
    #expect(try report(plan, "--rejects", "r.csv", "--quiet").status == 65)
    let later = try report(plan, "--report", "later.html", "--report", "later.json")
    #expect(later.status == 65, "\(later.messages)")
    #expect(try world.folder.text("later.html").contains("lists the issues"))
    let written = try JSONDecoder().decode(Summary.self, from: Data(try world.folder.text("later.json").utf8))
    #expect(written.counts.inserted == 882)
  }

  @Test func `A repeated report of a clean plan ends with 0, and says what was taken back since`() throws {
    try world.folder.write("date,location,rating\n2014-01-02,Rincon,3\n", to: "clean.csv")
    let plan = try world.plan("clean.csv")
    #expect(try world.run("work", "--plan", plan, "--store", world.address, "--quiet").status == 0)
    for _ in 0..<2 { #expect(try report(plan).status == 0) }
    #expect(try world.run("undo", world.address, "--yes").status == 0)
    let undone = try report(plan)
    #expect(undone.status == 0 && undone.text.contains("taken back since then: 1 input"), "\(undone.text)")
  }

  @Test func `64: a shard that the plan has never had, also when it is closed`() throws {
    let plan = try completePlan()
    let count = try shardCount()
    for isClosed in [false, true] {
      if isClosed { #expect(try report(plan, "--rejects", "r.csv", "--quiet").status == 65) }
      for (shard, status) in [(0, 0), (count - 1, 0), (count, 64), (99_999, 64)] as [(Int, Int32)] {
        let work = try world.run("work", "--plan", plan, "--store", world.address, "--shard", "\(shard)")
        #expect(work.status == status, "\(isClosed) \(shard): \(work.messages)")
        let message = "has no shard \(shard); its shards are numbered from 0 to \(count - 1)"
        #expect(status == 0 || work.messages.contains(message), "\(work.messages)")
      }
    }
  }

  @Test func `A plan that is ended although it is complete is called so, and can be taken back`() throws {
    let plan = try completePlan()
    let ended = try report(plan, "--abandon")
    #expect(ended.status == 0, "\(ended.messages)")
    #expect(ended.messages.contains("although all its shards were complete"), "\(ended.messages)")
    #expect(ended.messages.contains("without --abandon, 'report' closes such a plan"), "\(ended.messages)")
    let history = try world.run("history", world.address).text
    #expect(history.contains("ended without a report, although all its shards were complete"), "\(history)")
    for again in [try report(plan), try report(plan, "--abandon")] {
      #expect(again.status == 64 && again.messages.contains("was ended with --abandon"), "\(again.messages)")
    }
    // As the message advises.
    #expect(try world.run("undo", world.address, plan, "--yes").status == 0)
    let next = try world.plan("a.csv", "b.csv", shardBytes: 5000)
    #expect(try world.run("work", "--plan", next, "--store", world.address, "--shard", "0").status == 0)
    let early = try report(next, "--abandon")
    #expect(early.status == 0 && !early.messages.contains("although"), "\(early.messages)")
    #expect(try world.run("history", world.address).text.contains("before all its shards were complete"))
  }
}
