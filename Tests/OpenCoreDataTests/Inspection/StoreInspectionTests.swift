import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import StoreInspection

/// An inspection reports what other programs read; it changes no byte, and continues where something is damaged.
///
/// Rules: SQLite's file format (sqlite.org/fileformat2.html) for the file, the log and the shared memory;
/// docs/coredata-format.md for the contents.
@Suite struct StoreInspectionTests {
  private static let isPresent = SharedFiles.arePresent

  @Test(
    .enabled(if: isPresent, Comment(rawValue: SharedFiles.absenceComment)), arguments: SharedStore.all)
  func `Real stores are reported as the sqlite3 shell reads them`(_ store: SharedStore) throws {
    try store.withCopy { url in
      func shell(_ sql: String) throws -> String {
        try store.query(sql).trimmingCharacters(in: .whitespacesAndNewlines)
      }
      let seen = try StoreInspection(storeAt: url, modelFile: store.modelURL)
      let file = try #require(seen.file)
      #expect(
        try "\(file.pageSizeBytes) \(file.pages) \(file.encoding) \(file.journalMode)"
          == shell(
            """
            SELECT page_size || ' ' || (SELECT page_count FROM pragma_page_count) || ' ' ||
              (SELECT encoding FROM pragma_encoding) || ' ' || (SELECT journal_mode FROM pragma_journal_mode)
            FROM pragma_page_size
            """))
      #expect(seen.metadata.uuid == (try shell("SELECT Z_UUID FROM Z_METADATA")))
      #expect(
        seen.metadata.frameworkVersion == (try store.metadata()["NSPersistenceFrameworkVersion"] as? NSNumber)?.intValue
      )
      #expect(seen.model?.isCompatible == true)
      #expect(seen.entities.allSatisfy { $0.hashFitsModel == true && $0.versionHash != nil })
      let keys = seen.entities.map { "\($0.number ?? -1)|\($0.storedName ?? $0.name)|\($0.maximumKey ?? -1)" }
      #expect(
        try keys.joined(separator: "\n") == shell("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT"))
      for entity in seen.entities {
        let counted = try shell("SELECT count(*) FROM \(entity.table ?? "") WHERE Z_ENT = \(entity.number ?? -1)")
        #expect(entity.rows == Int(counted), "\(entity.name)")
      }
      #expect(seen.others == [] && seen.history == nil && seen.externalData == nil)
      #expect(seen.remarks.filter { $0.code == "unreadable" } == [])
    }
  }

  @Test(
    .enabled(if: isPresent, Comment(rawValue: SharedFiles.absenceComment)), arguments: SharedStore.all)
  func `No byte of the store changes, and no file is left next to it`(_ store: SharedStore) throws {
    try store.withCopy { url in
      func state() throws -> [String: Data] {
        let folder = url.deletingLastPathComponent()
        return try Dictionary(
          uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: folder.path).map {
            ($0, try Data(contentsOf: folder.appendingPathComponent($0)))
          })
      }
      let before = try state()
      _ = try StoreInspection(storeAt: url, modelFile: store.modelURL)
      _ = try StoreInspection(storeAt: url).text()
      #expect(try state() == before)
    }
  }

  @Test func `How relationships are kept, constraints, indexes and join tables are reported`() throws {
    let made = try MadeStore()
    let seen = try made.inspect()
    let beach = try #require(seen.entities.first { $0.name == "Beach" })
    #expect(
      beach.relationships.map { "\($0.name) \($0.table ?? "") \($0.columns)" } == [
        #"home ZBEACH ["ZHOME", "Z1_HOME"]"#, #"photos ZPHOTO ["ZBEACH", "Z_FOK_BEACH"]"#,
        #"surfers Z_1SURFERS ["Z_1BEACHES", "Z_4SURFERS"]"#,
      ])
    #expect(beach.uniquenessConstraints == [["name"]])
    #expect(seen.joinTables.map { "\($0.table) \($0.rows ?? -1)" } == ["Z_1SURFERS 3"])
    #expect(seen.indexes.contains { $0.name == "Z_Beach_UNIQUE_name" && $0.isUnique && $0.columns == ["ZNAME"] })
    #expect(seen.indexes.contains { $0.name == "ZBEACH_ZHOME_INDEX" && !$0.isUnique })
    #expect(
      seen.entities.map { "\($0.number ?? 0) \($0.name) \($0.rows ?? -1)" } == [
        "1 Beach 2", "2 Reef 1", "3 Photo 2", "4 Surfer 2",
      ])
    #expect(seen.remarks == [])
  }

  @Test(arguments: [
    ("PRAGMA journal_mode = DELETE", "deleteMode"),
    ("PRAGMA journal_mode = DELETE; PRAGMA page_size = 2048; VACUUM", "pageSize"),
    ("PRAGMA auto_vacuum = 0; VACUUM", "autoVacuum"),
    ("CREATE TABLE ATRANSACTION (Z_PK INTEGER); CREATE TABLE ACHANGE (Z_PK INTEGER)", "history"),
    (
      "CREATE TRIGGER t AFTER UPDATE OF ZNAME ON ZBEACH BEGIN SELECT NSCoreDataTell(NEW.ZNAME, upper('NSNo(')); END",
      "unknownFunctions"
    ),
    ("CREATE TRIGGER t AFTER UPDATE OF ZNAME ON ZBEACH BEGIN SELECT upper(NEW.ZNAME); END", "foreignObjects"),
    ("CREATE TABLE notes (text)", "foreignObjects"),
    ("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Photo'", "notInStore"),
    ("DELETE FROM Z_METADATA", "unreadable"),
    ("DROP TABLE Z_PRIMARYKEY", "unreadable"),
  ])
  func `What is unusual is remarked`(_ sql: String, _ code: String) throws {
    let made = try MadeStore()
    try made.shell(sql)
    let remarks = try made.inspect().remarks
    #expect(remarks.contains { $0.code == code }, "\(remarks)")
  }

  @Test func `A trigger's unknown functions are named, known ones and words of SQL are not`() {
    let sql = """
      CREATE TRIGGER t AFTER INSERT ON "odd (name" WHEN NEW.a IN (1, 2) AND (NEW.b) BEGIN
      INSERT INTO other (a) VALUES(NSCoreDataTell('x(', upper(NEW.a))); SELECT coalesce (NEW.a, 1); END
      """
    #expect(TriggerText.functions(in: sql) == ["NSCoreDataTell", "upper", "coalesce"])
  }

  @Test func `A client's own tables are described in its words`() throws {
    let made = try MadeStore()
    try made.shell("CREATE TABLE SJ_RUN (a)")
    let seen = try made.inspect(tablePurposes: ["SJ_": "ledger of imports"])
    #expect(seen.others.map(\.purpose) == ["ledger of imports"])
    #expect(try made.inspect().others.map(\.purpose) == [nil])
    #expect(seen.remarks == [])
  }

  @Test func `Dates and numbers of the metadata beyond any calendar are shown`() throws {
    let made = try MadeStore()
    let dates = [Double.nan, .infinity, -.infinity, 1e300, -1e300, 0].map { Date(timeIntervalSinceReferenceDate: $0) }
    let list = try made.metadata { metadata in
      for (index, date) in dates.enumerated() { metadata["date\(index)"] = date }
      metadata["inside"] = ["list": dates]
      metadata[NSPersistenceFrameworkVersionKey] = Double.nan
      metadata[NSStoreModelVersionHashesVersionKey] = 1e300
    }
    try made.shell("UPDATE Z_METADATA SET Z_PLIST = x'\(list.map { String(format: "%02x", $0) }.joined())'")
    let keys = try made.inspect().metadata.ownKeys
    #expect(keys.count == dates.count + 1 && keys["date5"]?.contains("2001") == true, "\(keys)")
    #expect(keys["inside"]?.contains("nan") == true)
    _ = try made.verify()
  }

  @Test func `A model that does not fit is reported with its entities`() throws {
    let made = try MadeStore()
    let other = try made.model(
      replacing: #"name="depth" attributeType="Double""#, #"name="depth" attributeType="Float""#)
    let seen = try StoreInspection(storeAt: made.url, modelFile: other)
    #expect(seen.model?.isCompatible == false)
    #expect(seen.entities.filter { $0.hashFitsModel == false }.map(\.name) == ["Reef"])
    #expect(seen.remarks.map(\.code) == ["hashMismatch"])
  }

  @Test func `Where pages of a table are damaged the rest is reported`() throws {
    let made = try MadeStore()
    try made.damagePage(of: "ZPHOTO")
    let seen = try made.inspect()
    #expect(seen.entities.map(\.rows) == [2, 1, nil, 2])
    #expect(seen.remarks.map(\.code) == ["unreadable"])
    #expect(seen.remarks.first?.message.contains("ZPHOTO") == true)
  }

  @Test(arguments: ["", "no database at all, but some text that is long enough to be taken for a header of one ......"])
  func `What is not a store is refused`(_ content: String) throws {
    let made = try MadeStore()
    let file = made.folder.appendingPathComponent("other.sqlite")
    try Data(content.utf8).write(to: file)
    #expect(throws: NSError.self) { try StoreInspection(storeAt: file) }
  }

  @Test func `Large values next to the store are counted`() throws {
    let made = try MadeStore()
    let folder = made.folder.appendingPathComponent(".Made_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(count: 700).write(to: folder.appendingPathComponent("A"))
    try Data(count: 50).write(to: folder.appendingPathComponent("B"))
    let seen = try made.inspect()
    #expect(seen.externalData?.files == 2 && seen.externalData?.bytes == 750)
  }

  @Test(.enabled(if: isPresent, Comment(rawValue: SharedFiles.absenceComment)))
  func `The WAL and the shared memory are distinguished from foreign ones`() throws {
    try SharedStore.all[0].withCopy { url in
      let seen = try #require(try StoreInspection(storeAt: url).file)
      #expect(seen.wal == StoreInspection.WAL(bytes: 222_512, frames: 54, state: "valid"))
      #expect(seen.sharedMemory?.state == "valid")
      let wal = url.path + "-wal"
      var bytes = try Data(contentsOf: URL(fileURLWithPath: wal))
      bytes[18] ^= 1
      try bytes.write(to: URL(fileURLWithPath: wal))
      #expect(StoreInspection.WAL(wal, pageSizeBytes: 4096, pagesInFile: 5, index: nil)?.frames == 0)
      let index = WALIndexHeader(path: url.path + "-shm")
      #expect(StoreInspection.SharedMemory(url.path + "-shm", wal: wal, index: index)?.state == "stale")
      #expect(StoreInspection.WAL(wal, pageSizeBytes: 2048, pagesInFile: 5, index: nil)?.state == "foreign")
      try Data().write(to: URL(fileURLWithPath: wal))
      #expect(StoreInspection.WAL(wal, pageSizeBytes: 4096, pagesInFile: 5, index: nil)?.state == "empty")
    }
  }
}
