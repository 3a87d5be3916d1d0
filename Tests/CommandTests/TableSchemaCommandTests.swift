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

  @Test func `A pipeline's schema is read back as the same columns, and what it leaves out is reported`() throws {
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

  // MARK: Data packages

  private func copySample() throws {
    for name in ["surfing.json", "spots.csv", "boards.csv", "sessions.csv", "Surfing.xcdatamodeld"] {
      try FileManager.default.copyItem(
        at: Repository.root.appendingPathComponent("SampleData/\(name)"), to: folder.file(name))
    }
  }

  private func content(of store: String) throws -> String {
    try Programs.sqlite(
      store,
      """
      SELECT ZDATE, ZRATING, ZNOTES, s.ZNAME, s.ZCOUNTRY, (SELECT group_concat(ZNAME) FROM ZBOARD)
      FROM ZSESSION LEFT JOIN ZSPOT s ON s.Z_PK = ZSPOT ORDER BY 1, 2, 3
      """, in: folder)
  }

  @Test func `A pipeline with parts is printed as a package whose foreign keys import the same`() throws {
    try copySample()
    let output = try Tool.run("pipelines", "export", "./surfing.json", "--as", "tableschema", in: folder)
    #expect(output.status == 0)
    #expect(output.messages.contains("no foreign key can express the link of 'boards' in 'sessions'"))
    try folder.write(output.text, to: "datapackage.json")
    let keys = try Programs.python(
      """
      import json
      package = json.load(open("datapackage.json"))
      for resource in package["resources"]:
          print(resource["name"], resource["path"], resource["schema"].get("foreignKeys"))
      """, in: folder)
    #expect(
      keys == """
        spots spots.csv None
        boards boards.csv None
        sessions sessions.csv [{'fields': ['spot', 'country'], 'reference': {'fields': ['name', 'country'], 'resource': 'spots'}}]

        """)
    let model = ["--model", "Surfing.xcdatamodeld"]
    let check = try Programs.run(Tool.url.path, ["check", "datapackage.json"] + model, in: folder)
    #expect(check.status == 0, "\(check.text)\(check.messages)")
    #expect(check.text.contains("spot"))
    #expect(try Tool.run("run", "surfing.json", "--store", "one.sqlite", in: folder).status == 0)
    let run = try Programs.run(Tool.url.path, ["run", "datapackage.json", "--store", "two.sqlite"] + model, in: folder)
    #expect(run.status == 0, "\(run.text)\(run.messages)")
    #expect(try content(of: "two.sqlite") == content(of: "one.sqlite"))
    #expect(try !content(of: "one.sqlite").isEmpty)
    let again = try Programs.run(
      Tool.url.path, ["pipelines", "export", "./datapackage.json", "--as", "tableschema"], in: folder)
    #expect(again.status != 0 || again.text == output.text)
  }

  @Test func `A record whose foreign key leads to nothing is rejected`() throws {
    try copySample()
    try folder.write(
      #"""
      {"name": "surf", "model": "Surfing.xcdatamodeld", "store": "s", "resources": [
        {"name": "visits", "path": "visits.csv", "entity": "Session", "schema": {
          "fields": [{"name": "date", "type": "date"}, {"name": "spot_id"}],
          "foreignKeys": [{"fields": "spot_id", "reference": {"resource": "places", "fields": "name"}}]}},
        {"name": "places", "path": "places.csv", "entity": "Spot", "schema": {"fields": [{"name": "name"}]}}]}
      """#, to: "package.json")
    try folder.write("name\nRincon\nMalibu\n", to: "places.csv")
    try folder.write("date,spot_id\n2014-07-14,Malibu\n2014-07-15,Mailbu\n2014-07-16,\n", to: "visits.csv")
    let run = try Tool.run("run", "package.json", in: folder)
    #expect(run.status == 65 && run.text.contains("missing-object"), "\(run.text)\(run.messages)")
    #expect(
      try Programs.sqlite(
        "s", "SELECT count(*), count(ZSPOT), (SELECT count(*) FROM ZSPOT) FROM ZSESSION", in: folder) == "2|1|2\n")
  }

  @Test(arguments: [
    (#""schema": "spots.schema.json""#, "is the file spots.schema.json"), (#""title": "x""#, "has no schema of fields"),
  ])
  func `A resource without a schema in the package is refused by name`(_ member: String, _ reason: String) throws {
    try folder.write(
      #"""
      {"name": "p", "resources": [
        {"name": "log", "path": "log.csv", "schema": {"fields": [{"name": "date", "type": "date"}]}},
        {"name": "spots", "path": "spots.csv", \#(member)}, {"name": "notes", "path": "README.md"}]}
      """#, to: "p.json")
    let check = try Tool.run("check", "p.json", in: folder)
    #expect(check.status == 78)
    #expect((check.text + check.messages).contains("spots"), "\(check.text)")
    #expect((check.text + check.messages).contains(reason), "\(check.text)")
    #expect(!(check.text + check.messages).contains("notes"))
  }
}
