import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSPersistentStoreCoordinator, destroyPersistentStore, replacePersistentStore,
// migratePersistentStore, setURL(_:for:); NSPersistentStoreCoordinator.h on them): locks of other programs are honoured;
// a SQLite store is emptied and not unlinked; a copy holds what is in the log; migration gives other IDs and takes the
// old store's place.

@Suite("Stores are emptied, copied and moved as wholes")
struct StoreFileTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  private let impatient: [AnyHashable: Any] = [NSPersistentStoreTimeoutOption: 0.05]
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
    try add(0..<3)
  }

  private func add(_ numbers: Range<Int>, to stack: Stack? = nil) throws {
    let stack = stack ?? self.stack
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(numbers, into: context, stack.entity)
      try context.save()
    }
  }

  private func count(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try context.count(for: stack.request()) }
  }

  private var coordinator: NSPersistentStoreCoordinator { stack.coordinator }

  private func supportFolder(of url: URL) throws -> URL {
    let support = folder.file(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA")
    try FileManager.default.createDirectory(at: support, withIntermediateDirectories: true)
    try Data("large".utf8).write(to: support.appendingPathComponent("ABC"))
    return support.deletingLastPathComponent()
  }

  // MARK: Destroying

  @Test("A destroyed store leaves an empty database, no log and no external data; it can be made anew")
  func destroying() throws {
    let support = try supportFolder(of: stack.file)
    let uuid = coordinator.persistentStores[0].identifier
    try coordinator.destroyPersistentStore(at: stack.file, ofType: NSSQLiteStoreType)
    #expect(coordinator.persistentStores.isEmpty)
    #expect(try sqlite(stack.file, "SELECT count(*) FROM sqlite_master") == "0")
    let files = FileManager.default
    #expect(!files.fileExists(atPath: stack.file.path + "-wal") && !files.fileExists(atPath: stack.file.path + "-shm"))
    #expect(!files.fileExists(atPath: support.path))
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file)
    #expect(try count(coordinator) == 0 && coordinator.persistentStores[0].identifier != uuid)
    try add(0..<2)
    #expect(
      try sqlite(stack.file, "PRAGMA integrity_check; SELECT count(*) FROM ZSESSION; PRAGMA auto_vacuum") == "ok\n2\n2")
  }

  @Test("Another program's transaction is waited for, and then nothing is lost")
  func destroyingLocked() throws {
    try coordinator.remove(coordinator.persistentStores[0])
    let other = try SQLiteConnection(path: stack.file.path, mode: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    let error = #expect(throws: NSError.self) {
      try coordinator.destroyPersistentStore(at: stack.file, type: .sqlite, options: impatient)
    }
    #expect(error?.code == NSPersistentStoreTimeoutError)
    try other.execute("ROLLBACK; BEGIN")
    #expect(try other.integer("SELECT count(*) FROM ZSESSION") == 3)
    try coordinator.destroyPersistentStore(at: stack.file, type: .sqlite, options: impatient)
    #expect(try other.integer("SELECT count(*) FROM ZSESSION") == 3, "a reader keeps what it began with")
    try other.execute("COMMIT")
    #expect(try other.integer("SELECT count(*) FROM sqlite_master") == 0)
  }

  @Test("A damaged store can be destroyed; another program's database, and what is not a database, can't")
  func destroyingOthers() throws {
    let foreign = folder.file("foreign.sqlite")
    try sqlite(foreign, "CREATE TABLE letters(text); INSERT INTO letters VALUES('dear')")
    let text = folder.file("text.sqlite")
    try Data(String(repeating: "no database ", count: 100).utf8).write(to: text)
    for url in [foreign, text] {
      let error = #expect(throws: NSError.self) {
        try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
      }
      #expect(error?.code == NSPersistentStoreOpenError)
    }
    #expect(try sqlite(foreign, "SELECT text FROM letters") == "dear")
    try coordinator.remove(coordinator.persistentStores[0])
    var bytes = try Data(contentsOf: stack.file)
    bytes.replaceSubrange(100..<4096, with: Data(repeating: 0xEE, count: 3996))
    try bytes.write(to: stack.file)
    try coordinator.destroyPersistentStore(at: stack.file, ofType: NSSQLiteStoreType)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file)
    #expect(try count(coordinator) == 0)
    try coordinator.destroyPersistentStore(at: folder.file("none.sqlite"), ofType: NSSQLiteStoreType)
    #expect(!FileManager.default.fileExists(atPath: folder.file("none.sqlite").path))
    #expect(throws: NSError.self) { try coordinator.destroyPersistentStore(at: stack.file, ofType: "XML") }
  }

  // MARK: Replacing

  @Test("A store is replaced by another one with all that is in its WAL", arguments: [true, false])
  func replacing(exists: Bool) throws {
    let target = try Stack(folder, "target.sqlite")
    try add(0..<10, to: target)
    try target.coordinator.remove(target.coordinator.persistentStores[0])
    if !exists { try FileManager.default.removeItem(at: target.file) }
    let support = try supportFolder(of: stack.file)
    let log = try Data(contentsOf: URL(fileURLWithPath: stack.file.path + "-wal"))
    #expect(!log.isEmpty)
    try coordinator.replacePersistentStore(
      at: target.file, withPersistentStoreFrom: stack.file, ofType: NSSQLiteStoreType)
    #expect(try sqlite(target.file, "SELECT count(*) FROM ZSESSION; PRAGMA integrity_check") == "3\nok")
    #expect(FileManager.default.fileExists(atPath: folder.file(".target_SUPPORT/_EXTERNAL_DATA/ABC").path))
    #expect(FileManager.default.fileExists(atPath: support.path))
    try target.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: target.file)
    #expect(try count(target.coordinator) == 3)
    #expect(target.coordinator.persistentStores[0].identifier == coordinator.persistentStores[0].identifier)
  }

  @Test("What can't be replaced, or be put in its place, stays as it is")
  func replacingRefused() throws {
    let foreign = folder.file("foreign.sqlite")
    try sqlite(foreign, "CREATE TABLE letters(text); INSERT INTO letters VALUES('dear')")
    let target = try Stack(folder, "target.sqlite")
    try add(0..<10, to: target)
    let other = try SQLiteConnection(path: target.file.path, mode: .readWrite)
    func code(_ destination: URL, _ source: URL) -> Int? {
      let error = #expect(throws: NSError.self) {
        try coordinator.replacePersistentStore(
          at: destination, destinationOptions: impatient, withPersistentStoreFrom: source, type: .sqlite)
      }
      return error?.code
    }
    #expect(code(stack.file, target.file) == NSPersistentStoreOperationError, "open here")
    #expect(code(foreign, stack.file) == NSPersistentStoreOpenError)
    #expect(code(target.file, foreign) == NSPersistentStoreOpenError)
    #expect(code(target.file, folder.file("none.sqlite")) == NSPersistentStoreOpenError)
    try other.execute("BEGIN IMMEDIATE")
    #expect(code(target.file, stack.file) == NSPersistentStoreTimeoutError)
    try other.execute("ROLLBACK")
    #expect(try count(target.coordinator) == 10 && count(coordinator) == 3)
    #expect(try sqlite(foreign, "SELECT text FROM letters") == "dear")
  }

  // MARK: Migrating to another place

  @Test(
    "A migrated store takes the place of the old one, with other IDs and all foreign tables",
    arguments: [NSSQLiteStoreType, NSInMemoryStoreType])
  func migrating(type: String) throws {
    let old = coordinator.persistentStores[0]
    old.metadata["author"] = "Ann"
    try sqlite(stack.file, "CREATE TABLE diary(line); INSERT INTO diary VALUES('mine')")
    let context = stack.context()
    let id = try context.performAndWait { try context.fetch(stack.request())[0].objectID }
    let url = folder.file("moved.sqlite")
    let new = try coordinator.migratePersistentStore(old, to: url, withType: type)
    #expect(coordinator.persistentStores == [new] && old.persistentStoreCoordinator == nil)
    #expect(new.type == type && new.identifier != old.identifier && new.metadata["author"] as? String == "Ann")
    #expect(new.metadata[NSStoreTypeKey] as? String == type)
    #expect(try count(coordinator) == 3)
    #expect(try coordinator.participantRows("SELECT line FROM diary").first?.first as? String == "mine")
    try context.performAndWait {
      context.reset()
      #expect(throws: NSError.self) { try context.existingObject(with: id) }
      let text = "x-coredata://\(new.identifier)/Session/\(id.uriRepresentation().lastPathComponent)"
      let uri = try #require(URL(string: text))
      let moved = try #require(coordinator.managedObjectID(forURIRepresentation: uri))
      #expect(try context.existingObject(with: moved).place == "Spot 0")
    }
    try add(3..<4)
    #expect(try sqlite(stack.file, "SELECT count(*) FROM ZSESSION") == "3")
    #expect(FileManager.default.fileExists(atPath: url.path) == (type == NSSQLiteStoreType))
    if type == NSSQLiteStoreType {
      #expect(try sqlite(url, "SELECT count(*) FROM ZSESSION; SELECT Z_UUID FROM Z_METADATA") == "4\n\(new.identifier)")
    } else {
      let back = try coordinator.migratePersistentStore(new, to: url, type: .sqlite)
      #expect(try sqlite(url, "SELECT count(*) FROM ZSESSION") == "4" && back.type == NSSQLiteStoreType)
    }
  }

  @Test("What observers save when they hear of a migration is in the copy")
  func savedBeforeMigrating() throws {
    let context = stack.context()
    context.performAndWait { InsertionWay.single.insert(3..<4, into: context, stack.entity) }
    let center = NotificationCenter.default
    let token = center.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresWillChange, object: coordinator, queue: nil
    ) { _ in #expect(throws: Never.self) { try context.performAndWait { try context.save() } } }
    defer { center.removeObserver(token) }
    try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: folder.file("moved.sqlite"), withType: NSSQLiteStoreType)
    #expect(try count(coordinator) == 4)
  }

  @Test("Nothing is written over by a migration, and a failed one leaves the coordinator as it was")
  func migratingRefused() throws {
    let target = try Stack(folder, "target.sqlite")
    let store = coordinator.persistentStores[0]
    #expect(throws: NSError.self) {
      try coordinator.migratePersistentStore(store, to: target.file, withType: NSSQLiteStoreType)
    }
    #expect(throws: NSError.self) {
      try coordinator.migratePersistentStore(store, to: folder.file("no/folder/x.sqlite"), withType: NSSQLiteStoreType)
    }
    #expect(throws: NSError.self) {
      try target.coordinator.migratePersistentStore(store, to: folder.file("x.sqlite"), withType: NSSQLiteStoreType)
    }
    #expect(coordinator.persistentStores == [store])
    #expect(try count(coordinator) == 3 && count(target.coordinator) == 0)
  }

  @Test("A store goes on with a copy of its file, and with no other")
  func moving() throws {
    let store = coordinator.persistentStores[0]
    let (copy, other) = (folder.file("copy.sqlite"), try Stack(folder, "other.sqlite"))
    try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: stack.file, ofType: NSSQLiteStoreType)
    let context = stack.context()
    let object = try context.performAndWait { try context.fetch(stack.request())[0] }
    #expect(coordinator.setURL(copy, for: store))
    #expect(
      store.url == copy && coordinator.url(for: store) == copy && coordinator.persistentStore(for: copy) === store)
    try context.performAndWait {
      object.setValue("moved", forKey: "place")
      try context.save()
    }
    #expect(try sqlite(copy, "SELECT ZPLACE FROM ZSESSION WHERE Z_PK = 1") == "moved")
    #expect(try sqlite(stack.file, "SELECT ZPLACE FROM ZSESSION WHERE Z_PK = 1") == "Spot 0")
    #expect(!coordinator.setURL(other.file, for: store) && !coordinator.setURL(folder.file("none"), for: store))
    #expect(try store.url == copy && count(coordinator) == 3)
  }
}
