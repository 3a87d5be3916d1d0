import Foundation
import TestSupport
import Testing

/// The limits of fields and records hold in both directions: what no import would read is not exported.
@Suite struct ExportLimitTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "a.csv")
    let made = try Tool.run("import", "a.csv", "--store", "s.sqlite", in: folder)
    try #require(made.status == 0, "\(made.messages)")
  }

  @Test(arguments: ["csv", "jsonl"])
  func `An entry with a longer text is left out and named, and the others are exported`(_ format: String) throws {
    _ = try Programs.sqlite(
      "s.sqlite", "UPDATE ZJOURNALENTRY SET ZWIND = printf('%.*c', 1048577, 'x') WHERE Z_PK = 1", in: folder)
    let output = try Tool.run("export", "--store", "s.sqlite", "--output", "b." + format, in: folder)
    #expect(output.status == 65, "\(output.messages)")
    #expect((output.text + output.messages).contains("1048577 bytes"), "\(output.text)")
    #expect(try folder.text("b." + format).contains("Malibu"))
    #expect(!(try folder.text("b." + format).contains("Rincon")))
  }

  @Test func `The longest text is exported, and read back`() throws {
    _ = try Programs.sqlite(
      "s.sqlite", "UPDATE ZJOURNALENTRY SET ZWIND = printf('%.*c', 1048576, 'x') WHERE Z_PK = 1", in: folder)
    try folder.write(
      #"{ "extends": "surf-log", "name": "p", "columns": [{ "name": "wind", "rules": [] }] }"#, to: "p.json")
    #expect(try Tool.run("export", "--store", "s.sqlite", "--output", "b.csv", in: folder).status == 0)
    let back = try Tool.run("import", "b.csv", "--pipeline", "p.json", "--store", "t.sqlite", in: folder)
    #expect(back.status == 0, "\(back.messages)")
    #expect(try Programs.sqlite("t.sqlite", "SELECT max(length(ZWIND)) FROM ZJOURNALENTRY", in: folder) == "1048576\n")
  }
}
