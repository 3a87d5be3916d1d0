import Foundation
import TestSupport
import Testing

/// The exit status says by its cause how a run ended: the values of sysexits.h.
@Suite struct ExitCodeTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
  }

  @Test func `0: all went well`() throws {
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    #expect(try Tool.run("validate", "log.csv", "--store", "s", in: folder).status == 0)
    #expect(try Tool.run("export", "--store", "s", in: folder).status == 0)
    #expect(try Tool.run("pipelines", in: folder).status == 0)
  }

  @Test func `65: records were rejected`() throws {
    let output = try Tool.run("import", Repository.dirtyLog, "--store", "s", in: folder)
    #expect(output.status == 65)
    #expect(output.text.contains("surf-log-dirty.csv.rejects.csv"))
  }

  @Test func `65: the header lacks a column that is needed`() throws {
    try folder.write("day,rating\n2014-07-14,3\n", to: "bad.csv")
    let output = try Tool.run("import", "bad.csv", "--store", "s", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("the header has no 'date'"))
    #expect(output.text.contains("missing-label"))
  }

  @Test(arguments: ["import", "validate"])
  func `66: the input is not there`(_ command: String) throws {
    let output = try Tool.run(command, "none.csv", "--store", "s", in: folder)
    #expect(output.status == 66)
    #expect(output.messages.contains("none.csv"))
    #expect(output.messages.contains("No such file or directory; check the path"))
    // Not even an empty store is made for a name mistyped.
    #expect(try folder.names == ["log.csv"])
    #expect(output.text.isEmpty)
  }

  @Test func `65: an empty file is not a log`() throws {
    try folder.write("", to: "empty.csv")
    let output = try Tool.run("import", "empty.csv", "--store", "s", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("the file is empty"))
  }

  @Test func `66: the store to export is not there`() throws {
    let output = try Tool.run("export", "--store", "none.sqlite", "--output", "out.csv", in: folder)
    #expect(output.status == 66)
    #expect(output.messages.contains("does not exist"))
    #expect(try folder.names == ["log.csv"])
  }

  @Test func `66: the pipeline is not there`() throws {
    #expect(try Tool.run("run", "./none.json", in: folder).status == 66)
    let output = try Tool.run("run", "surf-lgo", in: folder)
    #expect(output.status == 66)
    #expect(output.messages.contains("did you mean 'surf-log'?"))
  }

  @Test func `65: a store without the table of its entity`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    _ = try Programs.sqlite("s", "DROP TABLE ZJOURNALENTRY", in: folder)
    let output = try Tool.run("export", "--store", "s", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("ZJOURNALENTRY"))
  }

  @Test func `65: a file that is not a store`() throws {
    let before = try folder.data("log.csv")
    let output = try Tool.run("import", Repository.cleanLog, "--store", "log.csv", in: folder)
    #expect(output.status == 65)
    #expect(
      output.messages.contains(
        "is not a database. Check the path; to make a new store, name a file that does not exist."))
    #expect(try folder.data("log.csv") == before)
    for command in ["export", "inspect", "verify", "list"] {
      let reader = try Tool.run(command, "log.csv", in: folder)
      #expect(reader.status == 65, "\(command)")
      // What only reads makes no store.
      #expect(reader.messages.contains("is not a database. Check the path.\n"), "\(command): \(reader.messages)")
    }
  }

  @Test func `65: a database that is not a store, and is left alone`() throws {
    _ = try Programs.sqlite("other", "CREATE TABLE a(b)", in: folder)
    let output = try Tool.run("import", "log.csv", "--store", "other", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("not a Core Data store"))
    #expect(try Programs.sqlite("other", "SELECT name FROM sqlite_master", in: folder) == "a\n")
  }

  @Test func `73: the output's folder is not there`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    let output = try Tool.run("export", "--store", "s", "--output", "none/out.csv", in: folder)
    #expect(output.status == 73)
    #expect(output.messages.contains("none"))
  }

  @Test func `73: the output is a folder`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    try folder.makeFolder("out")
    #expect(try Tool.run("export", "--store", "s", "--output", "out", in: folder).status == 73)
  }

  @Test(arguments: [["--report", "none/report.json"], ["--rejects", "none/rejects.csv"]])
  func `73: a missing folder for reports and rejects is reported before anything is imported`(
    _ option: [String]
  ) throws {
    let output = try Programs.run(
      Tool.url.path, ["import", "log.csv", "--store", "s"] + option, in: folder)
    #expect(output.status == 73)
    #expect(output.messages.contains("does not exist"))
    #expect(!folder.exists("s"))
  }

  @Test func `73: a store can't be made where a file stands for its folder`() throws {
    #expect(try Tool.run("import", "log.csv", "--store", "log.csv/s", in: folder).status == 73)
  }

  @Test func `74: the disk is full`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    for arguments in ["--output /dev/full", "> /dev/full"] {
      let output = try Tool.shell("\"$surfjournal\" export --store s \(arguments)", in: folder)
      #expect(output.status == 74)
      #expect(output.messages.contains("No space left on device"))
    }
    let summary = try Tool.shell("\"$surfjournal\" validate log.csv > /dev/full", in: folder)
    #expect(summary.status == 74)
    #expect(summary.messages.contains("standard output can't be written"))
  }

  @Test func `74: the store outgrows the disk; whole chunks stay`() throws {
    try Logs.write(records: 20_000, to: "big.csv", in: folder)
    let output = try Tool.shell(
      "ulimit -f 700; \"$surfjournal\" import big.csv --store s --chunk-rows 1000", in: folder)
    #expect(output.status == 74, "\(output.messages)")
    #expect(try Programs.sqlite("s", "PRAGMA integrity_check", in: folder) == "ok\n")
    let rows =
      Int(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder).dropLast()) ?? -1
    #expect(rows < 20_000)
    #expect(rows % 1000 == 0)
  }

  /// Without the threads a run would wait for what they do.
  @Test(.enabled(if: Unprivileged.canBeNobody, "another user is needed"), arguments: [2, 5, 8])
  func `75: the system does not let the program have its threads`(threadsMax: Int) throws {
    try folder.write("date\n2020-01-01\n", to: "one.csv")
    for command in ["import", "validate"] {
      let output = try Unprivileged.run([command, "one.csv", "--store", "s"], threadsMax: threadsMax, in: folder)
      #expect(output.status == 75, "\(output.messages)")
      #expect(output.messages.contains("ulimit -u"), "\(output.messages)")
    }
    #expect(!folder.exists("s") && !folder.exists("s.lock"))
    // Other tests may have processes of this user.
    let enough = try Unprivileged.run(["validate", "one.csv"], threadsMax: 200, in: folder)
    #expect(enough.status == 0, "\(enough.messages)")
  }

  @Test func `74: a reader that goes away ends an export without a word`() throws {
    try Logs.write(records: 20_000, to: "big.csv", in: folder)
    _ = try Tool.run("import", "big.csv", "--store", "s", in: folder)
    let output = try Tool.shell(
      "set -o pipefail; \"$surfjournal\" export --store s --no-progress | head -n 1; exit ${PIPESTATUS[0]}",
      in: folder)
    #expect(output.status == 74)
    #expect(output.text == "date,height,location,period,rating,wind\n")
    #expect(output.messages.isEmpty)
  }

  @Test func `74: a summary can't be written to a closed standard output, nor into the store instead`()
    throws
  {
    let output = try Tool.shell("\"$surfjournal\" import log.csv --store s <&- >&- 2>&-", in: folder)
    #expect(output.status == 74)
    #expect(
      try Programs.sqlite("s", "PRAGMA integrity_check; SELECT count(*) FROM ZJOURNALENTRY", in: folder)
        == "ok\n2\n")
  }

  @Test func `75: another program holds the store`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    let output = try Programs.python(
      """
      import sqlite3, subprocess, sys
      store = sqlite3.connect("s", isolation_level=None)
      store.execute("BEGIN EXCLUSIVE")
      ran = subprocess.run([sys.argv[1], "import", "log.csv", "--store", "s", "--again", "--lock-timeout", "0.3"],
                           capture_output=True, text=True)
      print(ran.returncode, ran.stderr)
      """, Tool.url.path, in: folder)
    #expect(output.hasPrefix("75 "))
    #expect(output.contains("try again"))
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "2\n")
  }

  @Test func `77: a file that may not be read`() throws {
    try folder.setMode(0o000, of: "log.csv")
    try folder.setMode(0o777, of: ".")
    let output = try Unprivileged.run("import", "log.csv", "--store", "s", in: folder)
    #expect(output.status == 77)
    #expect(output.messages.contains("Permission denied"))
  }

  @Test func `77: a folder that may not be written to`() throws {
    try folder.makeFolder("closed")
    try folder.setMode(0o555, of: "closed")
    for arguments in [
      ["import", "log.csv", "--store", "closed/s"],
      ["validate", "log.csv", "--report", "closed/report.txt"],
      ["validate", "log.csv", "--rejects", "closed/rejects.csv"],
    ] {
      let output = try Unprivileged.run(arguments, in: folder)
      #expect(output.status == 77, "\(arguments): \(output.messages)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("closed")) == [])
  }

  @Test func `77: a store that may not be written to`() throws {
    try folder.makeFolder("closed")
    _ = try Tool.run("import", "log.csv", "--store", "closed/s", in: folder)
    try folder.setMode(0o444, of: "closed/s")
    try folder.setMode(0o555, of: "closed")
    let before = try folder.data("closed/s")
    #expect(try Unprivileged.run("import", "log.csv", "--store", "closed/s", in: folder).status == 77)
    #expect(try folder.data("closed/s") == before)
    let export = try Unprivileged.run("export", "--store", "closed/s", in: folder)
    #expect(export.status == 0, "\(export.messages)")
    #expect(export.text.split(separator: "\n").count == 3)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("closed")) == ["s"])
  }

  struct BadPipeline: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let json: String
    let message: String
  }

  static let badPipelines = [
    BadPipeline(testDescription: "no JSON", json: "{", message: "p.json:1:1"),
    BadPipeline(
      testDescription: "an unknown key", json: #"{"name": "p", "colums": ["date"]}"#,
      message: "did you mean 'columns'?"),
    BadPipeline(
      testDescription: "an unknown attribute", json: #"{"name": "p", "columns": ["dat"]}"#, message: "'dat'"),
    BadPipeline(
      testDescription: "an unknown entity", json: #"{"name": "p", "columns": ["date"], "entity": "Entry"}"#,
      message: "no entity 'Entry'"),
    BadPipeline(
      testDescription: "a model that is not built in",
      json: #"{"name": "p", "columns": ["date"], "model": "M"}"#,
      message: "no model 'M'"),
  ]

  @Test(arguments: badPipelines)
  func `78: the pipeline's definition is wrong`(_ pipeline: BadPipeline) throws {
    try folder.write(pipeline.json, to: "p.json")
    let output = try Tool.run("import", "log.csv", "--store", "s", "--pipeline", "p.json", in: folder)
    #expect(output.status == 78)
    #expect(output.messages.contains(pipeline.message), "\(output.messages)")
    #expect(!folder.exists("s"))
  }
}
