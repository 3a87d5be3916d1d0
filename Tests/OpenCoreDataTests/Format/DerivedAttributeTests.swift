import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

/// The triggers of derived attributes (docs/coredata-format.md, "Derived attributes").
@Suite struct DerivedAttributeTests {
  private static let xml = """
    <model>
      <entity name="Album">
        <attribute name="trackCount" optional="YES" derived="YES" derivationExpression="tracks.@count" attributeType="Integer 64"/>
        <attribute name="labelCode" optional="YES" derived="YES" derivationExpression="label.code" attributeType="Integer 32"/>
        <relationship name="tracks" optional="YES" toMany="YES" destinationEntity="Track" inverseName="album" inverseEntity="Track"/>
        <relationship name="label" optional="YES" maxCount="1" destinationEntity="Label"/>
      </entity>
      <entity name="Label"><attribute name="code" optional="YES" attributeType="Integer 32"/></entity>
      <entity name="Track">
        <attribute name="title" optional="YES" attributeType="String"/>
        <relationship name="album" optional="YES" maxCount="1" destinationEntity="Album" inverseName="tracks" inverseEntity="Album"/>
      </entity>
    </model>
    """
  private let folder: TemporaryFolder
  private let model: NSManagedObjectModel
  init() throws {
    folder = try TemporaryFolder()
    model = try .load(xml: Data(Self.xml.utf8))
  }
  private var file: URL { folder.file("Albums.sqlite") }

