import Foundation
import TestSupport
import Testing

/// A large linked import makes the indexes of its table at the end, however it ends.
@Suite struct DeferredIndexImportTests {
  private static let count = 60_000
  private static let indexes = """
    SELECT count(*) FROM sqlite_schema WHERE name = 'ZSESSION_ZSPOT_INDEX';
    SELECT count(*) FROM sqlite_schema WHERE name = 'OPENCOREDATA_DEFERRED_INDEX'
    """
  private static let pipeline = """
    {
      "name": "sessions", "model": "Surfing.xcdatamodeld", "entity": "Session",
      "columns": [
        { "name": "date", "rules": ["required"] },
        { "name": "spot", "attribute": "spot.name", "link": { "by": ["name"], "ifMissing": "create" } }
      ]
    }
    """

  private let folder: TemporaryFolder
  init() throws {
    folder = try TemporaryFolder()
    try LinkedSample.prepare(folder)
    try folder.write(Self.pipeline, to: "p.json")
    try Programs.python(
      """
      import sys
      with open("log.csv", "w") as file:
          file.write("date,spot\\n")
          for n in range(\(Self.count)):
              file.write(f"20{n % 90 + 10}-{n % 12 + 1:02}-{n % 28 + 1:02},Spot {n * 7919 % 500}\\n")
      """, in: folder)
  }

  private func indexes() throws -> String { try Programs.sqlite("s", Self.indexes, in: folder) }
  private let command = ["import", "log.csv", "--pipeline", "p.json", "--store", "s", "-q"]

  @Test func `Killed in between, the next run makes the indexes and the rest of the entries`() throws {
    let calls = try FileCalls()
    #expect(try calls.run(command, in: folder).status == 0)
    let count = try calls.log.count
    for name in try folder.names where name.hasPrefix("s") {
      try FileManager.default.removeItem(at: folder.file(name))
    }
    #expect(try calls.run(command, in: folder, killedAt: count / 4).status == 128 + SIGKILL)
    try #require(try indexes() == "0\n1\n", "the kill came before or after the chunks")
    // What reads the store neither needs nor makes them.
    let shown = try Tool.run("inspect", "s", in: folder)
    #expect(shown.status == 0 && shown.text.contains("an unfinished import has left out"), "\(shown.text)")
    #expect(try indexes() == "0\n1\n")
    #expect(try Programs.run(Tool.url.path, command, in: folder).status == 0)
    #expect(try indexes() == "1\n0\n")
    #expect(
      try Programs.sqlite("s", "SELECT count(*) FROM ZSESSION WHERE ZSPOT NOT NULL", in: folder) == "\(Self.count)\n")
    #expect(try Tool.run("verify", "s", in: folder).status == 0)
  }

  @Test func `A run that stops at an error has made the indexes`() throws {
    try Programs.python("open('log.csv', 'a').write(',Spot 1\\n')", in: folder)
    let output = try Programs.run(Tool.url.path, command + ["--max-errors", "0"], in: folder)
    #expect(output.status == 65, "\(output.messages)")
    #expect(try indexes() == "1\n0\n")
  }
}
