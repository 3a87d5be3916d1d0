import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (SQLite: "Write-Ahead Logging", "Read-Only Databases", "File Locking And Concurrency", hot journals): reading
// changes no byte of a store's files and leaves none behind; rows that are only in the log are seen; a store that is
// being written to is copied whole or not at all.

@Suite("Reading a store leaves no trace")
struct ReadingTraceTests {
  /// A reader's count, with the promise that nothing next to the file has changed.
  private func countWithoutTrace(_ file: URL) throws -> Int {
    let before = try StoreSetup.contents(beside: file)
    let count = try StoreSetup.count(file)
    #expect(try StoreSetup.contents(beside: file) == before)
    return count
  }

  @Test(
    "Rows in the WAL are seen, with its index, without one, with an empty and with a broken one",
    arguments: ["whole", "none", "empty", "broken"])
  func logs(index: String) throws {
    let setup = try StoreSetup.withWAL()
    let file = try setup.copy(index == "none" ? ["", "-wal"] : ["", "-wal", "-shm"])
    let shm = URL(fileURLWithPath: file.path + "-shm")
    if index == "empty" { try Data().write(to: shm) }
    if index == "broken" { try Data(repeating: 0xA5, count: 32_768).write(to: shm) }
    #expect(try countWithoutTrace(file) == 5)
  }

