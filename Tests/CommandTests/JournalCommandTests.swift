import Foundation
import TestSupport
import Testing

/// `list`, `show`, `add`, `edit` and `delete` as a script sees them: results on standard output, exit statuses by
/// sysexits.h, nothing saved that was not asked for.
@Suite struct JournalCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
  }

  private func rows(_ store: String = "s") throws -> String {
    try Programs.sqlite(
      store,
      "SELECT Z_PK, datetime(ZDATE + 978307200, 'unixepoch'), quote(ZHEIGHT), quote(ZWIND), quote(ZLOCATION), "
        + "quote(ZRATING), Z_OPT FROM ZJOURNALENTRY ORDER BY Z_PK", in: folder)
  }

  private func export() throws -> Data { try Tool.run("export", "--store", "s", in: folder).bytes }

  private static let first = "1|2014-07-14 07:30:00|'3.9'|'Glassy'|'Rincon'|4|1\n"
  private static let second = "2|2014-07-15 00:00:00|'Flat'|NULL|'Malibu, First Point'|NULL|1\n"

  @Test func `What is listed can be shown, in each form`() throws {
    let list = try Tool.run("list", "--store", "s", in: folder)
    #expect(list.status == 0)
    #expect(list.messages.isEmpty)
    #expect(
      list.text == """
        id  date                  height  period  wind    location             rating
        2   2014-07-15T00:00:00Z  Flat                    Malibu, First Point
        1   2014-07-14T07:30:00Z  3.9     12      Glassy  Rincon               4

        """)
    let csv = try Tool.run("list", "--store", "s", "--csv", "--sort", "date", "--limit", "1", in: folder)
    #expect(csv.text == "id,date,height,period,wind,location,rating\n1,2014-07-14T07:30:00Z,3.9,12,Glassy,Rincon,4\n")
    let json = try Tool.run("list", "--store", "s", "--json", "--where", "rating = nil", in: folder)
    let entries = try #require(try JSONSerialization.jsonObject(with: json.bytes) as? [[String: Any]])
    #expect(entries.map { $0["id"] as? Int } == [2])
    let uri = try #require(entries[0]["uri"] as? String)
    for id in ["2", "p2", uri] {
      let shown = try Tool.run("show", id, "--store", "s", in: folder)
      #expect(shown.status == 0)
      #expect(
        shown.text == """
          id        2
          uri       \(uri)
          date      2014-07-15T00:00:00Z
          height    Flat
          period    –
          wind      –
          location  Malibu, First Point
          rating    –

          """)
    }
    let one = try Tool.run("show", "2", "--json", "--store", "s", in: folder)
    let entry = try #require(try JSONSerialization.jsonObject(with: one.bytes) as? [String: Any])
    #expect(entry as NSDictionary == entries[0] as NSDictionary)
  }

  @Test func `The columns that are named are listed in their order, in each form`() throws {
    func list(_ columns: String, _ options: String...) throws -> ProgramOutput {
      try Programs.run(Tool.url.path, ["list", "s", "--columns", columns] + options, in: folder)
    }
    #expect(
      try list("location,id,rating").text == """
        location             id  rating
        Malibu, First Point  2
        Rincon               1   4

        """)
    #expect(try list("rating, date", "--csv").text == "rating,date\n,2014-07-15T00:00:00Z\n4,2014-07-14T07:30:00Z\n")
    #expect(try list("id,location", "--format", "tsv").text == "id\tlocation\n2\tMalibu, First Point\n1\tRincon\n")
    #expect(
      try list("rating,id", "--format", "jsonl").text == "{\"id\":2,\"rating\":null}\n{\"id\":1,\"rating\":4}\n")
    let json = try JSONSerialization.jsonObject(with: try list("location", "--json").bytes) as? [[String: String]]
    #expect(json == [["location": "Malibu, First Point"], ["location": "Rincon"]])
    for (columns, message) in [
      ("locaton", "'locaton' is not a column of JournalEntry; did you mean 'location'?; known are id"),
      ("date,date", "the column 'date' is named twice; name it once"),
      ("date,", "write attributes with commas between"),
    ] {
      let output = try list(columns)
      #expect(output.status == 64 && output.messages.contains(message), "\(output.messages)")
    }
    #expect(try list("id", "--explain").status == 64)
  }

  @Test func `Where nothing is found, that is said`() throws {
    let output = try Tool.run("list", "--store", "s", "--where", "rating > 4", in: folder)
    #expect(output.status == 0)
    #expect(output.text.isEmpty)
    #expect(output.messages == "surfjournal: s has no such entries\n")
  }

  @Test func `An entry is added, changed and deleted, with --yes`() throws {
    let added = try Tool.run(
      "add", "--store", "s", "--date", "2015-01-02T03:04:05Z", "--location", "Trestles", "-y", in: folder)
    #expect(added.status == 0)
    #expect(added.text == "entry 3\n+ date      2015-01-02T03:04:05Z\n+ location  Trestles\n3 added\n")
    let edited = try Tool.run(
      "edit", "3", "--store", "s", "--rating", "5", "--clear", "location", "--yes", in: folder)
    #expect(edited.status == 0)
    #expect(
      edited.text == "entry 3\n  date      2015-01-02T03:04:05Z\n- location  Trestles\n+ rating    5\n3 changed\n")
    #expect(try rows() == Self.first + Self.second + "3|2015-01-02 03:04:05|NULL|NULL|NULL|5|2\n")
    let deleted = try Tool.run("delete", "1", "3", "--store", "s", "-y", "-q", in: folder)
    #expect(deleted.status == 0)
    #expect(deleted.text.isEmpty)
    #expect(deleted.messages.isEmpty)
    #expect(try rows() == Self.second)
  }

  @Test func `JSON tells what was, what is, and whether it is saved`() throws {
    let output = try Tool.run("edit", "1", "--store", "s", "--rating", "5", "--json", "-y", in: folder)
    let result = try #require(try JSONSerialization.jsonObject(with: output.bytes) as? [String: Any])
    #expect(result["saved"] as? Bool == true)
    #expect(result["action"] as? String == "edit")
    let entry = try #require((result["entries"] as? [[String: Any]])?.first)
    #expect((entry["before"] as? [String: Any])?["rating"] as? Int == 4)
    #expect((entry["after"] as? [String: Any])?["rating"] as? Int == 5)
    let dry = try Tool.run("delete", "1", "--store", "s", "--json", "-n", in: folder)
    let other = try #require(try JSONSerialization.jsonObject(with: dry.bytes) as? [String: Any])
    #expect(other["saved"] as? Bool == false)
    #expect((other["entries"] as? [[String: Any]])?.first?["after"] is NSNull)
  }

  static let edits: [[String]] = [
    ["add", "--rating", "5"], ["edit", "1", "--rating", "5"], ["delete", "1", "2"],
  ]

  @Test(arguments: edits)
  func `A dry run leaves every byte as it is`(_ edit: [String]) throws {
    let (before, exported) = (try folder.data("s"), try export())
    let output = try Programs.run(Tool.url.path, edit + ["--store", "s", "--dry-run"], in: folder)
    #expect(output.status == 0)
    #expect(output.text.contains("+ rating    5") || output.text.contains("- rating    4"))
    let verb = edit[0] == "delete" ? "deleted" : "saved"
    #expect(output.messages == "surfjournal: nothing was \(verb): a dry run\n")
    #expect(try folder.data("s") == before)
    #expect(try export() == exported)
    #expect(try folder.names == ["log.csv", "s"])
  }

  @Test(arguments: edits)
  func `64: without a terminal and without --yes the question can't be asked`(_ edit: [String]) throws {
    let before = try folder.data("s")
    let output = try Programs.run(Tool.url.path, edit + ["--store", "s"], in: folder, input: Data("y\n".utf8))
    #expect(output.status == 64)
    #expect(output.messages.contains("standard input is not a terminal; add --yes"))
    #expect(try folder.data("s") == before)
  }

  @Test func `--explain prints the statement and what is evaluated where, and lists nothing`() throws {
    let plain = try Tool.run("list", "s", "--where", "rating > 3", "--limit", "2", "--explain", in: folder)
    #expect(plain.status == 0 && plain.messages.isEmpty)
    let lines = plain.text.split(separator: "\n")
    #expect(lines[0].hasPrefix("statement: SELECT t0.Z_PK") && lines[0].contains("WHERE t0.ZRATING > ?"))
    #expect(lines.contains("value 1: 3") && lines.contains { $0.hasPrefix("plan: ") })
    #expect(lines.contains("evaluated by SQLite: everything"))
    #expect(lines.last == "evaluated in memory after the statement: nothing" && !plain.text.contains("Rincon"))
    let folded = try Tool.run("list", "s", "--where", "location CONTAINS[cd] \"rín\"", "--explain", in: folder)
    #expect(folded.text.contains("for each row that SQLite asks about: OCD_STRING_COMPARE"))
    // SQLite's own program makes the same plan of a statement without functions of this library.
    let statement = lines[0].dropFirst("statement: ".count).replacingOccurrences(of: "> ?", with: "> 3")
    let plan = try Programs.sqlite("s", "EXPLAIN QUERY PLAN " + statement, in: folder)
    for line in lines where line.hasPrefix("plan: ") {
      #expect(plan.contains(line.dropFirst("plan: ".count).trimmingCharacters(in: .whitespaces)))
    }
  }

  @Test func `The switch SQLDebug writes the statements to standard error, and the results stay`() throws {
    let quiet = try Tool.run("list", "s", "--where", "rating > 3", in: folder)
    let loud = try Tool.run(
      "list", "s", "--where", "rating > 3", in: folder, environment: ["COM_APPLE_COREDATA_SQLDEBUG": "3"])
    #expect(loud.text == quiet.text && quiet.messages.isEmpty)
    #expect(loud.messages.contains("CoreData: sql: SELECT t0.Z_PK"))
    #expect(loud.messages.contains("CoreData: details: with values: SELECT") && loud.messages.contains("> 3"))
    #expect(loud.messages.contains("CoreData: details: Z_PK of the rows: 1\n"))
  }

  static let mistakes: [(arguments: [String], status: Int32, message: String)] = [
    (["list"], 64, "no store is given"),
    (["list", "--store", "s", "--where", "ratin > 3"], 64, "JournalEntry has no 'ratin'; it has date"),
    (["list", "--store", "s", "--sort", "ratin"], 64, "did you mean 'rating'?"),
    (["list", "--store", "s", "--sort", "date", "--sort", "date:desc"], 64, "--sort names 'date' twice"),
    (["list", "--store", "s", "--csv", "--json"], 64, "exclude each other"),
    (["list", "--store", "s", "--explain", "--json"], 64, "leave the format out"),
    (["list", "--store", "none"], 66, "the store none does not exist"),
    (["show", "--store", "s"], 64, "an entry's ID is missing"),
    (["show", "9", "--store", "s"], 66, "s has no entry 9"),
    (["show", "nine", "--store", "s"], 64, "'nine' is not an ID"),
    (["show", "x-coredata://0/JournalEntry/p1", "--store", "s"], 64, "is not an entry of s"),
    (["add", "--store", "s", "-y"], 64, "no value is given"),
    (["add", "--store", "s", "--rating", "6", "-y"], 65, "rating '6' must be 1 to 5"),
    (["add", "--store", "s", "--date", "2015-02-30", "-y"], 65, "the calendar has no such day"),
    (["add", "--store", "s", "--rating", "5", "-y", "-n"], 64, "exclude each other"),
    (["add", "--store", "", "--rating", "5", "-y"], 64, "no store is given"),
    (["add", "--store", "log.csv", "--rating", "5", "-y"], 65, "is not a database"),
    (["edit", "1", "--store", "s", "-y"], 64, "no change is given"),
    (["edit", "1", "--store", "s", "--rating", "3", "--clear", "rating", "-y"], 64, "exclude each other"),
    (["edit", "1", "--store", "s", "--clear", "ratin", "-y"], 64, "did you mean 'rating'?"),
    (["edit", "9", "--store", "s", "--rating", "3", "-y"], 66, "s has no entry 9"),
    (["edit", "1", "--store", "none", "--rating", "3", "-y"], 66, "the store none does not exist"),
    (["delete", "--store", "s", "-y"], 64, "name entries by their IDs, or by --where"),
    (["delete", "1", "9", "--store", "s", "-y"], 66, "s has no entry 9"),
  ]

  @Test(arguments: mistakes)
  func `What can't be done is reported with its cause, and nothing is done`(
    _ arguments: [String], status: Int32, message: String
  ) throws {
    let before = try folder.data("s")
    let output = try Programs.run(Tool.url.path, arguments, in: folder)
    #expect(output.status == status, "\(output.messages)")
    #expect(output.messages.contains(message), "\(output.messages)")
    #expect(output.text.isEmpty)
    #expect(try folder.data("s") == before)
    #expect(try folder.names == ["log.csv", "s"])
  }

  @Test func `65: what a constraint of the store forbids is not saved`() throws {
    _ = try Programs.sqlite("s", "CREATE UNIQUE INDEX onePlace ON ZJOURNALENTRY(ZLOCATION)", in: folder)
    let output = try Tool.run("edit", "2", "--store", "s", "--location", "Rincon", "-y", in: folder)
    #expect(output.status == 65, "\(output.messages)")
    #expect(output.messages.contains("nothing was saved: "))
    #expect(try rows() == Self.first + Self.second)
  }

  @Test func `74: an edit that the disk has no room for is not saved`() throws {
    let before = try rows()
    let output = try Tool.shell(
      "ulimit -f 8; exec \"$surfjournal\" edit 1 --store s --rating 5 -y", in: folder)
    #expect(output.status == 74, "\(output.messages)")
    #expect(try rows() == before)
  }

  @Test func `75: an import that runs has the store`() throws {
    let lock = "\(folder.path("s")).lock"
    let output = try Tool.shell(
      "exec 9> '\(lock)'; flock 9; \"$surfjournal\" edit 1 --store s --rating 5 -y 9>&-", in: folder)
    #expect(output.status == 75, "\(output.messages)")
    #expect(output.messages.contains("s is in use by"))
    #expect(try rows() == Self.first + Self.second)
  }

  @Test func `64: a value that is not UTF-8 is not repaired and saved`() throws {
    let output = try Tool.shell(#""$surfjournal" edit 1 --store s --location $'caf\xe9' -y"#, in: folder)
    #expect(output.status == 64, "\(output.messages)")
    #expect(output.messages.contains("argument 6 is not UTF-8"))
    #expect(try rows() == Self.first + Self.second)
  }

  @Test func `77: a store that may not be read, and one that may not be written to, are named`() throws {
    try folder.setMode(0o777, of: ".")
    try folder.setMode(0o000, of: "s")
    let list = try Unprivileged.run("list", "--store", "s", in: folder)
    #expect(list.status == 77)
    #expect(list.messages.contains("\(folder.path("s")) may not be read. Check the path and the permissions"))
    try folder.setMode(0o444, of: "s")
    let edit = try Unprivileged.run("edit", "1", "--store", "s", "--rating", "5", "-y", in: folder)
    #expect(edit.status == 77)
    #expect(edit.messages.contains("may not be written to"))
    // No WAL that other users can't write to.
    #expect(try folder.names == ["log.csv", "s", "surfjournal-copy"])
    #expect(try rows() == Self.first + Self.second)
  }

  @Test func `Edits by hand leave the ledger alone`() throws {
    let history = try Tool.run("history", "s", "--json", in: folder).bytes
    #expect(try Tool.run("delete", "1", "--store", "s", "-y", in: folder).status == 0)
    #expect(try Tool.run("add", "--rating", "1", "--store", "s", "-y", in: folder).status == 0)
    #expect(try Tool.run("history", "s", "--json", in: folder).bytes == history)
    // So the log that was imported stays known.
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
    #expect(try rows() == Self.second + "3||NULL|NULL|NULL|1|1\n")
  }
}
