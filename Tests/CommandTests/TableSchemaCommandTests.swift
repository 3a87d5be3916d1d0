import Foundation
import TestSupport
import Testing

/// Table Schemas go in and out of the program.
@Suite struct TableSchemaCommandTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test func `A schema is checked, explained and imported with as a pipeline is`() throws {
    try folder.write(
      #"""
      {"fields": [
        {"name": "date", "type": "date", "format": "%d.%m.%Y", "constraints": {"required": true}},
        {"name": "rating", "type": "integer", "constraints": {"minimum": 1, "maximum": 5}}],
       "missingValues": ["", "-"]}
      """#, to: "surf.json")
    let check = try Tool.run("check", "surf.json", in: folder)
    #expect(check.status == 0)
    #expect(check.text.contains("date: a date as d.M.yyyy; required"))
    #expect(check.text.contains("no value: an empty field, '-'"))
    try folder.write("date,rating\n14.7.2014,-\n15.7.2014,9\n", to: "log.csv")
    let run = try Tool.run("import", "log.csv", "--store", "s", "--pipeline", "./surf.json", "--json", in: folder)
    #expect(try run.json().counts == Summary.Counts(read: 2, inserted: 1, rejected: 1))
  }

  @Test func `A pipeline's schema is read back as the same columns, and what it leaves out is told`() throws {
    let output = try Tool.run("pipelines", "export", "surf-log-strict", "--as", "tableschema", in: folder)
    #expect(output.status == 0)
    #expect(output.messages.contains("the schema leaves out the rule 'quantity' of 'height'"))
    try folder.write(output.text, to: "schema.json")
    let again = try Tool.run("pipelines", "export", "./schema.json", "--as", "tableschema", in: folder)
    #expect(again.text == output.text)
    let read = try Programs.output(
      of: ["python3", "-c", "import json; print([f['name'] for f in json.load(open('schema.json'))['fields']])"],
      in: folder)
    #expect(read == "['date', 'height', 'period', 'wind', 'location', 'rating']\n")
  }

  @Test(arguments: [
    ["export"], ["export", "surf-log"], ["export", "surf-log", "--as", "yaml"], ["--as", "tableschema"],
  ])
  func `What is missing for an export is a mistake of usage`(arguments: [String]) throws {
    #expect(try Programs.run(Tool.url.path, ["pipelines"] + arguments, in: folder).status == 64)
  }
}
