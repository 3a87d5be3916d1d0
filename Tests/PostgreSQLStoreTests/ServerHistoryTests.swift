import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rule (docs/decisions/0039): transactions have numbers in the order of their commits, so that who has read up to one never
// misses another.

@Suite("The history of a store in PostgreSQL", .enabled(if: PostgreSQLServer.isThere, serverComment))
struct ServerHistoryTests {
  private let store: ServerStore
  init() throws { store = try ServerStore() }

  private static var tracking: [AnyHashable: Any] { [NSPersistentHistoryTrackingKey: true] }

  private func opened(
    _ options: [AnyHashable: Any]? = ServerHistoryTests.tracking
  ) throws -> (coordinator: NSPersistentStoreCoordinator, store: PostgreSQLStore) {
    let coordinator = try store.coordinator(options: options)
    return (coordinator, try #require(coordinator.rowStores.first as? PostgreSQLStore))
  }

  private static func numbers(_ store: PostgreSQLStore, after number: Int64 = 0) throws -> [Int64] {
    try store.history(.afterNumber(number), withChanges: true).map(\.number)
  }

  @Test("A transaction that began first and is committed last has the greater number")
  func order() throws {
    let (slow, quick) = (try opened(), try opened())
    try slow.store.beginTransaction()
    try ServerStore.save(["slow"], slow.coordinator)
    try ServerStore.save(["quick"], quick.coordinator)
    #expect(try Self.numbers(quick.store) == [1])
    #expect(try slow.store.lastTransactionNumber() == 1)
    try ServerStore.save(["slow again"], slow.coordinator)
    try slow.store.commitTransaction()
    #expect(try Self.numbers(quick.store, after: 1) == [2, 3])
    #expect(try quick.store.history(.all, withChanges: true).map(\.changes.count) == [1, 1, 1])
  }

  @Test("What is rolled back leaves no transaction and no gap")
  func rollBack() throws {
    let (coordinator, kept) = try opened()
    try kept.beginTransaction()
    try ServerStore.save(["a"], coordinator)
    #expect(throws: NSError.self) { try ServerStore.save(["b\0"], coordinator) }
    try ServerStore.save(["c"], coordinator)
    try kept.commitTransaction()
    try kept.beginTransaction()
    try ServerStore.save(["d"], coordinator)
    try kept.rollBackTransaction()
    try ServerStore.save(["e"], coordinator)
    #expect(try Self.numbers(kept) == [1, 2, 3])
    #expect(try store.psql(#"SELECT count(*) FROM "ACHANGE""#) == "3")
  }

  @Test("A reader that follows many writers by tokens sees each save once, in order")
  func following() async throws {
    let (writerCount, saveCount) = (4, 25)
    let follower = try opened()
    let isDone = Locked(false)
    let reading = Task.detached { [store = follower.store] () throws -> (seen: [Int64], changes: Int) in
      var seen: [Int64] = []
      var changes = 0
      while true {
        let isLast = isDone.withLock { $0 }
        for transaction in try store.history(.afterNumber(seen.last ?? 0), withChanges: true) {
          seen.append(transaction.number)
          changes += transaction.changes.count
        }
        if isLast { return (seen, changes) }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<writerCount {
        let own = try opened().coordinator
        group.addTask {
          for round in 0..<saveCount { try ServerStore.save((0...(round % 3)).map { "\(writer) \($0)" }, own) }
        }
      }
      try await group.waitForAll()
    }
    isDone.withLock { $0 = true }
    let (seen, changes) = try await reading.value
    #expect(seen == Array(1...Int64(writerCount * saveCount)))
    let rows = try store.psql(#"SELECT count(*) FROM "ZSESSION""#)
    #expect(String(changes) == rows)
  }

  @Test("Deletions preserve values bit for bit, in a save and in a batch request", arguments: [true, false])
  func tombstones(isBatch: Bool) throws {
    let xml = ServerStore.xml.replacingOccurrences(
      of: " attributeType", with: " preserveAfterDeletion=\"YES\" attributeType")
    let model = try NSManagedObjectModel.load(xml: Data(xml.utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: NSPostgreSQLStoreType, configurationName: nil, at: store.address, options: Self.tracking)
    let entity = try #require(model.entitiesByName["Session"])
    let expected: [String: StoredValue] = [
      "amount": .decimal(try #require(Decimal(string: "-12345678901234567890.0123456789"))),
      "data": .blob(Data([0, 1, 255])), "date": .real(-0x1.fffffffffffffp+37), "flag": .integer(1),
      "height": .real(.leastNonzeroMagnitude), "id": .blob(Data((0..<16).map { UInt8($0) })), "large": .integer(.min),
      "middle": .integer(-2_147_483_648), "place": .text("e\u{301}\u{1F3C4}"), "rating": .integer(-32768),
      "url": .text("https://a/b?c#d"),
    ]
    let context = ServerStore.context(coordinator)
    try context.performAndWait { () throws in
      let object = NSManagedObject(entity: entity, insertInto: context)
      for (name, value) in expected {
        object.setValue(entity.attributesByName[name]?.foundationValue(from: value), forKey: name)
      }
      try context.save()
      if isBatch {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Session")
        _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request))
      } else {
        context.delete(object)
        try context.save()
      }
    }
    let kept = try #require(coordinator.rowStores.first as? PostgreSQLStore)
    let change = try #require(try kept.history(.all, withChanges: true).last?.changes.first)
    #expect(change.kind == .delete && change.tombstone == expected)
  }

  @Test("A store whose history another program begins to track is not written to without")
  func trackingBegins() throws {
    let before = try opened(nil)
    try ServerStore.save(["a"], before.coordinator)
    let tracking = try opened()
    let error = #expect(throws: NSError.self) { try ServerStore.save(["b"], before.coordinator) }
    #expect(error?.code == NSPersistentStoreSaveError)
    try ServerStore.save(["c"], tracking.coordinator)
    // What the error advises.
    let again = try opened(nil)
    try ServerStore.save(["d"], again.coordinator)
    #expect(try Self.numbers(again.store) == [1, 2])
    #expect(try store.psql(#"SELECT string_agg("ZPLACE", ' ' ORDER BY "Z_PK") FROM "ZSESSION""#) == "a c d")
  }

  @Test("A store that was made anew by another program is not written to")
  func madeAnew() throws {
    let before = try opened(nil)
    try ServerStore.save(["a"], before.coordinator)
    try store.coordinator().destroyPersistentStore(at: store.address, ofType: NSPostgreSQLStoreType)
    let new = try opened(nil)
    let error = #expect(throws: NSError.self) { try ServerStore.save(["b"], before.coordinator) }
    #expect(error?.localizedDescription.contains("made it anew") == true)
    try ServerStore.save(["c"], new.coordinator)
    #expect(try store.psql(#"SELECT "ZPLACE" FROM "ZSESSION""#) == "c")
  }

  @Test("With a clock that was set back, a deletion by date leaves no gap")
  func clockSetBack() throws {
    let (coordinator, kept) = try opened()
    for number in 1...4 { try ServerStore.save(["\(number)"], coordinator) }
    for (number, seconds) in [(1, 100), (2, 400), (3, 200), (4, 500)] {
      _ = try store.psql(#"UPDATE "ATRANSACTION" SET "ZTIMESTAMP" = \#(seconds) WHERE ocd_number = \#(number)"#)
    }
    #expect(try kept.deleteHistory(before: .seconds(300)) == 1)
    #expect(try Self.numbers(kept, after: 1) == [2, 3, 4])
    let error = #expect(throws: NSError.self) { try Self.numbers(kept, after: 0) }
    #expect(error?.code == NSPersistentHistoryTokenExpiredError)
    #expect(try kept.deleteHistory(before: .seconds(600)) == 3)
    #expect(try Self.numbers(kept, after: 4) == [])
    #expect(try store.psql(#"SELECT count(*) FROM "ACHANGE""#) == "0")
  }

  @Test("Writes of others are announced by asking for the last number")
  func remoteChanges() async throws {
    let coordinator = try store.coordinator(options: [
      NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
    ])
    let found = Locked<[String]>([])
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { note in
      if let token = note.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken {
        let text = token.description
        found.withLock { $0.append(text) }
      }
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try ServerStore.save(["other"], try opened().coordinator)
    for _ in 0..<60 where found.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(50)) }
    #expect(found.withLock { $0.first } == coordinator.currentPersistentHistoryToken(fromStores: nil)?.description)
  }
}
