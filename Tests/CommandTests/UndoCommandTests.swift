import Foundation
import TestSupport
import Testing

/// The way back from an import: what it inserted goes, what it updated comes back, all or nothing.
@Suite struct UndoCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      #"{"name": "k", "extends": "surf-log", "key": ["location"], "duplicates": "update"}"#, to: "k.json")
    try folder.write(
      Logs.header + "2014-07-14,1,9,Glassy,A,4\n2014-07-15,,,,B,\n2014-07-16,3 ft,,,C,1\n", to: "first.csv")
    try folder.write(
      Logs.header + "2014-08-14,2,,Onshore,A,5\n2014-08-15,1,1,x,B,2\n2014-08-16,,,,D,1\n", to: "second.csv")
  }

  private func entries() throws -> String {
    try Programs.sqlite(
      "s", "SELECT Z_PK, ZDATE, ZHEIGHT, ZPERIOD, ZWIND, ZLOCATION, ZRATING FROM ZJOURNALENTRY ORDER BY Z_PK",
      in: folder)
  }

  private func load(_ name: String, pipeline: String = "k.json") throws {
    let output = try Tool.run("import", name, "--store", "s", "--pipeline", pipeline, "-q", in: folder)
    #expect(output.status == 0, "\(output.messages)")
  }

  private func undo(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, ["undo", "s"] + arguments, in: folder)
  }

  @Test func `An import that inserted and updated is taken back, and can be repeated`() throws {
    try load("first.csv")
    let before = try entries()
    try load("second.csv")
    let after = try entries()
    let file = try folder.data("s")
    let dry = try undo("--dry-run")
    #expect(dry.status == 0)
    #expect(dry.text.contains("1 entry that it inserted would be deleted"))
    #expect(dry.text.contains("2 entries that it updated would be set back"))
    #expect(try folder.data("s") == file)
    let output = try undo("--yes")
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("2 entries that it updated were set back"))
    #expect(try entries() == before)
    #expect(try Tool.run("history", "s", in: folder).text.contains("second.csv  undone"))
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM SJ_OVERWRITTEN", in: folder) == "0\n")
    #expect(try Tool.run("verify", "s", in: folder).status == 0)
    try load("second.csv")
    let columns = { (text: String) in text.split(separator: "\n").map { $0.drop { $0 != "|" } } }
    #expect(try columns(entries()) == columns(after))
  }

  @Test func `The imports go one after the other, the last one first`() throws {
    try load("first.csv")
    try load("second.csv")
    for deleted in [1, 3] {
      let output = try undo("-y", "--json")
      #expect(output.status == 0, "\(output.messages)")
      #expect(output.text.contains("\"deleted\" : \(deleted)"))
    }
    #expect(try entries().isEmpty)
    let none = try undo("-y")
    #expect(none.status == 66 && none.messages.contains("no ledger of an import that could be undone"))
  }

  @Test func `A run is named by its number, an input by its path`() throws {
    try load("first.csv", pipeline: "surf-log")
    try folder.write(Logs.two, to: "two.csv")
    try load("two.csv", pipeline: "surf-log")
    let run = try Programs.sqlite("s", "SELECT runID FROM SJ_INPUT WHERE path = 'first.csv'", in: folder)
    let byRun = try undo(String(run.prefix(8)), "-n")
    #expect(byRun.text.contains("Import of first.csv") && byRun.text.contains("3 entries"), "\(byRun.messages)")
    let byPath = try undo("first.csv", "-y")
    #expect(byPath.status == 0, "\(byPath.messages)")
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "2\n")
    let unknown = try undo("none.csv", "-y")
    #expect(
      unknown.status == 66
        && unknown.messages.contains("no run with inputs that can be undone has the number 'none.csv'"))
  }

  @Test func `Where an entry was changed since, nothing is taken back`() throws {
    try load("first.csv")
    try load("second.csv")
    #expect(try Tool.run("edit", "2", "--store", "s", "--rating", "1", "-y", in: folder).status == 0)
    let before = try entries()
    let output = try undo("-y")
    #expect(output.status == 65)
    #expect(output.messages.contains("1 entry was changed since: JournalEntry 2"), "\(output.messages)")
    #expect(try entries() == before)
    // What another run has updated since is said as well.
    let first = try undo("first.csv", "-y")
    #expect(first.status == 65 && first.messages.contains("JournalEntry 1, 2"), "\(first.messages)")
  }

  @Test func `What was deleted since is left alone`() throws {
    try load("first.csv")
    #expect(try Tool.run("delete", "1", "--store", "s", "-y", in: folder).status == 0)
    let output = try undo("-y")
    #expect(output.status == 0, "\(output.messages)")
    #expect(
      output.text.contains("2 entries that it inserted were deleted")
        && output.text.contains("1 entry has been deleted since"))
    #expect(try entries().isEmpty)
  }

  @Test func `What a file has gained since goes first`() throws {
    try folder.write(#"{"name": "g", "extends": "surf-log", "appendOnly": true}"#, to: "g.json")
    try folder.write(Logs.two, to: "log.csv")
    try load("log.csv", pipeline: "g.json")
    try folder.write(Logs.two + "2014-08-16,,,,D,1\n", to: "log.csv")
    try load("log.csv", pipeline: "g.json")
    let ids = try Programs.sqlite("s", "SELECT runID FROM SJ_INPUT ORDER BY inputID", in: folder).split(separator: "\n")
    let refused = try undo(String(ids[0]), "-y")
    #expect(refused.status == 65 && refused.messages.contains("undo that one first"), "\(refused.messages)")
    #expect(try undo("-y").status == 0)
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "2\n")
    try load("log.csv", pipeline: "g.json")
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "3\n")
  }

  @Test(arguments: [true, false])
  func `Imports that saved in turn, because one was interrupted, are taken back together`(isUpdate: Bool) throws {
    if isUpdate { try load("first.csv") }
    let before = isUpdate ? try entries() : ""
    try folder.write(
      #"{"name": "k", "extends": "surf-log", "key": ["location"], "duplicates": "update", "chunkRows": 1}"#,
      to: "k1.json")
    try folder.write(
      Logs.header + "2014-08-14,2,,Onshore,A,5\nsoon,9,,x,A,1\n2014-08-16,3,,z,A,2\n", to: "late.csv")
    // The second record ends the run, and the last one is saved after the other input.
    let stopped = try Tool.run(
      "import", "late.csv", "--store", "s", "--pipeline", "k1.json", "--max-errors", "0", in: folder)
    #expect(stopped.text.contains("only record 1 of late.csv was imported"), "\(stopped.text)")
    try folder.write(Logs.header + "2014-09-01,7,,y,A,3\n", to: "other.csv")
    try load("other.csv", pipeline: "k1.json")
    let resumed = try Tool.run("import", "late.csv", "--store", "s", "--pipeline", "k1.json", in: folder)
    #expect(resumed.text.contains("resumed at record 2"), "\(resumed.text)")
    for name in ["late.csv", "other.csv"] {
      let alone = try undo(name, "-y")
      #expect(alone.status == 65 && alone.messages.contains("name both runs if they saved in turn"))
    }
    let both = try undo("late.csv", "other.csv", "-y")
    #expect(both.status == 0, "\(both.messages)")
    #expect(try entries() == before)
    #expect(try undo("late.csv", "none", "-y").status == 66)
  }

  @Test func `Beyond overwrittenMax the values of an update are not kept, and the undo says so`() throws {
    try folder.write(
      #"{"name": "k", "extends": "surf-log", "key": ["location"], "duplicates": "update", "limits": {"overwrittenMax": 1}}"#,
      to: "k.json")
    try load("first.csv")
    try load("second.csv")
    let before = try entries()
    let output = try undo("-y")
    #expect(output.status == 65 && output.messages.contains("limits.overwrittenMax"), "\(output.messages)")
    #expect(try entries() == before)
  }

  @Test func `A ledger of the layout before is read, brought up to date, and its imports are not undone`() throws {
    try load("first.csv")
    _ = try Programs.sqlite(
      "s",
      """
      DROP TABLE SJ_INSERTED; DROP TABLE SJ_OVERWRITTEN; DROP TABLE SJ_RESTORED; DROP TABLE SJ_LINKED;
      UPDATE SJ_LEDGER SET version = 1;
      ALTER TABLE SJ_INPUT DROP COLUMN repeated; ALTER TABLE SJ_INPUT DROP COLUMN header;
      ALTER TABLE SJ_INPUT DROP COLUMN firstRecord; ALTER TABLE SJ_INPUT DROP COLUMN location; ALTER TABLE SJ_RUN DROP COLUMN repeated;
      ALTER TABLE SJ_RUN DROP COLUMN message; ALTER TABLE SJ_RUN DROP COLUMN began;
      """, in: folder)
    #expect(try Tool.run("history", "s", in: folder).text.contains("first.csv  complete: 3 read, 3 inserted"))
    #expect(try undo("-y").messages.contains("earlier version of this program"))
    #expect(try Tool.run("import", "first.csv", "--store", "s", "--pipeline", "k.json", in: folder).status == 0)
    try load("second.csv")
    #expect(try Programs.sqlite("s", "SELECT version FROM SJ_LEDGER", in: folder) == "4\n")
    #expect(
      try Tool.run("history", "s", in: folder).text.contains("second.csv  complete: 3 read, 1 inserted, 2 updated"))
    #expect(try undo("-y").status == 0)
    #expect(try undo("-y").status == 65)
  }

  @Test func `Mistakes are reported with their cause`() throws {
    try load("first.csv")
    #expect(try undo().messages.contains("add --yes"))
    #expect(try undo("-y", "-n").status == 64)
    #expect(try Tool.run("undo", "none", "-y", in: folder).status == 66)
    #expect(try Tool.run("undo", "-y", in: folder).status == 64)
    let held = try Tool.shell("exec 9>s.lock; flock 9; $surfjournal undo s -y; echo $?", in: folder)
    #expect(held.text == "75\n", "\(held.messages)")
  }

  @Test func `delete --where deletes the entries for which the predicate holds`() throws {
    try load("first.csv")
    let dry = try Tool.run("delete", "--where", "rating == nil OR rating < 2", "--store", "s", "-n", in: folder)
    #expect(dry.status == 0 && dry.messages.contains("a dry run"), "\(dry.messages)")
    let output = try Tool.run("delete", "--where", "rating == nil OR rating < 2", "--store", "s", "-y", in: folder)
    #expect(output.status == 0 && output.text.hasSuffix("3, 2 deleted\n"), "\(output.text)\(output.messages)")
    #expect(try Programs.sqlite("s", "SELECT ZLOCATION FROM ZJOURNALENTRY", in: folder) == "A\n")
    let none = try Tool.run("delete", "--where", "rating == 9", "--store", "s", "-y", in: folder)
    #expect(none.status == 0 && none.messages.contains("the entry was not found"), "\(none.messages)")
    #expect(try Tool.run("delete", "1", "--where", "rating == 9", "--store", "s", "-y", in: folder).status == 64)
    for (condition, message) in [
      ("rating ==", "the condition rating == can't be read at character 10: expected a key or a value"),
      ("ratin == 1", "JournalEntry has no 'ratin'; it has date, height, location, period, rating, wind; did you mean"),
    ] {
      let output = try Tool.run("delete", "--where", condition, "--store", "s", "-y", in: folder)
      #expect(output.status == 64 && output.messages.contains(message), "\(output.messages)")
    }
  }
}
