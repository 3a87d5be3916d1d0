import Foundation
import TestSupport
import Testing

/// A pattern whose time grows exponentially with a text ends after a number of steps, and the text is refused for that
/// reason. The timeouts guard against hangs only.
@Suite struct PatternLimitTests {
  private static let hostile = String(repeating: "a", count: 60) + "b"
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,aaa,4\n2014-07-15T07:30:00Z,3.9,12,Glassy,\(Self.hostile),4\n",
      to: "a.csv")
  }

  private func run(_ words: String) throws -> ProgramOutput {
    try Tool.shell("timeout 100 \"$surfjournal\" \(words)", in: folder)
  }

  private func pipeline(_ column: String) throws {
    try folder.write(
      #"{ "extends": "surf-log", "name": "p", "columns": [{ "name": "location", "# + column + " }] }", to: "p.json")
  }

  @Test(arguments: [
    #""rules": [{ "rule": "pattern", "matches": "(a+)+$" }]"#,
    #""transforms": [{ "transform": "replace", "matches": "^(a+)+$", "with": "x" }]"#,
  ])
  func `The value is rejected with the pattern, and the other records are imported`(_ column: String) throws {
    try pipeline(column)
    let output = try run("import a.csv --pipeline p.json --store s.sqlite --json")
    #expect(output.status == 65, "\(output.status) \(output.messages)")
    let summary = try output.json()
    #expect(summary.counts.inserted == 1 && summary.counts.rejected == 1)
    #expect(summary.issues.listed.first?.message.contains("more than 1000000 steps") == true, "\(output.text)")
  }

  // MARK: What a replacement makes

  private static func repeating(_ pattern: String, _ template: String, times: Int, transforms: Int) -> String {
    let text = String(repeating: template, count: times)
    let transform = "{ \"transform\": \"replace\", \"matches\": \"\(pattern)\", \"with\": \"\(text)\" }"
    return "\"transforms\": [\(Array(repeating: transform, count: transforms).joined(separator: ", "))]"
  }

  /// Definitions whose texts would grow to tens of megabytes, petabytes, and beyond the time of all tests.
  static let growing = [
    repeating("^.*$", "$0", times: 200, transforms: 2), repeating("^.*$", "$0", times: 200, transforms: 4),
    repeating(".", "$0$0", times: 1, transforms: 40), repeating("(?=(.*))", "$1", times: 1, transforms: 3),
  ]

  @Test(arguments: growing)
  func `What a replacement makes is limited as a field is, in every command`(_ column: String) throws {
    try pipeline(column)
    let long = String(repeating: "x", count: 50_000)
    try folder.write(
      Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,\(long),4\n2014-07-15T07:30:00Z,3.9,12,Glassy,,4\n",
      to: "long.csv")
    for command in ["import long.csv --store s.sqlite", "validate long.csv", "import long.csv --store t --dry-run"] {
      let output = try Tool.shell(
        "timeout 60 \"$surfjournal\" \(command) --pipeline p.json --json", kilobytesMax: 4_000_000, in: folder)
      #expect(output.status == 65, "\(command): \(output.status) \(output.messages)")
      let summary = try output.json()
      #expect(summary.counts.rejected == 1 && summary.counts.read == 2, "\(command)")
      #expect(summary.issues.listed.map(\.code) == ["field-too-long"], "\(command): \(summary.issues.listed)")
      #expect(
        summary.issues.listed.first?.message.contains("longer than 1048576 bytes by a transform") == true,
        "\(command): \(summary.issues.listed)")
    }
    let preview = try run("preview long.csv --pipeline p.json --json")
    #expect(preview.text.contains("\"field-too-long\""), "\(preview.messages)\(preview.text.prefix(500))")
  }

  @Test func `The limit is that of the pipeline, to the byte`() throws {
    try folder.write(
      """
      { "extends": "surf-log", "name": "p", "limits": { "fieldBytesMax": 30 }, "columns": [
        { "name": "location", "transforms": [{ "transform": "replace", "matches": "^a+$", "with": "$0é$0" }] } ] }
      """, to: "p.json")
    let rows = [14, 15].map { "2014-07-\($0)T07:30:00Z,3.9,12,Glassy,\(String(repeating: "a", count: $0)),4\n" }
    try folder.write(Logs.header + rows.joined(), to: "b.csv")
    let output = try run("import b.csv --pipeline p.json --store s.sqlite --json")
    #expect(output.status == 65, "\(output.messages)")
    #expect(try output.json().counts.inserted == 1)
    let summary = try output.json()
    #expect(summary.issues.listed.map(\.line) == [3] && summary.issues.listed.map(\.code) == ["field-too-long"])
  }

  @Test func `A default that is longer is a mistake of the pipeline`() throws {
    try folder.write(
      """
      { "extends": "surf-log", "name": "p", "limits": { "fieldBytesMax": 30 }, "columns": [
        { "name": "location", "transforms": [{ "transform": "default", "value": "\(String(repeating: "a", count: 31))" }] } ] }
      """, to: "p.json")
    let output = try run("import a.csv --pipeline p.json --store s.sqlite")
    #expect(output.status == 78 && output.messages.contains("longer than 30 bytes"), "\(output.messages)")
  }

  @Test func `A predicate ends with an error, since it would leave entries out`() throws {
    #expect(try run("import a.csv --store s.sqlite").status == 0)
    let where_ = "--where 'location MATCHES \"(a+)+$\"'"
    for command in ["export --store s.sqlite --output - -q", "list s.sqlite", "list s.sqlite --json"] {
      let output = try run("\(command) \(where_)")
      #expect(output.status == 65, "\(command): \(output.status) \(output.text)")
      #expect(output.messages.contains("more than 1000000 steps"), "\(command): \(output.messages)")
    }
  }

  @Test func `A record for which the pattern of a footer is undecided is read as a record`() throws {
    try folder.write(#"{ "extends": "surf-log", "name": "p", "dialect": { "stopAt": "(2+)+$" } }"#, to: "p.json")
    let digits = String(repeating: "2", count: 60)
    try folder.write(
      Logs.header + "2014-07-14T07:30:00Z,3.9,12,Glassy,a,4\n\(digits)x,3.9,12,Glassy,b,4\n", to: "b.csv")
    let output = try run("import b.csv --pipeline p.json --store s.sqlite --json")
    #expect(output.status == 65, "\(output.messages)")
    #expect(try output.json().counts.read == 2)
  }
}
