import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore
@testable import StoreInspection

// Rules: those of stores in files (StoreVerificationTests), as far as a server leaves room for damage; and what only a
// server's tables have: foreign keys, key sequences, views and types of columns.

@Suite(
  "A store in PostgreSQL is inspected and verified",
  .enabled(if: PostgreSQLServer.isThere, Comment(rawValue: PostgreSQLServer.problem)))
struct ServerInspectionTests {
  private let made: MadeStore
  private let address: URL

  init() throws {
    made = try MadeStore()
    address = try ServerStores.newAddress()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(contentsOf: made.modelURL))
    let store = try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: address,
      options: [NSPersistentHistoryTrackingKey: true])
    try coordinator.remove(store)
    try run(
      MadeStore.rows.replacingOccurrences(of: "x'0011", with: "decode('0011")
        .replacingOccurrences(of: "DDEEFF'", with: "DDEEFF', 'hex')"))
  }

  /// Runs statements as another program would, those of key rows left out.
  private func run(_ statements: String) throws {
    let connection = try ServerStores.newConnection(address)
    defer { connection.close() }
    try connection.send("BEGIN")
    for statement in statements.split(separator: ";") where !statement.contains("UPDATE Z_PRIMARYKEY") {
      let text = statement.trimmingCharacters(in: .whitespacesAndNewlines)
      if !text.isEmpty { _ = try connection.query(text) }
    }
    _ = try connection.query("COMMIT")
  }

  private func verify() throws -> StoreVerification {
    try StoreVerification(storeAt: address, modelFile: made.modelURL)
  }

  @Test("Nothing is wrong with a store that others filled in order")
  func order() throws {
    let seen = try verify()
    #expect(seen.findings == [], "\(seen.text())")
    #expect(seen.notes == [] && seen.errors == 0)
    #expect(
      seen.checks == [
        "integrity", "metadata", "database", "keys", "rows", "values", "uniqueness", "relationships", "order",
        "history",
      ])
  }

  @Test("The same is seen as in a file with the same rows")
  func inspection() throws {
    let (file, server) = (try made.inspect(), try StoreInspection(storeAt: address, modelFile: made.modelURL))
    #expect(server.file == nil && server.server?.encoding == "UTF8" && (server.server?.bytes ?? 0) > 8192)
    #expect(server.metadata.storeType == "PostgreSQL" && server.metadata.uuid != nil)
    #expect(server.model?.isCompatible == true)
    func plain(_ entities: [StoreInspection.Entity]) -> [StoreInspection.Entity] {
      entities.map { entity in
        var entity = entity
        // The file's rows were made without it.
        entity.maximumKey = nil
        return entity
      }
    }
    #expect(plain(server.entities) == plain(file.entities))
    #expect(server.joinTables == file.joinTables)
    #expect(
      Set(server.indexes.filter(\.isUnique).map(\.columns)) == Set(file.indexes.filter(\.isUnique).map(\.columns)))
    #expect(server.history == StoreInspection.History(transactions: 0, changes: 0))
    #expect(server.others == [] && server.remarks.map(\.code) == ["history"])
    #expect(server.text().contains("PostgreSQL 1") && !server.text().contains("journal"))
  }

  @Test("What others have made is listed")
  func others() throws {
    try run(
      "CREATE TABLE notes (text text); CREATE VIEW depths AS SELECT depth FROM reef; CREATE INDEX mine ON notes (text)")
    let seen = try StoreInspection(storeAt: address, modelFile: made.modelURL)
    #expect(seen.others.map { "\($0.type) \($0.name)" } == ["table notes", "view depths", "index mine"])
  }

  struct Damage: CustomTestStringConvertible, Sendable {
    let finding: String
    let sql: String
    var testDescription: String { finding }

    init(_ finding: String, _ sql: String) { (self.finding, self.sql) = (finding, sql) }
  }

  static let damages = [
    Damage("uuid - Z_METADATA 0 []", "UPDATE Z_METADATA SET Z_UUID = 'none'"),
    Damage("metadataRows - Z_METADATA 0 []", "DELETE FROM Z_METADATA"),
    Damage("metadataUnreadable - Z_METADATA 0 []", "UPDATE Z_METADATA SET Z_PLIST = decode('00', 'hex')"),
    Damage("entityNumber Surfer ZSURFER 1 [9]", "INSERT INTO ZSURFER (Z_PK, Z_ENT, Z_OPT) VALUES (9, 3, 1)"),
    Damage("version Surfer ZSURFER 2 [1, 2]", "UPDATE ZSURFER SET Z_OPT = 0"),
    Damage("valueMissing Surfer.nickname ZSURFER 1 [2]", "UPDATE ZSURFER SET ZNICKNAME = NULL WHERE Z_PK = 2"),
    Damage("valueType Photo.taken ZPHOTO 1 [1]", "UPDATE ZPHOTO SET ZTAKEN = 'Infinity' WHERE Z_PK = 1"),
    Damage("valueType Beach.code ZBEACH 1 [1]", "UPDATE ZBEACH SET ZCODE = decode('0011', 'hex') WHERE Z_PK = 1"),
    Damage(
      "relationshipMissing Photo.beach ZPHOTO 1 [2]",
      "UPDATE ZPHOTO SET ZBEACH = NULL, Z1_BEACH = NULL, Z_FOK_BEACH = NULL WHERE Z_PK = 2"),
    Damage("wrongDestination Surfer.reef ZSURFER 1 [1]", "UPDATE ZSURFER SET ZREEF = 1 WHERE Z_PK = 1"),
    Damage("destinationEntity Beach.home ZBEACH 1 [1]", "UPDATE ZBEACH SET Z1_HOME = 1 WHERE Z_PK = 1"),
    Damage("inverse Surfer.boarder ZSURFER 1 [1]", "UPDATE ZSURFER SET ZBOARD = NULL WHERE Z_PK = 2"),
    Damage("orderMissing Beach.photos ZPHOTO 1 [2]", "UPDATE ZPHOTO SET Z_FOK_BEACH = NULL WHERE Z_PK = 2"),
    Damage("orderDoubled Beach.photos ZPHOTO 2 [1, 2]", "UPDATE ZPHOTO SET Z_FOK_BEACH = 2048"),
    Damage("uniqueIndexMissing Beach.name ZBEACH 0 []", #"DROP INDEX "Z_Beach_UNIQUE_name""#),
    Damage(
      "notUnique Beach.name ZBEACH 2 [1, 2]",
      #"DROP INDEX "Z_Beach_UNIQUE_name"; UPDATE ZBEACH SET ZNAME = 'Rincon' WHERE Z_PK = 2"#),
    Damage("historyChange - ACHANGE 1 [5]", "INSERT INTO ACHANGE (Z_PK, ZTRANSACTIONID) VALUES (5, 3)"),
    Damage(
      "columnType - ZBEACH 0 []",
      "DROP VIEW beach, reef; ALTER TABLE ZBEACH ALTER COLUMN ZDEPTH TYPE real; "
        + "CREATE VIEW beach AS SELECT 1 AS id, 2 AS entity, 3 AS version; "
        + "CREATE VIEW reef AS SELECT 1 AS id, 2 AS entity, 3 AS version"),
    Damage("foreignKeyMissing - ZPHOTO 0 []", #"ALTER TABLE ZPHOTO DROP CONSTRAINT "ZPHOTO_ZBEACH_fkey""#),
    Damage("keySequence - ZPHOTO 0 []", "DROP SEQUENCE ocd_keys_3"),
    Damage("viewMissing - - 0 []", "DROP VIEW surfer"),
  ]

  /// Those whose advice has the statement that repairs them.
  static let repaired = [
    Damage(
      "columnCollation - ZSURFER 0 []",
      #"DROP VIEW surfer; ALTER TABLE ZSURFER ALTER COLUMN ZNICKNAME TYPE text COLLATE "en-x-icu"; "#
        + "CREATE VIEW surfer AS SELECT 1 AS id, 2 AS entity, 3 AS version"),
    Damage("primaryKeyMissing - ZPHOTO 0 []", #"ALTER TABLE ZPHOTO DROP CONSTRAINT "ZPHOTO_pkey""#),
    Damage("primaryKeyMissing - Z_1SURFERS 0 []", #"ALTER TABLE Z_1SURFERS DROP CONSTRAINT "Z_1SURFERS_pkey""#),
    Damage("primaryKeyMissing - Z_METADATA 0 []", #"ALTER TABLE Z_METADATA DROP CONSTRAINT "Z_METADATA_pkey""#),
    Damage("indexMissing - ZPHOTO 0 []", "DROP INDEX ZPHOTO_ZBEACH_INDEX"),
  ]

  @Test("Each damage is found with its place, and nothing else; no advice is for files", arguments: damages + repaired)
  func damage(_ damage: Damage) throws {
    try run(damage.sql)
    let seen = try verify()
    #expect(seen.findings.map(Self.short) == [damage.finding], "\(seen.text())")
    #expect(!seen.text().contains("sqlite3") && !seen.text().contains("the file"), "\(seen.text())")
  }

  @Test("The statement of the advice repairs a column, a primary key and an index", arguments: repaired)
  func repair(_ damage: Damage) throws {
    try run(damage.sql)
    let advice = try #require(try verify().findings.first?.advice)
    let rest = try #require(advice.components(separatedBy: ": ").last)
    try run(rest.components(separatedBy: ". ")[0].trimmingCharacters(in: ["."]))
    let seen = try verify()
    #expect(seen.findings == [], "\(advice) \(seen.text())")
  }

  @Test("Two rows with one key are found where the primary key was taken away")
  func doubledKeys() throws {
    try run(
      #"""
      ALTER TABLE ZPHOTO DROP CONSTRAINT "ZPHOTO_pkey";
      INSERT INTO ZPHOTO SELECT * FROM ZPHOTO WHERE Z_PK = 2
      """#)
    let codes = try verify().findings.map(Self.short)
    #expect(Array(codes.prefix(2)) == ["keyDoubled - ZPHOTO 2 [2]", "primaryKeyMissing - ZPHOTO 0 []"], "\(codes)")
  }

  @Test("An index with another name and the same columns is one")
  func renamedIndex() throws {
    try run("DROP INDEX ZPHOTO_ZBEACH_INDEX; CREATE INDEX other ON ZPHOTO (ZBEACH, ZTAKEN)")
    let seen = try verify()
    #expect(seen.findings == [], "\(seen.text())")
  }

  @Test("Keys and join rows that lead nowhere are found where foreign keys were taken away")
  func dangling() throws {
    try run(
      #"""
      ALTER TABLE ZPHOTO DROP CONSTRAINT "ZPHOTO_ZBEACH_fkey";
      ALTER TABLE "Z_1SURFERS" DROP CONSTRAINT "Z_1SURFERS_Z_4SURFERS_fkey";
      UPDATE ZPHOTO SET ZBEACH = 77 WHERE Z_PK = 1; INSERT INTO Z_1SURFERS VALUES (2, 99)
      """#)
    let codes = try verify().findings.map(Self.short)
    #expect(codes.filter { $0.hasPrefix("foreignKeyMissing") }.count == 2)
    #expect(codes.contains("danglingKey Photo.beach ZPHOTO 1 [1]"))
    #expect(codes.contains { $0.hasPrefix("danglingJoin") && $0.hasSuffix("Z_1SURFERS 1 [2]") }, "\(codes)")
  }

  @Test("Another model is noticed, and a database without a store is an error")
  func otherModels() throws {
    let other = try made.model(replacing: "nickname", "handle")
    let seen = try StoreVerification(storeAt: address, modelFile: other)
    #expect(
      seen.findings.contains { $0.code == "hashMismatch" } && seen.findings.contains { $0.code == "columnMissing" })
    let empty = try ServerStores.newAddress()
    let error = #expect(throws: NSError.self) { try StoreInspection(storeAt: empty) }
    #expect(error?.localizedDescription.contains("no Core Data store") == true)
  }

  private static func short(_ finding: StoreVerification.Finding) -> String {
    let subject = [finding.entity, finding.property].compactMap(\.self).joined(separator: ".")
    return "\(finding.code) \(subject.isEmpty ? "-" : subject) \(finding.table ?? "-") \(finding.count) \(finding.keys)"
  }
}
