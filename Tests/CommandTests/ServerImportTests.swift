import Foundation
import TestSupport
import Testing

/// Imports into a store in PostgreSQL, compared with the same commands on a SQLite file: rows, counts, history and
/// rejects are the same.
@Suite(.enabled(if: PostgreSQLServer.isThere, serverComment)) struct ServerImportTests {
  private let journal: ServerJournal
  private var folder: TemporaryFolder { journal.folder }
  init() throws { journal = try ServerJournal() }

  private static let columns = """
    "columns": [
      {"name": "date"}, "location", {"name": "rating", "rules": [{"rule": "range", "min": 1, "max": 5}]}, "height"
    ], "chunkRows": 7
    """

  /// Records that differ by the number of their place; every fifth has a rating that is refused.
  private static func log(_ numbers: [Int], height: Int = 3, refuses: Bool = true) -> String {
    "date,location,rating,height\n"
      + numbers.map { n in
        let day = n % 28 + 1
        return
          "2020-01-\(day < 10 ? "0" : "")\(day),P\(n),\(refuses && n % 5 == 4 ? 9 : (n + height) % 5 + 1),\(height)\n"
      }.joined()
  }

  private func write(_ name: String, members: String) throws {
    try folder.write("{\"name\": \"\(name)\", \(Self.columns)\(members)}", to: "\(name).json")
  }

  private func both(_ arguments: [String], status: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation) throws
  {
    let found = try journal.onBoth(arguments, sourceLocation: sourceLocation)
    #expect(found.status == status, "\(arguments): \(found.messages)", sourceLocation: sourceLocation)
  }

  @Test func `Files are imported once, and the history says so`() throws {
    try write("p", members: "")
    try folder.write(Self.log(Array(0..<40)), to: "a.csv")
    try folder.write(Self.log(Array(40..<60), refuses: false), to: "b.csv")
    let dry = try journal.run(["validate", "a.csv", "--pipeline", "p.json", "--store", "STORE", "--json"])
    #expect(dry.status == 65)
    let first = ["import", "a.csv", "--pipeline", "p.json", "--store", "STORE"]
    try both(first, status: 65)
    #expect(try journal.psql("SELECT count(*) FROM \"ZJOURNALENTRY\"") == "32")
    try both(first)
    try both(["import", "a.csv", "b.csv", "--pipeline", "p.json", "--store", "STORE"])
    try both(["import", "b.csv", "--again", "--pipeline", "p.json", "--store", "STORE"])
    try both(["undo", "STORE", "--yes"])
    try both(["ledger", "compact", "STORE", "--keep", "1"])
    try both(["validate", "a.csv", "b.csv", "--pipeline", "p.json", "--store", "STORE"])
    try both(["ledger", "drop", "STORE", "--yes"])
  }

  @Test(arguments: ["reject", "skip", "update", "keepNewest"])
  func `Each policy decides as in a file`(policy: String) throws {
    let duplicates = policy == "keepNewest" ? #"{"policy": "keepNewest", "by": "rating"}"# : "\"\(policy)\""
    try write("k", members: ", \"key\": [\"date\", \"location\"], \"duplicates\": \(duplicates)")
    let fits = policy != "reject"
    try folder.write(Self.log(Array(0..<30) + Array(3..<12), refuses: false), to: "a.csv")
    // Repeated in one chunk, in several chunks, and with the values of the first ones again.
    try folder.write(
      Self.log([50, 51, 50, 52, 53], height: 5, refuses: false)
        + Self.log(Array(10..<40) + [50, 51] + Array(20..<45), height: 6, refuses: false).dropFirst(28), to: "b.csv")
    for name in ["a.csv", "b.csv"] {
      for command in ["validate", "import"] {
        try both([command, name, "--pipeline", "k.json", "--store", "STORE"], status: fits ? 0 : 65)
      }
    }
    try both(
      ["import", "b.csv", "a.csv", "--again", "--pipeline", "k.json", "--store", "STORE"], status: fits ? 0 : 65)
    if fits { try both(["undo", "STORE", "--yes"]) }
  }

  @Test func `A chunk whose updates cancel each other out is in the ledger`() throws {
    try write("k", members: ", \"key\": [\"date\", \"location\"], \"duplicates\": \"update\"")
    let name = ["--pipeline", "k.json", "--store", "STORE"]
    try folder.write(Self.log(Array(0..<10), refuses: false), to: "a.csv")
    try both(["import", "a.csv"] + name)
    // All of the first chunk, and more than one chunk.
    try folder.write(
      Self.log([1], height: 5, refuses: false)
        + Self.log(Array(repeating: 1, count: 6) + Array(2..<10), refuses: false).dropFirst(28), to: "b.csv")
    try both(["import", "b.csv"] + name)
    let runs = try journal.history()
    #expect(runs.count == 2 && runs[0][1] == "completed" && runs[0].count == 5, "\(runs)")
  }

  @Test func `An entry whose number is too great to be compared by key is named`() throws {
    try write("k", members: ", \"key\": [\"date\", \"location\"], \"duplicates\": \"update\"")
    try folder.write(Self.log([1, 2], refuses: false), to: "a.csv")
    let command = ["import", "a.csv", "--again", "--pipeline", "k.json", "--store", "STORE"]
    #expect(try journal.run(command).status == 0)
    _ = try journal.psql("UPDATE \"ZJOURNALENTRY\" SET \"Z_PK\" = 1::bigint << 40 WHERE \"Z_PK\" = 2")
    let refused = try journal.run(command)
    #expect(refused.status == 65 && refused.messages.contains("number 1099511627776"), "\(refused.messages)")
    #expect(try journal.psql("SELECT count(*) FROM \"ZJOURNALENTRY\"") == "2")
  }

  @Test func `An atomic run, a replacement and only what is new`() throws {
    try write("p", members: "")
    try folder.write(Self.log(Array(0..<40), refuses: false), to: "a.csv")
    try folder.write(Self.log(Array(40..<80)), to: "b.csv")
    let name = ["--pipeline", "p.json", "--store", "STORE"]
    try both(["import", "a.csv"] + name)
    try both(["import", "b.csv", "--atomic", "--max-errors", "3"] + name, status: 65)
    #expect(try journal.psql("SELECT count(*) FROM \"ZJOURNALENTRY\"") == "40")
    try folder.write(Self.log(Array(5..<45), height: 4, refuses: false), to: "a.csv")
    try both(["import", "a.csv"] + name, status: 65)
    try both(["validate", "a.csv", "--replace"] + name)
    try both(["import", "a.csv", "--replace"] + name)
    try folder.write(Self.log(Array(5..<60), height: 4, refuses: false), to: "a.csv")
    try both(["validate", "a.csv", "--only-new"] + name)
    try both(["import", "a.csv", "--only-new"] + name)
    try both(["import", "b.csv", "--atomic"] + name, status: 65)
    try both(["undo", "STORE", "b.csv", "--yes"])
  }

  @Test func `Rejects are written to the current folder and replayed into the store`() throws {
    try write("p", members: "")
    try folder.write(Self.log(Array(0..<20)), to: "a.csv")
    #expect(try journal.run(["import", "a.csv", "--pipeline", "p.json", "--store", "STORE"]).status == 65)
    let rejects = try folder.text("a.csv.rejects.csv")
    #expect(rejects.split(separator: "\n").count == 5)
    try folder.write(rejects.replacingOccurrences(of: ",9,", with: ",2,"), to: "a.csv.rejects.csv")
    let replayed = try journal.run(["replay", "a.csv.rejects.csv"])
    #expect(replayed.status == 0, "\(replayed.messages)")
    #expect(try journal.psql("SELECT count(*) FROM \"ZJOURNALENTRY\"") == "20")
    #expect(!folder.exists("a.csv.rejects.csv"))
    // A preview leaves the lock to the run that had it last.
    let token = try journal.psql("SELECT token FROM sj_lock")
    #expect(try journal.run(["undo", "STORE", "--dry-run"]).status == 0)
    #expect(try journal.psql("SELECT token FROM sj_lock") == token)
    #expect(try journal.run(["undo", "STORE", "--yes"]).status == 0)
    #expect(try journal.psql("SELECT count(*) FROM \"ZJOURNALENTRY\"") == "16")
  }

  /// PostgreSQL does not keep the character.
  @Test(arguments: ["csv", "jsonl"])
  func `A record with a NUL character is refused by a dry run as by an import`(format: String) throws {
    let isJSON = format == "jsonl"
    try folder.write(
      isJSON
        ? #"{"date": "2020-01-01", "location": "a\u0000b"}"# + "\n" + #"{"date": "2020-01-02", "location": "c"}"# + "\n"
        : "date,location\n2020-01-01,a\0b\n2020-01-02,c\n", to: "nul.\(format)")
    let dialect = isJSON ? "" : #""dialect": {"nulBytes": "keep"}, "#
    try folder.write("{\"name\": \"nul\", \(dialect)\"columns\": [\"date\", \"location\"]}", to: "nul.json")
    for command in ["validate", "import"] {
      let output = try journal.run(
        [command, "nul.\(format)", "--pipeline", "./nul.json", "--store", "STORE", "--json"])
      #expect(output.status == 65, "\(command): \(output.messages)")
      #expect(output.text.contains("has a NUL character"), "\(command): \(output.text)")
      #expect(output.text.contains(#""inserted" : 1,"#), "\(command): \(output.text)")
    }
  }

  /// Each row has the number of the transaction that has made it.
  @Test(arguments: [("", 3), ("\"chunkRows\": 5000, ", 4)])
  func `A save has 8,000 records where nothing is said`(setting: String, saves: Int) throws {
    try folder.write("date\n" + String(repeating: "2020-01-01\n", count: 16_001), to: "many.csv")
    try folder.write("{\"name\": \"many\", \(setting)\"columns\": [\"date\"]}", to: "many.json")
    let output = try journal.run(["import", "many.csv", "--pipeline", "./many.json", "--store", "STORE", "-q"])
    #expect(output.status == 0, "\(output.messages)")
    #expect(try journal.psql("SELECT count(DISTINCT xmin::text) FROM \"ZJOURNALENTRY\"") == "\(saves)")
  }

  @Test func `A constant with a NUL character is a mistake of the pipeline`() throws {
    try folder.write("date\n2020-01-01\n", to: "a.csv")
    try folder.write(
      #"{"name": "nul", "columns": ["date", {"name": "location", "value": "a\u0000b"}]}"#, to: "nul.json")
    for command in ["validate", "import"] {
      let output = try journal.run([command, "a.csv", "--pipeline", "./nul.json", "--store", "STORE"])
      #expect(output.status == 78 && output.messages.contains("columns[1].value"), "\(output.messages)")
      #expect(try journal.run([command, "a.csv", "--pipeline", "./nul.json", "--store", "s"]).status == 0)
    }
  }

  @Test func `Entries are added, changed and deleted by hand`() throws {
    let added = try journal.run(["add", "STORE", "--date", "2020-01-02", "--location", "Pipe", "--yes"])
    #expect(added.status == 0, "\(added.messages)")
    #expect(try journal.run(["edit", "STORE", "1", "--location", "Backdoor", "--yes"]).status == 0)
    #expect(try journal.psql("SELECT \"ZLOCATION\" FROM \"ZJOURNALENTRY\"") == "Backdoor")
    #expect(try journal.run(["delete", "STORE", "1", "--yes"]).status == 0)
    #expect(try journal.psql("SELECT count(*) FROM \"ZJOURNALENTRY\"") == "0")
  }

  @Test func `No file, report, table or message has the password`() throws {
    try write("p", members: "")
    try folder.write(Self.log(Array(0..<20)), to: "a.csv")
    let secret = journal.address.replacingOccurrences(of: "user=tests", with: "user=tests&password=sesame")
    for arguments in [
      [
        "import", "a.csv", "--pipeline", "p.json", "--store", secret, "--report", "r.json", "--report", "r.html",
        "--log", "l",
      ],
      ["history", secret], ["undo", secret, "--dry-run"], ["list", secret, "--where", "rating == 77"],
      ["ledger", "compact", secret],
    ] {
      let output = try journal.run(arguments)
      #expect(!(output.messages + output.text).contains("sesame"), "\(arguments): \(output.messages)")
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
      #expect(!(try folder.text(name)).contains("sesame"), "\(name)")
    }
    for table in ["sj_run", "sj_input", "sj_lock", "sj_issue"] {
      #expect(!(try journal.psql("SELECT * FROM \(table)")).contains("sesame"))
    }
  }
}
