import Foundation
import TestSupport
import Testing

/// How JSON Lines are recognised, which columns they have, and what is refused.
@Suite struct JSONLinesImportTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let one = #"{"date":"2014-07-14","location":"Rincon","rating":4}"# + "\n"

  private func rows(_ store: String = "s") throws -> String {
    try Programs.sqlite(
      store, "SELECT quote(ZLOCATION), quote(ZHEIGHT), quote(ZRATING) FROM ZJOURNALENTRY ORDER BY Z_PK", in: folder)
  }

  private func run(_ arguments: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, arguments + ["--store", "s", "-q"], in: folder)
  }

  @Test(arguments: [
    ("a.jsonl", ""), ("a.ndjson", ""), ("A.JSONL", ""), ("a.json", ""), ("a.txt", ""), ("a", ""), ("a.csv", ""),
    ("a.csv", "jsonl"), ("-", ""),
  ])
  func `The format is that of the option, the name's ending, or a first line that is certain`(
    name: String, format: String
  ) throws {
    let options = (format.isEmpty ? [] : ["--format", format]) + ["--missing-columns", "ignore"]
    if name != "-" { try folder.write("\n" + Self.one, to: name) }
    let output = try Programs.run(
      Tool.url.path, ["import", name, "--store", "s", "-q"] + options, in: folder,
      input: name == "-" ? Data(Self.one.utf8) : nil)
    #expect(output.status == 0 && output.messages.isEmpty, "\(output.messages)")
    #expect(try rows() == "'Rincon'|NULL|4\n")
  }

  @Test func `What is not certain stays CSV, and a declared format is never doubted`() throws {
    // A header in braces.
    try folder.write("{date},location\n", to: "a.json")
    let output = try run("import", "a.json")
    #expect(output.status == 65 && output.messages.contains("the header"), "\(output.messages)")
    try folder.write(Self.one, to: "a.jsonl")
    let asCSV = try run("import", "a.jsonl", "--format", "csv")
    #expect(asCSV.status == 65 && asCSV.messages.contains("the header"))
    try folder.write("date,location\n2014-07-14,x\n", to: "b.jsonl")
    let asJSON = try run("import", "b.jsonl")
    #expect(asJSON.text.contains("json-error: the line is not an object"))
    #expect(asJSON.status == 65 && !asJSON.messages.contains("surfjournal guess"), "\(asJSON.messages)")
  }

  static let contradictions: [(arguments: [String], status: Int32, message: String)] = [
    (["--format", "jsonl", "--delimiter", ";"], 64, "--delimiter: is for CSV"),
    (["--format", "jsonl", "--decimal", ","], 64, "--decimal: is for CSV"),
    (["--format", "jsonl", "--header-rows", "2"], 64, "--header-rows: is for CSV"),
    (["--format", "xml"], 64, "--format"),
    (["--decimal", ","], 78, "numbers of JSON have a point"),
    (["--encoding", "windows-1252"], 78, "JSON Lines are in UTF-8"),
  ]

  @Test(arguments: contradictions)
  func `Options that are for CSV are refused`(_ example: (arguments: [String], status: Int32, message: String)) throws {
    try folder.write(Self.one, to: "a.jsonl")
    let output = try Programs.run(
      Tool.url.path, ["import", "a.jsonl", "--store", "s"] + example.arguments, in: folder)
    #expect(output.status == example.status && output.messages.contains(example.message), "\(output.messages)")
    try folder.write(
      #"{"name": "p", "columns": ["date"], "dialect": {"format": "jsonl", "quote": null}}"#, to: "p.json")
    let check = try Tool.run("check", "p.json", in: folder)
    #expect(check.status == 78 && (check.text + check.messages).contains("dialect.quote"), "\(check.messages)")
  }

  @Test func `Text in another encoding is refused by name`() throws {
    let wide = Data([0xFF, 0xFE]) + (Self.one.data(using: .utf16LittleEndian) ?? Data())
    try wide.write(to: folder.file("a.jsonl"))
    let output = try run("import", "a.jsonl")
    #expect(output.status == 65 && output.messages.contains("this text is in UTF-16LE"), "\(output.messages)")
    let advice = try Tool.shell(
      "iconv -f UTF-16LE -t UTF-8 a.jsonl > b.jsonl && \"$surfjournal\" import b.jsonl --store s -q", in: folder)
    #expect(advice.status == 0, "\(advice.messages)")
  }

  @Test func `Null, a missing member and an empty text differ, and numbers arrive as written`() throws {
    try folder.write(
      #"{"date":"2014-07-14","location":"","height":1.500}"# + "\n"
        + #"{"date":"2014-07-14","location":null,"height":"1.500","rating":null}"# + "\n"
        + #"{"date":"2014-07-14","height":true}"# + "\n", to: "a.jsonl")
    #expect(try run("import", "a.jsonl", "--missing-columns", "ignore").status == 0)
    #expect(try rows() == "''|'1.500'|NULL\nNULL|'1.500'|NULL\nNULL|'true'|NULL\n")
  }

  @Test func `Members and columns that the first records lack follow the policies`() throws {
    let many = String(repeating: #"{"date":"2014-07-14"}"# + "\n", count: 1000)
    try folder.write(
      many + #"{"date":"2014-07-14","rating":5,"x":1}"# + "\n" + #"{"x":2,"date":"2014-07-15"}"# + "\n", to: "a.jsonl")
    let warned = try run("import", "a.jsonl")
    #expect(warned.status == 0)
    #expect(warned.messages.contains("the first 1000 records have no 'rating'"), "\(warned.messages)")
    #expect(try Programs.sqlite("s", "SELECT count(*) FROM ZJOURNALENTRY WHERE ZRATING = 5", in: folder) == "1\n")
    let missing = try run("import", "a.jsonl", "--again", "--missing-columns", "error")
    #expect(missing.status == 65 && missing.messages.contains("the first 1000 records have no"))
    let strict = try Tool.run(
      "validate", "a.jsonl", "--extra-columns", "error", "--missing-columns", "ignore", "--json", in: folder)
    #expect(strict.status == 65)
    #expect(try strict.json().issues.counts["extra-cell"] == 2)
    let late = try Tool.run("validate", "a.jsonl", "--missing-columns", "ignore", "--json", in: folder)
    #expect(late.status == 0)
    #expect(
      try late.json().issues.listed.map(\.message) == [
        "no column of the pipeline has the member 'x' at byte \(many.utf8.count + 32), and the first records lack it; "
          + "it is ignored"
      ])
    try folder.write(many + #"{"date":"soon","x":1}"# + "\n" + #"{"date":[],"y":1}"# + "\n", to: "c.jsonl")
    let both = try Tool.run("validate", "c.jsonl", "--missing-columns", "ignore", "--json", in: folder)
    #expect(try both.json().issues.counts == ["type-error": 2, "extra-cell": 2])
    #expect(try both.json().issues.errors == 2)
    try folder.write(#"{"date":"2014-07-14","note":{"a":1}}"# + "\n", to: "b.jsonl")
    let extra = try run("import", "b.jsonl", "--extra-columns", "error", "--missing-columns", "ignore")
    #expect(extra.status == 65 && extra.messages.contains("no column of the pipeline has this member"))
  }

  @Test func `Any number of members without a column is counted, each once`() throws {
    func line(_ members: Range<Int>) -> String {
      #"{"date":"2014-07-14","# + members.map { "\"m\($0)\":1" }.joined(separator: ",") + "}\n"
    }
    try folder.write(line(0..<1500) + line(0..<1500), to: "a.jsonl")
    let early = try Tool.run("validate", "a.jsonl", "--missing-columns", "ignore", "--json", in: folder)
    #expect(try early.json().issues.counts == ["extra-label": 1500] && early.status == 0)
    let shown = try Tool.run("validate", "a.jsonl", "--missing-columns", "ignore", in: folder)
    #expect(shown.text.contains("  … and 1,480 more; reports list 1,000 of 1,500\n"), "\(shown.text)")
    let many = String(repeating: #"{"date":"2014-07-14"}"# + "\n", count: 1000)
    try folder.write(many + line(0..<900) + line(800..<1700) + line(0..<1700), to: "b.jsonl")
    let late = try Tool.run("validate", "b.jsonl", "--missing-columns", "ignore", "--json", in: folder)
    #expect(try late.json().issues.counts == ["extra-cell": 1700])
    let refused = try Tool.run(
      "validate", "b.jsonl", "--missing-columns", "ignore", "--extra-columns", "error", "--json", in: folder)
    #expect(try refused.json().counts.rejected == 3)
  }

  @Test(arguments: [["--delimiter", ";"], ["--null", "NA"], ["--lenient"], ["--skip-rows", "1"]])
  func `An option for CSV is refused where the input turns out to be JSON Lines`(_ option: [String]) throws {
    for name in ["a.jsonl", "a.txt"] {
      try folder.write(Self.one, to: name)
      for command in [["import", name, "--store", "s"], ["preview", name], ["diff", name, name]] {
        let output = try Programs.run(Tool.url.path, command + option, in: folder)
        #expect(output.status == 78 && output.messages.contains("and \(option[0]) says how CSV is written"))
      }
    }
    #expect(!folder.exists("s"))
  }

  @Test func `An update takes a column that the first records lack`() throws {
    try folder.write(
      #"{"name": "p", "columns": ["date", "location", "height", "rating"], "key": ["date"], "duplicates": "update", "missingColumns": "ignore"}"#,
      to: "p.json")
    try folder.write(#"{"date":"2014-07-14","location":"a","height":"1","rating":3}"# + "\n", to: "a.jsonl")
    try folder.write(
      #"{"date":"2014-07-14","rating":4}"# + "\n" + #"{"date":"2014-07-15","rating":4,"height":"2"}"# + "\n",
      to: "b.jsonl")
    #expect(try run("import", "a.jsonl", "--pipeline", "p.json").status == 0)
    try folder.write(
      String(repeating: #"{"date":"2014-07-14","rating":4}"# + "\n", count: 1000)
        + #"{"date":"2014-07-15","rating":4,"height":"2"}"# + "\n", to: "b.jsonl")
    let output = try Tool.run("import", "b.jsonl", "--pipeline", "p.json", "--store", "s", "--json", in: folder)
    #expect(output.status == 0)
    #expect(try output.json().issues.counts == ["primary-key": 999])
    #expect(try rows() == "'a'|'1'|4\nNULL|'2'|4\n")
  }

  @Test func `A column has one value in a record, by any of its labels`() throws {
    try folder.write(
      #"{"name": "p", "columns": ["date", {"name": "location", "synonyms": ["spot", "spot.name"]}], "missingColumns": "ignore"}"#,
      to: "p.json")
    try folder.write(
      [
        #"{"date":"2014-07-14","Location":"a"}"#, #"{"date":"2014-07-14","spot":"b","location":null}"#,
        #"{"date":"2014-07-14","spot":{"name":"c"}}"#, #"{"date":"2014-07-14","spot":"d","location":"e"}"#,
        #"{"date":"2014-07-14","spot.name":"f"}"#,
      ].joined(separator: "\n"), to: "a.jsonl")
    let output = try Tool.run("import", "a.jsonl", "--pipeline", "p.json", "--store", "s", "--json", in: folder)
    #expect(try output.json().issues.counts == ["duplicate-member": 1])
    #expect(try rows() == "'a'|NULL|0\n'b'|NULL|0\n'c'|NULL|0\n'f'|NULL|0\n")
  }

  @Test func `A guess writes the pipeline that reads the members, and shows the entries that it stores`() throws {
    try folder.write(
      #"{"timestamp":1405324800,"spot":{"name":"Rincon"},"wave":{"height":"3 ft"},"rating":4.0,"tags":[1]}"# + "\n"
        + #"{"timestamp":1405411200,"spot":{"name":null},"wave":null,"rating":null}"# + "\n", to: "a.jsonl")
    let output = try Tool.run("guess", "a.jsonl", "-o", "a.json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("2014-07-14T08:00:00Z") && output.text.contains("rating    4\n"), "\(output.text)")
    #expect(output.text.contains("tags is an array"))
    let ran = try Tool.run("run", "a.json", "--store", "s", "--json", in: folder)
    #expect(ran.status == 0, "\(ran.messages)\(ran.text)")
    #expect(try rows() == "'Rincon'|'3 ft'|4\nNULL|NULL|NULL\n")
  }

  @Test func `A file without records imports nothing`() throws {
    for text in ["", "\n \r\n"] {
      try folder.write(text, to: "a.jsonl")
      let output = try Tool.run("import", "a.jsonl", "--store", "s", "--json", in: folder)
      #expect(output.status == 0, "\(output.messages)")
      #expect(try output.json().counts == .init())
    }
  }

  @Test(arguments: [#"[{"date":"2014-07-14"},{"date":"2014-07-15"}]"#, "{\n  \"date\": \"2014-07-14\"\n}\n"])
  func `One JSON document is refused by name, with how to make lines of it`(_ text: String) throws {
    try folder.write(text, to: "a.json")
    let output = try Tool.run("import", "a.json", "--store", "s", in: folder)
    #expect(output.status == 65 && output.messages.contains("is one JSON document"), "\(output.messages)")
    #expect(!folder.exists("s"))
  }
}
