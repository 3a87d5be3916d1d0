import Foundation
import TestSupport
import Testing

/// A file that was imported before and has changed since never doubles entries: it is refused with what to do, replaces
/// what it inserted, or adds what is new.
@Suite struct ChangedInputTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let records = (1...60).map {
    "2014-07-\($0 % 28 + 1 < 10 ? "0" : "")\($0 % 28 + 1),\($0),,,Place \($0),3\n"
  }
  private static let log = Logs.header + records.joined()
  /// One record corrected in place, one added.
  private static var corrected: String {
    var changed = records
    changed[9] = changed[9].replacingOccurrences(of: ",3\n", with: ",5\n")
    return Logs.header + changed.joined() + "2014-08-01,1,,,New,4\n"
  }

  private func entries(_ store: String = "s") throws -> [String] {
    try Programs.sqlite(
      store, "SELECT ZLOCATION || '|' || ZRATING FROM ZJOURNALENTRY ORDER BY ZLOCATION, ZRATING", in: folder
    ).split(separator: "\n").map(String.init)
  }

  /// Imports the log as it was, and writes the corrected one to `name`.
  private func importThenCorrect(_ name: String = "log.csv") throws {
    try folder.write(Self.log, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    try folder.write(Self.corrected, to: name)
  }

  // MARK: Refused

  @Test func `A corrected file is refused with the overlap, and the store stays as it is`() throws {
    try importThenCorrect()
    let tables = "SELECT * FROM ZJOURNALENTRY; SELECT * FROM Z_PRIMARYKEY; SELECT * FROM SJ_INPUT"
    let before = try Programs.sqlite("s", tables, in: folder)
    for command in ["import", "validate"] {
      let output = try Tool.run(command, "log.csv", "--store", "s", in: folder)
      #expect(output.status == 65)
      #expect(
        output.messages.contains("59 of its 61 records are in the store, and another content of this file was imported")
      )
      #expect(output.messages.contains("--replace") && output.messages.contains("--only-new"))
      #expect(!output.messages.contains("--again"))
    }
    #expect(try Programs.sqlite("s", tables, in: folder) == before)
  }

  @Test func `Under another name it is refused too, and the origin of its records is named`() throws {
    try importThenCorrect("new name.csv")
    let output = try Tool.run("import", "new name.csv", "--store", "s", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("59 of its 61 records are in the store, most of them from log.csv"))
    #expect(try entries().count == 60)
  }

  @Test func `From a pipe it is refused as well`() throws {
    try importThenCorrect("other.csv")
    let output = try Tool.shell("cat other.csv | $surfjournal import - --store s", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("59 of its first 61 records are in the store"), "\(output.messages)")
    #expect(try entries().count == 60)
    let other = try Tool.run("import", "-", "--store", "s", in: folder, input: Logs.two)
    #expect(other.status == 0, "\(other.messages)")
  }

  @Test func `A file that shares few records with the store is imported`() throws {
    try importThenCorrect()
    try folder.write(
      Logs.header + Self.records[0] + (1...3).map { "2015-01-0\($0),1,,,Other,2\n" }.joined(), to: "other.csv")
    let output = try Tool.run("import", "other.csv", "--store", "s", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try entries().count == 64)
  }

  // MARK: Replaced

  @Test(arguments: ["log.csv", "new name.csv"])
  func `--replace takes back what the file had inserted, and imports it as it is now`(_ name: String) throws {
    try folder.write(Logs.two, to: "two.csv")
    #expect(try Tool.run("import", "two.csv", "--store", "s", in: folder).status == 0)
    try importThenCorrect(name)
    let dry = try Tool.run("validate", name, "--store", "s", "--replace", in: folder)
    #expect(dry.text.contains("60 entries that log.csv had inserted would be replaced"), "\(dry.text)")
    let output = try Tool.run("import", name, "--store", "s", "--replace", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("60 entries that log.csv had inserted were replaced"))
    let entries = try entries()
    #expect(entries.count == 62 && entries.contains("Place 10|5") && !entries.contains("Place 10|3"))
    #expect(entries.contains("New|4") && entries.contains("Rincon|4"))
    // The new content is known from now on.
    #expect(try Tool.run("import", name, "--store", "s", in: folder).text.contains("has nothing to do"))
    #expect(try Programs.sqlite("s", "PRAGMA integrity_check", in: folder) == "ok\n")
  }

  @Test func `A replacement that fails leaves the old entries`() throws {
    try importThenCorrect()
    try folder.write(Self.corrected + "never,1,,,Bad,4\n", to: "log.csv")
    let before = try entries()
    let output = try Tool.run("import", "log.csv", "--store", "s", "--replace", "--stop-on-error", in: folder)
    #expect(output.status == 65)
    #expect(output.text.contains("nothing of log.csv is in the store"), "\(output.text)")
    #expect(try entries() == before)
    #expect(try Tool.run("import", "log.csv", "--store", "s", "--replace", in: folder).status == 65)
    #expect(try entries().count == 61)
  }

  @Test func `Entries that were edited since are not replaced`() throws {
    try importThenCorrect()
    #expect(try Tool.run("edit", "7", "--store", "s", "--rating", "1", "-y", in: folder).status == 0)
    let before = try entries()
    let output = try Tool.run("import", "log.csv", "--store", "s", "--replace", in: folder)
    #expect(output.status == 65)
    #expect(output.messages.contains("1 entry was changed since: JournalEntry 7"), "\(output.messages)")
    #expect(try entries() == before)
  }

  // MARK: Only what is new

  @Test func `--only-new adds what the store does not have`() throws {
    try importThenCorrect()
    let dry = try Tool.run("validate", "log.csv", "--store", "s", "--only-new", "--json", in: folder)
    let output = try Tool.run("import", "log.csv", "--store", "s", "--only-new", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try output.json().counts == Summary.Counts(read: 61, inserted: 2, unchanged: 59))
    #expect(try dry.json().counts == output.json().counts)
    #expect(try entries().count == 62)
  }

  @Test func `Two equal sessions stay two, and a third one is new`() throws {
    let one = "2014-07-14,3,,,Rincon,4\n"
    try folder.write(Logs.header + one + one, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    try folder.write(Logs.header + one + one + one + "2014-07-15,3,,,Rincon,4\n", to: "log.csv")
    let output = try Tool.run("import", "log.csv", "--store", "s", "--only-new", "--json", in: folder)
    #expect(try output.json().counts == Summary.Counts(read: 4, inserted: 2, unchanged: 2))
    #expect(try entries().count == 4)
  }

  @Test func `With a key neither option is taken, because the key decides`() throws {
    try importThenCorrect()
    for option in ["--replace", "--only-new"] {
      let output = try Tool.run("import", "log.csv", "--store", "s", "--key", "date", option, in: folder)
      #expect(output.status == 64 || output.status == 78, "\(output.status)")
      #expect(output.messages.contains("the pipeline has a key"), "\(output.messages)")
    }
    #expect(try Tool.run("import", "a", "--store", "s", "--replace", "--only-new", in: folder).status == 64)
  }

  // MARK: Headers and keys

  @Test func `A column that is gone or new since the last run is reported, also when quiet`() throws {
    try folder.write(Logs.two, to: "a.csv")
    #expect(try Tool.run("import", "a.csv", "--store", "s", "-q", in: folder).messages.isEmpty)
    try folder.write("date,height,period,wind,location,ratng\n2015-01-01,1,,,X,4\n", to: "b.csv")
    let renamed = try Tool.run("import", "b.csv", "--store", "s", "-q", in: folder)
    #expect(renamed.messages.contains("header-changed"), "\(renamed.messages)")
    #expect(renamed.messages.contains("'rating' is gone since the last input of the pipeline, a.csv"))
    #expect(renamed.messages.contains("'ratng' is new"))
    try folder.write("date,height,period,wind,location,ratng\n2015-01-02,1,,,X,4\n", to: "c.csv")
    let same = try Tool.run("import", "c.csv", "--store", "s", "-q", in: folder)
    #expect(!same.messages.contains("header-changed"), "\(same.messages)")
  }

  @Test func `A key that an earlier record of the input has is reported and counted apart`() throws {
    try folder.write(Logs.header + "2014-07-14,1,,,Rincon,4\n", to: "a.csv")
    #expect(try Tool.run("import", "a.csv", "--store", "s", in: folder).status == 0)
    try folder.write(
      #"{"name": "k", "extends": "surf-log", "key": ["date", "location"], "duplicates": "update"}"#, to: "k.json")
    try folder.write(
      Logs.header + "2014-07-14,2,,,Rincon,4\n2014-07-14,3,,,Rincon,4\n2015-01-01,1,,,X,1\n2015-01-01,2,,,X,1\n",
      to: "b.csv")
    let output = try Tool.run("import", "b.csv", "--store", "s", "--pipeline", "k.json", "--json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    let summary = try output.json()
    #expect(summary.counts == Summary.Counts(read: 4, inserted: 1, updated: 1, repeated: 2))
    #expect(summary.issues.listed.map(\.code) == ["primary-key", "primary-key"])
    #expect(summary.issues.listed.map(\.record) == [2, 4])
    #expect(
      summary.issues.listed.allSatisfy { $0.message.contains("an earlier record of this input has the same key") })
  }
}
