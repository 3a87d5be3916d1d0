import Foundation
import TestSupport
import Testing

/// A store with a log that no program has open is read from a copy. A command that only reads makes one, for a store may
/// be large.
@Suite struct StoreCopyTests {
  private let folder: TemporaryFolder
  private let own: TemporaryFolder

  init() throws {
    (folder, own) = (try TemporaryFolder(), try TemporaryFolder())
    try Logs.importTwo(in: folder)
    try folder.write(Logs.header + "2015-01-01,,,,New,4\n", to: "new.csv")
    try folder.write("date,location\n2015-01-02,More\n", to: "more.csv")
    try folder.makeFolder("tmp")
    let script = """
      import os, sqlite3
      store = sqlite3.connect("journal.sqlite", isolation_level=None)
      store.execute("PRAGMA wal_autocheckpoint = 0")
      store.execute("UPDATE ZJOURNALENTRY SET ZLOCATION = 'Logged'")
      os.unlink("journal.sqlite-shm")
      os._exit(0)
      """
    _ = try Programs.python(script, in: folder)
  }

  /// The copies of the store that a command makes in the temporary folder.
  private func copies(_ words: [String]) throws -> [String] {
    let record = own.path("record")
    var environment = try Shim.environment(.none, in: folder, page: own.path("page"), recording: record)
    environment["TMPDIR"] = folder.path("tmp")
    let output = try Programs.run(Tool.url.path, words, in: folder, environment: environment)
    try #require(output.status == 0, "\(output)")
    let changes = try RecordedChange.changes(in: try own.data("record"), below: folder.url.path)
    return changes.compactMap { change in
      guard case .create(let path, _) = change, path.hasSuffix(".sqlite"), path.hasPrefix("tmp/") else { return nil }
      return path
    }
  }

  @Test(arguments: [
    ["validate", "new.csv", "--store", "journal.sqlite"],
    ["undo", "journal.sqlite", "--dry-run"],
    ["export", "--store", "journal.sqlite", "-o", "out.csv"],
    ["run", "parts.json", "--dry-run", "--store", "journal.sqlite"],
  ])
  func `A command that only reads copies the store once`(_ words: [String]) throws {
    try folder.write(
      """
      {"name": "p", "parts": [{"entity": "JournalEntry", "source": "new.csv", "columns": ["date", "location"]},
        {"entity": "JournalEntry", "source": "more.csv", "columns": ["date", "location"]}]}
      """, to: "parts.json")
    let copies = try copies(words)
    #expect(copies.count == 1)
  }
}