  @Test("A store whose log is empty, or that has only an index of a log that was written back, is read")
  func withoutRowsInWAL() throws {
    let setup = try StoreSetup.withWAL()
    let header = try Data(contentsOf: URL(fileURLWithPath: setup.stack.file.path + "-wal")).prefix(32)
    let checkpoint = try SQLiteConnection(path: setup.stack.file.path, mode: .readWrite)
    _ = try checkpoint.rows("PRAGMA wal_checkpoint(FULL)")
    #expect(try countWithoutTrace(try setup.copy(["", "-shm"])) == 5)
    #expect(try countWithoutTrace(try setup.copy(["", "-wal", "-shm"])) == 5)
    _ = try checkpoint.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    let truncated = try setup.copy(["", "-wal", "-shm"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: truncated.path + "-wal")).isEmpty)
    #expect(try countWithoutTrace(truncated) == 5)
    #expect(try countWithoutTrace(try setup.copy(["", "-wal"])) == 5)
    // As a program leaves it that is killed between the header of a log and its first page.
    let begun = try setup.copy(["", "-wal", "-shm"])
    try header.write(to: URL(fileURLWithPath: begun.path + "-wal"))
    #expect(try countWithoutTrace(begun) == 5)
    checkpoint.close()
  }

  @Test(
    "Files alone: one that uses a log, one that uses journals, and one with small pages",
    arguments: ["WAL", "DELETE", "2048"])
  func filesAlone(kind: String) throws {
    let setup = try StoreSetup.closed()
    if kind != "WAL" { try sqlite(setup.stack.file, "PRAGMA journal_mode = DELETE") }
    if kind == "2048" { try sqlite(setup.stack.file, "PRAGMA page_size = 2048; VACUUM") }
    let file = try setup.copy([""])
    #expect(try countWithoutTrace(file) == 3)
    #expect(try sqlite(file, "PRAGMA journal_mode") == (kind == "WAL" ? "wal" : "delete"))
    #expect(try sqlite(file, "PRAGMA page_size") == (kind == "2048" ? "2048" : "4096"))
  }

  @Test("What a crashed program left half written is read as its journal has it, and neither file changes")
  func hotJournal() throws {
    let setup = try StoreSetup.closed()
    try sqlite(setup.stack.file, "PRAGMA journal_mode = DELETE")
    let writer = try SQLiteConnection(path: setup.stack.file.path, mode: .readWrite)
    try writer.execute("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN")
    try writer.execute("DELETE FROM ZSESSION WHERE Z_PK > 1")
    try writer.execute(
      "WITH n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, "
        + "ZPLACE) SELECT i, 1, 1, hex(randomblob(200)) FROM n")
    let file = try setup.copy(["", "-journal"])
    try writer.execute("ROLLBACK")
    let journal = try Data(contentsOf: URL(fileURLWithPath: file.path + "-journal"))
    try #require(journal.count > 512 && journal[0] != 0, "the journal is hot")
    #expect(try countWithoutTrace(file) == 3)
  }

  @Test("A store that this process has open is read next to it, and its locks stay")
  func openHere() throws {
    let setup = try StoreSetup.withWAL()
    let reader = try SQLiteConnection(path: setup.stack.file.path, mode: .readWrite)
    try reader.execute("BEGIN")
    #expect(try reader.integer("SELECT count(*) FROM ZSESSION") == 5)
    #expect(try StoreSetup.count(setup.stack.file) == 5)
    try setup.add(5..<9)
    #expect(try StoreSetup.count(setup.stack.file) == 9)
    // Another process would write over what the reader still reads if the locks were gone.
    try sqlite(setup.stack.file, "PRAGMA busy_timeout = 100; PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try reader.integer("SELECT count(*) FROM ZSESSION") == 5)
    #expect(try Data(contentsOf: URL(fileURLWithPath: setup.stack.file.path + "-wal")).isEmpty == false)
  }

  @Test("Nothing stays in the temporary folder, also where opening fails after the copy was made")
  func temporaryFolder() throws {
    let setup = try StoreSetup.withWAL()
    let file = try setup.copy(["", "-wal"])
    let copy = try PrivateCopy(of: file.path)
    #expect(FileManager.default.fileExists(atPath: copy.path))
    var opened: OpenedDatabase? = try OpenedDatabase.openForReading(file.path)
    let place = try #require(opened?.path)
    #expect(place != file.path && FileManager.default.fileExists(atPath: place))
    opened?.connection.close()
    opened = nil
    #expect(!FileManager.default.fileExists(atPath: URL(fileURLWithPath: place).deletingLastPathComponent().path))
    let other = Sessions.model { $0.name = "Other" }
    #expect(throws: NSError.self) { try StoreSetup.count(file, model: other) }
    let uuid = StoredValue.text(setup.stack.coordinator.persistentStores[0].identifier)
    let mine = try StoreSetup.privateCopies().filter { name in
      let place = FileManager.default.temporaryDirectory.appendingPathComponent(name)
      let file = place.appendingPathComponent("copy.sqlite").path
      let connection = try? SQLiteConnection(path: file, mode: .immutable)
      return (try? connection?.rows("SELECT Z_UUID FROM Z_METADATA"))?.first == [uuid] && !copy.path.contains(name)
    }
    #expect(mine.isEmpty)
  }

  @Test("A copy of what another program writes to all the time is whole, or an error that says so")
  func writtenMeanwhile() throws {
    let setup = try StoreSetup.closed()
    let file = setup.stack.file
    // Exclusive locking keeps the log's index in memory: there is a -wal and no -shm.
    let script = """
      import sqlite3, sys, time
      c = sqlite3.connect(sys.argv[1], isolation_level=None)
      c.execute("PRAGMA locking_mode = EXCLUSIVE"); c.execute("PRAGMA wal_autocheckpoint = 20")
      print("ready", flush=True)
      end = time.time() + 20
      n = 10
      while time.time() < end:
        c.execute("BEGIN")
        c.execute("INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZPLACE) VALUES(?, 1, 1, ?)", (n, "x" * 3000))
        c.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ?", (n,))
        c.execute("COMMIT"); n += 1
        time.sleep(0.05)
      """
    let other = try RunningProgram(script, file.path)
    defer { withExtendedLifetime(other) {} }
    for _ in 0..<5 {
      do {
        let copy = try PrivateCopy(of: file.path)
        let state = try sqlite(
          URL(fileURLWithPath: copy.path),
          "PRAGMA integrity_check; SELECT max(Z_PK) = (SELECT Z_MAX FROM Z_PRIMARYKEY) "
            + "OR count(*) = 3 FROM ZSESSION")
        #expect(state == "ok\n1")
      } catch let error as NSError {
        #expect(error.code == NSPersistentStoreTimeoutError)
        #expect(error.localizedDescription.contains("try again when it has finished"))
      }
    }
  }
}
