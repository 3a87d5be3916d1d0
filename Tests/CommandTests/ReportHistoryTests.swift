import Foundation
import TestSupport
import Testing

/// Reports that keep their history: one for each run, an index of all runs, and what is removed of them.
@Suite struct ReportHistoryTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func pipeline(_ members: String, name: String = "nightly") throws {
    try folder.write(
      #"""
      { "extends": "surf-log", "name": "\#(name)", "inbox": { "folder": "inbox", "settleSeconds": 0 }, "source": null,
        "store": "journal.sqlite", "changedInputs": "onlyNew", "rejects": "rejects/",
        "columns": [{ "name": "date", "required": true }, "height", "period", "wind", "location",
          { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] }], \#(members) }
      """#, to: "\(name).json")
    try folder.makeFolder("inbox")
  }

  private func record(_ number: Int, rating: Int = 4) -> String {
    "2014-07-14T07:30:00Z,3.9,12,Glassy,Place \(number),\(rating)\n"
  }

  /// Delivers a file and runs the pipeline.
  @discardableResult
  private func night(_ name: String? = nil, _ records: String = "", pipeline: String = "nightly") throws
    -> ProgramOutput
  {
    if let name { try folder.write(Logs.header + records, to: "inbox/\(name)") }
    return try Tool.run("run", "\(pipeline).json", "--quiet", in: folder)
  }

  private func pages() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path("reports")).filter { $0.hasSuffix(".html") }
      .sorted()
  }

  @Test func `Each run has a page of its own, and the index lists all of them, the newest first`() throws {
    try pipeline(#""report": ["reports/{pipeline}-{date}-{run}.html", "reports/{date}.json"]"#)
    #expect(try night("a.csv", record(1)).status == 0)
    #expect(try night("b.csv", record(2) + record(3, rating: 9)).status == 65)
    try folder.write("not a gzip file", to: "inbox/c.csv.gz")
    #expect(try night().status != 0)
    let pages = try pages()
    #expect(pages.contains("index.html"))
    let own = pages.filter { $0 != "index.html" }
    #expect(own.count == 3)
    for page in own { #expect(page.wholeMatch(of: /nightly-\d{4}-\d\d-\d\d-[0-9a-f]{8}\.html/) != nil, "\(page)") }
    let index = try folder.text("reports/index.html")
    for page in own { #expect(index.contains("href=\"./\(page)\"")) }
    let rows = try #require(index.components(separatedBy: "<tbody>").last).components(separatedBy: "<tr ").dropFirst()
    for (row, text) in zip(rows, ["c.csv.gz", "Done, 1 error", "Clean"]) { #expect(row.contains(text), "\(row)") }
    #expect(index.contains("3 runs, 2 of them with errors."))
    #expect(!index.contains("<script"))
    let linked = try own.filter { try folder.text("reports/\($0)").contains("<a href=\"./index.html\">All runs</a>") }
    #expect(linked.count == 2, "the first page has no other runs to show")
  }

  @Test(arguments: ["1e308", "9223372036854775808"])
  func `A damaged duration in the file of records does not end later runs`(_ seconds: String) throws {
    try pipeline(#""report": ["reports/{pipeline}-{date}-{run}.html"]"#)
    #expect(try night("a.csv", record(1)).status == 0)
    let records = "reports/.nightly.runs.jsonl"
    let damaged = try folder.text(records).replacing(/"seconds":[0-9.e-]+/) { _ in "\"seconds\":\(seconds)" }
    #expect(damaged.contains(seconds))
    try folder.write(damaged, to: records)
    let output = try night("b.csv", record(2))
    #expect(output.status == 0, "\(output.status) \(output.messages)")
    #expect(try folder.text("reports/index.html").contains("2,562,047,788,015,215 h"))
  }

  @Test func `A run with nothing to do keeps the last page that had something to say`() throws {
    try pipeline(#""report": ["report.html", "report.txt", "report.json", "reports/{run}.html"]"#)
    #expect(try night("a.csv", record(1, rating: 9)).status == 65)
    let (page, text) = (try folder.text("report.html"), try folder.text("report.txt"))
    let own = try pages()
    #expect(try night().status == 0)
    #expect(try folder.text("report.html") == page)
    #expect(try folder.text("report.txt") == text)
    #expect(try pages() == own)
    // What programs read says what the last run did, and the index lists it.
    #expect(!(try folder.text("report.json")).contains("a.csv"))
    #expect(try folder.text("reports/index.html").contains("2 runs, 1 of them with errors."))
    #expect(try night("b.csv", record(2)).status == 0)
    #expect(try folder.text("report.html") != page)
    #expect(try pages().count == own.count + 1)
  }

  @Test func `Pipelines that share a folder share an index`() throws {
    try pipeline(#""report": "reports/{pipeline}-{run}.html""#)
    try night("a.csv", record(1))
    try pipeline(#""report": "reports/{pipeline}-{run}.html""#, name: "other <b>")
    try FileManager.default.moveItem(at: folder.file("other <b>.json"), to: folder.file("other.json"))
    try night("b.csv", record(2), pipeline: "other")
    let index = try folder.text("reports/index.html")
    #expect(index.contains("nightly, other &lt;b&gt;"))
    #expect(!index.contains("<b>") && index.contains("href=\"./other%20%3Cb%3E-"))
  }

  @Test func `A page of someone else's with the name of the index stays`() throws {
    try pipeline(#""report": "reports/{run}.html""#)
    try folder.makeFolder("reports")
    try folder.write("mine", to: "reports/index.html")
    let output = try night("a.csv", record(1))
    #expect(output.status == 0)
    #expect(output.messages.contains("is not an index of runs"))
    #expect(try folder.text("reports/index.html") == "mine")
  }

  /// A run would wait for its reader, and for ever where that does not come.
  @Test(.timeLimit(.minutes(10))) func `A FIFO with the name of the index stays`() throws {
    try pipeline(#""report": "reports/{run}.html""#)
    try folder.makeFolder("reports")
    try #require(mkfifo(folder.path("reports/index.html"), 0o600) == 0)
    let output = try night("a.csv", record(1))
    #expect(output.status == 0)
    #expect(output.messages.contains("is not an index of runs"))
  }

  @Test(.timeLimit(.minutes(10))) func `A FIFO with the name of the records is named, and the run is done`() throws {
    try pipeline(#""report": "reports/{run}.html""#)
    #expect(try night("a.csv", record(1)).status == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("reports"))
    let name = try #require(names.first { $0.hasSuffix(".runs.jsonl") })
    let records = folder.path("reports/\(name)")
    try #require(unlink(records) == 0 && mkfifo(records, 0o600) == 0)
    let output = try night("b.csv", record(2))
    #expect(output.status == 0)
    #expect(output.messages.contains("it is a FIFO, not a regular file. Move it away"), "\(output.messages)")
  }

  @Test(arguments: [
    ("reports/{day}.html", "the placeholder {day} is unknown"), ("{date}/r.html", "in a folder's name"),
  ])
  func `An unknown placeholder and one in a folder's name are refused`(_ name: String, _ message: String) throws {
    try pipeline(#""report": "\#(name)""#)
    let check = try Tool.run("check", "nightly.json", in: folder)
    #expect(check.status == 78 && check.text.contains("report") && check.text.contains(message), "\(check.text)")
    try Logs.importTwo(in: folder)
    let given = try Tool.run("validate", "log.csv", "--report", name, in: folder)
    #expect(given.status == 64 && given.messages.contains(message), "\(given.messages)")
  }

  // MARK: Retention

  private func age(_ name: String, days: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -days * 86_400)], ofItemAtPath: folder.path(name))
  }

  @Test func `Reports are removed by age and by number, and others stay`() throws {
    try pipeline(#""report": ["reports/{run}.html", "r.json"], "retention": { "reports": { "days": 10, "count": 3 } }"#)
    try night("a.csv", record(1))
    for (name, days) in [
      ("00000001.html", 11.0), ("00000002.html", 2), ("00000003.html", 3), ("00000004.html", 4), ("mine.html", 99),
    ] {
      try folder.write(name, to: "reports/\(name)")
      try age("reports/\(name)", days: days)
    }
    let first = try pages()
    try night("b.csv", record(2))
    let left = Set(try pages())
    #expect(left.isSuperset(of: ["mine.html", "index.html"]))
    #expect(left.isDisjoint(with: ["00000001.html", "00000003.html", "00000004.html"]))
    // The new page, the first run's, and the newest of the others.
    #expect(left.count == 5 && left.contains("00000002.html"), "\(left) of \(first)")
  }

  @Test func `Imported files are removed by their day, but for those whose rejects wait`() throws {
    try pipeline(#""retention": { "processed": { "days": 30 } }, "log": "run.log""#)
    try night("bad.csv", record(1, rating: 9))
    for (day, name) in [
      ("2014-07-14", "old.csv"), ("2014-07-15", "bad.csv"), ("2014-07-15", "bad.2.csv"), ("2014-07-15", "x.csv.gz"),
    ] {
      try folder.makeFolder("inbox/processed/\(day)")
      try folder.write(name, to: "inbox/processed/\(day)/\(name)")
    }
    try folder.makeFolder("inbox/processed/keep")
    try folder.write("mine", to: "inbox/processed/keep/old.csv")
    try folder.makeFolder("inbox/failed/2014-07-14")
    try folder.write("failed", to: "inbox/failed/2014-07-14/cut.csv")
    try night("b.csv", record(2))
    let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path("inbox")).filter { $0.contains(".csv") }
    #expect(left.count { $0.contains("2014-07-15/bad") } == 2)
    #expect(!left.contains { $0.hasSuffix("/x.csv.gz") || $0.contains("2014-07-14/old") })
    #expect(left.contains("processed/keep/old.csv") && left.contains("failed/2014-07-14/cut.csv"))
    #expect(!folder.exists("inbox/processed/2014-07-14"))
    #expect(try folder.text("run.log").contains("old.csv: removed by the pipeline's retention"))
  }

  @Test func `Rejects go when they were replayed or undone, and stay while they wait`() throws {
    try pipeline(#""retention": { "rejects": { "days": 5 } }"#)
    try night("replayed.csv", record(1, rating: 9))
    try night("undone.csv", record(2) + record(3, rating: 9))
    try night("waits.csv", record(4, rating: 9))
    let name = "rejects/replayed.csv.rejects.csv"
    try folder.write(try folder.text(name).replacingOccurrences(of: ",9\n", with: ",5\n"), to: name)
    #expect(try Tool.run("replay", name, in: folder).status == 0)
    let runs = try Programs.sqlite(
      "journal.sqlite", "SELECT runID FROM SJ_INPUT WHERE path = 'undone.csv'", in: folder)
    let undo = try Tool.run(
      "undo", "journal.sqlite", runs.trimmingCharacters(in: .whitespacesAndNewlines), "--yes", in: folder)
    #expect(undo.status == 0, "\(undo.messages)")
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path("rejects")) {
      try age("rejects/\(name)", days: 9)
    }
    try night("b.csv", record(5))
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path("rejects")).sorted()
    #expect(left == ["waits.csv.rejects.csv", "waits.csv.rejects.csv.jsonl"], "\(left)")
  }

  @Test func `Rejects that the ledger no longer lists protect their inputs, too`() throws {
    try pipeline(#""retention": { "processed": { "days": 30 } }"#)
    try night("bad.csv", record(1, rating: 9))
    try night("half.csv", record(2, rating: 9) + record(3, rating: 9))
    try night("good.csv", record(4))
    let today = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox/processed")).first)
    let old = "inbox/processed/2014-07-15"
    try FileManager.default.moveItem(atPath: folder.path("inbox/processed/\(today)"), toPath: folder.path(old))
    #expect(try Tool.run("ledger", "drop", "journal.sqlite", "--yes", in: folder).status == 0)
    // The rest of a replay says only in its name which input it comes from.
    let half = "rejects/half.csv.rejects.csv"
    let text = try folder.text(half)
    let first = try #require(text.range(of: ",9\n"))
    try folder.write(text.replacingCharacters(in: first, with: ",5\n"), to: half)
    #expect(try Tool.run("replay", half, in: folder).status == 65)
    try night("b.csv", record(5))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path(old)).sorted() == ["bad.csv", "half.csv"])
    for name in ["bad", "half"] {
      try FileManager.default.removeItem(atPath: folder.path("rejects/\(name).csv.rejects.csv"))
    }
    try night("c.csv", record(6))
    #expect(!folder.exists(old))
  }

  @Test func `What a replay has rejected again protects the input, and what was just replayed stays`() throws {
    try pipeline(#""retention": { "processed": { "days": 30 }, "rejects": { "days": 5 } }"#)
    try night("bad.csv", record(1, rating: 9) + record(2, rating: 9))
    let today = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox/processed")).first)
    try FileManager.default.moveItem(
      atPath: folder.path("inbox/processed/\(today)"), toPath: folder.path("inbox/processed/2014-07-15"))
    let name = "rejects/bad.csv.rejects.csv"
    let text = try folder.text(name)
    let first = try #require(text.range(of: ",9\n"))
    try folder.write(text.replacingCharacters(in: first, with: ",5\n"), to: name)
    try age(name, days: 9)
    #expect(try Tool.run("replay", name, in: folder).status == 65)
    try night("b.csv", record(3))
    #expect(folder.exists("inbox/processed/2014-07-15/bad.csv"))
    #expect(folder.exists("\(name).replayed") && folder.exists(name))
  }

  @Test func `The file that was moved last stays, whatever its name, and so do those of other pipelines`() throws {
    try pipeline(#""retention": { "processed": { "count": 1 }, "rejects": { "count": 1 } }"#)
    try night("z.csv", record(1))
    let today = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path("inbox/processed")).first)
    let processed = "inbox/processed/\(today)"
    try folder.write("another's", to: "\(processed)/0.data")
    for name in ["x.csv.rejects.csv.replayed", "y.csv.rejects.csv.replayed"] {
      try folder.write("another's", to: "rejects/\(name)")
    }
    try night("a.csv", record(2))
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path(processed)).sorted()
    #expect(left == ["0.data", "a.csv"])
    #expect(folder.exists("rejects/x.csv.rejects.csv.replayed") && folder.exists("rejects/y.csv.rejects.csv.replayed"))
  }

  @Test func `Nothing is removed while another run works, and without a run in the ledger`() throws {
    try pipeline(#""retention": { "processed": { "days": 30 } }"#)
    try night("a.csv", record(1))
    try folder.makeFolder("inbox/processed/2014-07-15")
    try folder.write("old", to: "inbox/processed/2014-07-15/old.csv")
    let held = try Programs.run(
      "/usr/bin/flock", ["journal.sqlite.lock", Tool.url.path, "run", "nightly.json", "--quiet"], in: folder)
    #expect(held.status == 75 && folder.exists("inbox/processed/2014-07-15/old.csv"), "\(held.messages)")
    #expect(try night().status == 0)
    #expect(!folder.exists("inbox/processed/2014-07-15/old.csv"))
  }

  @Test func `A retention of nothing is a mistake`() throws {
    for (members, message) in [
      (#""retention": {}"#, "removes nothing"),
      (#""retention": { "reports": { "days": 3 } }, "report": "r.html""#, "no report has a placeholder"),
      (#""retention": { "rejects": {} }"#, "has neither 'days' nor 'count'"),
    ] {
      try pipeline(members)
      let check = try Tool.run("check", "nightly.json", in: folder)
      #expect(check.status == 78 && check.text.contains(message), "\(check.text)")
    }
  }
}
