import Foundation
import TestSupport
import Testing

/// `surfjournal export`: which entries, which columns, in which form, and where to.
@Suite struct ExportCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      Logs.header + """
        2014-07-14T07:30:00.125Z,3.9,12,Glassy,Rincon,4
        2014-07-15,Flat,,,"Malibu, First Point",
        2013-01-01T00:00:00Z,2m,9 sec,"He said ""offshore"" again",Rincon,5
        2016-02-29,,,,,1

        """, to: "log.csv")
    _ = try Tool.run("import", "log.csv", "--store", "s", "--quiet", in: folder)
  }

  struct Selection: CustomTestStringConvertible, Sendable {
    let options: [String]
    let lines: [String]
    var testDescription: String { options.joined(separator: " ") }

    init(_ options: String..., lines: [String]) {
      self.options = options
      self.lines = lines
    }
  }

  static let selections = [
    Selection(
      "--columns", "location,rating",
      lines: [
        "location,rating", "Rincon,4", #""Malibu, First Point","#,
        "Rincon,5", ",1",
      ]),
    Selection("--columns", "rating", "--sort", "rating:desc", lines: ["rating", "5", "4", "1", "\"\""]),
    Selection("--columns", "rating", "--sort", "rating", lines: ["rating", "\"\"", "1", "4", "5"]),
    Selection(
      "--columns", "rating,date", "--sort", "location:asc", "--sort", "date:desc",
      lines: [
        "rating,date", "1,2016-02-29T00:00:00Z", ",2014-07-15T00:00:00Z", "4,2014-07-14T07:30:00.125Z",
        "5,2013-01-01T00:00:00Z",
      ]),
    Selection("--columns", "rating", "--limit", "2", lines: ["rating", "4", "\"\""]),
    Selection("--columns", "rating", "--limit", "0", lines: ["rating"]),
    Selection(
      "--columns", "rating", "--where", #"location == "Rincon" AND rating > 4"#, lines: ["rating", "5"]),
    Selection("--columns", "rating", "--where", "location CONTAINS[cd] 'MALIBÚ'", lines: ["rating", "\"\""]),
    Selection("--columns", "rating", "--where", "height == nil", lines: ["rating", "1"]),
    Selection(
      "--columns", "date", "--date-format", "yyyy-MM-dd HH:mm", "--limit", "1",
      lines: ["date", "2014-07-14 07:30"]),
    Selection(
      "--columns", "date", "--date-format", "journal-app",
      lines: [
        "date", "7/14/14", "7/15/14", "1/1/13",
        "2/29/16",
      ]),
  ]

  @Test(arguments: selections)
  func `Options choose what is written`(_ selection: Selection) throws {
    let output = try Programs.run(Tool.url.path, ["export", "--store", "s"] + selection.options, in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(
      output.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        == selection.lines)
  }

  @Test func `Records go to standard output and the summary to standard error`() throws {
    let output = try Tool.run("export", "--store", "s", in: folder)
    #expect(
      output.text == """
        date,height,location,period,rating,wind
        2014-07-14T07:30:00.125Z,3.9,Rincon,12,4,Glassy
        2014-07-15T00:00:00Z,Flat,"Malibu, First Point",,,
        2013-01-01T00:00:00Z,2m,Rincon,9 sec,5,"He said ""offshore"" again"
        2016-02-29T00:00:00Z,,,,1,

        """)
    #expect(output.messages.hasPrefix("surf-log: export clean\n"))
    let json = try Tool.run("export", "--store", "s", "--json", in: folder)
    #expect(json.text == output.text)
    #expect(try JSONDecoder().decode(Summary.self, from: Data(json.messages.utf8)).exported == 4)
    #expect(try Tool.run("export", "--store", "s", "-q", in: folder).messages.isEmpty)
  }

  @Test func `With an output file the summary goes to standard output`() throws {
    let output = try Tool.run("export", "--store", "s", "-o", "out.csv", in: folder)
    #expect(output.text.contains("exported    4"))
    #expect(output.messages.isEmpty)
    #expect(try folder.names == ["log.csv", "out.csv", "s"])
  }

  @Test func `Gzip is chosen by the name or asked for, and two exports are equal`() throws {
    let plain = try Tool.run("export", "--store", "s", in: folder).text
    _ = try Tool.run("export", "--store", "s", "-o", "a.csv.gz", in: folder)
    _ = try Tool.run("export", "--store", "s", "-o", "b", "--gzip", in: folder)
    #expect(try folder.data("a.csv.gz") == folder.data("b"))
    #expect(try Tool.shell("gzip -dc a.csv.gz", in: folder).text == plain)
    #expect(
      try Tool.shell("\"$surfjournal\" export --store s --gzip -q | gzip -dc", in: folder).text == plain)
  }

  @Test func `An output that fails leaves the former file as it was`() throws {
    try folder.write("former\n", to: "out.csv")
    _ = try Programs.sqlite("s", "DROP TABLE ZJOURNALENTRY", in: folder)
    let output = try Tool.run(
      "export", "--store", "s", "-o", "out.csv", in: folder)
    #expect(output.status == 65)
    #expect(try folder.text("out.csv") == "former\n")
    #expect(try folder.names == ["log.csv", "out.csv", "s"])
  }

  @Test func `An export never goes over its store`() throws {
    let before = try folder.hashes(["s"])
    let output = try Tool.run("export", "--store", "s", "--output", "./s", in: folder)
    #expect(output.status == 64)
    #expect(output.messages.contains("which this run reads"))
    #expect(try folder.hashes(["s"]) == before)
  }

  @Test(arguments: ["-wal", "-shm", "-journal", ".lock"])
  func `Outputs never go over what belongs next to a store, by whatever link`(_ ending: String) throws {
    try folder.makeFolder("there")
    try FileManager.default.moveItem(at: folder.file("s"), to: folder.file("there/s"))
    #expect(symlink("there/s", folder.path("x")) == 0)
    #expect(symlink("there/s\(ending)", folder.path("out")) == 0)
    let before = try folder.hashes(["there/s"])
    try folder.write(Logs.header + "never,,,,,\n", to: "bad.csv")
    try folder.write(#"{"extends": "surf-log", "name": "p", "store": "x"}"#, to: "p.json")
    let path = "there/s\(ending)"
    let commands = [
      ["export", "--store", "x", "-o", path], ["export", "--store", "x", "-o", "out"],
      ["export", "--store", "there/s", "-o", "a.csv", "--log", path],
      ["import", "bad.csv", "--store", "x", "--log", path], ["import", "bad.csv", "--store", "x", "--rejects", path],
      ["seed", "bad.csv", "--pipeline", "p.json", "-o", path, "--force"],
      ["seed", "bad.csv", "-o", "x", "--log", "x\(ending)"],
    ]
    for command in commands {
      // The seed of the last one is at the path of the link itself.
      if command.last == "x\(ending)" { try FileManager.default.removeItem(at: folder.file("x")) }
      let output = try Programs.run(Tool.url.path, command, in: folder)
      #expect(output.status == 64, "\(command): \(output.messages)")
      // An export refuses the ending of a lock before.
      let reasons = ["is kept for a part of the store", "the ending .lock names no format"]
      #expect(reasons.contains { output.messages.contains($0) }, "\(command): \(output.messages)")
      #expect(!folder.exists(path) && !folder.exists("x\(ending)"), "\(command)")
    }
    #expect(try folder.hashes(["there/s"]) == before)
  }

  @Test func `Rows that are only in the WAL stay where an export would go over it`() throws {
    let open = "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE ZJOURNALENTRY SET ZRATING = 2"
    let code = """
      import os, sqlite3, sys
      c = sqlite3.connect("s", isolation_level=None)
      for statement in sys.argv[1].split("; "): c.execute(statement).fetchall()
      os._exit(0)
      """
    try Programs.python(code, open, in: folder)
    let before = try folder.hashes(["s", "s-wal"])
    #expect(try Tool.run("export", "--store", "s", "-o", "s-wal", in: folder).status == 64)
    #expect(try folder.hashes(["s", "s-wal"]) == before)
    #expect(try Tool.run("export", "--store", "s", "--columns", "rating", in: folder).text == "rating\n2\n2\n2\n2\n")
  }

  @Test func `Export, import, export gives the same bytes`() throws {
    for log in [Repository.cleanLog, Repository.dirtyLog] {
      let (first, second) = ("a-\(UUID().uuidString)", "b-\(UUID().uuidString)")
      _ = try Tool.run("import", log, "--store", first, in: folder)
      _ = try Tool.run("export", "--store", first, "-o", "\(first).csv", in: folder)
      #expect(try Tool.run("import", "\(first).csv", "--store", second, in: folder).status == 0)
      _ = try Tool.run("export", "--store", second, "-o", "\(second).csv", in: folder)
      #expect(try folder.data("\(first).csv") == folder.data("\(second).csv"))
      #expect(try folder.text("\(first).csv").split(separator: "\n").count > 30)
    }
  }

  @Test(.seeded) func `Dates of any double come back bit for bit`() throws {
    try Programs.python(
      """
      import random, sqlite3, struct
      random.seed(\(Randomness.seed))
      store = sqlite3.connect("s")
      dates = [random.uniform(-3e9, 3e9) for _ in range(2000)] + [0.0, -0.0, 1e-9, 5e-324, 0.1 + 0.2, 1e11, -6e10]
      dates += [struct.unpack("d", struct.pack("q", struct.unpack("q", struct.pack("d", 4e8))[0] + n))[0]
                for n in range(50)]
      store.executemany("INSERT INTO ZJOURNALENTRY(Z_PK, Z_ENT, Z_OPT, ZDATE) VALUES(?, 1, 1, ?)",
                        [(n + 5, date) for n, date in enumerate(dates)])
      store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 4 + ?", (len(dates),))
      store.commit()
      """, in: folder)
    #expect(try Tool.run("export", "--store", "s", "-o", "out.csv", in: folder).status == 0)
    let output = try Tool.run("import", "out.csv", "--store", "t", "--pipeline", "round-trip", in: folder)
    #expect(output.status == 0, "\(output.text)")
    let compared = try Programs.python(
      """
      import sqlite3, struct
      def dates(store):
          rows = sqlite3.connect(store).execute("SELECT Z_PK, ZDATE FROM ZJOURNALENTRY ORDER BY Z_PK").fetchall()
          return [(key, None if date is None else struct.pack("d", date)) for key, date in rows]
      print(len(dates("s")), dates("s") == dates("t"))
      """, in: folder)
    #expect(compared == "2061 True\n")
  }

  // MARK: The journal app's dialect

  @Test func `The journal app's own file goes in and comes out again`() throws {
    let app = "7/14/14,3.9,12,Glassy,Rincon,4\n7/15/14,Flat,,,Malibu,\n12/31/99,2m,9,NW,,1\n"
    try folder.write(app, to: "app.csv")
    #expect(
      try Tool.run("import", "app.csv", "--store", "a", "--pipeline", "journal-app", in: folder).status == 0)
    #expect(try Tool.run("export", "--store", "a", "--dialect", "journal-app", "-q", in: folder).text == app)
    #expect(try Tool.run("export", "--store", "a", "--pipeline", "journal-app", "-q", in: folder).text == app)
    // The app also writes a comma at the end of each line.
    try folder.write(app.replacing("\n", with: ",\n"), to: "comma.csv")
    #expect(
      try Tool.run("import", "comma.csv", "--store", "b", "--pipeline", "journal-app", in: folder).status == 0
    )
    #expect(try Tool.run("export", "--store", "b", "--dialect", "journal-app", "-q", in: folder).text == app)
  }

  @Test func `An entry that the app's dialect can't carry is left out and named`() throws {
    let output = try Tool.run(
      "export", "--store", "s", "--dialect", "journal-app", "-o", "app.csv", "--json", in: folder)
    #expect(output.status == 65)
    let summary = try output.json()
    #expect(summary.exported == 2 || summary.exported == 3)
    #expect(summary.issues.counts.keys.sorted() == ["unwritable-value"])
    #expect(summary.issues.listed.first?.column == "location")
    #expect(summary.issues.listed.first?.message.contains("p2") == true)
    #expect(try !folder.text("app.csv").contains("Malibu"))
  }
}
