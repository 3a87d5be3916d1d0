import Foundation
import TestSupport
import Testing

/// What commands say of a log that has lost transactions, and that they read what is left where it is asked for.
@Suite struct DamagedLogCommandTests {
  private let folder: TemporaryFolder

  /// Two entries in the file and three in the log, of which a wrong bit hides the last two.
  init() throws {
    folder = try TemporaryFolder()
    try Logs.importTwo(in: folder)
    let script = """
      import os, sqlite3
      store = sqlite3.connect("journal.sqlite", isolation_level=None)
      store.execute("PRAGMA wal_autocheckpoint = 0")
      sizes = []
      for key in (3, 4, 5):
          store.execute("BEGIN")
          store.execute("INSERT INTO ZJOURNALENTRY(Z_PK, Z_ENT, Z_OPT, ZLOCATION) VALUES(?, 1, 1, 'Logged')", (key,))
          store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ?", (key,))
          store.execute("COMMIT")
          sizes.append(os.path.getsize("journal.sqlite-wal"))
      with open("journal.sqlite-wal", "r+b") as log:
          log.seek(sizes[0] + 2000)
          byte = log.read(1)[0]
          log.seek(sizes[0] + 2000)
          log.write(bytes([byte ^ 8]))
      os.unlink("journal.sqlite-shm")
      os._exit(0)
      """
    _ = try Programs.python(script, in: folder)
  }

  private static let readers = [
    ["inspect", "journal.sqlite"], ["verify", "journal.sqlite"], ["list", "--store", "journal.sqlite", "--csv"],
    ["show", "3", "--store", "journal.sqlite"], ["export", "--store", "journal.sqlite", "-q"],
    ["list", "--store", "journal.sqlite", "--csv", "--entity", "JournalEntry"],
    ["show", "3", "--store", "journal.sqlite", "--entity", "JournalEntry"],
  ]

  @Test(arguments: readers)
  func `Commands that read refuse it, say what is lost, and their advice works`(_ words: [String]) throws {
    let refused = try Programs.run(Tool.url.path, words, in: folder)
    #expect(refused.status == 65 && refused.text.isEmpty, "\(refused.text)")
    for part in ["is damaged", "lost with the ends of 2 transactions", "add --damaged-log=ignore"] {
      #expect(refused.messages.contains(part), "\(refused.messages)")
    }
    let read = try Programs.run(Tool.url.path, words + ["--damaged-log=ignore"], in: folder)
    #expect(read.status == (words[0] == "verify" ? 65 : 0), "\(read.messages)")
    let left = ["inspect": "The -wal next to it is damaged", "verify": "error logDamaged"]
    #expect(read.text.contains(left[words[0]] ?? "Logged"), "\(read.text)")
    if words[0] == "export" { #expect(read.text.split(separator: "\n").count == 4) }
    let wrong = try Programs.run(Tool.url.path, words + ["--damaged-log=drop"], in: folder)
    #expect(wrong.status == 64 && wrong.messages.contains("refuse or ignore"))
  }

  @Test func `Commands that take only the model from the store refuse it`() throws {
    try folder.write(
      #"{"name": "p", "store": "journal.sqlite", "columns": ["date", "location"], "key": ["date"]}"#, to: "p.json")
    for words in [
      ["preview", "log.csv", "--pipeline", "p.json"], ["diff", "log.csv", "log.csv", "--pipeline", "p.json"],
    ] {
      let output = try Programs.run(Tool.url.path, words, in: folder)
      #expect(output.status == 65 && output.messages.contains("is damaged"), "\(output.status) \(output.messages)")
      #expect(!output.messages.contains("--damaged-log"))
    }
  }

  @Test func `Commands that write refuse it, and leave it as it is`() throws {
    let files = ["journal.sqlite", "journal.sqlite-wal"]
    let before = try folder.hashes(files)
    for words in [
      ["import", "log.csv", "--store", "journal.sqlite", "--again"],
      ["add", "--store", "journal.sqlite", "--date", "2014-07-14", "-y"],
      ["edit", "1", "--store", "journal.sqlite", "-y", "--rating", "3"],
    ] {
      let output = try Programs.run(Tool.url.path, words, in: folder)
      #expect(output.status == 65 && output.messages.contains("is damaged"), "\(output.messages)")
      #expect(!output.messages.contains("--damaged-log"))
      #expect(try folder.hashes(files) == before)
    }
  }
}
