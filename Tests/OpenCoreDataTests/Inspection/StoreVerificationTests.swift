import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import StoreInspection

/// Verification reports nothing about an intact store, and each damage with its code, entity and keys.
///
/// Rules: docs/coredata-format.md (tables, keys, numbers, versions, relationships, metadata).
@Suite struct StoreVerificationTests {
  @Test(
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)), arguments: SharedStore.all)
  func `Nothing is wrong with Apple's own stores`(_ store: SharedStore) throws {
    try store.withCopy { url in
      let seen = try StoreVerification(storeAt: url, modelFile: store.modelURL)
      #expect(seen.findings == [], "\(seen.text())")
      #expect(seen.notes == [])
      #expect(seen.checks.count == 10)
    }
  }

  @Test func `Nothing is wrong with a store that we made and others filled in order`() throws {
    let seen = try MadeStore().verify()
    #expect(seen.findings == [], "\(seen.text())")
    #expect(seen.text().hasSuffix("values and metadata\n"))
  }

  struct Damage: CustomTestStringConvertible, Sendable {
    let sql: String
    /// The code, place and keys of what is to be found, and nothing else.
    let finding: String
    var testDescription: String { finding }

    init(_ finding: String, _ sql: String) {
      self.sql = sql
      self.finding = finding
    }
  }

  static let damages = [
    Damage("uuid - Z_METADATA 0 []", "UPDATE Z_METADATA SET Z_UUID = 'none'"),
    Damage("metadataRows - Z_METADATA 2 []", "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA"),
    Damage("metadataUnreadable - Z_METADATA 0 []", "UPDATE Z_METADATA SET Z_PLIST = x'00'"),
    Damage("metadataRows - Z_METADATA 0 []", "DELETE FROM Z_METADATA"),
    Damage("keyRowMissing Photo Z_PRIMARYKEY 0 []", "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Photo'"),
    Damage("keyRowName Photo Z_PRIMARYKEY 0 []", "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Foto' WHERE Z_NAME = 'Photo'"),
    Damage("keyRowSuper Reef Z_PRIMARYKEY 0 []", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 3 WHERE Z_NAME = 'Reef'"),
    Damage("keyRowUnknown - Z_PRIMARYKEY 1 [9]", "INSERT INTO Z_PRIMARYKEY VALUES (9, 'Ghost', 0, 0)"),
    Damage("keySequence Beach Z_PRIMARYKEY 1 [3]", "UPDATE Z_PRIMARYKEY SET Z_MAX = 2 WHERE Z_NAME = 'Beach'"),
    Damage(
      "entityNumber Surfer ZSURFER 1 [9]",
      "INSERT INTO ZSURFER (Z_PK, Z_ENT, Z_OPT) VALUES (9, 3, 1); UPDATE Z_PRIMARYKEY SET Z_MAX = 9"),
    Damage("version Surfer ZSURFER 2 [1, 2]", "UPDATE ZSURFER SET Z_OPT = 0"),
    Damage("valueMissing Surfer.nickname ZSURFER 1 [2]", "UPDATE ZSURFER SET ZNICKNAME = NULL WHERE Z_PK = 2"),
    Damage("valueType Surfer.nickname ZSURFER 1 [2]", "UPDATE ZSURFER SET ZNICKNAME = x'41' WHERE Z_PK = 2"),
    Damage("valueType Photo.taken ZPHOTO 1 [1]", "UPDATE ZPHOTO SET ZTAKEN = 'today' WHERE Z_PK = 1"),
    Damage("valueType Beach.code ZBEACH 1 [1]", "UPDATE ZBEACH SET ZCODE = x'0011' WHERE Z_PK = 1"),
    Damage("valueType Reef.depth ZBEACH 1 [3]", "UPDATE ZBEACH SET ZDEPTH = 'deep' WHERE Z_PK = 3"),
    Damage(
      "notUnique Beach.name ZBEACH 2 [1, 3]",
      "DROP INDEX Z_Beach_UNIQUE_name; UPDATE ZBEACH SET ZNAME = 'Rincon' WHERE Z_PK = 3"),
    Damage(
      "relationshipMissing Photo.beach ZPHOTO 1 [2]",
      "UPDATE ZPHOTO SET ZBEACH = NULL, Z1_BEACH = NULL WHERE Z_PK "
        + "= 2"),
    Damage("danglingKey Photo.beach ZPHOTO 1 [2]", "UPDATE ZPHOTO SET ZBEACH = 77 WHERE Z_PK = 2"),
    Damage("wrongDestination Surfer.reef ZSURFER 1 [1]", "UPDATE ZSURFER SET ZREEF = 1 WHERE Z_PK = 1"),
    Damage("destinationEntity Photo.beach ZPHOTO 1 [2]", "UPDATE ZPHOTO SET Z1_BEACH = 2 WHERE Z_PK = 2"),
    Damage("destinationEntity Beach.home ZBEACH 1 [1]", "UPDATE ZBEACH SET Z1_HOME = NULL WHERE Z_PK = 1"),
    Damage("danglingJoin Beach.surfers Z_1SURFERS 1 [4]", "INSERT INTO Z_1SURFERS VALUES (2, 99)"),
    Damage("danglingJoin Beach.surfers Z_1SURFERS 1 [4]", "INSERT INTO Z_1SURFERS VALUES (99, 2)"),
    Damage("orderMissing Beach.photos ZPHOTO 1 [1]", "UPDATE ZPHOTO SET Z_FOK_BEACH = NULL WHERE Z_PK = 1"),
    Damage("orderDoubled Beach.photos ZPHOTO 2 [1, 2]", "UPDATE ZPHOTO SET Z_FOK_BEACH = 7"),
    Damage("inverse Surfer.board ZSURFER 1 [1]", "UPDATE ZSURFER SET ZBOARDER = NULL WHERE Z_PK = 2"),
    Damage(
      "largeValueMissing Photo.image ZPHOTO 1 [1]",
      "UPDATE ZPHOTO SET ZIMAGE = CAST(x'02' || 'E7350B5D-5058-46F7-90B9-DCA517BBAF92' || x'00' AS BLOB) WHERE Z_PK = 1"
    ),
    Damage(
      "historyChange - ACHANGE 1 [2]",
      """
      CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY);
      CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, ZTRANSACTIONID INTEGER);
      INSERT INTO ATRANSACTION VALUES (1); INSERT INTO ACHANGE VALUES (1, 1), (2, 5)
      """),
    Damage("tableMissing Photo ZPHOTO 0 []", "DROP TABLE ZPHOTO"),
    Damage("columnMissing Photo ZPHOTO 0 []", "ALTER TABLE ZPHOTO DROP COLUMN ZTAKEN"),
  ]

  @Test(arguments: damages)
  func `Each damage is found where it is, and nothing else`(_ damage: Damage) throws {
    let made = try MadeStore()
    try made.shell(damage.sql)
    let seen = try made.verify()
    #expect(seen.findings.map(Self.short) == [damage.finding], "\(seen.text())")
    #expect(seen.findings.allSatisfy { !$0.message.isEmpty && !$0.advice.isEmpty })
    #expect(seen.errors + seen.warnings == 1)
  }

  private static func short(_ finding: StoreVerification.Finding) -> String {
    let place = [finding.entity, finding.property].compactMap(\.self).joined(separator: ".")
    return "\(finding.code) \(place.isEmpty ? "-" : place) \(finding.table ?? "-") \(finding.count) \(finding.keys)"
  }

  @Test func `Damaged pages are found, and the rest is still checked`() throws {
    let made = try MadeStore()
    try made.shell("UPDATE ZSURFER SET Z_OPT = 0 WHERE Z_PK = 1")
    try made.damagePage(of: "Z_MODELCACHE")
    let seen = try made.verify()
    #expect(seen.findings.contains { $0.code == "damaged" })
    #expect(seen.findings.contains { $0.code == "version" })
    #expect(seen.errors == seen.findings.count)
  }

  @Test func `Files of large values without a reference are warned of, named ones are not`() throws {
    let made = try MadeStore()
    let folder = made.folder.appendingPathComponent(".Made_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let name = "E7350B5D-5058-46F7-90B9-DCA517BBAF92"
    try Data(count: 7).write(to: folder.appendingPathComponent(name))
    try Data(count: 7).write(to: folder.appendingPathComponent("E7350B5D-5058-46F7-90B9-000000000000"))
    try made.shell("UPDATE ZPHOTO SET ZIMAGE = CAST(x'02' || '\(name)' || x'00' AS BLOB) WHERE Z_PK = 1")
    let seen = try made.verify()
    #expect(seen.findings.map(Self.short) == ["largeValueOrphan - - 1 []"])
    #expect(seen.findings.first?.message.contains("000000000000") == true)
    #expect(seen.errors == 0 && seen.warnings == 1)
  }

  @Test(arguments: [
    (#"name="depth" attributeType="Double""#, #"name="depth" attributeType="Float""#, "hashMismatch Reef"),
    (#"<entity name="Photo">"#, #"<entity name="Zebra"/><entity name="Photo">"#, "hashMissing Zebra"),
  ])
  func `A model of another version is reported`(_ text: String, other: String, finding: String) throws {
    let made = try MadeStore()
    let seen = try StoreVerification(storeAt: made.url, modelFile: made.model(replacing: text, other))
    #expect(seen.findings.map { "\($0.code) \($0.entity ?? "")" }.contains(finding), "\(seen.text())")
  }

  @Test func `A digest and a checksum of other hashes are warned of`() throws {
    let made = try MadeStore()
    let plist = try made.metadata {
      $0["NSStoreModelVersionHashesDigest"] = "AAAA"; $0["NSStoreModelVersionChecksumKey"] = "BBBB"
    }
    try made.shell("UPDATE Z_METADATA SET Z_PLIST = x'\(plist.map { String(format: "%02x", $0) }.joined())'")
    let seen = try made.verify()
    #expect(seen.findings.map(\.code) == ["digest", "checksum"])
    #expect(seen.errors == 0)
  }

  @Test func `More keys than are listed are counted`() throws {
    let made = try MadeStore()
    try made.shell(
      """
      WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO ZSURFER (Z_PK, Z_ENT, Z_OPT, ZNICKNAME) SELECT i, 4, 0, 'x' FROM n;
      UPDATE Z_PRIMARYKEY SET Z_MAX = 60 WHERE Z_NAME = 'Surfer'
      """)
    let seen = try made.verify()
    #expect(seen.findings.map(Self.short) == ["version Surfer ZSURFER 58 [3, 4, 5, 6, 7]"])
  }

  @Test func `Every code is in the documentation`() throws {
    let folder = Repository.file("Sources/StoreInspection")
    let sources = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasPrefix("VerificationRun") || $0.hasSuffix("+Remarks.swift") }
      .map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }.joined()
    let codes = Set(sources.matches(of: /(?:add|RowCheck|append|)\(\s*\(?"([a-z]+[a-zA-Z]*)",/).map { String($0.1) })
    #expect(codes.count > 35)
    let article = try String(
      contentsOf: Repository.file("Sources/StoreInspection/StoreInspection.docc/LookingAtStores.md"),
      encoding: .utf8)
    #expect(codes.filter { !article.contains("`\($0)`") } == [])
  }
}
