import Foundation
import PipelineEngine
import SurfJournal
import TestSupport
import Testing

/// `surfjournal run` and `pipelines`, and the pipelines that come with the program.
@Suite struct PipelineCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Logs.two, to: "log.csv")
  }

  static let presetNames = ["surf-log", "surf-log-strict", "journal-app", "round-trip"]

  @Test func `The built-in pipelines are listed by name, with what they are for`() throws {
    let output = try Tool.run("pipelines", in: folder)
    #expect(output.status == 0)
    for name in Self.presetNames { #expect(output.text.contains("\(name)  (built in)\n    ")) }
  }

  @Test func `Definitions in the folder Pipelines are listed, and go before built-in ones of their name`()
    throws
  {
    try folder.makeFolder("Pipelines")
    try folder.write(
      #"{"name": "mine", "description": "My own.", "columns": ["date"]}"#, to: "Pipelines/mine.json")
    try folder.write(#"{"name": "surf-log", "columns": ["date", "wind"]}"#, to: "Pipelines/surf-log.json")
    let output = try Tool.run("pipelines", "--json", in: folder)
    let rows = try #require(try JSONSerialization.jsonObject(with: output.bytes) as? [[String: String]])
    #expect(rows.map { $0["name"] } == ["journal-app", "mine", "round-trip", "surf-log", "surf-log-strict"])
    #expect(rows[1] == ["name": "mine", "description": "My own.", "path": "Pipelines/mine.json"])
    #expect(rows[3]["path"] == "Pipelines/surf-log.json")
    let run = try Tool.run("run", "mine", "--input", "log.csv", "--store", "s", in: folder)
    #expect(run.status == 65 || run.status == 0)
    #expect(run.text.hasPrefix("mine: import"))
  }

  @Test func `A definition that can't be used is named, and the others are listed`() throws {
    try folder.makeFolder("Pipelines")
    try folder.write("{", to: "Pipelines/broken.json")
    let output = try Tool.run("pipelines", in: folder)
    #expect(output.status == 78)
    #expect(output.messages.contains("Pipelines/broken.json"))
    #expect(output.text.contains("surf-log  (built in)"))
  }

  @Test func `A pipeline with a source imports; its paths start at its own folder`() throws {
    try folder.makeFolder("nightly")
    try folder.write(Logs.two, to: "nightly/inbox.csv")
    try folder.write(
      """
      {
        // What the night brings.
        "name": "nightly", "source": "inbox.csv", "store": "night.sqlite", "report": ["report.json"],
        "columns": [{"name": "date", "formats": ["iso8601", "journal-app"]}, "location"]
      }
      """, to: "nightly/nightly.json")
    let dry = try Tool.run("run", "nightly/nightly.json", "--dry-run", in: folder)
    #expect(dry.status == 0, "\(dry.messages)")
    #expect(!folder.exists("nightly/night.sqlite"))
    let output = try Tool.run("run", "nightly/nightly.json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(folder.exists("nightly/night.sqlite"))
    #expect(folder.exists("nightly/report.json"))
    // What the command line names starts here.
    #expect(
      try Tool.run(
        "run", "nightly/nightly.json", "--input", "log.csv", "--store", "s", "--report", "r.txt", in: folder
      )
      .status == 0)
    #expect(folder.exists("s"))
    #expect(folder.exists("r.txt"))
  }

  @Test func `A pipeline with an export and no source exports`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    try folder.write(
      """
      {"name": "best", "store": "s", "export": {"output": "best.csv", "predicate": "rating >= 4", "columns": ["location"]}}
      """, to: "best.json")
    let output = try Tool.run("run", "best.json", in: folder)
    #expect(output.status == 0, "\(output.messages)")
    #expect(try folder.text("best.csv") == "location\nRincon\n")
    #expect(try Tool.run("run", "best.json", "--output", "-", "-q", in: folder).text == "location\nRincon\n")
  }

  @Test func `A wrong value in a definition is reported as the file's mistake`() throws {
    _ = try Tool.run("import", "log.csv", "--store", "s", in: folder)
    try folder.write(#"{"name": "p", "store": "s", "export": {"predicate": "rating >"}}"#, to: "p.json")
    let output = try Tool.run("run", "p.json", in: folder)
    #expect(output.status == 78)
    #expect(output.messages.contains("export.predicate"))
  }

  // MARK: Built-in pipelines

  @Test func `The built-in pipelines are good definitions`() throws {
    #expect(PipelineDefinition.presets.map(\.name) == Self.presetNames)
    for preset in PipelineDefinition.presets { try preset.check() }
  }

  @Test(arguments: presetNames)
  func `A file in Pipelines says the same as the built-in pipeline of its name`(_ name: String) throws {
    var file = try PipelineDefinition(
      contentsOf: URL(fileURLWithPath: Repository.path("Pipelines/\(name).json")),
      environment: DefinitionEnvironment(vocabulary: .journal))
    file.baseDirectory = nil
    #expect(file == PipelineDefinition.presets.first { $0.name == name })
  }

  struct Value: CustomTestStringConvertible, Sendable {
    let record: String
    let isTaken: Bool
    var testDescription: String { record.isEmpty ? "nothing" : String(record.prefix(60)) }
  }

  static let values =
    [
      "2014-07-14,3.9,12,Glassy,Rincon,4", "7/14/14,Waist high,,,,", "2014-07-14T07:30:00+02:00,Flat,,,,1",
      "1900-01-01,,,,,5", "2014-07-14,,,,\(String(repeating: "é", count: 1000)),",
    ].map { Value(record: $0, isTaken: true) }
    + [
      ",3.9,12,Glassy,Rincon,4", "2014-02-30,,,,,", "1899-12-31,,,,,", "2999-01-01,,,,,", "14.7.2014,,,,,",
      "2014-07-14,,,,,0", "2014-07-14,,,,,6", "2014-07-14,,,,,3.5",
      "2014-07-14,,,,\(String(repeating: "é", count: 1001)),",
    ].map { Value(record: $0, isTaken: false) }

  @Test(arguments: values)
  func `A bare import asks for a readable date and, if there is one, a rating of 1 to 5`(_ value: Value)
    throws
  {
    let output = try Tool.run("validate", "-", "--json", in: folder, input: Logs.header + value.record + "\n")
    #expect(
      try output.json().counts
        == Summary.Counts(
          read: 1, inserted: value.isTaken ? 1 : 0, rejected: value.isTaken ? 0 : 1))
  }

  @Test func `The strict log wants quantities and one entry per date and place`() throws {
    let log =
      Logs.header + """
        2014-07-14,3-5ft,12s,Glassy,Rincon,4
        2014-07-14,1.8m,12,Glassy,Malibu,4
        2014-07-14,Flat,,Glassy,Rincon,1
        2014-07-15,huge,12,Glassy,Rincon,4
        2014-07-16,3ft,12,Glassy,,4

        """
    let output = try Tool.run(
      "validate", "-", "--pipeline", "surf-log-strict", "--json", in: folder, input: log)
    let summary = try output.json()
    #expect(summary.counts == Summary.Counts(read: 5, inserted: 2, rejected: 3))
    #expect(
      summary.issues.counts == ["primary-key": 1, "type-error": 1, "constraint-error": 1]
        || summary.issues.counts == ["primary-key": 1, "constraint-error": 2])
  }
}
