import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import Synchronization
import TestSupport
import Testing

// Rules (docs/coredata-format.md): a fresh store has Apple's layout; reading a store changes no byte of its files; a
// participant of a save writes in its transaction.

@Suite("Stores are laid out, opened and written as Core Data's", .sqliteOnly("About the file"))
struct StoreLayoutTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  @Test("A fresh store has Apple's tables, pages and metadata")
  func freshStore() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<2, into: context, stack.entity)
      try context.save()
    }
    let schema = try sqlite(stack.file, "SELECT sql FROM sqlite_master ORDER BY rowid")
    #expect(
      schema == """
        CREATE TABLE ZSESSION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZRATING INTEGER, ZDATE TIMESTAMP, ZPLACE VARCHAR )
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)
        """)
    #expect(
      try sqlite(
        stack.file,
        "PRAGMA page_size; PRAGMA auto_vacuum; PRAGMA journal_mode; PRAGMA encoding; PRAGMA user_version;"
          + "PRAGMA application_id; SELECT count(*) FROM Z_MODELCACHE; SELECT * FROM Z_PRIMARYKEY;"
          + "SELECT Z_VERSION, Z_UUID FROM Z_METADATA; SELECT ZDATE, typeof(ZDATE) FROM ZSESSION")
          == """
          4096
          2
          wal
          UTF-8
          0
          0
          0
          1|Session|0|2
          1|\(stack.coordinator.persistentStores[0].identifier)
          0|integer
          3600|integer
          """)
  }

  @Test("A store opens again with its UUID, and with another model it is error 134100 that names the entity")
  func reopening() throws {
    let stack = try Stack(folder)
    let uuid = stack.coordinator.persistentStores[0].identifier
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    #expect(try Stack(folder).coordinator.persistentStores[0].identifier == uuid)
    let other = NSPersistentStoreCoordinator(
      managedObjectModel: Sessions.model { $0.properties += [Sessions.attribute("wind", .stringAttributeType)] })
    let error = #expect(throws: NSError.self) {
      try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file)
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(error?.localizedDescription.contains("Session") == true)
  }

  @Test("What is not a store is refused and left as it was", arguments: ["text", "database", "folder"])
  func noStore(kind: String) throws {
    let file = folder.file("other.sqlite")
    switch kind {
    case "text": try Data("This is not a database, whatever its name says.".utf8).write(to: file)
    case "database": try sqlite(file, "CREATE TABLE notes(x)")
    default: try FileManager.default.createDirectory(at: file, withIntermediateDirectories: true)
    }
    let before = try? Data(contentsOf: file)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreOpenError)
    #expect(kind == "database" || (try? Data(contentsOf: file)) == before)
  }

  @Test(
    "The app's own store is read, its 5,000 rows from the -wal alone, without changing a byte of its three files",
    .enabled(if: SharedFiles.arePresent, "\(SharedFiles.absenceComment)"),
    arguments: [true, false])
  func readsWithoutTrace(keepsSharedMemory: Bool) throws {
    let copy = folder.file("copy")
    try FileManager.default.copyItem(at: SharedStore.all[0].folder, to: copy)
    let store = copy.appendingPathComponent("SurfJournalModel.sqlite")
    if !keepsSharedMemory { try FileManager.default.removeItem(atPath: store.path + "-shm") }
    func contents() throws -> [String: Data] {
      let names = try FileManager.default.contentsOfDirectory(atPath: copy.path).filter { $0.contains(".sqlite") }
      return try Dictionary(
        uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: copy.appendingPathComponent($0))) })
    }
    let before = try contents()
    let model = try NSManagedObjectModel.load(contentsOf: copy.appendingPathComponent("SurfJournalModel.xcdatamodeld"))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let opened = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: store,
      options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "JournalEntry")
      let count = try context.count(for: request)
      #expect(count == 5000)
      request.fetchLimit = 1
      let first = try context.fetch(request).first
      #expect(first?.value(forKey: "location") as? String == "C Street")
      #expect((first?.value(forKey: "date") as? Date)?.timeIntervalSinceReferenceDate == 120303488.92925799)
    }
    try coordinator.remove(opened)
    #expect(try contents() == before)
  }

  @Test("A participant's rows are there if and only if the save's are")
  func participants() throws {
    let stack = try Stack(folder)
    let checkpoint = CheckpointTable()
    stack.coordinator.addSaveParticipant(checkpoint)
    let context = stack.context()
    try context.performAndWait {
      for round in 0..<3 {
        InsertionWay.bulk.insert((round * 10)..<(round * 10 + 10), into: context, stack.entity)
        try context.save()
      }
      checkpoint.refuses.store(true, ordering: .relaxed)
      InsertionWay.bulk.insert(90..<100, into: context, stack.entity)
      #expect(throws: CheckpointTable.Refusal.self) { try context.save() }
      #expect(context.insertedObjects.count == 10)
      context.rollback()
      stack.coordinator.removeSaveParticipant(checkpoint)
      InsertionWay.bulk.insert(50..<51, into: context, stack.entity)
      try context.save()
    }
    #expect(
      try sqlite(stack.file, "SELECT * FROM SJ_CHECKPOINT; SELECT count(*) FROM ZSESSION")
        == "1|10|spot\n2|20|spot\n3|30|spot\n31")
  }
}

/// Notes after each save how many rows there are.
private final class CheckpointTable: SaveParticipant {
  struct Refusal: Error {}
  let refuses = Atomic<Bool>(false)

  func write(to transaction: SaveTransaction) throws {
    try transaction.execute(
      "CREATE TABLE IF NOT EXISTS SJ_CHECKPOINT(save INTEGER PRIMARY KEY, rows INTEGER, note TEXT)")
    let before = try transaction.rows("SELECT ifnull(max(rows), 0) FROM SJ_CHECKPOINT")[0][0] as? Int64 ?? -1
    try transaction.execute(
      "INSERT INTO SJ_CHECKPOINT(rows, note) VALUES(?, ?)", [before + Int64(transaction.insertedCount), "spot"])
    if refuses.load(ordering: .relaxed) { throw Refusal() }
  }
}
