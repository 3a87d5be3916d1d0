import Foundation
import SystemSupport
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

  /// Notes what a save participant sees, and can end the save at its beginning.
  private final class Watcher: SaveParticipant {
    struct Refusal: Error {}
    let seen = Locked<[String]>([])
    let refuses = Locked(false)

    func begin(_ transaction: SaveTransaction) throws {
      try note(transaction)
      if refuses.withLock({ $0 }) { throw Refusal() }
    }
    func write(to transaction: SaveTransaction) throws { try note(transaction) }

    private func note(_ transaction: SaveTransaction) throws {
      let count = try transaction.rows("SELECT count(*) FROM ZSESSION WHERE ZPLACE = ?1 OR ZPLACE <> ?1", ["a"])[0][0]
      let keys = transaction.insertedKeys(ofRoot: "Session").map { "\($0.lowerBound)-\($0.upperBound)" }
      seen.withLock { $0.append("\(count ?? -1) \(keys.joined())") }
    }
  }

  @Test("A participant is called before the changes are written, and learns which keys the store gave")
  func participant() throws {
    let (coordinator, _) = try opened()
    let watcher = Watcher()
    coordinator.addSaveParticipant(watcher)
    try ServerStore.save(["a", "b", "c"], coordinator)
    watcher.refuses.withLock { $0 = true }
    #expect(throws: Watcher.Refusal.self) { try ServerStore.save(["d"], coordinator) }
    watcher.refuses.withLock { $0 = false }
    try ServerStore.save(["d"], coordinator)
    #expect(watcher.seen.withLock { $0 } == ["0 ", "3 1-3", "3 ", "3 ", "4 4-4"])
  }

  /// Sends a check ahead, whose answer comes with a later statement.
  private final class Guard: SaveParticipant {
    let count = Locked(0)

    func begin(_ transaction: SaveTransaction) throws {
      try transaction.check("SELECT count(*) FROM ZSESSION WHERE ZPLACE = ?", ["closed"]) { [self] rows in
        count.withLock { $0 += 1 }
        if rows[0][0] as? Int64 != 0 { throw Watcher.Refusal() }
      }
    }
    func write(to transaction: SaveTransaction) throws {}
  }

  @Test("Nothing is saved that a check refuses which was sent ahead: packed rows, single objects, or none")
  func checkAhead() throws {
    let (coordinator, _) = try opened()
    let check = Guard()
    coordinator.addSaveParticipant(check)
    try ServerStore.save(["a", "b"], coordinator)
    try coordinator.saveParticipants()
    #expect(check.count.withLock { $0 } == 2)
    _ = try store.psql(#"INSERT INTO "ZSESSION" ("Z_PK", "Z_ENT", "Z_OPT", "ZPLACE") VALUES (1000, 1, 1, 'closed')"#)
    #expect(throws: Watcher.Refusal.self) { try ServerStore.save(["c", "d"], coordinator) }
    #expect(throws: Watcher.Refusal.self) { try coordinator.saveParticipants() }
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session"))
      objects[0].setValue("changed", forKey: "place")
      context.delete(objects[1])
      #expect(throws: Watcher.Refusal.self) { try context.save() }
    }
    #expect(check.count.withLock { $0 } == 5)
    #expect(try store.psql(#"SELECT "ZPLACE" FROM "ZSESSION" ORDER BY "Z_PK""#) == "a\nb\nclosed")
    _ = try store.psql(#"DELETE FROM "ZSESSION" WHERE "ZPLACE" = 'closed'"#)
    try ServerStore.save(["c"], coordinator)
    #expect(try store.psql(#"SELECT "ZPLACE" FROM "ZSESSION" ORDER BY "Z_PK""#) == "a\nb\nc")
  }

  @Test(
    "A walk sees each row once, whatever was read ahead, and one that ends early leaves the store usable",
    arguments: [1, 3, 999, 1000, 1001, 2500, 9999])
  func walk(objectsPerBatch: Int) throws {
    let (coordinator, _) = try opened()
    let places = (0..<2500).map { "P\($0)" }
    try ServerStore.save(places, coordinator)
    let context = ServerStore.context(coordinator)
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      for batchesMax in [1, 2, Int.max] {
        var (seen, batches): ([String], Int) = ([], 0)
        try context.walkObjects(request, objectsPerBatch: objectsPerBatch) { objects in
          #expect(objects.count <= objectsPerBatch)
          seen += objects.compactMap { $0.value(forKey: "place") as? String }
          batches += 1
          return batches < batchesMax
        }
        #expect(seen == Array(places.prefix(batchesMax == .max ? places.count : batchesMax * objectsPerBatch)))
        #expect(try context.count(for: request) == places.count)
      }
    }
  }

  @Test("The state of objects differs after each change by another program, and not without one")
  func changeMark() throws {
    let (coordinator, _) = try opened()
    try ServerStore.save(["a", "b"], coordinator)
    let entity = try #require(coordinator.managedObjectModel.entitiesByName["Session"])
    let mark = try coordinator.changeMark(of: [entity])
    func value() throws -> Int64? { try coordinator.participantRows(mark.query)[0][0] as? Int64 }
    var known = try value()
    #expect(try value() == known)
    for change in [
      #"UPDATE "ZSESSION" SET "ZPLACE" = "ZPLACE" WHERE "Z_PK" = 1"#, #"DELETE FROM "ZSESSION" WHERE "Z_PK" = 2"#,
      #"INSERT INTO "ZSESSION" ("Z_PK", "Z_ENT", "Z_OPT") VALUES (2, 1, 1)"#,
    ] {
      _ = try store.psql(change)
      let now = try value()
      #expect(now != known, "\(change)")
      known = now
    }
    _ = try store.psql(#"UPDATE "ZSPOT" SET "ZNAME" = 'x'"#)
    #expect(try value() == known)
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

  /// The sequence of a server that has lost its last commits gives a block again.
  private func giveBlockAgain() throws {
    _ = try store.psql(#"SELECT setval(pg_get_serial_sequence('"ZSESSION"', 'Z_PK'), 1, false)"#)
  }

  @Test("A save whose keys another program uses at the same time can be repeated")
  func sameKeys() throws {
    let (first, second) = (try opened(), try opened())
    try ServerStore.save(["a"], first.coordinator)
    try giveBlockAgain()
    try ServerStore.save(["b"], second.coordinator)
    try first.store.beginTransaction()
    try ServerStore.save(["c"], first.coordinator)
    let (coordinator, ended) = (second.coordinator, DispatchSemaphore(value: 0))
    let failure = Locked<NSError?>(nil)
    Thread.detachNewThread {
      do { try ServerStore.save(["d", "e"], coordinator) } catch { failure.withLock { $0 = error as NSError } }
      ended.signal()
    }
    while try store.psql(
      "SELECT count(*) FROM pg_stat_activity WHERE cardinality(pg_blocking_pids(pid)) > 0 AND query LIKE '%COPY%ZSESSION%'"
    )
      == "0"
    {
      let hasEnded = ended.wait(timeout: .now() + .milliseconds(20)) == .success
      try #require(!hasEnded, "the save did not wait for the row")
    }
    try first.store.commitTransaction()
    ended.wait()
    let error = failure.withLock { $0 }
    #expect(error?.code == NSPersistentStoreTimeoutError && error?.mayPass == true, "\(String(describing: error))")
    try ServerStore.save(["d", "e"], coordinator)
    #expect(
      try store.psql(#"SELECT string_agg("ZPLACE", '' ORDER BY "ZPLACE"), max("Z_PK") > 65536 FROM "ZSESSION""#)
        == "abcde|t")
  }

  @Test("A store whose connection was lost takes a new block: the server may have given the old one to others")
  func blockAfterLoss() throws {
    let (coordinator, kept) = try opened()
    try ServerStore.save(["a"], coordinator)
    let number = try kept.access("Asking") { try $0.integer("SELECT pg_backend_pid()", []) ?? 0 }
    _ = try store.psql("SELECT pg_terminate_backend(\(number), 5000)")
    try ServerStore.save(["b"], coordinator)
    kept.disconnect()
    try ServerStore.save(["c"], coordinator)
    #expect(try store.psql(#"SELECT string_agg("Z_PK"::text, ' ' ORDER BY "Z_PK") FROM "ZSESSION""#) == "1 65537 65538")
  }

  @Test("A batch update leaves rows alone that another writer has changed so that they no longer match")
  func batchUpdate() throws {
    let (own, other) = (try opened(), try opened())
    try ServerStore.save(["old", "old"], own.coordinator)
    let number = try own.store.access("Asking") { try $0.integer("SELECT pg_backend_pid()", []) ?? 0 }
    try other.store.beginTransaction()
    try other.store.access("Writing") {
      try $0.send("UPDATE ZSESSION SET ZPLACE = 'theirs' WHERE Z_PK = 1")
      try $0.finish()
    }
    let (coordinator, ended) = (own.coordinator, DispatchSemaphore(value: 0))
    let failure = Locked<String?>(nil)
    // A thread of its own waits for the row: those of the tests may all be taken.
    Thread.detachNewThread {
      do {
        let context = ServerStore.context(coordinator)
        try context.performAndWait {
          let request = NSBatchUpdateRequest(entityName: "Session")
          request.predicate = NSPredicate(format: "place == 'old'")
          request.propertiesToUpdate = ["place": "new"]
          _ = try context.execute(request)
        }
      } catch {
        failure.withLock { $0 = "\(error)" }
      }
      ended.signal()
    }
    while try store.psql("SELECT cardinality(pg_blocking_pids(\(number)))") == "0" {
      let hasEnded = ended.wait(timeout: .now() + .milliseconds(20)) == .success
      try #require(!hasEnded, "the update did not wait for the row")
    }
    try other.store.commitTransaction()
    ended.wait()
    #expect(failure.withLock { $0 } == nil)
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
