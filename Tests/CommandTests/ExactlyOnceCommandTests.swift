import Foundation
import TestSupport
import Testing

/// What a person with cron relies on, through the program itself: runs repeated, killed, overlapping, on a pipe.
@Suite(.serialized) struct ExactlyOnceCommandTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func rows() throws -> String { try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) }

  @Test func `A job that runs twice does nothing the second time and says so`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    let second = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    #expect(second.status == 0)
    #expect(second.text.hasPrefix("surf-log: import has nothing to do: already imported\n"))
    #expect(try Tool.run("import", "log.csv", "--store", "s", "-q", in: folder).text.isEmpty)
    #expect(try Tool.run("validate", "log.csv", "--store", "s", in: folder).text.contains("has nothing to do"))
    #expect(try rows() == "2\n")
    #expect(try Tool.run("import", "log.csv", "--store", "s", "--again", in: folder).status == 0)
    #expect(try rows() == "4\n")
  }

  @Test func `run knows what import has imported, and the other way round`() throws {
    try folder.write(Logs.two, to: "log.csv")
    try folder.write(
      #"{"name": "p", "source": "log.csv", "store": "s", "columns": [{"name": "date", "formats": ["iso8601", "journal-app"]}, "rating"]}"#,
      to: "p.json")
    #expect(try Tool.run("run", "p.json", in: folder).status == 0)
    #expect(try Tool.run("run", "p.json", in: folder).text.contains("has nothing to do"))
    let other = try Tool.run("import", "log.csv", "--store", "s", "--pipeline", "p.json", in: folder)
    #expect(other.text.contains("has nothing to do"))
    #expect(try Tool.run("run", "p.json", "--again", in: folder).status == 0)
    #expect(try rows() == "4\n")
  }

  // MARK: Standard input

  @Test(arguments: ["cat", "gzip -c", "zstd -qc", "xz -c", "bzip2 -c", "zip -q - -"])
  func `Standard input is known and resumed too`(filter: String) throws {
    try Logs.write(records: 30_000, to: "big.csv", in: folder)
    let stopped = try Tool.shell(
      """
      (head -c 700000 big.csv; echo 'never,,,,,') | \(filter) |
        "$surfjournal" import - --store s --chunk-rows 1000 --stop-on-error --json
      """, in: folder)
    #expect(stopped.status == 65)
    let before = try stopped.json().counts.inserted
    #expect(before > 5000 && before % 1000 == 0)
    let script = "\(filter) < big.csv | \"$surfjournal\" import - --store s --chunk-rows 1000 --json"
    let resumed = try Tool.shell(script, in: folder)
    #expect(resumed.status == 0, "\(resumed.messages)")
    #expect(resumed.text.contains("\"state\" : \"resumed\""))
    #expect(resumed.text.contains("\"firstRecord\" : \(before + 1),"))
    #expect(try resumed.json().counts == Summary.Counts(read: 30_000, inserted: 30_000))
    #expect(
      try Programs.sqlite("s", "SELECT count(*), count(DISTINCT ZLOCATION) FROM ZJOURNALENTRY", in: folder)
        == "30000|30000\n")
    let known = try Tool.shell(script, in: folder)
    #expect(known.status == 0)
    #expect(known.text.contains("\"state\" : \"known\""))
    // Begins like it and is another: it is compared from its front, and read from its front where that is wanted.
    let changed = "sed '25000s/Glassy/Onshore/' big.csv | \(filter) | \"$surfjournal\" import - --store s --json"
    let other = try Tool.shell(changed, in: folder)
    #expect(other.status == 65 && other.messages.contains("5,000 of its first 5,000 records are in the store"))
    #expect(try Tool.shell(changed + " --again", in: folder).json().counts.inserted == 30_000)
  }

  // MARK: Overlap

  @Test func `The second of two runs on one store exits 75 and names the first; a dead one holds nothing`() throws {
    try folder.write(Logs.two, to: "log.csv")
    let output = try Tool.shell(
      """
      mkfifo pipe; exec 3<>pipe; cat log.csv >&3
      "$surfjournal" import - --store s -q < pipe & first=$!
      for n in $(seq 200); do [ -e s.lock ] && break; sleep 0.05; done
      "$surfjournal" import log.csv --store s; echo "second $?" >&2
      "$surfjournal" ledger drop s 2>/dev/null; echo "drop $?" >&2
      kill -9 $first; wait $first
      "$surfjournal" import log.csv --store s -q; echo "third $?" >&2
      """, in: folder)
    #expect(output.messages.contains("second 75"))
    #expect(output.messages.contains("third 0"))
    #expect(output.messages.contains("pid ") && output.messages.contains("surf-log"))
    #expect(output.messages.contains("drop 66") || output.messages.contains("drop 75"))
    #expect(try rows() == "2\n")
    #expect(try folder.names == ["log.csv", "pipe", "s"])
  }

  @Test func `A run that takes too long ends at a chunk border with 75, and the next goes on`() throws {
    try Logs.write(records: 30_000, to: "log.csv", in: folder)
    let output = try Tool.shell(
      """
      mkfifo pipe; exec 3<>pipe; cat log.csv >&3 & "$surfjournal" import - --store s --timeout 2 < pipe
      """, in: folder)
    #expect(output.status == 75)
    #expect(output.text.contains("the timeout of 2 s ended it"))
    let counted = try rows()
    let before = try #require(Int(counted.dropLast()))
    #expect(before % 5000 == 0 && before < 30_000)
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    #expect(try rows() == "30000\n")
  }

  // MARK: Replay

  private static let dirty =
    Logs.header + "2014-07-14,3ft,,,A,4\nsoon,3ft,,,B,4\n2014-07-16,3ft,,,C,9\n2014-07-17,3ft,,,D,4\nlater,3ft,,,E,4\n"

  @Test func `A known file of rejects is reported where no report of it is, and a report that is there stays`() throws {
    try folder.write(Self.dirty, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 65)
    let rejects = "log.csv.rejects.csv"
    let mended = try folder.text(rejects).replacing("soon", with: "2014-07-15").replacing("C,9", with: "C,5")
      .replacing("later", with: "2014-07-18")
    let details = try folder.text(rejects + ".jsonl")
    for report in ["first.json", "first.json", "second.json"] {
      try folder.write(mended, to: rejects)
      try folder.write(details, to: rejects + ".jsonl")
      let before = folder.exists(report) ? try folder.text(report) : nil
      #expect(try Tool.run("replay", rejects, "--report", report, in: folder).status == 0)
      #expect(try before == nil || before == folder.text(report))
    }
    #expect(try folder.text("first.json").contains("\"inserted\" : 3"))
    #expect(try folder.text("second.json").contains("\"inserted\" : 0"))
  }

  @Test func `A corrected file of rejects is replayed record by record, each once`() throws {
    try folder.write(Self.dirty, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 65)
    let rejects = "log.csv.rejects.csv"
    #expect(try folder.text(rejects) == Logs.header + "soon,3ft,,,B,4\n2014-07-16,3ft,,,C,9\nlater,3ft,,,E,4\n")
    // Nothing is corrected: nothing changes.
    #expect(try Tool.run("replay", rejects, in: folder).status == 65)
    #expect(try folder.text(rejects) == Logs.header + "soon,3ft,,,B,4\n2014-07-16,3ft,,,C,9\nlater,3ft,,,E,4\n")
    try mend(rejects, replacing: "soon", with: "2014-07-15")
    let first = try Tool.run("replay", rejects, "--json", in: folder)
    #expect(first.status == 65)
    #expect(try first.json().counts == Summary.Counts(read: 3, inserted: 1, rejected: 2))
    #expect(try first.json().rejects?.hasSuffix("/" + rejects) == true)
    #expect(try folder.text(rejects) == Logs.header + "2014-07-16,3ft,,,C,9\nlater,3ft,,,E,4\n")
    try mend(rejects, replacing: "C,9", with: "C,5")
    try mend(rejects, replacing: "later", with: "2014-07-18")
    #expect(try Tool.run("replay", rejects, in: folder).status == 0)
    #expect(!folder.exists(rejects) && !folder.exists(rejects + ".jsonl"))
    #expect(
      try Programs.sqlite(
        "s", "SELECT group_concat(ZLOCATION, '') FROM (SELECT * FROM ZJOURNALENTRY ORDER BY Z_PK)", in: folder)
        == "ADBCE\n")
    #expect(try folder.names.filter { $0.contains(".replayed") }.count == 6)
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).text.contains("has nothing to do"))
  }

  @Test func `A replay that was killed at its very end is finished by the next`() throws {
    try folder.write(Self.dirty, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 65)
    let rejects = "log.csv.rejects.csv"
    try mend(rejects, replacing: "soon", with: "2014-07-15")
    let mended = try folder.data(rejects)
    let details = try folder.data(rejects + ".jsonl")
    #expect(try Tool.run("replay", rejects, in: folder).status == 65)
    let rest = try folder.data(rejects)
    // As it was before the rest took the file's place.
    try folder.data(rejects).write(to: folder.file(rejects + ".next"))
    try folder.data(rejects + ".jsonl").write(to: folder.file(rejects + ".next.jsonl"))
    try mended.write(to: folder.file(rejects))
    try details.write(to: folder.file(rejects + ".jsonl"))
    #expect(try Tool.run("replay", rejects, in: folder).status == 0)
    #expect(try folder.data(rejects) == rest)
    #expect(!folder.exists(rejects + ".next"))
    // And as it was when the file was away already.
    try FileManager.default.moveItem(at: folder.file(rejects), to: folder.file(rejects + ".next"))
    #expect(try Tool.run("replay", rejects, in: folder).messages.contains("is finished"))
    #expect(try folder.data(rejects) == rest)
    #expect(try rows() == "3\n")
  }

  @Test func `A file of rejects without the file next to it needs the pipeline and the store as options`() throws {
    try folder.write(Self.dirty, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 65)
    let rejects = "log.csv.rejects.csv"
    try FileManager.default.removeItem(at: folder.file(rejects + ".jsonl"))
    #expect(try Tool.run("replay", rejects, in: folder).status == 64)
    #expect(try Tool.run("replay", rejects, "--pipeline", "surf-log", in: folder).status == 64)
    #expect(try Tool.run("replay", rejects, "--pipeline", "surf-log", "--store", "s", in: folder).status == 65)
    #expect(try Tool.run("replay", "none.csv", "--pipeline", "surf-log", "--store", "s", in: folder).status == 66)
  }

  @Test func `Rejects of an earlier run are never written over`() throws {
    for (number, place) in ["A", "B"].enumerated() {
      try folder.write(Logs.header + "never,,,,\(place),\n", to: "log.csv")
      let output = try Tool.run("import", "log.csv", "--store", "s", "--json", in: folder)
      let name = number == 0 ? "log.csv.rejects.csv" : "log.csv.rejects.2.csv"
      #expect(try output.json().rejects?.hasSuffix("/" + name) == true)
      #expect(try folder.text(name) == Logs.header + "never,,,,\(place),\n")
    }
  }

  private func mend(_ name: String, replacing old: String, with new: String) throws {
    try folder.write(try folder.text(name).replacingOccurrences(of: old, with: new), to: name)
  }

  // MARK: The inbox

  @Test func `What arrives in an inbox is imported and moved, once`() throws {
    try folder.makeFolder("in")
    try folder.write(
      #"{"name": "nightly", "inbox": {"folder": "in", "settleSeconds": 0}, "store": "s", "columns": ["date", "location"]}"#,
      to: "nightly.json")
    try folder.write("date,location\n2020-01-01,A\nnever,B\n", to: "in/a.csv")
    try folder.write("nothing that fits\n1\n", to: "in/b.csv")
    try folder.write("date,location\n2020-01-01,C\n", to: "in/c.csv.part")
    let output = try Tool.run("run", "nightly.json", "--json", in: folder)
    #expect(output.status == 65)
    #expect(try output.json().counts == Summary.Counts(read: 2, inserted: 1, rejected: 1))
    let day = try Programs.run("/bin/date", ["-u", "+%F"], in: folder).text.trimmingCharacters(in: .newlines)
    let found = try Tool.shell("cd in; find . -type f | sort", in: folder).text
    #expect(found == "./c.csv.part\n./failed/\(day)/b.csv\n./processed/\(day)/a.csv\n")
    #expect(try Tool.run("run", "nightly.json", "-q", in: folder).status == 0)
    // The same content under a new name, killed before the move or sent twice: known, and moved as well.
    try folder.write("date,location\n2020-01-01,A\nnever,B\n", to: "in/a.csv")
    #expect(try Tool.run("run", "nightly.json", "-q", in: folder).status == 0)
    #expect(try Tool.shell("ls in/processed/\(day)", in: folder).text == "a.2.csv\na.csv\n")
    #expect(try rows() == "1\n")
  }

  @Test func `An event log reports the run line by line, as JSON if requested`() throws {
    try folder.write(Self.dirty, to: "log.csv")
    let output = try Tool.run(
      "import", "log.csv", "--store", "s", "-q", "--log", "run.log", "--log-format", "json", "--log-level", "debug",
      in: folder)
    #expect(output.status == 65)
    let read = try Programs.python(
      """
      import json
      for line in open("run.log"):
          event = json.loads(line)
          print(event["level"], event["event"])
      """, in: folder)
    #expect(
      read == """
        info run-started
        info input-opened
        debug chunk-saved
        error issue
        error issue
        error issue
        info input-completed
        debug stage-timed
        debug stage-timed
        debug stage-timed
        warning run-ended

        """)
  }

  // MARK: History

  @Test func `history tells what was imported, and ledger drop makes a store forget it`() throws {
    try folder.write(Self.dirty, to: "log.csv")
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    let text = try Tool.run("history", "s", in: folder)
    #expect(text.status == 0)
    #expect(text.text.contains("  with errors     5    2         3        3  surf-log\n"))
    #expect(text.text.contains("log.csv  complete: 5 read, 2 inserted, 3 rejected; rejects in "))
    let json = try Tool.run("history", "s", "--json", in: folder)
    try folder.write(json.text, to: "history.json")
    let read = try Programs.python(
      """
      import json
      run = json.load(open("history.json"))["runs"][0]
      print(run["outcome"], run["counts"]["read"], run["inputs"][0]["state"])
      """, in: folder)
    #expect(read == "completed 5 complete\n")
    #expect(try Tool.run("ledger", "drop", "s", in: folder).status == 0)
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM sqlite_master WHERE name LIKE 'SJ%'", in: folder) == "0\n")
    #expect(try Tool.run("history", "s", in: folder).text.contains("has no ledger"))
    #expect(try Tool.run("history", "none", in: folder).status == 66)
    #expect(try Tool.run("ledger", "drop", "none", in: folder).status == 66)
    #expect(try Tool.run("ledger", "paint", "s", in: folder).status == 64)
    #expect(try Tool.run("history", "log.csv", in: folder).status == 65)
  }

  /// Rejects may have the bytes of a file that was imported before. That file is not the one that is replayed.
  @Test func `A replay of rejects that equal another input leaves that input alone`() throws {
    let bad = "soon,,,,Rincon,4\n"
    try folder.write(Logs.header + bad, to: "a.csv")
    let good = (15...19).map { "2014-07-\($0)T07:30:00Z,,,,Malibu,3\n" }.joined()
    try folder.write(Logs.header + good + bad, to: "b.csv")
    for name in ["a.csv", "b.csv"] {
      #expect(try Tool.run("import", name, "--store", "s", in: folder).status == 65)
    }
    let before = try folder.contents.filter { $0.key.hasPrefix("a.") }
    #expect(before.count == 3)
    #expect(try folder.data("b.csv.rejects.csv") == folder.data("a.csv"))
    let replay = try Tool.run("replay", "b.csv.rejects.csv", in: folder)
    #expect(replay.status != 70)
    #expect(try folder.contents.filter { $0.key.hasPrefix("a.") } == before)
    #expect(folder.exists("b.csv.rejects.csv"))
  }
}
