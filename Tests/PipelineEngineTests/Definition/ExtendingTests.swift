import DefinitionTestSupport
import Foundation
import TestSupport
import Testing

@testable import PipelineDefinition
@testable import PipelineEngine

/// A definition that extends another one: what it inherits, what it changes, and whose mistake a mistake is.
@Suite struct ExtendingTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static let base = """
    {
      "name": "base", "description": "Of the club.", "source": "in.csv", "store": "s.sqlite",
      "dialect": { "delimiter": ";", "lineEnding": "crlf" },
      "columns": [
        { "name": "date", "formats": ["d.M.yyyy"], "rules": ["required"] },
        "wind",
        { "name": "rating", "rules": [{ "rule": "range", "min": 1, "max": 5 }] }
      ],
      "limits": { "issuesListedMax": 7, "fieldBytesMax": 100 },
      "report": ["r.txt"], "rejects": "bad/",
      "export": { "output": "out.csv", "dialect": "journal-app", "columns": ["date", "rating"] }
    }
    """

  /// Reads `json` as a file that extends `base.json`.
  private func read(
    _ json: String, base: String = Self.base,
    _ environment: DefinitionEnvironment = .init(variables: [:], vocabulary: .journal)
  ) throws -> PipelineDefinition {
    _ = try folder.write(base, to: "base.json")
    return try read(file: "own.json", json, environment)
  }

  private func read(
    file: String, _ json: String, _ environment: DefinitionEnvironment = .init(variables: [:], vocabulary: .journal)
  ) throws -> PipelineDefinition {
    let url = URL(fileURLWithPath: folder.path(file))
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(json.utf8).write(to: url)
    // As from the folder itself, so that messages name the files as a person does.
    return try PipelineDefinition(
      contentsOf: URL(fileURLWithPath: file, relativeTo: URL(fileURLWithPath: folder.url.path, isDirectory: true)),
      environment: environment)
  }

  private func error(_ body: () throws -> PipelineDefinition) -> PipelineError? {
    #expect(throws: PipelineError.self) { _ = try body() }
  }

  // MARK: What is inherited

  @Test func `Nothing but the base's name makes the same pipeline`() throws {
    let own = try read(#"{"extends": "base.json"}"#)
    #expect(
      own
        == (try PipelineDefinition(contentsOf: URL(fileURLWithPath: folder.path("base.json")), environment: .journal)))
  }

  @Test func `Members win, lists replace, null takes back`() throws {
    let own = try read(
      """
      {"extends": "base.json", "name": "own", "source": ["a.csv", "b.csv"], "description": null, "rejects": null,
       "report": []}
      """)
    #expect(own.name == "own")
    #expect(own.source == ["a.csv", "b.csv"])
    #expect((own.description, own.rejects) == (nil, nil))
    #expect(own.report == [])
    #expect(own.store == "s.sqlite")
  }

  @Test func `Objects merge key by key, in objects too`() throws {
    let own = try read(
      """
      {"extends": "base.json", "dialect": {"delimiter": "|"}, "limits": {"fieldBytesMax": 9},
       "export": {"limit": 3, "dialect": {"delimiter": "\\t"}, "columns": ["date"]}}
      """)
    #expect((own.dialect.delimiter, own.dialect.lineEnding) == ("|", .crlf))
    #expect((own.limits.issuesListedMax, own.limits.fieldBytesMax) == (7, 9))
    let export = try #require(own.export)
    #expect((export.output, export.limit, export.columns.map(\.name)) == ("out.csv", 3, ["date"]))
    // The name that stood there is the dialect that the object changes.
    #expect((export.dialect.name, export.dialect.delimiter, export.dialect.header) == ("journal-app", "\t", false))
  }

  @Test func `A dialect's name replaces all that the base said of it`() throws {
    let own = try read(#"{"extends": "base.json", "dialect": "rfc4180"}"#)
    #expect(own.dialect == .rfc4180)
  }

  @Test func `Columns merge by name, others come after them`() throws {
    let own = try read(
      """
      {"extends": "base.json", "columns": [
        {"name": "location"}, {"name": " Date", "synonyms": ["day"]}, {"name": "rating", "rules": []},
        {"name": "wind", "required": true}]}
      """)
    #expect(
      own.columns == [
        ColumnDefinition(
          " Date", attribute: " Date", synonyms: ["day"], formats: ["d.M.yyyy"], rules: [ValueRule(.required)]),
        ColumnDefinition("wind", required: true), ColumnDefinition("rating"), ColumnDefinition("location"),
      ])
  }

  @Test func `What means something only as a whole is replaced as a whole`() throws {
    let base = """
      {"name": "b", "columns": ["date", "rating"], "key": "rating", "duplicates": {"policy": "keepNewest", "by": "date"},
       "export": {"output": "{month}.csv", "split": {"month": "date"}}}
      """
    let own = try read(
      """
      {"extends": "base.json", "duplicates": {"policy": "update", "columns": ["date"]},
       "export": {"output": "{part}.csv", "split": {"rows": 7}}}
      """, base: base)
    #expect(own.duplicates == .update(columns: ["date"]))
    #expect(own.export?.split == .rows(7))
  }

  @Test func `A base may extend in turn, and the schema's name says nothing`() throws {
    _ = try folder.write(#"{"$schema": "pipeline.schema.json", "name": "root", "columns": ["date"]}"#, to: "root.json")
    let own = try read(
      #"{"$schema": "x", "extends": "./base.json", "chunkRows": 3}"#,
      base: #"{"extends": "root.json", "$schema": 7, "columns": ["wind"], "chunkRows": 4}"#)
    #expect(own.columns.map(\.name) == ["date", "wind"])
    #expect((own.name, own.chunkRows) == ("root", 3))
  }

  // MARK: Paths

  @Test func `Paths of a base start at the base's own folder`() throws {
    let sub = "shared/deep"
    _ = try read(
      file: "\(sub)/root.json",
      """
      {"name": "root", "source": ["in.csv", "-", "/abs.csv", "~/home.csv", "${DIR:-x}/y.csv"], "report": "r.txt",
       "columns": ["date"]}
      """)
    _ = try read(
      file: "shared/base.json",
      #"{"extends": "deep/root.json", "store": "../s.sqlite", "rejects": "bad/", "export": {"output": "o.csv"}}"#)
    let own = try read(file: "own/own.json", #"{"extends": "../shared/base.json", "report": ["own.txt"]}"#)
    #expect(
      own.source == [
        "../shared/deep/in.csv", "-", "/abs.csv", "~/home.csv", "../shared/deep/x/y.csv",
      ])
    #expect(own.url(for: own.source[0]).path == folder.path("shared/deep/in.csv"))
    #expect(own.store.map { own.url(for: $0).path } == folder.path("s.sqlite"))
    #expect(own.rejects == "../shared/bad/")
    #expect(own.report == ["own.txt"])
    #expect(own.export?.output == "../shared/o.csv")
  }

  @Test func `A store on a server stays where it is, in whatever folder the base lies`() throws {
    let address = "postgresql://loader@db/journal"
    try folder.makeFolder("shared")
    _ = try folder.write(
      #"{"name": "base", "source": "in.csv", "store": "\#(address)", "columns": ["date"]}"#, to: "shared/base.json")
    let own = try read(file: "own.json", #"{"extends": "shared/base.json"}"#)
    #expect(own.store == address)
    #expect(own.source == ["shared/in.csv"])

    _ = try folder.write(#"{"name": "base", "store": "service=journal", "columns": ["date"]}"#, to: "shared/base.json")
    let mistake = error { try read(file: "own.json", #"{"extends": "shared/base.json"}"#) }?.mistakes.first
    #expect(mistake?.path == "store" && mistake?.message.contains("postgresql://?service=NAME") == true)
  }

  @Test func `A base in the same folder leaves its paths as they are written`() throws {
    #expect(try read(#"{"extends": "base.json"}"#).source == ["in.csv"])
  }

  // MARK: Names

  private static let named = DefinitionEnvironment(
    variables: [:], vocabulary: .journal, names: ["surf-log", "plain"]
  ) { name in
    name == "plain" ? [.definition(.plain { $0.dialect.lineEnding = .crlf })] : []
  }

  @Test func `A name is what the environment says it is, and leaves open what it leaves open`() throws {
    let own = try read(
      file: "own.json", #"{"extends": "plain", "name": "own", "columns": [{"name": "date", "formats": "iso8601"}]}"#,
      Self.named)
    let expected = PipelineDefinition.plain {
      $0.name = "own"
      $0.dialect.lineEnding = .crlf
      $0.columns[0].formats = ["iso8601"]
    }
    #expect(own.columns == expected.columns)
    #expect(own.dialect == expected.dialect)
  }

  @Test func `A file that extends its own name extends what lies behind it`() throws {
    let file = URL(fileURLWithPath: folder.path("plain.json"))
    let environment = DefinitionEnvironment(variables: [:], vocabulary: .journal) { _ in
      [.file(file), .definition(.plain())]
    }
    let own = try read(file: "plain.json", #"{"extends": "plain", "chunkRows": 9}"#, environment)
    #expect(own.columns == PipelineDefinition.plain().columns)
    #expect(own.chunkRows == 9)
  }

  // MARK: Mistakes

  @Test func `A mistake is reported in the file, at the line and with the key path of what is wrong`() throws {
    let base = """
      {
        "name": "base",
        "columns": [
          "wind", { "name": "date", "formts": [] }
        ],
        "limits": { "fieldBytesMax": 0 }
      }
      """
    let told = error {
      try read(
        """
        {
          "extends": "base.json", "chunkRows": 0,
          "columns": [{ "name": "date", "rules": ["requird"] }, { "name": "rating", "rules": [7] }],
          "limits": { "issuesListedMax": -1 }
        }
        """, base: base)
    }
    let lines = try #require(told).description.split(separator: "\n").map { $0.prefix(60) }
    #expect(
      lines
        == [
          "own.json:2:27: chunkRows: expected a whole number from 1 to 1",
          "own.json:3:43: columns[0].rules[0]: unknown rule 'requird'; k",
          "own.json:3:87: columns[1].rules[0]: expected a rule's name or",
          "own.json:4:15: limits.issuesListedMax: expected a whole numbe",
          "base.json:4:31: columns[1].formts: unknown key 'formts'; did ",
          "base.json:6:15: limits.fieldBytesMax: expected a whole number",
        ].map { $0.prefix(60) })
    #expect(told?.file == "own.json")
    #expect(told?.mistakes.map(\.file) == [nil, nil, nil, nil, "base.json", "base.json"])
  }

  @Test func `What is overridden is not held against anyone`() throws {
    let base = #"{"name": "b", "store": "${NO_SUCH_STORE}", "chunkRows": 0, "columns": ["date"]}"#
    #expect(try read(#"{"extends": "base.json", "store": "s", "chunkRows": 1}"#, base: base).store == "s")
    let told = error { try read(#"{"extends": "base.json", "chunkRows": 1}"#, base: base) }
    #expect(
      told?.description
        == "base.json:1:15: store: the environment variable 'NO_SUCH_STORE' is not set; "
        + "set it, or give a default: ${NO_SUCH_STORE:-…}")
  }

  @Test func `A mistake of syntax in a base is reported in the base`() {
    let told = error { try read(#"{"extends": "base.json"}"#, base: "{\n  \"name\" 1}") }
    #expect(told?.description == "base.json:2:10: name: a ':' is missing after 'name'; add it")
    #expect(told?.exitCode == .configuration)
  }

  static let broken: [(json: String, message: String)] = [
    (#"{"extends": "none.json"}"#, "own.json:1:2: extends: can't read the base of own.json → none.json: "),
    (#"{"extends": "own.json"}"#, "own.json:1:2: extends: the definitions extend one another in a circle: own.json → "),
    (
      #"{"extends": "surf-lgo"}"#,
      "own.json:1:2: extends: the pipeline 'surf-lgo' was not found; did you mean 'surf-log'?; a file is named by its path"
    ),
    (
      #"{"extends": 7}"#,
      "own.json:1:2: extends: expected the path of a definition, or the name of a pipeline, found a n"
    ),
    (
      #"{"extends": ""}"#,
      "own.json:1:2: extends: expected the path of a definition, or the name of a pipeline, found an"
    ),
    (#"{"extends": "${NONE}.json"}"#, "own.json:1:2: extends: the environment variable 'NONE' is not set"),
  ]

  @Test(arguments: broken)
  func `A base that can't be had is a mistake where it is asked for`(json: String, message: String) {
    let told = error { try read(file: "own.json", json, Self.named) }
    #expect(told?.description.hasPrefix(message) == true, "\(told?.description ?? "")")
    #expect(told?.exitCode == .configuration)
  }

  @Test func `A circle of several files is reported as the chain that it is`() {
    let told = error { try read(#"{"extends": "base.json"}"#, base: #"{"extends": "./own.json"}"#) }
    #expect(
      told?.description
        == "base.json:1:2: extends: the definitions extend one another in a circle: "
        + "own.json → base.json → ./own.json; break it")
  }

  @Test func `More than sixteen bases are one too many`() throws {
    for index in 0..<20 {
      _ = try folder.write(#"{"extends": "\#(index + 1).json"}"#, to: "\(index).json")
    }
    let last = DefinitionLoader.documentsMax
    _ = try folder.write(#"{"name": "n", "columns": ["date"]}"#, to: "\(last).json")
    #expect(try read(file: "own.json", #"{"extends": "1.json"}"#).name == "n")
    _ = try folder.write(#"{"extends": "\#(last + 1).json"}"#, to: "\(last).json")
    let told = error { try read(file: "own.json", #"{"extends": "1.json"}"#) }
    #expect(told?.message.hasPrefix("more than 16 definitions extend one another: own.json → 1.json → ") == true)
  }

  @Test func `Any other decoder takes a definition literally`() throws {
    let data = Data(#"{"name": "${NONE}", "columns": ["date"], "$schema": "s"}"#.utf8)
    #expect(try JSONDecoder().decode(PipelineDefinition.self, from: data).name == "${NONE}")
    let extending = Data(#"{"name": "n", "columns": ["date"], "extends": "base.json"}"#.utf8)
    let told = #expect(throws: PipelineError.self) {
      try JSONDecoder().decode(PipelineDefinition.self, from: extending)
    }
    #expect(told?.path == "extends")
  }
}
