import Foundation
import TestSupport
import Testing

/// `surfjournal check`, and runs of definitions that extend others and refer to the environment.
@Suite struct CheckCommandTests {
  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try folder.makeFolder("shared/inbox")
    try folder.makeFolder("own")
    try folder.write(
      """
      {
        "name": "shared", "source": ["inbox/*.csv", "${MORE:-none}/*.csv"], "sourceOptional": true,
        "columns": [{ "name": "date", "formats": ["iso8601", "journal-app"], "rules": ["required"] }, "location"],
        "store": "${STORE}.sqlite", "report": "last.json"
      }
      """, to: "shared/base.json")
    try folder.write(
      """
      // What differs here.
      { "$schema": "../pipeline.schema.json", "extends": "../shared/base.json", "name": "own",
        "columns": [{ "name": "location", "synonyms": "spot" }, "rating"] }
      """, to: "own/own.json")
  }

  private func check(_ arguments: String..., environment: [String: String] = [:]) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, ["check"] + arguments, in: folder, environment: environment)
  }

  @Test func `A run takes its base's paths, its variables and its patterns`() throws {
    try folder.write("date,spot,rating\n2014-07-14,Rincon,4\n", to: "shared/inbox/2.csv")
    try folder.write("date,location,rating\n7/15/14,Malibu,\n", to: "shared/inbox/1.csv")
    try folder.makeFolder("more")
    try folder.write("date,location,rating\n2014-07-16,Topanga,3\n", to: "more/3.csv")
    let environment = ["STORE": "night", "MORE": "../more"]
    let dry = try Tool.run("run", "own/own.json", "--dry-run", "--json", in: folder, environment: environment)
    #expect(dry.status == 0, "\(dry.messages)")
    #expect(try dry.json().counts == Summary.Counts(read: 3, inserted: 3))
    let output = try Tool.run("run", "own/own.json", "--json", in: folder, environment: environment)
    #expect(output.status == 0, "\(output.messages)")
    #expect(output.text.contains("\"../shared/inbox/1.csv\""))
    #expect(folder.exists("shared/last.json"))
    let places = try Programs.sqlite(
      folder.path("shared/night.sqlite"), "SELECT ZLOCATION FROM ZJOURNALENTRY ORDER BY Z_PK", in: folder)
    #expect(places == "Malibu\nRincon\nTopanga\n")
  }

  @Test func `Without its variable neither a run nor a check is content`() throws {
    let place = "own/../shared/base.json:4:3: store: the environment variable 'STORE' is not set; set it, or give a"
    let run = try Tool.run("run", "own/own.json", in: folder)
    #expect(run.status == 78)
    #expect(run.messages.contains(place), "\(run.messages)")
    let output = try check("own/own.json")
    #expect(output.status == 78)
    #expect(output.text.hasPrefix(place), "\(output.text)")
    #expect(output.messages.isEmpty)
  }

  @Test func `A pattern without a match is a missing input, unless it may be`() throws {
    let environment = ["STORE": "night"]
    let none = try Tool.run("run", "own/own.json", "--json", in: folder, environment: environment)
    #expect(none.status == 0, "\(none.messages)")
    #expect(try none.json().counts == Summary.Counts())
    try folder.write(#"{"extends": "own.json", "sourceOptional": false}"#, to: "own/strict.json")
    let strict = try Tool.run("run", "own/strict.json", in: folder, environment: environment)
    #expect(strict.status == 66)
    #expect(strict.messages.contains("no file matches the pattern ../shared/inbox/*.csv; check it"))
  }

  @Test func `Every mistake is reported at once, with its source location, mistakes in the model too`() throws {
    try folder.write(
      """
      {
        "extends": "surf-log", "chnkRows": 5, "source": ["a.csv", "b.csv"], "rejects": "bad.csv",
        "columns": [
          { "name": "rating", "rules": ["requird"] },
          { "name": "wind", "rules": ["notInFuture"] },
          "plaec"
        ],
        "charts": ["plaec"],
        "export": { "predicate": "ratign > 3", "sort": ["-dat"], "columns": ["loction"] }
      }
      """, to: "p.json")
    let output = try check("p.json", "--quiet")
    #expect(output.status == 78)
    let lines = output.text.split(separator: "\n").map { $0.split(separator: " ").prefix(5).joined(separator: " ") }
    #expect(
      lines == [
        "p.json:2:26: chnkRows: unknown key 'chnkRows';", "p.json:2:71: rejects: several inputs need",
        "p.json:4:35: columns[0].rules[0]: unknown rule 'requird';",
        "p.json:5:33: columns[1].rules[0]: the rule 'notInFuture'", "p.json:6:5: columns[2]: JournalEntry has no",
        "p.json:8:14: charts[0]: JournalEntry has no", "p.json:9:15: export.predicate: JournalEntry has no",
        "p.json:9:51: export.sort[0]: JournalEntry has no", "p.json:9:72: export.columns[0]: JournalEntry has no",
      ], "\(output.text)")
  }

  @Test func `A run tells what only the model shows with the file's place`() throws {
    try folder.write(#"{"name": "p", "store": "s", "columns": ["plaec"]}"#, to: "p.json")
    let output = try Tool.run("run", "p.json", "--input", "x.csv", in: folder)
    #expect(output.status == 78)
    #expect(output.messages.contains("p.json:1:41: columns[0]: JournalEntry has no attribute 'plaec'"))
  }

  @Test func `A good definition is explained in words, with what is likely not meant`() throws {
    let output = try check("own/own.json", environment: ["STORE": "gone/night"])
    #expect(output.status == 0)
    let lines = output.text.split(separator: "\n").map(String.init)
    #expect(lines.contains("own  (own/own.json, extends own/../shared/base.json)"))
    for line in [
      "  Imports  ../shared/inbox/*.csv, ../shared/none/*.csv, 0 files now; none need be there",
      "  Columns  date: a date as iso8601 or journal-app; required",
      "           location (or spot): a text", "           rating: a whole number",
      "  Errors   invalid records are rejected and the run continues",
      "  Reports  ../shared/last.json",
    ] {
      #expect(lines.contains(line), "\(output.text)")
    }
    #expect(
      output.text.contains("base.json:2:21: source: warning: the environment variable 'MORE' is not set") == false)
    #expect(output.text.contains("source[1]: warning: the environment variable 'MORE' is not set, so its default"))
    #expect(output.text.contains("store: warning: the folder "))
  }

  @Test func `An inbox and a log of a base are in the base's folder`() throws {
    try folder.write(
      #"{"extends": "surf-log", "inbox": {"folder": "in", "settleSeconds": 0}, "log": "logs/run.log", "store": "s"}"#,
      to: "shared/arrivals.json")
    try folder.write(
      #"{"extends": "../shared/arrivals.json", "inbox": {"pattern": "*.csv"}, "log": {"level": "debug"}}"#,
      to: "own/arrivals.json")
    let output = try check("own/arrivals.json")
    #expect(output.status == 0, "\(output.text)")
    #expect(output.text.contains("  Imports     what arrives in ../shared/in as *.csv\n"), "\(output.text)")
    #expect(output.text.contains("shared/arrivals.json:1:35: inbox.folder: warning: the folder "))
    // A run makes the folder of the log.
    #expect(!output.text.contains("log: warning"))
    #expect(output.text.contains("log: file ../shared/logs/run.log, format text, level debug"))
  }

  @Test func `Rejects of a store on a server are said to be in the current folder`() throws {
    try folder.write(
      #"{"name": "n", "columns": ["date"], "store": "postgresql://anna:sesame@127.0.0.1:1/d"}"#, to: "n.json")
    let output = try check("n.json")
    #expect(output.text.contains("Rejects  in the current folder, named after the input"), "\(output.text)")
    #expect(output.text.contains("postgresql://anna@127.0.0.1:1/d") && !output.text.contains("sesame"))
  }

  @Test(arguments: PipelineCommandTests.presetNames)
  func `The built-in pipelines are in order`(_ name: String) throws {
    let output = try check(name)
    #expect(output.status == 0)
    #expect(output.text.hasPrefix("\(name)  (built in)\n"))
    #expect(try check(name, "--quiet").text.isEmpty)
  }

  @Test func `As JSON each mistake has its file, line and key path`() throws {
    let output = try check("own/own.json", "surf-log", "--json")
    #expect(output.status == 78)
    let rows = try #require(try JSONSerialization.jsonObject(with: output.bytes) as? [[String: Any]])
    try #require(rows.count == 2)
    #expect(rows[0]["usable"] as? Bool == false)
    let mistake = try #require((rows[0]["mistakes"] as? [[String: Any]])?.first)
    #expect(mistake["file"] as? String == "own/../shared/base.json")
    #expect(mistake["path"] as? String == "store")
    #expect((mistake["line"] as? Int, mistake["column"] as? Int) == (4, 3))
    #expect(rows[1]["usable"] as? Bool == true)
    #expect((rows[1]["explanation"] as? [[String: Any]])?.isEmpty == false)
    #expect(rows[1]["file"] == nil)
  }

  @Test func `What is not there is a missing input; a wrong definition next to it counts more`() throws {
    let missing = try check("none.json")
    #expect(missing.status == 66)
    #expect(missing.text.hasPrefix("none.json: cannot read the pipeline: No such file or directory; "))
    let unknown = try check("surf-lgo")
    #expect(unknown.status == 66)
    #expect(unknown.text.hasPrefix("the pipeline 'surf-lgo' was not found; did you mean 'surf-log'?"))
    try folder.write("{", to: "broken.json")
    #expect(try check("none.json", "broken.json").status == 78)
    #expect(try check().status == 64)
  }

  @Test func `A definition may extend the built-in one of its name`() throws {
    try folder.makeFolder("Pipelines")
    try folder.write(#"{"extends": "surf-log", "chunkRows": 7}"#, to: "Pipelines/surf-log.json")
    let output = try check("surf-log")
    #expect(output.status == 0)
    #expect(output.text.hasPrefix("surf-log  (Pipelines/surf-log.json, extends built-in surf-log)\n"))
    #expect(output.text.contains("7 records a save"))
  }
}
