import Foundation
import TestSupport
import Testing

/// Texts that a spreadsheet would run as formulas: exported as they are, guarded on request, and read back exactly.
@Suite struct FormulaGuardTests {
  private static let places = [
    "=1+1", "+49", "-3", "@SUM(A1)", "'quoted", "plain", "a=b", "=HYPERLINK(\"x\",\"y\"),z", "'=1",
  ]
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let rows = Self.places.enumerated().map { index, place in
      "2014-07-\(10 + index)T07:30:00Z,3.9,12,Glassy,\"\(place.replacingOccurrences(of: "\"", with: "\"\""))\",4\n"
    }
    try folder.write(Logs.header + rows.joined(), to: "a.csv")
    let made = try Tool.run("import", "a.csv", "--store", "s.sqlite", in: folder)
    try #require(made.status == 0, "\(made.messages)")
  }

  private func places(_ file: String) throws -> [String] {
    let script = """
      import csv, json, sys
      print(json.dumps([row["location"] for row in csv.DictReader(open(sys.argv[1], newline=""))]))
      """
    return try JSONDecoder().decode([String].self, from: Data(try Programs.python(script, file, in: folder).utf8))
  }

  private func export(_ file: String, _ more: String...) throws -> ProgramOutput {
    try Programs.run(
      Tool.url.path, ["export", "--store", "s.sqlite", "--sort", "date", "--output", file] + more, in: folder)
  }

  @Test func `By default they are exported as they are`() throws {
    #expect(try export("b.csv").status == 0)
    #expect(try places("b.csv") == Self.places)
  }

  @Test func `Guarded they begin with an apostrophe, and the declared transform reads them back`() throws {
    for name in ["b.csv", "b.tsv"] { #expect(try export(name, "--guard-formulas").status == 0) }
    let guarded = try places("b.csv")
    #expect(guarded.allSatisfy { !"=+-@\t\r".contains($0.first ?? "a") }, "\(guarded)")
    #expect(guarded[5] == "plain" && guarded[6] == "a=b" && guarded[4] == "''quoted" && guarded[8] == "''=1")
    try folder.write(
      """
      { "extends": "surf-log", "name": "guarded", "columns": [ { "name": "location", "transforms": [
        { "transform": "replace", "matches": "^'", "with": "" } ] } ] }
      """, to: "guarded.json")
    let read = try Tool.run(
      "import", "b.csv", "--pipeline", "guarded.json", "--store", "t.sqlite", in: folder)
    #expect(read.status == 0, "\(read.messages)")
    let back = try Tool.run("export", "--store", "t.sqlite", "--sort", "date", "--output", "c.csv", in: folder)
    #expect(back.status == 0, "\(back.messages)")
    #expect(try places("c.csv") == Self.places)
  }

  @Test func `Labels are guarded too, and an import finds their columns`() throws {
    let labels = ["=cmd|' /C calc'!A0", "+place", "'quoted", "plain=", "-"]
    let columns = zip(labels, ["location", "rating", "wind", "date", "period"]).map {
      "{ \"name\": \"\($0)\", \"attribute\": \"\($1)\" }"
    }.joined(separator: ", ")
    try folder.write(
      #"{ "name": "l", "columns": [\#(columns)], "export": { "columns": [\#(columns)], "sort": ["date"] } }"#,
      to: "l.json")
    func header(_ file: String) throws -> [String] {
      let script = "import csv, json, sys\nprint(json.dumps(next(csv.reader(open(sys.argv[1], newline='')))))"
      return try JSONDecoder().decode([String].self, from: Data(try Programs.python(script, file, in: folder).utf8))
    }
    func exportAll(_ file: String, of store: String, _ more: String...) throws {
      let output = try Programs.run(
        Tool.url.path, ["export", "--store", store, "--pipeline", "./l.json", "--output", file] + more, in: folder)
      try #require(output.status == 0, "\(output.messages)")
    }
    try exportAll("plain.csv", of: "s.sqlite")
    #expect(try header("plain.csv") == labels)
    try exportAll("guarded.csv", of: "s.sqlite", "--guard-formulas")
    #expect(try header("guarded.csv") == ["'=cmd|' /C calc'!A0", "'+place", "''quoted", "plain=", "'-"])
    // Without the places, which need a transform.
    try exportAll("guarded.csv", of: "s.sqlite", "--guard-formulas", "--where", "location == 'plain'")
    let read = try Tool.run("import", "guarded.csv", "--pipeline", "./l.json", "--store", "t.sqlite", in: folder)
    #expect(read.status == 0, "\(read.messages)\(read.text)")
    try exportAll("a1.csv", of: "s.sqlite", "--where", "location == 'plain'")
    try exportAll("a2.csv", of: "t.sqlite")
    #expect(try folder.text("a1.csv") == folder.text("a2.csv"))
  }

  @Test func `A pipeline declares it; JSON Lines have no formulas`() throws {
    try folder.write(
      #"{ "extends": "surf-log", "name": "g", "export": { "guardFormulas": true, "sort": ["date"] } }"#, to: "g.json")
    let output = try Tool.run("export", "--store", "s.sqlite", "--pipeline", "g.json", "--output", "d.csv", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try places("d.csv")[0] == "'=1+1")
    let refused = try export("b.jsonl", "--guard-formulas")
    #expect(refused.status == 64 && refused.messages.contains("spreadsheets"), "\(refused.messages)")
  }
}
