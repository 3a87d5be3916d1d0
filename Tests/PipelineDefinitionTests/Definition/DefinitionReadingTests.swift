import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition

/// A pipeline file says what it says: every key is read, every key but the name has a default.
@Suite struct DefinitionReadingTests {
  private func read(_ json: String) throws -> PipelineDefinition {
    try PipelineDefinition(data: Data(json.utf8), environment: .journal)
  }

  private static let everyKey = """
    // A comment before.
    {
      "name": "club", 'description': 'of the club', /* in between */
      source: ["a.csv", "-"],
      "dialect": {
        "name": "journal-app", "delimiter": ";", "quote": "'", "header": false,
        "columns": ["day", "", "rating"], "trailingComma": true, "lineEnding": "crlf",
        "null": "NULL", "nulBytes": "keep"
      },
      "columns": [
        { "name": "day", "attribute": "date", "synonyms": ["Tag", "jour"], "formats": ["d.M.yyyy", "iso8601"],
          "required": true, "rules": ["required", "notInFuture", { "rule": "notBefore", "date": "1900-01-01" },
            { "rule": "notAfter", "date": "2100-01-01", "severity": "warning" }] },
        "location",
        { "name": "height", "rules": [
          { "rule": "quantity", "units": ["ft"], "unitRequired": true, "ranges": false, "words": ["Flat"],
            "min": 0.5, "max": 90 },
          { "rule": "length", "min": 1, "max": 9 }, { "rule": "oneOf", "values": ["a", "b"] },
          { "rule": "pattern", "matches": "[0-9]+ft" } ] },
        { "name": "rating", "rules": [{ "rule": "range", "min": 1 }] },
      ],
      "key": ["date", "location"], "store": "s.sqlite", "model": "M", "entity": "E", "chunkRows": 12,
      "errorPolicy": "stop",
      "limits": { "issuesListedMax": 0, "fieldBytesMax": 10, "recordBytesMax": 20, "keysInMemoryMax": 30 },
      "report": ["r.json", "r.txt"], "charts": ["rating"], "rejects": "bad/",
      "log": { "file": "run.log", "level": "debug", "format": "json" }, "timeoutSeconds": 1.5,
      "export": {
        "output": "out/{date}.csv", "columns": ["date", { "name": "Ort", "attribute": "location" },
          { "attribute": "date", "format": ["yyyy-MM-dd", "seconds"] }],
        "predicate": "rating >= 3", "sort": ["-date", "rating", { "attribute": "wind" }],
        "dateFormat": "d.M.yyyy", "limit": 7, "gzip": true, "dialect": "journal-app",
        "split": { "rows": 1000 }, "hash": true,
      },
    }
    """

  private static var everyKeyInCode: PipelineDefinition {
    var limits = LimitsDefinition()
    limits.issuesListedMax = 0
    limits.fieldBytesMax = 10
    limits.recordBytesMax = 20
    limits.keysInMemoryMax = 30
    let height = QuantityRule(
      units: ["ft"], unitRequired: true, ranges: false, words: ["Flat"], min: 0.5, max: 90)
    return PipelineDefinition(
      name: "club", description: "of the club", source: ["a.csv", "-"],
      dialect: DialectDefinition(
        name: "journal-app", delimiter: ";", quote: "'", header: false, columns: ["day", "", "rating"],
        trailingComma: true, lineEnding: .crlf, null: "NULL", nulBytes: .keep),
      columns: [
        ColumnDefinition(
          "day", attribute: "date", synonyms: ["Tag", "jour"], formats: ["d.M.yyyy", "iso8601"], required: true,
          rules: [
            ValueRule(.required), ValueRule(.notInFuture), ValueRule(.notBefore("1900-01-01")),
            ValueRule(.notAfter("2100-01-01"), severity: .warning),
          ]),
        ColumnDefinition("location"),
        ColumnDefinition(
          "height",
          rules: [
            ValueRule(.quantity(height)), ValueRule(.length(min: 1, max: 9)), ValueRule(.oneOf(["a", "b"])),
            ValueRule(.pattern("[0-9]+ft")),
          ]),
        ColumnDefinition("rating", rules: [ValueRule(.range(min: 1, max: nil))]),
      ],
      key: ["date", "location"], store: "s.sqlite", model: "M", entity: "E", chunkRows: 12, errorPolicy: .stop,
      limits: limits, report: ["r.json", "r.txt"], charts: ["rating"], rejects: "bad/",
      log: LogDefinition(file: "run.log", level: .debug, format: .json), timeoutSeconds: 1.5,
      export: ExportDefinition(
        output: "out/{date}.csv",
        columns: [
          .init("date"), .init("Ort", attribute: "location"), .init("date", format: ["yyyy-MM-dd", "seconds"]),
        ],
        predicate: "rating >= 3", sort: [.init("date", ascending: false), .init("rating"), .init("wind")],
        dateFormat: ["d.M.yyyy"], limit: 7, gzip: true, dialect: .journalApp, split: .rows(1000),
        hash: true), vocabulary: .journal)
  }

