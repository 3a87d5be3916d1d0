import Foundation
import TestSupport
import Testing

/// What a run says that ends before its inputs do: what was read, what of it is in the store, and what to change.
@Suite struct StoppedRunTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.header + "2014-07-14,,,,A,4\nsoon,,,,B,4\n2014-07-16,,,,C,9\n", to: "a.csv")
  }

  private func load(_ arguments: String...) throws -> String {
    try Programs.run(Tool.url.path, ["import"] + arguments + ["--store", "s"], in: folder).text
  }

  @Test func `The advice names what stopped the run`() throws {
    let budget = try load("a.csv", "--max-errors", "1")
    #expect(budget.contains("Next: correct the listed records and run it again, or raise the errorBudget"))
    let first = try load("a.csv", "--stop-on-error")
    #expect(first.contains("Next: correct the listed record and run it again, or let it continue"))
    for text in [budget, first] {
      #expect(text.contains("note        3 records were read, 2 of them rejected, and nothing of these was saved"))
    }
  }

  @Test func `A run that is taken back says what it had read`() throws {
    try folder.write("x,y\n1,2\n", to: "h.csv")
    let text = try load("a.csv", "h.csv", "--atomic")
    #expect(text.contains("read        0\n"))
    #expect(
      text.contains("note        3 records were read, 2 of them rejected, and nothing of these was saved"), "\(text)")
  }

  @Test func `A file that can't be read is named once in a line`() throws {
    try Data("PK\u{3}\u{4}xl".utf8).write(to: folder.file("b.xlsx"))
    let lines = try load("none.csv", "b.xlsx", "a.csv").split(separator: "\n").filter { $0.hasPrefix("  none") }
    #expect(lines == ["  none.csv: source-error: cannot be opened: No such file or directory; check the path"])
  }

  @Test(arguments: ["date,location\nsoon,A\n2014-07-16,B\n", "\0\u{1}broken"])
  func `The advice names where the file of an inbox is now, and works`(_ text: String) throws {
    try folder.makeFolder("in")
    try folder.write(text, to: "in/a.csv")
    try folder.write(
      """
      {"name": "n", "inbox": {"folder": "in", "settleSeconds": 0}, "store": "s", "report": "r.html",
        "errorPolicy": "stop", "columns": ["date", "location"]}
      """, to: "n.json")
    let stopped = try Programs.run(Tool.url.path, ["run", "n.json", "-q"], in: folder)
    #expect(stopped.status == 65)
    let path = try #require(stopped.text.firstMatch(of: /\/\S*\/failed\/\d{4}-\d\d-\d\d\/a\.csv/)).output
    for reported in [stopped.text, try folder.text("r.html")] {
      #expect(reported.contains("\(path)") && reported.contains("move it back to the inbox"), "\(reported)")
    }
    try "date,location\n2014-07-15,A\n2014-07-16,B\n".write(toFile: String(path), atomically: true, encoding: .utf8)
    try FileManager.default.moveItem(atPath: String(path), toPath: folder.path("in/a.csv"))
    let after = try Programs.run(Tool.url.path, ["run", "n.json"], in: folder)
    #expect(after.status == 0 && after.text.contains("inserted    2"), "\(after)")
  }
}
