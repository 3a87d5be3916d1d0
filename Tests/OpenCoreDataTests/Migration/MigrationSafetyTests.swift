import CSQLite
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (SQLite documentation: "Atomic Commit"): a migration is one transaction. If it is stopped anywhere, every row
// and every statement of the schema stays as it was; two processes that open a store never migrate it twice; tables
// that do not belong to Core Data survive.

@Suite("A migration happens whole or not at all")
struct MigrationSafetyTests {
  /// Every kind of statement: renamed, added and removed entities and attributes, a join table, indexes.
  private static let old = """
    <entity name="Board"><attribute name="name" optional="YES" attributeType="String"/>
      <relationship name="riders" optional="YES" toMany="YES" destinationEntity="Rider" inverseName="boards"
        inverseEntity="Rider"/></entity>
    <entity name="Fish" parentEntity="Board"><attribute name="fins" optional="YES" attributeType="Integer 16"/></entity>
    <entity name="Rider"><relationship name="boards" optional="YES" toMany="YES" destinationEntity="Board"
      inverseName="riders" inverseEntity="Board"/></entity>
    <entity name="Spot"><attribute name="name" optional="YES" attributeType="String"/></entity>
    """
  private static let new =
    old.replacingOccurrences(
      of: "\"name\" optional=\"YES\" attributeType=\"String\"/>\n",
      with: "\"title\" elementID=\"name\" attributeType=\"String\" defaultValueString=\"?\"/>\n"
    )
    .replacingOccurrences(
      of: "<entity name=\"Spot\">",
      with: "<entity name=\"Alga\"/><entity name=\"Beach\" elementID=\"Spot\">"
        + "<fetchIndex name=\"byName\"><fetchIndexElement property=\"name\" type=\"Binary\"/></fetchIndex>"
        + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"name\"/></uniquenessConstraint>"
        + "</uniquenessConstraints>")
  private static let rows = """
    INSERT INTO ZBOARD(Z_PK, Z_ENT, Z_OPT, ZNAME, ZFINS) VALUES(1, 1, 1, 'log', NULL), (2, 2, 3, NULL, 4);
    INSERT INTO ZRIDER(Z_PK, Z_ENT, Z_OPT) VALUES(5, 3, 1);
    INSERT INTO Z_1RIDERS VALUES(1, 5), (2, 5);
    INSERT INTO ZSPOT(Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES(1, 4, 1, 'Pipe'), (2, 4, 1, 'Jaws');
    UPDATE Z_PRIMARYKEY SET Z_MAX = 9;
    """
  private static let result = """
    SELECT Z_PK, Z_ENT, Z_OPT, ZTITLE, ZFINS FROM ZBOARD; SELECT * FROM Z_3RIDERS; SELECT * FROM ZBEACH;
    SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY;
    """
  private static let expected = """
    1|3|1|log|
    2|4|3|?|4
    1|5
    2|5
    1|2|1|Pipe
    2|2|1|Jaws
    Alga|0
    Beach|9
    Board|9
    Fish|0
    Rider|9
    """

  private func bench() throws -> MigrationBench { try MigrationBench(old: Self.old, rows: Self.rows) }

