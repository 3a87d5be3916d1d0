import Foundation
import TestSupport
import Testing

/// What a store's history says about rejected records, and what is replayed of it.
@Suite struct PendingRejectsTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private func importLogs(_ names: String...) throws {
    for (number, name) in names.enumerated() {
      try folder.write(Logs.header + "2014-07-1\(number),3ft,,,A,4\nsoon,3ft,,,B\(number),4\nlater,,,,C,3\n", to: name)
      #expect(try Tool.run("import", name, "--store", "s", in: folder).status == 65)
    }
  }

  private func correct(_ rejects: String, _ text: String, as date: String) throws {
    try folder.write(try folder.text(rejects).replacingOccurrences(of: text, with: date), to: rejects)
  }

  private func waiting() throws -> [String: Int] {
    let json = try Tool.run("history", "s", "--pending", "--json", in: folder)
    let history = try JSONDecoder().decode(History.self, from: Data(json.bytes))
    var waiting: [String: Int] = [:]
    for input in history.runs.flatMap(\.inputs) where input.waiting > 0 {
      waiting[URL(fileURLWithPath: input.rejects ?? "").lastPathComponent, default: 0] += input.waiting
    }
    return waiting
  }

  private struct History: Decodable {
    struct Run: Decodable { let inputs: [Input] }
    struct Input: Decodable {
      let rejects: String?
      let waiting: Int
    }
    let runs: [Run]
  }

  @Test func `Rejects wait until they are replayed, and what is rejected again goes on waiting`() throws {
    try importLogs("a.csv", "b.csv")
    #expect(try waiting() == ["a.csv.rejects.csv": 2, "b.csv.rejects.csv": 2])
    try correct("a.csv.rejects.csv", "soon", as: "2014-08-01")
    #expect(try Tool.run("replay", "a.csv.rejects.csv", in: folder).status == 65)
    #expect(try waiting() == ["a.csv.rejects.csv": 1, "b.csv.rejects.csv": 2])
    try correct("a.csv.rejects.csv", "later", as: "2014-08-02")
    #expect(try Tool.run("replay", "a.csv.rejects.csv", in: folder).status == 0)
    #expect(try waiting() == ["b.csv.rejects.csv": 2])
    #expect(try Tool.run("undo", "s", "b.csv", "-y", in: folder).status == 0)
    #expect(try waiting() == [:])
    let text = try Tool.run("history", "s", "--pending", in: folder).text
    #expect(text == "No rejected records of s wait for a correction.\n")
  }

  @Test(arguments: ["*.csv", "*"])
  func `Rejects next to the inputs of an inbox wait, and are not imported`(_ pattern: String) throws {
    try folder.makeFolder("in")
    let inbox = #"{"folder": "in", "pattern": "\#(pattern)", "settleSeconds": 0}"#
    try folder.write(
      #"{"extends": "surf-log", "name": "p", "store": "in/s", "report": "in/r.txt", "inbox": \#(inbox)}"#, to: "p.json")
    try folder.write(Logs.header + "2014-07-14,3ft,,,A,4\nsoon,3ft,,,B,4\n", to: "in/x.csv")
    for status: Int32 in [65, 0, 0] {
      let output = try Tool.run("run", "p.json", in: folder)
      #expect(output.status == status, "\(output.messages)\(output.text)")
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("in")).sorted()
      #expect(names == ["processed", "r.txt", "s", "x.csv.rejects.csv", "x.csv.rejects.csv.jsonl"])
      #expect(try Tool.run("history", "in/s", "--pending", in: folder).text.contains("x.csv.rejects.csv"))
    }
  }

  @Test func `What an interrupted run or a replay has left of rejects is not imported from an inbox`() throws {
    try importLogs("a.csv")
    try folder.makeFolder("in")
    let (records, details) = (try folder.data("a.csv.rejects.csv"), try folder.data("a.csv.rejects.csv.jsonl"))
    for ending in [".part", ".replayed", ".replayed.2"] {
      try records.write(to: folder.file("in/a.csv\(ending)"))
      try details.write(to: folder.file("in/a.csv.jsonl\(ending)"))
    }
    try records.write(to: folder.file("in/b.csv.next"))
    try details.write(to: folder.file("in/b.csv.next.jsonl"))
    try folder.write(
      #"""
      {"extends": "surf-log", "name": "p", "store": "t",
        "inbox": {"folder": "in", "pattern": "*", "settleSeconds": 0}}
      """#, to: "p.json")
    let before = try FileManager.default.contentsOfDirectory(atPath: folder.path("in")).sorted()
    let output = try Tool.run("run", "p.json", in: folder)
    #expect(output.status == 0 && !output.text.contains("waits for a later run"), "\(output.messages)\(output.text)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("in")).sorted() == before)
  }

  /// Imports with the pipeline `p`.
  private func run(_ input: String, _ options: String...) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, ["import", input, "--pipeline", "p.json", "--store", "s"] + options, in: folder)
  }

  /// The import of a copy, `b.csv`, was killed between the second names of the rejects and the commit that records them.
  @Test func `Rejects that a killed run gave second names are continued by the next one`() throws {
    try folder.write(#"{"name": "p", "chunkRows": 2, "columns": ["date", "location"]}"#, to: "p.json")
    try folder.write("date,location\nsoon,A\n2014-07-14,B\nlater,C\n2014-07-15,D\n", to: "a.csv")
    #expect(try run("a.csv", "--max-errors=1").status == 65)
    for end in [".rejects.csv.part", ".rejects.csv.jsonl.part"] {
      try FileManager.default.linkItem(at: folder.file("a.csv" + end), to: folder.file("b.csv" + end))
    }
    let rest = try run("a.csv", "--json")
    #expect(rest.status == 65, "\(rest.messages)")
    #expect(try folder.text("a.csv.rejects.csv") == "date,location\nsoon,A\nlater,C\n")
    #expect(try Tool.shell("ls", in: folder).text == "a.csv\na.csv.rejects.csv\na.csv.rejects.csv.jsonl\np.json\ns\n")
  }

  /// The rejects of the earlier file are also the beginning of the interrupted one.
  @Test func `A replay does not continue an interrupted input whose first records were rejected`() throws {
    try folder.write(#"{"name": "p", "chunkRows": 2, "columns": ["date", "location"]}"#, to: "p.json")
    try folder.write("date,location\nsoon,A\nlater,B\n2014-07-14,C\n", to: "old.csv")
    try folder.write("date,location\nsoon,A\nlater,B\nnever,D\n2014-07-15,E\n", to: "new.csv")
    #expect(try run("old.csv").status == 65)
    #expect(try run("new.csv", "--max-errors=2").status == 65)
    #expect(
      try Programs.sqlite("s", "SELECT path, state, recordsRead FROM SJ_INPUT", in: folder).contains(
        "new.csv|partial|2"))
    let replay = try Tool.run("replay", "old.csv.rejects.csv", in: folder)
    #expect(replay.status == 65, "\(replay.messages)")
    #expect(try folder.text("old.csv.rejects.csv") == "date,location\nsoon,A\nlater,B\n")
    let rest = try run("new.csv", "--json")
    #expect(rest.text.contains("\"state\" : \"resumed\""), "\(rest.messages)\(rest.text)")
    #expect(try folder.text("new.csv.rejects.csv") == "date,location\nsoon,A\nlater,B\nnever,D\n")
    #expect(try Programs.sqlite("s", "SELECT ZLOCATION FROM ZJOURNALENTRY", in: folder) == "C\nE\n")
    #expect(try folder.names.filter { $0.contains(".next") } == [])
  }

  /// The numbers below it were free again, or the input has another name since.
  @Test func `Rejects that a killed run has left are removed, whatever their number`() throws {
    try folder.write(#"{"name": "p", "chunkRows": 2, "columns": ["date", "location"]}"#, to: "p.json")
    try folder.write("date,location\n2014-07-14,A\n2014-07-15,B\nsoon,C\nlater,D\n", to: "a.csv")
    func leave() throws {
      for end in [".part", ".jsonl.part"] { try folder.write("", to: "a.csv.rejects.5.csv" + end) }
    }
    try leave()
    #expect(try run("a.csv", "--max-errors=1").status == 65)
    #expect(try Programs.sqlite("s", "SELECT state, recordsRead FROM SJ_INPUT", in: folder) == "partial|2\n")
    #expect(try folder.names.filter { $0.contains(".5.") } == [])
    try FileManager.default.moveItem(at: folder.file("a.csv"), to: folder.file("b.csv"))
    try leave()
    let rest = try run("b.csv", "--json")
    #expect(rest.text.contains("\"state\" : \"resumed\""), "\(rest.messages)\(rest.text)")
    #expect(try folder.names.filter { $0.contains(".part") } == [])
  }

  /// How spreadsheets save a file: the delimiter, the encoding, and the line ends.
  @Test(arguments: [
    (";", "utf-8", "\n"), ("\t", "utf-8-sig", "\r\n"), (";", "utf-8-sig", "\r\n"), ("\t", "utf-16", "\r\n"),
    (",", "utf-16", "\n"), ("|", "utf-8", "\r\n"),
  ])
  func `Rejects that a spreadsheet has saved in its way are replayed`(
    delimiter: String, encoding: String, lineEnd: String
  ) throws {
    try folder.write(
      Logs.header + "soon,3ft,,,\"Bells, Torquay\",4\nlater,2;3,,,\"C\"\"s\",3\nnever,,,,É,2\n", to: "a.csv")
    #expect(try Tool.run("import", "a.csv", "--store", "s", in: folder).status == 65)
    func save(_ dates: [String]) throws {
      try Programs.python(
        """
        import csv, sys
        path, delimiter, encoding, end, *dates = sys.argv[1:]
        data = open(path, "rb").read()
        text = data.decode("utf-16" if data[:2] in (b"\\xff\\xfe", b"\\xfe\\xff") else "utf-8-sig")
        used = max(",;\\t|", key=text.split("\\n")[0].count)
        rows = list(csv.reader(text.splitlines(), delimiter=used))
        for row, date in zip(rows[1:], dates): row[0] = date
        # A spreadsheet fills all rows up to the widest one.
        for row in rows: row.append("")
        out = open(path, "w", encoding=encoding, newline="")
        csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
        """, "a.csv.rejects.csv", delimiter, encoding, lineEnd, dates[0], dates[1], dates[2], in: folder)
    }
    try save(["2014-08-01", "later", "never"])
    let first = try Tool.run("replay", "a.csv.rejects.csv", "--json", in: folder)
    #expect(first.status == 65, "\(first.messages)")
    #expect(try Programs.sqlite("s", "SELECT ZLOCATION FROM ZJOURNALENTRY", in: folder) == "Bells, Torquay\n")
    // The records that remain are as the spreadsheet wrote them, and may be saved by another.
    try save(["2014-08-02", "2014-08-03", "-"])
    let second = try Tool.run("replay", "a.csv.rejects.csv", in: folder)
    #expect(second.status == 0, "\(second.messages)\(second.text)")
    #expect(
      try Programs.sqlite("s", "SELECT ZLOCATION, ZHEIGHT FROM ZJOURNALENTRY ORDER BY Z_PK", in: folder)
        == "Bells, Torquay|3ft\nC\"s|2;3\nÉ|\n")
    #expect(!folder.exists("a.csv.rejects.csv"))
  }

  @Test func `A delimiter that is given counts, and a header that no delimiter explains is refused`() throws {
    try importLogs("a.csv")
    let rejects = "a.csv.rejects.csv"
    let text = try folder.text(rejects).replacingOccurrences(of: "soon", with: "2014-08-01")
    try folder.write(text.replacingOccurrences(of: ",", with: ";"), to: rejects)
    let given = try Tool.run("replay", rejects, "--delimiter", ",", in: folder)
    #expect(given.status == 65 && given.messages.contains("date"), "\(given.messages)")
    try folder.write(text.replacingOccurrences(of: ",", with: "^"), to: rejects)
    let unknown = try Tool.run("replay", rejects, in: folder)
    #expect(unknown.status == 65 && unknown.messages.contains("date"), "\(unknown.messages)")
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "1\n")
    let other = try Tool.run("replay", rejects, "--delimiter", "^", in: folder)
    #expect(other.text.contains("  inserted    1\n"), "\(other.messages)\(other.text)")
  }

  @Test func `After the undo of a replay, what it had rejected again goes on waiting`() throws {
    try importLogs("a.csv")
    try correct("a.csv.rejects.csv", "soon", as: "2014-08-01")
    #expect(try Tool.run("replay", "a.csv.rejects.csv", in: folder).status == 65)
    #expect(try Tool.run("undo", "s", "-y", in: folder).status == 0)
    #expect(try waiting() == ["a.csv.rejects.csv": 1])
  }

  /// The states between the end of a replay and the last of its renames.
  @Test(arguments: [["X.next", "X.next.jsonl"], ["X.jsonl", "X.next"]])
  func `A folder and a store stand for interrupted replays too`(_ left: [String]) throws {
    try importLogs("a.csv")
    let rejects = "a.csv.rejects.csv"
    for name in ["", ".jsonl"] {
      try folder.write(try folder.text(rejects + name), to: name.isEmpty ? "X.next" : "X.next.jsonl")
      try folder.write(try folder.text(rejects + name), to: rejects + ".replayed" + name)
    }
    let contents = try folder.text(rejects + ".jsonl")
    try FileManager.default.removeItem(at: folder.file(rejects))
    try FileManager.default.removeItem(at: folder.file(rejects + ".jsonl"))
    for name in ["X", "X.jsonl", "X.next", "X.next.jsonl"] where left.contains(name) {
      let file = name.replacingOccurrences(of: "X", with: rejects)
      try folder.write(name.hasSuffix(".jsonl") ? contents : try folder.text("X.next"), to: file)
    }
    for name in ["X.next", "X.next.jsonl"] { try FileManager.default.removeItem(at: folder.file(name)) }
    #expect(try waiting() == [rejects: 2])
    for operand in ["s", "."] {
      let output = try Tool.run("replay", operand, in: folder)
      #expect(output.status == 65, "\(operand): \(output.messages)")
      #expect(!folder.exists(rejects + ".next") && folder.exists(rejects) && folder.exists(rejects + ".jsonl"))
    }
  }

  @Test func `The command that a report and the history name replays all that wait`() throws {
    try importLogs("a log.csv", "b.csv")
    for name in ["a log.csv.rejects.csv", "b.csv.rejects.csv"] {
      try correct(name, "soon", as: "2014-08-01")
      try correct(name, "later", as: "2014-08-02")
    }
    let history = try Tool.run("history", "s", "--pending", in: folder).text
    let command = try #require(history.components(separatedBy: "then run: surfjournal ").last)
    #expect(command.contains("/a log.csv.rejects.csv'"))
    let output = try Tool.shell("$surfjournal " + command, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "6\n")
    #expect(try waiting() == [:])
  }

  @Test func `A store or a folder stands for its rejects, and one that can't be replayed holds up none`() throws {
    try importLogs("a.csv", "b.csv")
    try correct("b.csv.rejects.csv", "soon", as: "2014-08-01")
    #expect(try Tool.run("replay", "s", in: folder).status == 65)
    #expect(try waiting() == ["a.csv.rejects.csv": 2, "b.csv.rejects.csv": 1])
    try folder.write("{}\n", to: "a.csv.rejects.csv.jsonl")
    try correct("b.csv.rejects.csv", "later", as: "2014-08-02")
    let output = try Tool.run("replay", ".", in: folder)
    #expect(output.status == 64 && output.messages.contains("does not name the pipeline"), "\(output.messages)")
    #expect(try waiting() == ["a.csv.rejects.csv": 2])
    #expect(try Tool.run("replay", "a.csv.rejects.csv", "b.csv", "--json", in: folder).status == 64)
    try FileManager.default.createDirectory(at: folder.file("empty"), withIntermediateDirectories: false)
    let none = try Tool.run("replay", "empty", in: folder)
    #expect(none.status == 0 && none.messages.contains("no rejects to replay"))
  }
}
