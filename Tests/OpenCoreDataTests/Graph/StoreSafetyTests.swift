import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (docs/coredata-format.md, "Z_METADATA", "Z_PRIMARYKEY"): a store that the model does not fit is left untouched;
// metadata is a property list that other programs read; a new store of the app's model has the layout of the app's own;
// keys continue where they ended.

@Suite("Files are opened with care and written as others read them", .sqliteOnly("About the file"))
struct StoreSafetyTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  /// The bytes of a store's file; its -wal has been written back.
  private func bytes(_ file: URL) throws -> Data { try Data(contentsOf: file) }

  @Test("Another program's database is refused without a byte of it changed, its journal mode included")
  func foreignDatabase() throws {
    let file = folder.file("notes.db")
    try sqlite(file, "CREATE TABLE notes(x); INSERT INTO notes VALUES (1)")
    let before = try bytes(file)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    }
    #expect(error?.code == NSPersistentStoreOpenError)
    #expect(try bytes(file) == before)
    #expect(try sqlite(file, "PRAGMA journal_mode") == "delete")
  }

  @Test("A store of another model is refused without a byte of it changed")
  func otherModel() throws {
    let stack = try Stack(folder)
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    try sqlite(stack.file, "PRAGMA journal_mode = DELETE")
    let before = try bytes(stack.file)
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: Sessions.model { $0.attributesByName["rating"]?.isOptional = false })
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file)
    }
    #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError)
    #expect(try bytes(stack.file) == before)
  }

  @Test("An empty file becomes a store, and so does one that is not there; a missing one is not made for reading")
  func emptyAndMissing() throws {
    let empty = folder.file("empty.sqlite")
    try Data().write(to: empty)
    for name in ["empty.sqlite", "missing.sqlite"] {
      let stack = try Stack(folder, name)
      #expect(try sqlite(stack.file, "SELECT count(*) FROM Z_METADATA") == "1")
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("none.sqlite"),
        options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
    }
    #expect(error?.code == NSPersistentStoreOpenError)
    #expect(!FileManager.default.fileExists(atPath: folder.file("none.sqlite").path))
  }

  @Test("A store with two names is read only, until one of them is removed")
  func twoNames() throws {
    let stack = try Stack(folder)
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    let other = folder.file("other.sqlite")
    try FileManager.default.linkItem(at: stack.file, to: other)
    let before = try bytes(stack.file)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    for name in [stack.file, other] {
      let error = #expect(throws: NSError.self) {
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: name)
      }
      #expect(error?.code == NSPersistentStoreOpenError && error?.localizedDescription.contains("2 names") == true)
      #expect(try bytes(name) == before)
      let reading = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: name,
        options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
      try coordinator.remove(reading)
    }
    try FileManager.default.removeItem(at: other)
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file)
  }

  @Test("python3's plistlib reads the metadata, with the hashes of the model")
  func metadataElsewhere() throws {
    let stack = try Stack(folder)
    let script = """
      import plistlib, sqlite3, sys
      row = sqlite3.connect(sys.argv[1]).execute("SELECT Z_VERSION, Z_UUID, Z_PLIST FROM Z_METADATA").fetchone()
      plist = plistlib.loads(row[2], fmt=plistlib.FMT_BINARY)
      print(row[0], row[1], plist["NSStoreType"], plist["_NSAutoVacuumLevel"], plist["NSStoreModelVersionHashesVersion"])
      for name, value in sorted(plist["NSStoreModelVersionHashes"].items()): print(name, value.hex())
      """
    let hash = stack.entity.versionHash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let uuid = stack.coordinator.persistentStores[0].identifier
    #expect(
      try Programs.output(of: ["python3", "-c", script, stack.file.path])
        == "1 \(uuid) SQLite 2 3\nSession \(hash)\n")
  }

  @Test(
    "A new store of the app's model has the app's tables, pages and hashes",
    .enabled(if: SharedFiles.arePresent, Comment(rawValue: SharedFiles.absenceComment)))
  func likeTheApps() throws {
    let app = try #require(SharedStore.all.first)
    let model = try NSManagedObjectModel.load(contentsOf: app.modelURL)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let file = folder.file("new.sqlite")
    let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    // The app's was written before Z_MODELCACHE came up.
    let schema = "SELECT name, sql FROM sqlite_master WHERE name <> 'Z_MODELCACHE' ORDER BY rowid;"
    let pragmas = ["page_size", "auto_vacuum", "journal_mode", "encoding", "user_version", "application_id"]
      .map { "PRAGMA \($0);" }.joined()
    let keys = "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY"
    let expected = try app.query(schema + pragmas + keys)
    #expect(try sqlite(file, schema + pragmas + keys) + "\n" == expected)
    let theirs = try app.metadata()["NSStoreModelVersionHashes"] as? [String: Data]
    let mine = store.metadata["NSStoreModelVersionHashes"] as? [String: Data]
    #expect(mine != nil && mine == theirs)
  }

  @Test("Keys go on where they ended, also after the last rows were deleted and the store was opened again")
  func keysGoOn() throws {
    let stack = try Stack(folder)
    for round in 0..<3 {
      let context = stack.context()
      try context.performAndWait {
        InsertionWay.bulk.insert(0..<2, into: context, stack.entity)
        try context.save()
        for object in try context.fetch(stack.request()) { context.delete(object) }
        try context.save()
      }
      try stack.reopen()
      #expect(try sqlite(stack.file, "SELECT Z_MAX FROM Z_PRIMARYKEY") == "\(2 * round + 2)")
    }
  }

  @Test("A file without locks that another program writes to during a read is read again, with them")
  func writtenMeanwhile() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.single.insert(0..<1, into: context, stack.entity)
      try context.save()
    }
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: stack.file,
      options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
    let store = try #require(coordinator.rowStores.first)
    var reads = 0
    let places = try store.read(nil) { reader in
      reads += 1
      if reads == 1 {
        try sqlite(stack.file, "UPDATE ZSESSION SET ZPLACE = 'Elsewhere'; PRAGMA wal_checkpoint(TRUNCATE)")
      }
      return try reader.rows(FetchQuery(entity: stack.entity)).map { $0.values.contains(.text("Elsewhere")) }
    }
    #expect(reads == 2 && places == [true])
  }

  @Test("A store that was removed from its coordinator says so to contexts that still want it")
  func removed() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    let store = stack.coordinator.persistentStores[0]
    #expect(
      stack.coordinator.persistentStore(for: stack.file) === store && stack.coordinator.url(for: store) == stack.file)
    try stack.coordinator.remove(store)
    #expect(stack.coordinator.persistentStores.isEmpty && store.persistentStoreCoordinator == nil)
    context.performAndWait {
      InsertionWay.bulk.insert(0..<1, into: context, stack.entity)
      for attempt in [{ _ = try context.count(for: stack.request()) }, { try context.save() }] {
        let error = #expect(throws: NSError.self) { try attempt() }
        #expect(error?.localizedDescription.contains("no persistent stores") == true)
      }
      #expect(context.hasChanges)
    }
  }

  @Test("Closing writes the WAL into the file, and a checkpoint does so while it is open")
  func checkpoint() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<500, into: context, stack.entity)
      try context.save()
    }
    func rowsInFileAlone() throws -> String {
      let copy = folder.file("copy-\(UUID().uuidString).sqlite")
      try FileManager.default.copyItem(at: stack.file, to: copy)
      return try sqlite(copy, "SELECT count(*) FROM sqlite_master WHERE name = 'ZSESSION'")
    }
    #expect(try rowsInFileAlone() == "0")
    try stack.coordinator.checkpoint()
    #expect(try rowsInFileAlone() == "1")
    try stack.coordinator.remove(stack.coordinator.persistentStores[0])
    #expect(!FileManager.default.fileExists(atPath: stack.file.path + "-wal"))
  }

  @Test("Counting is one statement, with limit and offset in it")
  func autoKeyStatement() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    let store = try #require(stack.coordinator.persistentStores.first?.rowStore as? SQLiteStore)
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<9, into: context, stack.entity)
      try context.save()
      var seen: [String] = []
      try store.connection().traceHandler = { seen.append($0) }
      let request = stack.request()
      request.predicate = NSPredicate(format: "rating > 1")
      #expect(try context.count(for: request) == 7)
      request.fetchLimit = 4
      #expect(try context.count(for: request) == 4)
      request.fetchOffset = 5
      #expect(try context.count(for: request) == 2)
      try store.connection().traceHandler = nil
      #expect(
        seen == [
          "SELECT count(*) FROM ZSESSION t0 WHERE t0.ZRATING > ?",
          "SELECT count(*) FROM (SELECT 1 FROM ZSESSION t0 WHERE t0.ZRATING > ? LIMIT ? OFFSET ?)",
          "SELECT count(*) FROM (SELECT 1 FROM ZSESSION t0 WHERE t0.ZRATING > ? LIMIT ? OFFSET ?)",
        ])
    }
  }

  @Test("A save is one transaction: an insertion for a chunk's first row, one for the rest, and the keys written once")
  func savingStatements() throws {
    let stack = try Stack(folder)
    let context = stack.context()
    let store = try #require(stack.coordinator.persistentStores.first?.rowStore as? SQLiteStore)
    try context.performAndWait {
      InsertionWay.bulk.insert(0..<900, into: context, stack.entity)
      var seen: [String] = []
      try store.connection().traceHandler = { seen.append($0) }
      try context.save()
      try store.connection().traceHandler = nil
      #expect(
        seen
          == Trace.write([
            "SELECT max(coalesce(Z_MAX, 0), coalesce((SELECT max(Z_PK) FROM ZSESSION), 0)) "
              + "FROM Z_PRIMARYKEY WHERE Z_ENT = ?",
            "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE LIMIT 1",
            "INSERT INTO ZSESSION(Z_PK, Z_ENT, Z_OPT, ZDATE, ZPLACE, ZRATING) "
              + "SELECT pk, 1, 1, s0, s1, s2 FROM ocd_batch_Session",
            "INSERT INTO ZSESSION(Z_ENT, Z_OPT, ZDATE, ZPLACE, ZRATING) SELECT 1, 1, s0, s1, s2 FROM ocd_batch_Session",
            "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?",
          ]))
    }
  }
}
