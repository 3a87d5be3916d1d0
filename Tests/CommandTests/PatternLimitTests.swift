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

  @Test func `A predicate ends with an error, since it would leave entries out`() throws {
    #expect(try run("import a.csv --store s.sqlite").status == 0)
    let where_ = "--where 'location MATCHES \"(a+)+$\"'"
    let output = try run("export --store s.sqlite --output - -q \(where_)")
    #expect(output.status != 0 && output.status < 100, "\(output.status) \(output.text)")
    #expect(output.messages.contains("more than 1000000 steps"), "\(output.messages)")
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
