import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: "Core Data Programming Guide", Troubleshooting; the levels as its launch arguments are
// documented): com.apple.CoreData.SQLDebug 1 logs statements and times, 2 their values too, 3 what was found too, and 4
// how SQLite carries them out.

@Suite("SQLDebug logs every statement of a connection", .sqliteOnly("About the text of SQL"))
struct SQLDebugTests {
  private func connection() throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: "", mode: .privateTemporary)
    try connection.execute("CREATE TABLE ZWAVE (Z_PK INTEGER PRIMARY KEY, ZNAME TEXT, ZHEIGHT REAL)")
    try connection.execute("CREATE INDEX ZWAVE_ZNAME ON ZWAVE (ZNAME)")
    for number in 1...130 {
      try connection.run("INSERT INTO ZWAVE VALUES (?, ?, ?)", [.integer(Int64(number)), .text("it's"), .real(1.5)])
    }
    return connection
  }

  private func lines(level: Int, _ body: (SQLiteConnection) throws -> Void) throws -> [String] {
    let connection = try connection()
    let lines = Locked<[String]>([])
    connection.logStatements(StatementLog(level: level) { line in lines.withLock { $0.append(line) } })
    try body(connection)
    connection.close()
    return lines.withLock { $0 }
  }

  private static let select = "SELECT t0.Z_PK, t0.ZNAME FROM ZWAVE t0 WHERE t0.ZNAME = ? AND t0.Z_PK <= ?"

  private func read(_ connection: SQLiteConnection) throws {
    _ = try connection.rows(Self.select, [.text("it's"), .integer(3)])
  }

  @Test("Level 1 has the statement, its time and the number of its rows")
  func statements() throws {
    let found = try lines(level: 1, read)
    #expect(found.count == 2 && found[0] == "CoreData: sql: " + Self.select)
    #expect(found[1].wholeMatch(of: /CoreData: annotation: sql execution time: [0-9]+\.[0-9]{4}s for 3 rows\./) != nil)
  }

  @Test("Level 2 has the values, level 3 the keys, level 4 the plan")
  func details() throws {
    let two = try lines(level: 2, read)
    #expect(
      two[1].hasSuffix("with values: SELECT t0.Z_PK, t0.ZNAME FROM ZWAVE t0 WHERE t0.ZNAME = 'it''s' AND t0.Z_PK <= 3"))
    let three = try lines(level: 3, read)
    #expect(three[2] == "CoreData: details: Z_PK of the rows: 1, 2, 3" && three.count == 4)
    let four = try lines(level: 4, read)
    #expect(four.contains("CoreData: details: plan: SEARCH t0 USING COVERING INDEX ZWAVE_ZNAME (ZNAME=? AND rowid<?)"))
    let many = try lines(level: 3) { _ = try $0.rows("SELECT Z_PK FROM ZWAVE") }
    #expect(many[1].hasSuffix(" 99, 100 and 30 more") && many[2].hasSuffix(" for 130 rows."))
  }

  @Test("Transactions, several statements at once, triggers and cursors are logged, and results do not change")
  func everything() throws {
    let found = try lines(level: 4) { connection in
      try connection.execute("CREATE TABLE ZLOG (Z_PK INTEGER PRIMARY KEY, ZTEXT TEXT)")
      try connection.execute(
        "CREATE TRIGGER T AFTER UPDATE ON ZWAVE BEGIN INSERT INTO ZLOG (ZTEXT) VALUES (new.ZNAME); END")
      try connection.transaction {
        try connection.run("UPDATE ZWAVE SET ZNAME = ? WHERE Z_PK = ?", [.text("x"), .integer(7)])
        #expect(connection.changedRowCount == 1)
      }
      let cursor = try connection.cursor(SQLFragment("SELECT Z_PK FROM ZWAVE WHERE Z_PK < ?", [.integer(3)]))
      #expect(try cursor.step())
      try read(connection)
      #expect(try cursor.step())
      #expect(try !cursor.step())
      #expect(try connection.integer("SELECT count(*) FROM ZLOG") == 1)
      #expect(throws: SQLiteError.self) { try connection.execute("SELECT nothing") }
    }
    for text in ["BEGIN IMMEDIATE", "UPDATE ZWAVE SET ZNAME = ? WHERE Z_PK = ?", "COMMIT", "SELECT count(*) FROM ZLOG"]
    {
      #expect(found.contains("CoreData: sql: " + text), "\(text)")
    }
    #expect(found.contains { $0.hasPrefix("CoreData: sql: -- ") })
    #expect(!found.contains { $0.contains("EXPLAIN") })
  }

  @Test("A log that is taken away is silent, and a cursor may outlive its connection")
  func ended() throws {
    let lines = Locked<[String]>([])
    var opened: SQLiteConnection? = try connection()
    opened?.logStatements(StatementLog(level: 1) { line in lines.withLock { $0.append(line) } })
    opened?.logStatements(StatementLog(level: 0) { line in lines.withLock { $0.append(line) } })
    try opened.map(read)
    #expect(lines.withLock { $0.isEmpty })
    opened = nil
  }

  @Test("What a terminal would obey is escaped")
  func escaped() {
    #expect(
      StatementLog.visible("'\u{1B}[2J\nCoreData: sql: é\u{202E}日'") == "'\\u{1B}[2J\\u{A}CoreData: sql: é\\u{202E}日'")
  }

  @Test("The level is that of the argument, or of the environment variable")
  func level() {
    let name = "com.apple.CoreData.SQLDebug"
    func level(_ arguments: [String], _ environment: [String: String] = [:]) -> Int {
      StatementLog.debugSwitch.level(arguments: arguments, environment: environment)
    }
    #expect(level(["a", "-\(name)", "3"]) == 3 && level(["a", "-\(name)", "YES"]) == 1 && level(["a"]) == 0)
    #expect(level([], ["COM_APPLE_COREDATA_SQLDEBUG": "4"]) == 4 && level([], [name: "2"]) == 2)
    #expect(level(["-\(name)", "0"], [name: "2"]) == 0 && level([], [name: "-1"]) == 0)
    #expect(StatementLog.level == 0, "the tests run without the switch")
  }
}
