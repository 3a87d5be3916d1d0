import TestSupport
import Testing

@testable import PersistentStores

// Rule (SQLite's source: sqlite3VdbeHalt, sqlite3_step): where memory is refused while SQLite prepares a statement again, it
// can roll the transaction back, run the statement on its own, and report success.

/// A transaction that SQLite has rolled back without an error.
@Suite struct LostTransactionTests {
  private let folder: TemporaryFolder
  private let connection: SQLiteConnection

  init() throws {
    folder = try TemporaryFolder()
    connection = try SQLiteConnection(path: folder.path("a.sqlite"), mode: .readWriteCreate)
    try connection.execute("CREATE TABLE t (x)")
  }

  private func loseTransaction() throws {
    try connection.transaction {
      try connection.run("INSERT INTO t VALUES (1)")
      try connection.execute("ROLLBACK")
      try connection.run("INSERT INTO t VALUES (2)")
    }
  }

  @Test func `Statements that follow are not committed, and the error names memory`() throws {
    let error = #expect(throws: SQLiteError.self) { try loseTransaction() }
    #expect(error?.message.contains("memory") == true && error?.isConstraint == false, "\(error as Any)")
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }

  @Test func `A part of it does not become a transaction of its own`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try connection.transaction {
        try connection.execute("ROLLBACK")
        try connection.transaction { try connection.run("INSERT INTO t VALUES (2)") }
      }
    }
    #expect(error?.message.contains("memory") == true, "\(error as Any)")
    #expect(try connection.integer("SELECT count(*) FROM t") == 0)
  }

  @Test func `It does not end well where nothing was written since`() throws {
    let error = #expect(throws: SQLiteError.self) {
      try connection.transaction { try connection.execute("ROLLBACK") }
    }
    #expect(error?.message.contains("memory") == true, "\(error as Any)")
  }

  @Test func `After the transaction statements are committed again, alone and in others`() throws {
    #expect(throws: SQLiteError.self) { try loseTransaction() }
    try connection.run("INSERT INTO t VALUES (3)")
    try connection.transaction { try connection.run("INSERT INTO t VALUES (4)") }
    #expect(try connection.integer("SELECT sum(x) FROM t") == 7)
  }
}
