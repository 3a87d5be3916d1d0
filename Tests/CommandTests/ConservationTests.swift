import Foundation
import TestSupport
import Testing

/// The count of a folder that the suites of faults and kills use can fail: a record that is lost anywhere is found.
@Suite struct ConservationTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    for (name, text) in RunKind.definitions { try folder.write(text, to: name) }
    try folder.write(RunKind.records(0..<60, badEvery: 5), to: "a.csv")
    try folder.write(RunKind.records(30..<90, badEvery: 5, rating: 5), to: "b.csv")
    for name in ["a.csv", "b.csv"] {
      try RunKind.tool(
        ["import", name, "--store", "s", "--pipeline", "k.json", "--report", "r.json", "-q"], in: folder, status: 65)
    }
  }

  @Test func `Nothing is wrong with a run that stopped, that goes on, that is replayed, replaced or taken back`() throws
  {
    func expectConserved(after arguments: [String], status: Int32) throws {
      try RunKind.tool(arguments, in: folder, status: status)
      #expect(try Conservation.problems(in: folder) == [], "\(arguments)")
    }
    func load(_ options: String...) -> [String] {
      ["import", "c.csv", "--store", "s", "--pipeline", "k.json", "-q"] + options
    }
    #expect(try Conservation.problems(in: folder) == [])
    try folder.write(RunKind.records(60..<160, badEvery: 4), to: "c.csv")
    try expectConserved(after: load("--max-errors", "12"), status: 65)
    try expectConserved(after: load("--again"), status: 65)
    for (count, options) in [(20, []), (60, ["--only-new"])] {
      try folder.write(RunKind.records(0..<count), to: "d.csv")
      let load = ["import", "d.csv", "--store", "t", "--pipeline", "p.json", "-q"]
      try expectConserved(after: load + options, status: 65)
    }
    for (corrected, status) in [("Nowhere 1,", 65), ("Nowhere", 0)] as [(String, Int32)] {
      let lines = try folder.text("a.csv.rejects.csv").split(separator: "\n").map(String.init)
      let text = lines.map { $0.contains(corrected) ? $0.replacing("soon", with: "2014-01-01") : $0 }
      try folder.write(text.joined(separator: "\n") + "\n", to: "a.csv.rejects.csv")
      try expectConserved(after: ["replay", "a.csv.rejects.csv", "-q"], status: status)
    }
    try folder.write(RunKind.records(10..<80), to: "d.csv")
    try expectConserved(
      after: ["import", "d.csv", "--store", "t", "--pipeline", "p.json", "--replace", "-q"], status: 65)
    try expectConserved(after: ["undo", "t", "d.csv", "-y", "-q"], status: 0)
  }

  @Test(arguments: [
    "UPDATE SJ_INPUT SET recordsRead = recordsRead + 1, record = record + 1 WHERE inputID = 2",
    "UPDATE SJ_INPUT SET updated = updated - 1 WHERE inputID = 2",
    "UPDATE SJ_RUN SET inserted = inserted + 1",
    "UPDATE SJ_INPUT SET record = record + 1 WHERE inputID = 1",
    "UPDATE SJ_INPUT SET recordsRead = 59, record = 60, rejected = rejected - 1, rejectsCount = rejectsCount - 1",
    "UPDATE SJ_INPUT SET rejectsCount = 0 WHERE inputID = 1",
    "DELETE FROM ZJOURNALENTRY WHERE Z_PK = 3",
    "INSERT INTO ZJOURNALENTRY (Z_PK, Z_ENT, Z_OPT) VALUES (999, 1, 1)",
    "DELETE FROM SJ_INSERTED WHERE inputID = 2",
    "UPDATE SJ_INSERTED SET firstKey = 2 WHERE inputID = 2",
  ])
  func `A count, an entry or a range of keys that is wrong is found`(_ harm: String) throws {
    try sqlite(folder.path("s"), harm)
    #expect(try Conservation.problems(in: folder) != [])
  }

  @Test func `A rejected record that is in no file is found, and a report whose counts do not add up`() throws {
    var lines = try folder.text("a.csv.rejects.csv.jsonl").split(separator: "\n")
    lines.removeLast()
    try folder.write(lines.joined(separator: "\n") + "\n", to: "a.csv.rejects.csv.jsonl")
    let report = try folder.text("r.json").replacing(/"unchanged" ?: ?\d+/, with: #""unchanged" : 99"#)
    try folder.write(report, to: "r.json")
    let problems = try Conservation.problems(in: folder)
    #expect(problems.count == 2, "\(problems)")
    #expect(problems.contains { $0.contains("of 12 rejects are in a file") }, "\(problems)")
    #expect(problems.contains { $0.contains("r.json: 60 records were read") }, "\(problems)")
  }
}
