import Foundation
import TestSupport
import Testing

@testable import OpenCoreData
@testable import PersistentStores

// Rules (Apple documentation: Consuming relevant store changes; NSPersistentHistoryToken): what a history request returns
// was committed, and is of one moment; what a token has not read yet is returned in full, or refused as expired.

@Suite("The history is complete, of one moment, and never ahead of the store")
struct HistoryStateTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.file("Sessions.sqlite") }

  init() throws { folder = try TemporaryFolder() }

  private func coordinator(
    _ options: [AnyHashable: Any]? = [NSPersistentHistoryTrackingKey: true], at file: URL? = nil
  ) throws -> NSPersistentStoreCoordinator {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file ?? self.file, options: options)
    return coordinator
  }

  private func store(_ coordinator: NSPersistentStoreCoordinator) throws -> SQLiteStore {
    try #require(coordinator.persistentStores.first?.rowStore as? SQLiteStore)
  }

  private func insert(_ count: Int = 1, into coordinator: NSPersistentStoreCoordinator) throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      for _ in 0..<count { _ = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context) }
      try context.save()
    }
  }

  private func numbers(_ range: HistoryRange, _ coordinator: NSPersistentStoreCoordinator) throws -> [Int64] {
    try store(coordinator).history(range, withChanges: true).map(\.number)
  }

  private func expectExpired(_ number: Int64, _ coordinator: NSPersistentStoreCoordinator) {
    let error = #expect(throws: NSError.self) { try numbers(.afterNumber(number), coordinator) }
    #expect(error?.code == NSPersistentHistoryTokenExpiredError)
  }

  @Test("A transaction around several saves is in the history once it is committed")
  func openTransaction() throws {
    let coordinator = try coordinator()
    let store = try store(coordinator)
    try insert(into: coordinator)
    try store.beginTransaction()
    try insert(into: coordinator)
    #expect(try numbers(.all, coordinator) == [1])
    #expect(try store.lastTransactionNumber() == 1)
    try store.commitTransaction()
    #expect(try numbers(.all, coordinator) == [1, 2])
    #expect(try store.lastTransactionNumber() == 2)
  }

  @Test("A commit of another process while the history is read is not seen in part")
  func oneMoment() throws {
    let (coordinator, other) = (try coordinator(), try coordinator())
    try insert(into: coordinator)
    let store = try store(coordinator)
    let connection = try store.connection()
    var statements = 0
    var failure: (any Error)?
    connection.traceHandler = { sql in
      guard sql.contains("ATRANSACTION") else { return }
      statements += 1
      do { try insert(into: other) } catch { failure = error }
    }
    let found = try HistoryReader(connection, store.idSpaces).transactions(.all, withChanges: true)
    connection.traceHandler = nil
    #expect(failure == nil && statements >= 2)
    #expect(found.map(\.number) == [1] && found.map(\.changes.count) == [1])
    #expect(try numbers(.all, coordinator).count == statements + 1)
  }

  @Test("A batch request whose predicate is random changes the rows that the history names")
  func randomRows() throws {
    let coordinator = try coordinator()
    try insert(100, into: coordinator)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    let half = NSPredicate(format: "random() < 1073741824")
    let update = NSBatchUpdateRequest(entityName: "Session")
    update.predicate = half
    update.propertiesToUpdate = ["rating": 5]
    update.resultType = .updatedObjectIDsResultType
    let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Session")
    fetch.predicate = half
    let deletion = NSBatchDeleteRequest(fetchRequest: fetch)
    deletion.resultType = .resultTypeObjectIDs
    let (updated, deleted) = try context.performAndWait {
      (
        (try context.execute(update) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID],
        (try context.execute(deletion) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
      )
    }
    let history = try store(coordinator).history(.afterNumber(1), withChanges: true)
    #expect(history.map(\.changes.count) == [updated?.count, deleted?.count])
    #expect(Set(history[0].changes.map(\.id)) == Set(updated ?? []))
    #expect(Set(history[1].changes.map(\.id)) == Set(deleted ?? []))
  }

  @Test("With a clock that was set back, a deletion by date leaves no gap")
  func clockSetBack() throws {
    let coordinator = try coordinator()
    for _ in 1...4 { try insert(into: coordinator) }
    for (number, seconds) in [(1, 100), (2, 400), (3, 200), (4, 500)] {
      try sqlite(file, "UPDATE ATRANSACTION SET ZTIMESTAMP = \(seconds) WHERE Z_PK = \(number)")
    }
    #expect(try store(coordinator).deleteHistory(before: .seconds(300)) == 1)
    #expect(try numbers(.afterNumber(1), coordinator) == [2, 3, 4])
    expectExpired(0, coordinator)
    #expect(try store(coordinator).deleteHistory(before: .seconds(600)) == 3)
    expectExpired(3, coordinator)
    #expect(try numbers(.afterNumber(4), coordinator) == [])
  }

  @Test("A token that is ahead of a store that was put back is refused as expired")
  func olderCopy() throws {
    let copy = folder.file("Backup.sqlite")
    do {
      let coordinator = try coordinator()
      try insert(into: coordinator)
      try store(coordinator).checkpoint()
      try FileManager.default.copyItem(at: file, to: copy)
      try insert(into: coordinator)
    }
    let restored = try coordinator(at: copy)
    #expect(try numbers(.afterNumber(1), restored) == [])
    expectExpired(2, restored)
  }

  @Test("A store whose history another coordinator begins to track is not written to without")
  func trackingBegins() throws {
    let before = try coordinator(nil)
    try insert(into: before)
    let tracking = try coordinator()
    let error = #expect(throws: NSError.self) { try insert(into: before) }
    #expect(error?.code == NSPersistentStoreSaveError)
    try insert(into: tracking)
    // What the error advises.
    let store = try #require(before.persistentStores.first)
    try before.remove(store)
    try before.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    try insert(into: before)
    #expect(try numbers(.all, before) == [1, 2])
  }

  @Test("A token of several stores has all of them or does not exist")
  func partialToken() throws {
    let coordinator = try coordinator()
    let second = folder.file("Second.sqlite")
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: second, options: [NSPersistentHistoryTrackingKey: true])
    #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) != nil)
    try sqlite(second, "DROP TABLE ATRANSACTION")
    #expect(coordinator.currentPersistentHistoryToken(fromStores: nil) == nil)
    #expect(coordinator.currentPersistentHistoryToken(fromStores: [coordinator.persistentStores[0]]) != nil)
  }
}
