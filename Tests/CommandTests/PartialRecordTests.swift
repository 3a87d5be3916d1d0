import Foundation
import TestSupport
import Testing

/// What an update from JSON Lines does to values that a record does not state: they stay, and null clears them.
@Suite struct PartialRecordTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      #"{"name": "p", "columns": ["date", {"name": "location", "synonyms": ["spot.name"]}, {"name": "height", "synonyms": ["wave.height"]}, {"name": "period", "synonyms": ["wave.period"]}, "rating"], "key": ["date"], "duplicates": "update", "missingColumns": "ignore"}"#,
      to: "p.json")
    try folder.write(
      """
      {"date":"2014-07-14","location":"a","height":"1","period":"9","rating":3}
      {"date":"2014-07-15","location":"b","height":"2","period":"8","rating":4}
      {"date":"2014-07-16","location":"c","height":"3","period":"7","rating":5}

      """, to: "a.jsonl")
  }

  private func load(_ name: String, _ arguments: String...) throws -> Summary {
    let output = try Programs.run(
      Tool.url.path, ["import", name, "--pipeline", "p.json", "--store", "s", "--json"] + arguments, in: folder)
    #expect(output.status == 0, "\(output.messages)\(output.text)")
    return try output.json()
  }

  private func rows() throws -> String {
    try Programs.sqlite(
      "s",
      "SELECT quote(ZLOCATION), quote(ZHEIGHT), quote(ZPERIOD), quote(ZRATING) FROM ZJOURNALENTRY ORDER BY ZDATE",
      in: folder)
  }

  @Test func `A missing member leaves the stored value, null clears it, and a new entry has neither`() throws {
    _ = try load("a.jsonl")
    try folder.write(
      """
      {"date":"2014-07-14","rating":5}
      {"date":"2014-07-15","location":null,"rating":4}
      {"date":"2014-07-16","location":"c"}
      {"date":"2014-07-17","height":"4"}

      """, to: "b.jsonl")
    let dry = try Tool.run("validate", "b.jsonl", "--pipeline", "p.json", "--store", "s", "--json", in: folder).json()
    let summary = try load("b.jsonl")
    #expect(summary.counts == Summary.Counts(read: 4, inserted: 1, updated: 2, unchanged: 1))
    #expect(dry.counts == summary.counts)
    #expect(try rows() == "'a'|'1'|'9'|5\nNULL|'2'|'8'|4\n'c'|'3'|'7'|5\nNULL|'4'|NULL|NULL\n")
    let undone = try Tool.run("undo", "s", "-y", in: folder)
    #expect(undone.status == 0, "\(undone.messages)")
    #expect(try rows() == "'a'|'1'|'9'|3\n'b'|'2'|'8'|4\n'c'|'3'|'7'|5\n")
  }

  @Test(arguments: ["1", "1000"])
  func `Records of one key complete each other, within a chunk and across chunks`(_ chunkRows: String) throws {
    try folder.write(
      """
      {"date":"2014-07-14","location":"a"}
      {"date":"2014-07-14","height":"1"}
      {"date":"2014-07-15","location":"b","height":"2","rating":2}
      {"date":"2014-07-15","height":null,"period":"5"}
      {"date":"2014-07-14","rating":4}

      """, to: "b.jsonl")
    let summary = try load("b.jsonl", "--chunk-rows", chunkRows)
    #expect(summary.counts == Summary.Counts(read: 5, inserted: 2, repeated: 3))
    #expect(try rows() == "'a'|'1'|NULL|4\n'b'|NULL|'5'|2\n")
    try folder.write(
      #"{"date":"2014-07-14","rating":4,"height":"1"}"# + "\n" + #"{"date":"2014-07-15","rating":3}"# + "\n",
      to: "c.jsonl")
    #expect(try load("c.jsonl", "--chunk-rows", chunkRows).counts.unchanged == 1)
    #expect(try rows() == "'a'|'1'|NULL|4\n'b'|NULL|'5'|3\n")
  }

  @Test func `An object that is null clears its members, one that lacks them does not`() throws {
    _ = try load("a.jsonl")
    try folder.write(
      #"{"date":"2014-07-14","wave":null}"# + "\n" + #"{"date":"2014-07-15","wave":{}}"# + "\n"
        + #"{"date":"2014-07-16","wave":{"period":"1"}}"# + "\n", to: "b.jsonl")
    #expect(try load("b.jsonl").counts == Summary.Counts(read: 3, updated: 2, unchanged: 1))
    #expect(try rows() == "'a'|NULL|NULL|3\n'b'|'2'|'8'|4\n'c'|'3'|'1'|5\n")
  }

  @Test func `A comparison shows what such an import would do`() throws {
    _ = try load("a.jsonl")
    try folder.write(
      #"{"date":"2014-07-14","rating":5}"# + "\n" + #"{"date":"2014-07-15","location":null}"# + "\n"
        + #"{"date":"2014-07-16","rating":5}"# + "\n", to: "b.jsonl")
    let output = try Tool.run("diff", "b.jsonl", "--store", "s", "--pipeline", "p.json", in: folder)
    #expect(output.text.contains("    rating: 3 → 5\n") && output.text.contains("    location: b → (none)\n"))
    #expect(!output.text.contains("height:"), "\(output.text)")
    #expect(output.text.contains("changed     2\n  unchanged   1\n"), "\(output.text)")
  }

  @Test func `A default in the pipeline is stated, and takes the place of a missing member`() throws {
    try folder.write(
      #"{"extends": "./p.json", "name": "d", "columns": ["date", {"name": "location", "transforms": [{"transform": "default", "value": "home"}]}, "rating"]}"#,
      to: "d.json")
    _ = try load("a.jsonl")
    try folder.write(#"{"date":"2014-07-14","rating":1}"# + "\n", to: "b.jsonl")
    let output = try Tool.run("import", "b.jsonl", "--store", "s", "--pipeline", "d.json", "-q", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try rows().hasPrefix("'home'|'1'|'9'|1\n"))
  }

  @Test func `A key that no record has is refused, also by a comparison`() throws {
    try folder.write(#"{"rating":1}"# + "\n", to: "b.jsonl")
    for arguments in [["import", "b.jsonl", "--store", "s"], ["diff", "a.jsonl", "b.jsonl"]] {
      let output = try Programs.run(Tool.url.path, arguments + ["--pipeline", "p.json"], in: folder)
      #expect(output.status == 65 && output.messages.contains("the pipeline's key needs it"), "\(output.messages)")
    }
  }

  @Test func `A whole number of JSON may have a fraction of zeros`() throws {
    try folder.write(
      ["3.0", "30e-1", "\"2.0\"", "-0.0", "3.5", "1e-1", "4.0000000000000000000", "40000000000.0"].enumerated().map {
        #"{"date":"2014-07-\#($0 + 10)","rating":\#($1)}"# + "\n"
      }.joined(), to: "b.jsonl")
    let output = try Tool.run("validate", "b.jsonl", "--pipeline", "p.json", "--json", in: folder)
    #expect(try output.json().issues.listed.map(\.line) == [5, 6, 8], "\(output.text)")
    try folder.write("date,rating\n2014-07-10,3.0\n", to: "b.csv")
    #expect(try Tool.run("validate", "b.csv", "--pipeline", "p.json", in: folder).status == 65)
  }
}
