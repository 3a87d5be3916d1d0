import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rule (docs/decisions/0039): a save is complete or there is none, whatever others write at the same time.

@Suite("Writers of a store in PostgreSQL", .enabled(if: PostgreSQLServer.isThere, serverComment))
struct ServerWriterTests {
  private let store: ServerStore
  init() throws { store = try ServerStore() }

  private func opened() throws -> (coordinator: NSPersistentStoreCoordinator, store: PostgreSQLStore) {
    let coordinator = try store.coordinator()
    return (coordinator, try #require(coordinator.rowStores.first as? PostgreSQLStore))
  }

  @Test("The commit of a transaction that has failed is an error")
  func failedTransaction() throws {
    let (coordinator, kept) = try opened()
    try kept.beginTransaction()
    try kept.access("Writing") { connection in
      try connection.send("DELETE FROM Z_METADATA")
      _ = try? connection.query("SELECT 1 / 0")
    }
    let error = #expect(throws: NSError.self) { try kept.commitTransaction() }
    #expect(error?.localizedDescription.contains("nothing of it is saved") == true)
    try kept.rollBackTransaction()
    // The server answers ROLLBACK if the failed statement is sent with COMMIT.
    let last = #expect(throws: NSError.self) {
      try kept.access("Writing") { connection in try connection.commit() }
    }
    #expect(last?.userInfo[PostgreSQLError.stateKey] as? String == "25P02")
    try ServerStore.save(["after"], coordinator)
    #expect(try store.psql(#"SELECT count(*) FROM "ZSESSION", "Z_METADATA""#) == "1")
  }

  @Test("A block of keys is given once, whatever keys other programs have written")
  func blocks() throws {
    let (first, second) = (try opened(), try opened())
    try ServerStore.save(["a"], first.coordinator)
    // Far beyond the blocks: the greatest key there is.
    _ = try store.psql(
      #"INSERT INTO "ZSESSION" ("Z_PK", "Z_ENT", "Z_OPT") VALUES (20000000, 1, 1), (9223372036854775807, 1, 1)"#)
    try ServerStore.save(["b"], second.coordinator)
    try ServerStore.save(["c"], try opened().coordinator)
    #expect(
      try store.psql(
        #"SELECT string_agg("Z_PK"::text, ' ' ORDER BY "Z_PK") FROM "ZSESSION" WHERE "ZPLACE" IS NOT NULL"#)
        == "1 65537 131073")
    _ = try store.psql(#"DELETE FROM "ZSESSION" WHERE "Z_PK" > 20000000"#)
    try ServerStore.save(["d"], try opened().coordinator)
    #expect(try store.psql(#"SELECT "Z_PK" FROM "ZSESSION" WHERE "ZPLACE" = 'd'"#) == "20054017")
  }

  @Test("A batch update leaves rows alone that another writer has changed so that they no longer match")
  func batchUpdate() async throws {
    let (own, other) = (try opened(), try opened())
    try ServerStore.save(["old", "old"], own.coordinator)
    let number = try own.store.access("Asking") { try $0.integer("SELECT pg_backend_pid()", []) ?? 0 }
    try other.store.beginTransaction()
    try other.store.access("Writing") { try $0.send("UPDATE ZSESSION SET ZPLACE = 'theirs' WHERE Z_PK = 1") }
    let coordinator = own.coordinator
    let update = Task.detached {
      let context = ServerStore.context(coordinator)
      try context.performAndWait {
        let request = NSBatchUpdateRequest(entityName: "Session")
        request.predicate = NSPredicate(format: "place == 'old'")
        request.propertiesToUpdate = ["place": "new"]
        _ = try context.execute(request)
      }
    }
    try other.store.access("Writing") { try $0.finish() }
    while try store.psql("SELECT cardinality(pg_blocking_pids(\(number)))") == "0" {
      try await Task.sleep(for: .milliseconds(20))
    }
    try other.store.commitTransaction()
    try await update.value
    #expect(try store.psql(#"SELECT "ZPLACE" FROM "ZSESSION" ORDER BY "Z_PK""#) == "theirs\nnew")
  }

  @Test("A changed object with a text that is refused is named once")
  func refusedUpdate() throws {
    let (coordinator, _) = try opened()
    try ServerStore.save(["a", "b", "c"], coordinator)
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      for object in try context.fetch(request) {
        object.setValue(object.value(forKey: "place") as? String == "b" ? "a\0b" : "new", forKey: "place")
      }
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect((error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID])?.count == 1)
    }
    #expect(try store.psql(#"SELECT "ZPLACE" FROM "ZSESSION" ORDER BY "Z_PK""#) == "a\nb\nc")
  }

  @Test("Destroying a store leaves tables of others alone, whatever their names")
  func othersTables() throws {
    let (coordinator, _) = try opened()
    _ = try store.psql(#"CREATE TABLE "ZOO" ("Z_PK" bigint); CREATE TABLE "Z_1OTHER" (name text)"#)
    for one in coordinator.persistentStores { try coordinator.remove(one) }
    try coordinator.destroyPersistentStore(at: store.address, ofType: NSPostgreSQLStoreType)
    #expect(
      try store.psql(
        "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class "
          + "WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'v', 'S')") == "ZOO Z_1OTHER")
  }

  @Test("Two entities can have names that differ by _Keys")
  func sequenceNames() throws {
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: try NSManagedObjectModel.load(
        xml: Data(
          ServerStore.xml.replacingOccurrences(
            of: "<model>",
            with: "<model><entity name=\"Session_Keys\"><attribute name=\"a\" optional=\"YES\" "
              + "attributeType=\"String\"/></entity>"
          ).utf8)))
    try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: store.address)
    try ServerStore.save(["a"], coordinator)
    #expect(try store.psql(#"SELECT "Z_PK" FROM "ZSESSION""#) == "1")
  }
}
