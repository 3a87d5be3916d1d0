import TestSupport
import Testing

/// Inputs whose import was interrupted after their last record was saved, and before the ledger said that they are
/// complete; `SimulatorTests` reaches that state by killing processes.
@Suite struct InterruptedInputTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(
      """
      {"name": "p", "store": "s", "key": ["date"], "duplicates": "skip",
       "columns": [{"name": "date", "formats": ["iso8601"]}, "location", "rating"]}
      """, to: "p.json")
  }

  private func importUnfinished(_ text: String, as name: String) throws {
    try folder.write(text, to: name)
    #expect(try Tool.run("import", name, "--pipeline", "p.json", in: folder).status == 0)
    _ = try Programs.sqlite(
      "s",
      "UPDATE SJ_INPUT SET state = 'partial'; UPDATE SJ_RUN SET endedAt = NULL, outcome = 'running', exitCode = NULL",
      in: folder)
  }

  private func places() throws -> String {
    try Programs.sqlite(
      "s", "SELECT group_concat(ZLOCATION, '') FROM (SELECT ZLOCATION FROM ZJOURNALENTRY ORDER BY Z_PK)", in: folder)
  }

  private static let header = "date,location,rating\n"
  private static let first = "2014-07-14T07:30:00Z,A,3"

  @Test(arguments: ["\n", "\r\n"])
  func `A last record that has got its line end is not followed by an empty one`(lineEnd: String) throws {
    try importUnfinished(Self.header + Self.first, as: "a.csv")
    let rest = "2014-07-15T07:30:00Z,B,3\(lineEnd)soon,C,3\(lineEnd)"
    try folder.write(Self.header + Self.first + lineEnd + rest, to: "a.csv")
    let output = try Tool.run("import", "a.csv", "--pipeline", "p.json", "--json", in: folder)
    #expect(try output.json().counts == Summary.Counts(read: 3, inserted: 2, rejected: 1), "\(output.messages)")
    #expect(output.text.contains("\"line\" : 4"))
    #expect(try places() == "AB\n")
  }

  @Test func `A last record that has gone on is refused: the store has its beginning`() throws {
    try importUnfinished(Self.header + Self.first.dropLast() + "2", as: "a.csv")
    try folder.write(Self.header + Self.first.dropLast() + "2.0\n2014-07-15T07:30:00Z,B,3\n", to: "a.csv")
    let output = try Tool.run("import", "a.csv", "--pipeline", "p.json", in: folder)
    #expect(output.status == 65)
    #expect(
      output.messages.contains(
        "was imported without a line end and has been extended "
          + "since"), "\(output.messages)")
    #expect(try places() == "A\n")
  }

  /// The content of one path is in another file by now, and another content has the path.
  @Test func `An input that takes over a path leaves what the run completed under another one`() throws {
    try importUnfinished(Self.header + Self.first + "\n", as: "a.csv")
    try folder.write(try folder.text("a.csv"), to: "b.csv")
    try folder.write(Self.header + "2014-07-15T07:30:00Z,B,3\n", to: "a.csv")
    let output = try Tool.run("import", "b.csv", "a.csv", "--pipeline", "p.json", in: folder)
    #expect(output.status == 0, "\(output.text)\(output.messages)")
    #expect(try Programs.sqlite("s", "SELECT * FROM SJ_INSERTED ORDER BY 1", in: folder) == "1|1|1\n2|2|2\n")
    #expect(try places() == "AB\n")
  }
}
