import Foundation
import TestSupport
import Testing

/// An edit at a terminal: shown, asked about, and saved only on a yes.
@Suite struct JournalTerminalTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
    #expect(try Tool.run("import", "log.csv", "--store", "s", in: folder).status == 0)
  }

  private func ask(_ answer: String, meanwhile script: String = ":", _ edit: String...) throws -> (
    status: Int, seen: String
  ) {
    try Terminal.ask(answer, edit + ["--store", "s"], meanwhile: script, in: folder)
  }

  @Test(arguments: [#"y\n"#, #"yes\n"#, #" Y \n"#])
  func `A yes saves`(_ answer: String) throws {
    let (status, seen) = try ask(answer, "edit", "1", "--rating", "5")
    #expect(status == 0)
    #expect(seen.hasPrefix("entry 1\n  date      2014-07-14T07:30:00Z\n"))
    #expect(seen.contains("- rating    4\n+ rating    5\nSave? [y/N] "))
    #expect(try folder.text("out") == "1 changed\n")
    #expect(try Tool.run("list", "--store", "s", "--csv", in: folder).text.contains("Rincon,5\n"))
  }

  static let edits: [[String]] = [
    ["edit", "1", "--rating", "5"], ["add", "--rating", "5"], ["delete", "1", "2"],
  ]

  @Test(arguments: [#"n\n"#, #"\n"#, #"yet\n"#, #"\x04"#], edits)
  func `Any other answer discards the edit, and no later export shows it`(_ answer: String, _ edit: [String]) throws {
    let (before, exported) = (try folder.data("s"), try Tool.run("export", "--store", "s", in: folder).bytes)
    let (status, seen) = try Terminal.ask(answer, edit + ["--store", "s"], in: folder)
    #expect(status == 0)
    let verb = edit[0] == "delete" ? "deleted" : "saved"
    #expect(seen.hasSuffix("surfjournal: cancelled; nothing was \(verb)\n"), "\(seen)")
    #expect(try folder.text("out").isEmpty)
    #expect(try folder.data("s") == before)
    #expect(try Tool.run("export", "--store", "s", in: folder).bytes == exported)
    #expect(try folder.names == ["log.csv", "out", "s"])
  }

  @Test func `At a terminal the ledger is dropped on a yes only`() throws {
    #expect(
      try Terminal.ask(#"n\n"#, ["ledger", "drop", "s"], in: folder).seen.contains("cancelled; nothing was changed"))
    #expect(try Tool.run("history", "s", in: folder).text.contains("log.csv"))
    let (status, seen) = try Terminal.ask(#"y\n"#, ["ledger", "drop", "s"], in: folder)
    #expect(status == 0 && seen.contains("the ledger of s is removed"), "\(seen)")
    #expect(try Tool.run("history", "s", in: folder).text.contains("s has no ledger"))
  }

  @Test func `What differs in nothing is not asked about`() throws {
    let (status, seen) = try ask("", "edit", "1", "--rating", "4")
    #expect(status == 0)
    #expect(seen == "surfjournal: nothing was saved: nothing differs\n")
  }

  @Test func `75: another program changes the entry while the question stands`() throws {
    let change = "'\(Tool.url.path)' edit 1 --wind Onshore --store s -y > meanwhile"
    let (status, seen) = try ask(#"y\n"#, meanwhile: change, "edit", "1", "--rating", "5")
    #expect(status == 75)
    #expect(seen.contains("entry 1 of s was changed by another program after it was read"), "\(seen)")
    let row = try Programs.sqlite("s", "SELECT ZWIND, ZRATING, Z_OPT FROM ZJOURNALENTRY WHERE Z_PK = 1", in: folder)
    #expect(row == "Onshore|4|2\n")
  }

  @Test func `An import may run while the question stands`() throws {
    try folder.write(Logs.header + "2016-01-01,1,1,Calm,Steamer Lane,2\n", to: "more.csv")
    let change = "'\(Tool.url.path)' import more.csv --store s > meanwhile"
    let (status, _) = try ask(#"y\n"#, meanwhile: change, "add", "--location", "Ocean Beach")
    #expect(status == 0)
    let rows = try Programs.sqlite("s", "SELECT Z_PK, ZLOCATION FROM ZJOURNALENTRY WHERE Z_PK > 2", in: folder)
    #expect(rows == "3|Steamer Lane\n4|Ocean Beach\n")
  }

  @Test(arguments: ["INT", "TERM", "HUP"])
  func `An interrupt at the question means no, and leaves nothing next to the store`(_ signal: String) throws {
    let before = try folder.data("s")
    let (status, seen) = try ask("", meanwhile: "kill -\(signal) $PID", "edit", "1", "--rating", "5")
    #expect(status == ["INT": -2, "TERM": -15, "HUP": -1][signal])
    #expect(seen.hasSuffix("Save? [y/N] "))
    #expect(try folder.data("s") == before)
    #expect(try folder.names == ["log.csv", "out", "s"])
  }

  @Test func `A saved edit survives the end of the process at once`() throws {
    let (status, _) = try ask(#"y\n"#, "delete", "1")
    #expect(status == 0)
    // In the file itself, without a WAL next to it.
    #expect(try folder.names == ["log.csv", "out", "s"])
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY", in: folder) == "1\n")
  }
}