  /// The rows and the schema, read by a connection of their own.
  private static func contents(_ file: URL) throws -> [[StoredValue]] {
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    defer { connection.close() }
    var all = try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid")
    for table in try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid") {
      guard case .text(let name)? = table.first else { continue }
      all.append([.text(name)])
      all += try connection.rows("SELECT * FROM \(name)")
    }
    return all
  }

  /// Counts what SQLite asks before it does it, and says no once.
  private final class Saboteur {
    var countdown: Int
    init(_ countdown: Int) { self.countdown = countdown }

    func attach(to connection: SQLiteConnection, _ kind: Kind) {
      let context = Unmanaged.passUnretained(self).toOpaque()
      switch kind {
      case .refusal:
        sqlite3_set_authorizer(
          connection.handle,
          { context, _, _, _, _, _ in Saboteur.strikes(context) ? SQLITE_DENY : SQLITE_OK }, context)
      case .interruption:
        sqlite3_progress_handler(connection.handle, 1, { Saboteur.strikes($0) ? 1 : 0 }, context)
      }
    }

    private static func strikes(_ context: UnsafeMutableRawPointer?) -> Bool {
      guard let context else { return false }
      let saboteur = Unmanaged<Saboteur>.fromOpaque(context).takeUnretainedValue()
      saboteur.countdown -= 1
      return saboteur.countdown == 0
    }
  }

  enum Kind: String, CaseIterable, Sendable {
    /// Each thing that any statement wants to do, at the time it is prepared.
    case refusal
    /// Each step of any statement, in the midst of its rows.
    case interruption
  }

  @Test("Stopped at any of many points, it leaves the store as it was", arguments: Kind.allCases)
  func faults(kind: Kind) throws {
    let bench = try bench()
    let model = try migrationModel(Self.new)
    let before = try Self.contents(bench.file)
    let options = try #require(MigrationOptions(MigrationBench.options([bench.old])))
    var failures = 0
    // Each of the first, then a sample in steps of a prime: all of them take minutes, in the long series.
    let step = TestLength.isLong ? 1 : kind == .refusal ? 17 : 61
    for n in Array(1...40) + Array(stride(from: 41, through: 100_000, by: step)) {
      let opened = try OpenedDatabase.open(bench.file, options: try StoreOptions(nil))
      defer { opened.connection.close() }
      let saboteur = Saboteur(n)
      saboteur.attach(to: opened.connection, kind)
      let migration = StoreMigration(
        opened: opened, url: bench.file, model: model, configuration: nil, options: options)
      do {
        try withExtendedLifetime(saboteur) { try migration.runIfNeeded() }
        break
      } catch {
        failures += 1
        let error = error as NSError
        try #require(error.domain == NSCocoaErrorDomain || kind == .refusal)
      }
      sqlite3_set_authorizer(opened.connection.handle, nil, nil)
      sqlite3_progress_handler(opened.connection.handle, 0, nil, nil)
      try #require(!opened.connection.isInTransaction)
      let after = try Self.contents(bench.file)
      // SQLite asks once more when the commit is through: then it has happened, and must have whole.
      if kind == .interruption, after != before { break }
      try #require(after == before, "changed by a fault at \(n)")
    }
    #expect(failures > 60)
    #expect(try sqlite(bench.file, Self.result) == Self.expected)
  }

  @Test("Killed at one of several statements, it leaves the store as it was; the next opener migrates it")
  func killed() async throws {
    let bench = try bench()
    let before = try Self.contents(bench.file)
    let path = bench.file.path
    for statement in [1, 5, 9, 14, 20, 26, 30] {
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, statement = statement as Int] in
        try MigrationSafetyTests.migrateAndDie(path, atStatement: statement)
      }
      #expect(try Self.contents(bench.file) == before)
    }
    let model = try migrationModel(Self.new)
    let uuid = try bench.uuid()
    try bench.migrate(to: model)
    #expect(try sqlite(bench.file, Self.result) == Self.expected)
    try bench.expectFresh(model, uuid: uuid)
  }

  private static func migrateAndDie(_ path: String, atStatement last: Int) throws {
    let file = URL(fileURLWithPath: path)
    let opened = try OpenedDatabase.open(file, options: try StoreOptions(nil))
    var count = 0
    opened.connection.traceHandler = { _ in
      count += 1
      if count == last { kill(getpid(), SIGKILL) }
    }
    try StoreMigration(
      opened: opened, url: file, model: try migrationModel(new), configuration: nil,
      options: MigrationOptions(infersMapping: true, sourceModels: [try migrationModel(old)])
    ).runIfNeeded()
  }

  @Test("Two openers at once: one migrates, the other finds it done")
  func concurrent() async throws {
    for _ in 0..<5 {
      let bench = try bench()
      let uuid = try bench.uuid()
      let file = bench.file
      try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try MigrationBench.add(
              file, model: try migrationModel(Self.new), options: MigrationBench.options([try migrationModel(Self.old)])
            ).identifier
          }
        }
        for try await identifier in group { #expect(identifier == uuid) }
      }
      #expect(try sqlite(file, Self.result) == Self.expected)
      try bench.expectFresh(try migrationModel(Self.new), uuid: uuid)
    }
  }

  @Test("A store that another program is writing to is error 134090, after the time that the options give")
  func locked() throws {
    let bench = try bench()
    let before = try Self.contents(bench.file)
    let other = try SQLiteConnection(path: bench.file.path, mode: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    var options = MigrationBench.options([bench.old])
    options[NSPersistentStoreTimeoutOption] = 0
    let error = #expect(throws: NSError.self) {
      try MigrationBench.add(bench.file, model: migrationModel(Self.new), options: options)
    }
    #expect(error?.code == NSPersistentStoreTimeoutError)
    try other.execute("ROLLBACK")
    other.close()
    #expect(try Self.contents(bench.file) == before)
  }

  @Test("Tables, views, triggers and indexes of others survive, and so do the client's metadata")
  func foreign() throws {
    let bench = try bench()
    try sqlite(
      bench.file,
      """
      CREATE TABLE SJ_RUN(id INTEGER PRIMARY KEY, board INTEGER REFERENCES ZBOARD(Z_PK)); INSERT INTO SJ_RUN VALUES(1, 2);
      CREATE TABLE SJ_NOTE(x); CREATE INDEX SJ_BYRUN ON SJ_RUN(board); CREATE INDEX SJ_BYFINS ON ZBOARD(ZFINS);
      CREATE VIEW SJ_VIEW AS SELECT Z_PK FROM ZBOARD;
      CREATE TRIGGER SJ_TRIGGER AFTER INSERT ON SJ_RUN BEGIN INSERT INTO SJ_NOTE SELECT Z_PK FROM ZBOARD; END;
      """)
    var metadata = StoreMetadata(model: bench.old)
    metadata.custom = ["Author": "Ann", "Visits": 7]
    let connection = try SQLiteConnection(path: bench.file.path, mode: .readWrite)
    try connection.run("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(try metadata.propertyList())])
    connection.close()
    let foreign = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name LIKE 'SJ_%' ORDER BY name"
    let before = try sqlite(bench.file, foreign)
    let model = try migrationModel(Self.new)
    let store = try bench.migrate(to: model)
    #expect(try sqlite(bench.file, foreign) == before)
    #expect(store.metadata["Author"] as? String == "Ann" && store.metadata["Visits"] as? Int == 7)
    try sqlite(bench.file, "INSERT INTO SJ_RUN VALUES(2, 1)")
    #expect(
      try sqlite(bench.file, "SELECT * FROM SJ_RUN; SELECT * FROM SJ_NOTE; SELECT * FROM SJ_VIEW")
        == "1|2\n2|1\n1\n2\n1\n2")
    #expect(try sqlite(bench.file, Self.result) == Self.expected)
    try bench.expectFresh(model, uuid: store.identifier)
  }
}