  @Test func `Every key is read, comments and JSON5's liberties included`() throws {
    #expect(try read(Self.everyKey) == Self.everyKeyInCode)
  }

  @Test func `Every key but name has a default, and null counts as left out`() throws {
    let definition = try read(#"{"name": "n", "columns": ["date"], "store": null, "export": null}"#)
    #expect(definition == PipelineDefinition(name: "n", columns: [ColumnDefinition("date")], vocabulary: .journal))
    #expect(definition.dialect == .rfc4180)
    #expect(definition.model == nil && definition.entity == "JournalEntry")
    #expect((definition.chunkRows, definition.errorPolicy) == (5000, .skip))
    #expect(definition.limits.issuesListedMax == 1000)
    #expect(definition.limits.fieldBytesMax == 1_048_576)
    #expect(definition.limits.recordBytesMax == 16_777_216)
    #expect(definition.limits.keysInMemoryMax == 2_000_000)
  }

  @Test func `A pipeline that only exports needs no columns`() throws {
    #expect(try read(#"{"name": "n", "export": {}}"#).export == ExportDefinition())
  }

  @Test func `A text stands for a list of one`() throws {
    let definition = try read(#"{"name": "n", "source": "a.csv", "columns": ["date"], "key": "date"}"#)
    #expect(definition.source == ["a.csv"])
    #expect(definition.key == ["date"])
  }

  @Test func `A byte order mark is not a mistake`() throws {
    let data = Data([0xEF, 0xBB, 0xBF]) + Data(#"{"name": "n", "export": {}}"#.utf8)
    #expect(try PipelineDefinition(data: data, environment: .journal).name == "n")
  }

  static let dialects: [(json: String, dialect: DialectDefinition)] = [
    (#""rfc4180""#, .rfc4180),
    (#""journal-app""#, .journalApp),
    ("{}", .rfc4180),
    (#"{"name": "journal-app"}"#, .journalApp),
    (
      #"{"delimiter": "\t"}"#,
      DialectDefinition(
        name: "rfc4180", delimiter: "\t", quote: "\"", header: true, columns: [], trailingComma: false,
        lineEnding: .lf)
    ),
    (
      #"{"columns": ["date"]}"#,
      DialectDefinition(
        name: "rfc4180", delimiter: ",", quote: "\"", header: false, columns: ["date"], trailingComma: false,
        lineEnding: .lf)
    ),
    (
      #"{"quote": null}"#,
      DialectDefinition(
        name: "rfc4180", delimiter: ",", quote: nil, header: true, columns: [], trailingComma: false, lineEnding: .lf)
    ),
    (
      #"{"name": "journal-app", "header": true}"#,
      DialectDefinition(
        name: "journal-app", delimiter: ",", quote: nil, header: true, columns: [], trailingComma: false,
        lineEnding: .lf)
    ),
  ]

  @Test(arguments: dialects)
  func `A dialect is a name, or what differs from one`(json: String, dialect: DialectDefinition) throws {
    let columns = #"["date", "height", "period", "wind", "location", "rating"]"#
    #expect(try read(#"{"name": "n", "columns": \#(columns), "dialect": \#(json)}"#).dialect == dialect)
  }

  @Test func `A split by month is read, and written as it is read`() throws {
    let definition = try read(#"{"name": "n", "export": {"split": {"month": "date"}, "incremental": true}}"#)
    #expect(definition.export == ExportDefinition(split: .month("date"), incremental: true))
    let export = try JSONEncoder().encode(definition.export)
    #expect(try JSONDecoder().decode(ExportDefinition.self, from: export) == definition.export)
    let split = try JSONDecoder().decode(ExportDefinition.Split.self, from: Data(#"{"rows": 3}"#.utf8))
    #expect(split == .rows(3))
  }

  @Test func `A null token may be taken back`() throws {
    let json = #"{"name": "n", "export": {"dialect": {"null": null, "nulBytes": "refuse"}}}"#
    #expect(try read(json).export?.dialect == .rfc4180)
  }

  @Test(arguments: dialects.map(\.dialect))
  func `An encoded definition is read back as it was`(dialect: DialectDefinition) throws {
    var definition = Self.everyKeyInCode
    definition.dialect = dialect
    definition.columns += ["wind", "period"].map { ColumnDefinition($0) }
    definition.columns[0].synonyms.append("date")
    let data = try JSONEncoder().encode(definition)
    #expect(try PipelineDefinition(data: data, environment: .journal) == definition)
    let decoder = JSONDecoder()
    decoder.userInfo[.definitionVocabulary] = DefinitionVocabulary.journal
    #expect(try decoder.decode(PipelineDefinition.self, from: data) == definition)
  }

  @Test func `A long number is read by its own digits, whatever lies behind it in memory`() throws {
    for count in 20..<60 {
      for _ in 0..<50 {
        // Freed memory full of digits, of which the parser gets some.
        #expect((40..<80).allSatisfy { Data(repeating: UInt8(ascii: "9"), count: $0).last == UInt8(ascii: "9") })
        var parser = JSONLocatingParser(Data(String(repeating: "3", count: count).utf8))
        #expect(try parser.read() == .number(Double(String(repeating: "3", count: count)) ?? 0))
      }
    }
  }

  @Test func `Relative paths start at the definition's folder, wherever the process is`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write(#"{"name": "n", "export": {}}"#, to: "club.json")
    let definition = try PipelineDefinition(contentsOf: URL(fileURLWithPath: path), environment: .journal)
    #expect(definition.url(for: "in/log.csv").path == folder.path("in/log.csv"))
    #expect(definition.url(for: "/abs/log.csv").path == "/abs/log.csv")
    let home = FileManager.default.homeDirectoryForCurrentUser
    #expect(definition.url(for: "~/log.csv").path == home.appendingPathComponent("log.csv").path)
    #expect(definition.url(for: "~").path == home.path)
    #expect(definition.url(for: "~club/log.csv").path == folder.path("~club/log.csv"))
  }

  @Test(arguments: [
    #""store": "service=journal""#, #""store": "host=db password=sesame""#, #""store": "jdbc:postgresql://db/sesame""#,
    #""rejects": "postgresql://u:sesame@db/d""#, #""export": {"output": "postgres://u:sesame@db/d"}"#,
    #""log": "postgresql://u:sesame@db/d""#, #""report": ["r.txt", "postgresql://u:sesame@db/d"]"#,
    #""source": "postgresql://u:sesame@db/d""#, #""extends": "postgresql://u:sesame@db/d""#,
    #""notify": {"ping": {"url": {"file": "postgresql://u:sesame@db/d"}}}"#,
    #""store": "./postgresql://u:sesame@db/d""#,
    #""store": "sslmode=require password=sesame""#, #""store": "HOST=db password=sesame""#,
  ])
  func `A store that resembles an address, and an address in place of a file, are mistakes`(member: String) throws {
    let error = try #require(throws: PipelineError.self) {
      try read(#"{"name": "n", "columns": ["date"], \#(member)}"#)
    }
    let mistake = try #require(error.mistakes.first)
    #expect(error.mistakes.count == 1 && member.contains(mistake.path.prefix { $0 != "." && $0 != "[" }))
    #expect(mistake.message.contains("the address of a server"))
    #expect(!"\(error)".contains("sesame"))
  }

  @Test(arguments: [
    "./service=journal", "postgresql://db/journal", "a=b.sqlite", "surf:2026.sqlite", "user=anna.sqlite",
  ])
  func `A store is a file or an address`(store: String) throws {
    #expect(try read(#"{"name": "n", "columns": ["date"], "store": "\#(store)"}"#).store == store)
  }

  @Test func `Without a file relative paths start at the current folder`() throws {
    let here = FileManager.default.currentDirectoryPath
    #expect(PipelineDefinition(name: "n", vocabulary: .journal).url(for: "log.csv").path == here + "/log.csv")
  }
}
