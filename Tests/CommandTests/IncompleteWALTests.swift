import Foundation
import TestSupport
import Testing

/// What a command says that writes to a store whose write-ahead log lacks what a power failure may take, and goes on.
@Suite struct IncompleteWALTests {
  private let folder: TemporaryFolder

  /// Two entries in the file and three in the log, each in a transaction of its own.
  init() throws {
    folder = try TemporaryFolder()
    try Logs.importTwo(in: folder)
    try folder.write(Logs.header + "2015-01-01,,,,New,4\n", to: "new.csv")
    let script = """
      import os, sqlite3
      store = sqlite3.connect("journal.sqlite", isolation_level=None)
      store.execute("PRAGMA wal_autocheckpoint = 0")
      with open("sizes", "w") as sizes:
          for key in (3, 4, 5):
              store.execute("BEGIN")
              store.execute("INSERT INTO ZJOURNALENTRY(Z_PK, Z_ENT, Z_OPT, ZLOCATION) VALUES(?, 1, 1, 'Logged')", (key,))
              store.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ?", (key,))
              store.execute("COMMIT")
              sizes.write(f"{os.path.getsize('journal.sqlite-wal')}\\n")
      os._exit(0)
      """
    _ = try Programs.python(script, in: folder)
  }

  /// What a power failure may leave of the log.
  enum Rest: CaseIterable, CustomTestStringConvertible {
    case cut, gone, blank, hole

    /// What the log must be said to be.
    var words: String {
      switch self {
      case .cut: "lost"
      case .gone: "-wal is missing, and"
      case .blank: "-wal holds nothing but zeros"
      case .hole: "lost with the ends of 2 transactions"
      }
    }
    /// The entries that are there after the import of another one.
    var count: Int {
      switch self {
      case .cut: 5
      case .gone, .blank: 3
      case .hole: 4
      }
    }
    var testDescription: String { "\(self)" }
  }

  private func damage(_ rest: Rest) throws {
    let sizes = try folder.text("sizes").split(separator: "\n").compactMap { Int($0) }
    let log = try folder.data("journal.sqlite-wal")
    switch rest {
    case .cut: try log.prefix(sizes[1]).write(to: folder.file("journal.sqlite-wal"))
    case .gone: try FileManager.default.removeItem(at: folder.file("journal.sqlite-wal"))
    case .blank:
      try Data(count: log.count).write(to: folder.file("journal.sqlite-wal"))
      try FileManager.default.removeItem(at: folder.file("journal.sqlite-shm"))
    case .hole:
      var bytes = log
      // Blocks of the page after the first transaction that did not reach the disk.
      bytes.replaceSubrange(sizes[0]..<sizes[0] + 1024, with: Data(count: 1024))
      try bytes.write(to: folder.file("journal.sqlite-wal"))
      try FileManager.default.removeItem(at: folder.file("journal.sqlite-shm"))
    }
  }

  private func run(_ words: String...) throws -> ProgramOutput {
    try Programs.run(Tool.url.path, words, in: folder)
  }

  @Test(arguments: Rest.allCases)
  func `A dry run and the import say what is lost, once, also a quiet one and its report`(_ rest: Rest) throws {
    try damage(rest)
    let files = ["journal.sqlite"] + (rest == .gone ? [] : ["journal.sqlite-wal"])
    let before = try folder.hashes(files)
    let checked = try run("validate", "new.csv", "--store", "journal.sqlite")
    #expect(checked.status == 0 && checked.text.contains("incomplete-wal"), "\(checked)")
    #expect(checked.text.contains(rest.words), "\(checked.text)")
    #expect(try folder.hashes(files) == before)

    let first = try run("import", "new.csv", "--store", "journal.sqlite", "-q", "--report", "r.json")
    #expect(first.status == 0, "\(first.messages)")
    for part in [rest.words, "restore the store from a copy", "other programs"] {
      #expect(first.messages.contains(part), "\(first.messages)")
    }
    #expect(try folder.text("r.json").contains("incomplete-wal"))
    let count = try Programs.sqlite("journal.sqlite", "SELECT count(*) FROM ZJOURNALENTRY", in: folder)
    #expect(count == "\(rest.count)\n")

    let second = try run("import", "new.csv", "--store", "journal.sqlite", "--again")
    #expect(!(second.text + second.messages).contains("incomplete-wal"), "\(second)")
  }

  @Test func `A dry run that imports into a copy and an undo say it too`() throws {
    try damage(.cut)
    try folder.write(
      """
      {"name": "p", "parts": [{"entity": "JournalEntry", "source": "new.csv", "columns": ["date", "location"]},
        {"entity": "JournalEntry", "source": "log.csv", "columns": ["date", "location"]}]}
      """, to: "p.json")
    let dryRun = try run("run", "p.json", "--dry-run", "--store", "journal.sqlite")
    #expect(dryRun.text.contains("incomplete-wal"), "\(dryRun)")
    #expect(!dryRun.text.contains("copy.sqlite"), "\(dryRun)")
    let undone = try run("undo", "journal.sqlite", "log.csv", "-y", "-q")
    #expect(undone.status == 0 && undone.messages.contains(Rest.cut.words), "\(undone)")
  }

  @Test(arguments: Rest.allCases)
  func `Edits by hand say it too, and a dry run of them`(_ rest: Rest) throws {
    try damage(rest)
    let before = try folder.contents
    let edits = [
      ["add", "--location", "Rincon"], ["edit", "1", "--rating", "2"], ["delete", "2"],
      ["delete", "--where", "location == 'Rincon'"], ["edit", "1", "--set", "rating=2", "--entity", "JournalEntry"],
    ]
    for words in edits {
      for last in ["-n", "-y"] {
        for name in try folder.names where before[name] == nil {
          try FileManager.default.removeItem(at: folder.file(name))
        }
        for (name, data) in before { try data.write(to: folder.file(name)) }
        let output = try Programs.run(Tool.url.path, words + ["--store", "journal.sqlite", last], in: folder)
        #expect(output.status == 0, "\(words) \(last): \(output)")
        let lines = output.messages.split(separator: "\n").filter { $0.contains("incomplete-wal") }
        #expect(lines.count == 1 && lines[0].contains(rest.words), "\(words) \(last): \(output.messages)")
      }
    }
    let after = try run("edit", "1", "--rating", "3", "-y", "--store", "journal.sqlite")
    #expect(after.status == 0 && after.messages.isEmpty, "\(after)")
  }

  @Test func `A log that is whole is nothing to speak of`() throws {
    let edited = try run("edit", "1", "--rating", "3", "-n", "--store", "journal.sqlite")
    #expect(edited.status == 0 && !edited.messages.contains("incomplete-wal"), "\(edited)")
    let checked = try run("validate", "new.csv", "--store", "journal.sqlite")
    let first = try run("import", "new.csv", "--store", "journal.sqlite")
    for output in [checked, first] {
      #expect(output.status == 0 && !(output.text + output.messages).contains("incomplete-wal"), "\(output)")
    }
  }

  @Test func `All entities of a store that needs a lost log are not exported`() throws {
    try damage(.gone)
    let output = try run("export", "--all-entities", "--store", "journal.sqlite", "-o", "out")
    #expect(output.status == 65 && output.messages.contains("journal.sqlite-wal, which is missing"), "\(output)")
    #expect(!folder.exists("out"))
  }
}