  private func context() throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `The texts are those of Apple's stores, in the order of entities and attributes`() throws {
    _ = try context()
    let found = try sqlite(file, "SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid")
    let updated = "SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZALBUM', Z_ENT, Z_PK,"
    let inserted = "SELECT NSCoreDataDATriggerInsertUpdatedAffectedObjectValue('ZALBUM', Z_ENT, Z_PK,"
    let label = "(SELECT ZCODE FROM ZLABEL WHERE Z_PK = NEW.ZLABEL)"
    let code = "'labelCode', ZLABELCODE) FROM ZALBUM WHERE"
    let count = "'trackCount', ZTRACKCOUNT) FROM ZALBUM WHERE"
    #expect(
      found == """
        CREATE TRIGGER Z_DA_ZALBUM_Album_labelCode_SOURCE_INSERT AFTER INSERT ON ZALBUM FOR EACH ROW BEGIN UPDATE ZALBUM SET ZLABELCODE = \(label) WHERE Z_PK = NEW.Z_PK; \(inserted) \(code) Z_PK = NEW.Z_PK; END
        CREATE TRIGGER Z_DA_ZALBUM_Album_labelCode_SOURCE_UPDATE AFTER UPDATE OF ZLABEL ON ZALBUM FOR EACH ROW BEGIN UPDATE ZALBUM SET ZLABELCODE = \(label) WHERE Z_PK = NEW.Z_PK; \(updated) \(code) Z_PK = NEW.Z_PK; END
        CREATE TRIGGER Z_DA_ZLABEL_Album_labelCode_PARAMETER_INSERT AFTER INSERT ON ZLABEL FOR EACH ROW BEGIN UPDATE ZALBUM SET ZLABELCODE = NEW.ZCODE WHERE ZLABEL = NEW.Z_PK; \(inserted) \(code) ZLABEL = NEW.Z_PK; END
        CREATE TRIGGER Z_DA_ZLABEL_Album_labelCode_PARAMETER_UPDATE AFTER UPDATE OF ZCODE ON ZLABEL FOR EACH ROW BEGIN UPDATE ZALBUM SET ZLABELCODE = NEW.ZCODE WHERE ZLABEL = NEW.Z_PK; \(updated) \(code) ZLABEL = NEW.Z_PK; END
        CREATE TRIGGER Z_DA_ZTRACK_Album_trackCount_PARAMETER_INSERT AFTER INSERT ON ZTRACK FOR EACH ROW WHEN (NEW.ZALBUM NOT NULL) BEGIN UPDATE ZALBUM SET ZTRACKCOUNT = IFNULL(ZTRACKCOUNT, 0) + 1 WHERE Z_PK = NEW.ZALBUM; \(updated) \(count) Z_PK = NEW.ZALBUM; END
        CREATE TRIGGER Z_DA_ZTRACK_Album_trackCount_PARAMETER_UPDATE_INCREMENT AFTER UPDATE OF ZALBUM ON ZTRACK FOR EACH ROW WHEN (NEW.ZALBUM NOT NULL) BEGIN UPDATE ZALBUM SET ZTRACKCOUNT = ZTRACKCOUNT + 1 WHERE Z_PK = NEW.ZALBUM; \(updated) \(count) Z_PK = NEW.ZALBUM; END
        CREATE TRIGGER Z_DA_ZTRACK_Album_trackCount_PARAMETER_UPDATE_DECREMENT AFTER UPDATE OF ZALBUM ON ZTRACK FOR EACH ROW WHEN (OLD.ZALBUM NOT NULL) BEGIN UPDATE ZALBUM SET ZTRACKCOUNT = ZTRACKCOUNT - 1 WHERE Z_PK = OLD.ZALBUM; \(updated) \(count) Z_PK = OLD.ZALBUM; END
        CREATE TRIGGER Z_DA_ZTRACK_Album_trackCount_PARAMETER_DELETE AFTER DELETE ON ZTRACK FOR EACH ROW WHEN (OLD.ZALBUM NOT NULL) BEGIN UPDATE ZALBUM SET ZTRACKCOUNT = ZTRACKCOUNT - 1 WHERE Z_PK = OLD.ZALBUM; \(updated) \(count) Z_PK = OLD.ZALBUM; END
        CREATE TRIGGER Z_DA_ZALBUM_Album_trackCount_SOURCE_INSERT AFTER INSERT ON ZALBUM FOR EACH ROW BEGIN UPDATE ZALBUM SET ZTRACKCOUNT = (SELECT IFNULL(COUNT(ZALBUM), 0) FROM ZTRACK WHERE ZALBUM = NEW.Z_PK) WHERE Z_PK = NEW.Z_PK; \(inserted) \(count) Z_PK = NEW.Z_PK; END
        """)
  }

  private static let wrong = """
    SELECT count(*) FROM ZALBUM WHERE ZTRACKCOUNT IS NOT (SELECT count(*) FROM ZTRACK t WHERE t.ZALBUM = ZALBUM.Z_PK)
      OR ZLABELCODE IS NOT (SELECT ZCODE FROM ZLABEL WHERE Z_PK = ZLABEL)
    """

  @Test(arguments: [UInt64(18), UInt64.random(in: 0...UInt64.max)])
  func `After any changes each value is what its derivation gives`(seed: UInt64) throws {
    _ = try context()
    var random = SeededGenerator(seed: seed)
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    defer { connection.close() }
    try connection.registerPredicateFunctions()
    for step in 0..<200 {
      let (row, other) = (Int.random(in: 1...9, using: &random), Int.random(in: 1...6, using: &random))
      let key = other == 6 ? "NULL" : "\(other)"
      let change = [
        "INSERT OR IGNORE INTO ZALBUM(Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (\(other), 1, 1, \(key))",
        "INSERT OR IGNORE INTO ZLABEL(Z_PK, Z_ENT, Z_OPT, ZCODE) VALUES (\(other), 2, 1, \(row))",
        "INSERT OR IGNORE INTO ZTRACK(Z_PK, Z_ENT, Z_OPT, ZALBUM) VALUES (\(row), 3, 1, \(key))",
        "UPDATE ZTRACK SET ZALBUM = \(key) WHERE Z_PK = \(row)", "DELETE FROM ZTRACK WHERE Z_PK = \(row)",
        "UPDATE ZALBUM SET ZLABEL = \(key) WHERE Z_PK = \(other)",
        "UPDATE ZLABEL SET ZCODE = \(row) WHERE Z_PK = \(other)",
      ].randomElement(using: &random)
      try connection.execute(change ?? "")
      #expect(try connection.integer(Self.wrong) == 0, "seed \(seed), step \(step): \(change ?? "")")
    }
  }

  @Test func `Objects are saved into such a store, and show the store's value once they are refreshed`() throws {
    let context = try context()
    try context.performAndWait {
      let album = NSEntityDescription.insertNewObject(forEntityName: "Album", into: context)
      let track = NSEntityDescription.insertNewObject(forEntityName: "Track", into: context)
      try context.save()
      try sqliteWithFunctions("UPDATE ZTRACK SET ZALBUM = 1, Z_OPT = 2")
      context.refresh(album, mergeChanges: false)
      context.refresh(track, mergeChanges: false)
      #expect(album.value(forKey: "trackCount") as? Int == 1)
      context.delete(track)
      try context.save()
      context.refresh(album, mergeChanges: false)
      #expect(album.value(forKey: "trackCount") as? Int == 0)
    }
    // The deletion of the track is a change of the album's tracks.
    #expect(try sqlite(file, "SELECT ZTRACKCOUNT, Z_OPT FROM ZALBUM") == "0|2")
  }

  private func sqliteWithFunctions(_ sql: String) throws {
    let connection = try SQLiteConnection(path: file.path, mode: .readWrite)
    defer { connection.close() }
    try connection.registerPredicateFunctions()
    try connection.execute(sql)
  }

  @Test func `A migration makes the triggers again and computes new derivations`() throws {
    let old = try NSManagedObjectModel.load(
      xml: Data(Self.xml.split(separator: "\n").filter { !$0.contains("tracks.@count") }.joined(separator: "\n").utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
    let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    try sqliteWithFunctions(
      """
      INSERT INTO ZALBUM(Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 1, 1, 1), (2, 1, 1, NULL);
      INSERT INTO ZLABEL(Z_PK, Z_ENT, Z_OPT, ZCODE) VALUES (1, 2, 1, 7);
      INSERT INTO ZTRACK(Z_PK, Z_ENT, Z_OPT, ZALBUM) VALUES (1, 3, 1, 1), (2, 3, 1, 1)
      """)
    try coordinator.remove(store)
    let target = NSPersistentStoreCoordinator(managedObjectModel: model)
    try target.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: MigrationBench.options([old]))
    #expect(try sqlite(file, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == "9")
    #expect(try sqlite(file, "SELECT ZTRACKCOUNT, ZLABELCODE FROM ZALBUM ORDER BY Z_PK") == "2|7\n0|")
    #expect(try sqlite(file, Self.wrong) == "0")
  }
}
