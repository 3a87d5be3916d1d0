import Foundation
import TestSupport
import Testing

/// `copy` between a SQLite file and a database, and the commands that read one.
@Suite(.enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct CopyCommandTests {
  private let folder: TemporaryFolder
  private let address: String

  init() throws {
    folder = try TemporaryFolder()
    let server = try #require(PostgreSQLServer.shared)
    let schema = "c\(UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased())"
    _ = try server.psql("CREATE SCHEMA \(schema)")
    address = try #require(server.address(["options": "-csearch_path=\(schema)"])).absoluteString
  }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments, in: folder)
  }

  @Test func `A journal goes to a server and back, and is exported, listed and shown the same from each`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try run("import", "log.csv", "--store", "s").status == 0)
    let there = try run("copy", "s", address)
    #expect(there.status == 0 && there.messages == "surfjournal: 2 objects copied\n", "\(there.messages)")
    #expect(try run("copy", address, "back.sqlite").status == 0)
    let exported = try run("export", "s")
    for store in [address, "back.sqlite"] {
      #expect(try run("export", store).bytes == exported.bytes)
      #expect(try run("export", store, "--where", "location CONTAINS[cd] 'RINC'").text.contains("Rincon"))
      let list = try run("list", store)
      #expect(try list.text == run("list", "s").text && list.status == 0)
      #expect(try run("show", store, "2").status == 0)
    }
    let (inspected, verified) = (try run("inspect", address), try run("verify", address))
    #expect(inspected.status == 0 && inspected.text.contains("PostgreSQL 1"), "\(inspected.messages)")
    #expect(verified.status == 0 && verified.text.contains("nothing is wrong"), "\(verified.text)\(verified.messages)")
    #expect(try run("inspect", address, "--json").text.contains("\"server\" : {"))
    // The next key is greater than those that were copied.
    #expect(try run("add", "back.sqlite", "--date", "2020-01-02", "--location", "Pipe", "--yes").status == 0)
    #expect(try run("verify", "back.sqlite").status == 0)
  }

  private static let versions =
    "SELECT group_concat(Z_PK || ':' || Z_OPT) FROM (SELECT * FROM ZJOURNALENTRY ORDER BY 1)"

  /// An import with rejects, and one that updates and inserts.
  private func importTwice(into store: String) throws {
    try folder.write(
      #"{"name": "p", "columns": ["date", "location", "rating"], "key": ["date"], "duplicates": "update"}"#,
      to: "p.json")
    try folder.write("date,location,rating\n2020-01-01,a,1\n2020-01-02,b,2\nsoon,c,3\n2020-01-04,d,4\n", to: "a.csv")
    try folder.write("date,location,rating\n2020-01-02,b,5\n2020-01-05,e,5\n", to: "b.csv")
    for (name, status) in [("a.csv", 65 as Int32), ("b.csv", 0)] {
      #expect(try run("import", name, "--pipeline", "p.json", "--store", store).status == status)
    }
  }

  @Test func `What was imported is known in the copy, is not imported there again, and can be taken back`() throws {
    try importTwice(into: "s")
    #expect(try run("copy", "s", address).status == 0)
    #expect(try run("copy", address, "back.sqlite").status == 0)
    let history = try run("history", "s", "--format", "csv").text
    #expect(history.split(separator: "\n").count == 3, "\(history)")
    let versions = try Programs.sqlite("s", Self.versions, in: folder)
    #expect(versions == "1:1,2:2,3:1,4:1\n")
    #expect(try Programs.sqlite("back.sqlite", Self.versions, in: folder) == versions)
    for store in [address, "back.sqlite"] {
      #expect(try run("history", store, "--format", "csv").text == history)
      for name in ["a.csv", "b.csv"] {
        let again = try run("import", name, "--pipeline", "p.json", "--store", store)
        #expect(again.text.contains("inserted    0\n") && again.text.contains("nothing to do"), "\(again.text)")
      }
      let undone = try run("undo", store, "b.csv", "--yes")
      #expect(undone.status == 0, "\(undone.messages)")
      let left = try run("list", store, "--csv").text
      #expect(left.contains(",b,2") && !left.contains(",e,") && left.split(separator: "\n").count == 4, "\(left)")
    }
  }

  @Test func `A file that one machine imported is known to the plan of a copy`() throws {
    try importTwice(into: "s")
    #expect(try run("copy", "s", address).status == 0)
    let planned = try run("plan", "./p.json", "a.csv", "b.csv", "--store", address)
    #expect(planned.status == 0 && planned.messages.contains("nothing to plan"), "\(planned.messages)")
  }

  @Test func `A store whose ledger knows inputs takes no copy, and takes one as the message says`() throws {
    try importTwice(into: "s")
    for name in ["a.csv", "b.csv"] {
      #expect(try [0, 65].contains(run("import", name, "--pipeline", "p.json", "--store", "t").status))
    }
    #expect(try run("undo", "t", "b.csv", "a.csv", "--yes").status == 0)
    let refused = try run("copy", "s", "t")
    #expect(refused.status == 65 && refused.messages.contains("ledger drop"), "\(refused.status) \(refused.messages)")
    #expect(try run("list", "t", "--csv").text.split(separator: "\n").count == 1)
    #expect(try run("ledger", "drop", "t", "--yes").status == 0)
    #expect(try run("copy", "s", "t").status == 0)
    #expect(try run("list", "t").text == run("list", "s").text)
  }

  @Test func `A store with an open plan is not copied: the copy would have a part of its import`() throws {
    let world = try PlannedImport()
    try world.writeLog("a.csv", records: 600)
    let plan = try world.plan("a.csv")
    #expect(try world.run("work", "--plan", plan, "--shard", "0", "--store", world.address).status == 0)
    let refused = try world.run("copy", world.address, "copy.sqlite")
    #expect(
      refused.status == 65 && refused.messages.contains("the plan \(plan) is not closed, and the copy would have"))
    #expect(!world.folder.exists("copy.sqlite"))
    // As the message advises.
    #expect(try world.run("report", "--plan", plan, "--store", world.address, "--abandon").status == 0)
    #expect(try world.run("undo", world.address, "--yes").status == 0)
    let copied = try world.run("copy", world.address, "copy.sqlite")
    #expect(copied.status == 0 && copied.messages == "surfjournal: 0 objects copied\n", "\(copied.messages)")
    // A plan whose import is complete does not stand in the way.
    let next = try world.plan("a.csv")
    #expect(try world.run("work", "--plan", next, "--store", world.address).status == 0)
    #expect(try world.run("report", "--plan", next, "--store", world.address, "--quiet").status == 65)
    #expect(try world.run("copy", world.address, "whole.sqlite").status == 0)
    #expect(try world.rows(of: "whole.sqlite") == world.rows(of: world.address))
  }

  @Test func `A text that a server does not keep is refused by entry, and is copied once it is corrected`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try run("import", "log.csv", "--store", "s").status == 0)
    func setLocation(_ text: String) throws {
      _ = try Programs.sqlite("s", "UPDATE ZJOURNALENTRY SET ZLOCATION = \(text) WHERE Z_PK = 2", in: folder)
    }
    try setLocation("'a' || char(0) || 'b'")
    let refused = try run("copy", "s", address)
    #expect(refused.status == 65, "\(refused.messages)")
    #expect(
      refused.messages.contains("/p2: location: the text has a NUL character, which PostgreSQL does not keep. Correct"),
      "\(refused.messages)")
    try setLocation("'ab'")
    #expect(try run("copy", "s", address).status == 0)
    #expect(try run("list", address).text == run("list", "s").text)
  }

  @Test func `An export that goes on after the last number is refused on a server`() throws {
    try folder.write(Logs.two, to: "log.csv")
    #expect(try run("import", "log.csv", "--store", address).status == 0)
    let refused = try run("export", address, "-o", "new.csv", "--incremental")
    #expect(refused.status == 64 && refused.messages.contains("in blocks"), "\(refused.status) \(refused.messages)")
    #expect(!folder.exists("new.csv"))
  }

  @Test func `Objects of several entities keep their relationships and their order`() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: Repository.path("SampleData"))
    where ["spots.csv", "boards.csv", "sessions.csv", "Surfing.xcdatamodeld"].contains(name) || name.hasPrefix("surf-s")
      || name.hasPrefix("surf-boards")
    {
      try FileManager.default.copyItem(at: Repository.file("SampleData/\(name)"), to: folder.file(name))
    }
    for name in ["surf-spots", "surf-sessions", "surf-boards"] { #expect(try run("run", "./\(name).json").status == 0) }
    let graph = try LinkedSample.graph(of: "surfing.sqlite", in: folder)
    for (from, to) in [("surfing.sqlite", address), (address, "back.sqlite")] {
      let copied = try run("copy", from, to, "--model", "Surfing.xcdatamodeld")
      #expect(copied.status == 0, "\(copied.messages)")
    }
    #expect(try LinkedSample.graph(of: "back.sqlite", in: folder) == graph)
    let verified = try run("verify", "back.sqlite", "--model", "Surfing.xcdatamodeld")
    #expect(verified.status == 0, "\(verified.text)")
  }

  @Test func `A store with objects does not take a copy, and nothing is changed`() throws {
    try folder.write(Logs.two, to: "log.csv")
    for store in ["s", "t"] { #expect(try run("import", "log.csv", "--store", store).status == 0) }
    #expect(try run("copy", "s", address).status == 0)
    for (from, to) in [("s", "t"), ("s", address), (address, "t")] {
      let again = try run("copy", from, to)
      #expect(
        again.status == 65 && again.messages.contains("\(to) has objects of the entity JournalEntry"),
        "\(again.messages)")
    }
    #expect(try run("list", address, "--csv").text.split(separator: "\n").count == 3)
  }

  @Test func `A server that does not answer is an error of each command, and no message has the password`() throws {
    let secret = "postgresql://anna:sesame@127.0.0.1:1/journal"
    try folder.write(Logs.two, to: "log.csv")
    for arguments in [
      ["import", "log.csv", "--store", secret], ["history", secret], ["undo", secret], ["verify", secret],
      ["list", secret], ["export", secret], ["export", secret, "--all", "-o", "out"], ["copy", secret, "x.sqlite"],
      ["add", secret, "--location", "a"], ["validate", "log.csv", "--store", secret],
    ] {
      let output = try Programs.run(Tool.url.path, arguments, in: folder)
      #expect(output.status != 0, "\(arguments)")
      #expect(!(output.messages + output.text).contains("sesame"), "\(arguments): \(output.messages)")
      #expect(!output.messages.contains("\\u{"), "\(arguments): \(output.messages)")
    }
    #expect(!folder.exists("x.sqlite"))
    let list = try run("list", secret)
    #expect(list.messages.contains("postgresql://anna@127.0.0.1:1/journal"), "\(list.messages)")
    #expect(list.messages.contains("refused. Is the server running"), "\(list.messages)")
    #expect(list.messages.contains("connections? Check the address"), "\(list.messages)")
  }
}
