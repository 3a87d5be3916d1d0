import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
@testable import PostgreSQLStore

// Rule (docs/decisions/0039): a save whose answer to COMMIT is lost is complete, or an error that says whether it is.

@Suite("An answer to COMMIT that is lost", .enabled(if: PostgreSQLServer.isThere, serverComment))
struct LostCommitTests {
  private let store: ServerStore
  private let cutter: ConnectionCutter
  private let coordinator: NSPersistentStoreCoordinator

  init() throws {
    store = try ServerStore()
    cutter = try ConnectionCutter(before: try #require(PostgreSQLServer.shared))
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: store.model)
    let address: URL = try #require(cutter.address(instead: store.address))
    try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: address)
  }

  private func end() throws {
    for one in coordinator.persistentStores { try coordinator.remove(one) }
    cutter.stop()
  }

  private func places() throws -> String { try store.psql(#"SELECT "ZPLACE" FROM "ZSESSION" ORDER BY "Z_PK""#) }

  @Test("The save is complete if the server has committed")
  func committed() throws {
    cutter.cutNextCommit(.answer)
    try ServerStore.save(["first"], coordinator)
    #expect(cutter.cutCount == 1)
    try ServerStore.save(["second"], coordinator)
    #expect(try places() == "first\nsecond")
    try end()
  }

  @Test("A transaction around several saves is complete, too")
  func severalSaves() throws {
    let kept = try #require(coordinator.rowStores.first)
    try kept.beginTransaction()
    for place in ["a", "b"] { try ServerStore.save([place], coordinator) }
    cutter.cutNextCommit(.answer)
    try kept.commitTransaction()
    #expect(cutter.cutCount == 1)
    try ServerStore.save(["c"], coordinator)
    #expect(try places() == "a\nb\nc")
    try end()
  }

  @Test("A batch request is complete, too")
  func batch() throws {
    try ServerStore.save(["a", "b"], coordinator)
    cutter.cutNextCommit(.answer)
    let context = ServerStore.context(coordinator)
    let count = try context.performAndWait { () throws -> Int? in
      let request = NSBatchUpdateRequest(entityName: "Session")
      request.propertiesToUpdate = ["place": "c"]
      request.resultType = .updatedObjectsCountResultType
      return (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int
    }
    #expect(count == 2)
    #expect(cutter.cutCount == 1)
    #expect(try places() == "c\nc")
    try end()
  }

  @Test(
    "Nothing is saved if the server never got COMMIT, and the error says so",
    arguments: [ConnectionCutter.Cut.commit, .commitLate(700)])
  func rolledBack(cut: ConnectionCutter.Cut) throws {
    try ServerStore.save(["first"], coordinator)
    cutter.cutNextCommit(cut)
    let error = #expect(throws: NSError.self) { try ServerStore.save(["lost"], coordinator) }
    #expect(error?.localizedDescription.contains("nothing of it is saved") == true, "\(String(describing: error))")
    #expect(cutter.cutCount == 1)
    #expect(try places() == "first")
    try ServerStore.save(["lost"], coordinator)
    #expect(try places() == "first\nlost")
    try end()
  }

  @Test("If the server can't be asked, the error says that the save may be complete")
  func unknown() throws {
    cutter.cutNextCommit(.answerForGood)
    let error = #expect(throws: NSError.self) { try ServerStore.save(["a"], coordinator) }
    #expect(error?.localizedDescription.contains("the save may be complete") == true, "\(String(describing: error))")
    #expect(try places() == "a")
    // A read finds no server either, and says that it may find one later.
    let context = ServerStore.context(coordinator)
    let failure = #expect(throws: NSError.self) {
      try context.performAndWait { _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session")) }
    }
    #expect(failure?.domain == NSCocoaErrorDomain && failure?.mayPass == true, "\(String(describing: failure))")
    try end()
  }

  @Test("A number of another history of the server is not asked about")
  func otherTimeline() throws {
    let kept = try #require(coordinator.rowStores.first as? PostgreSQLStore)
    let name = try kept.transaction("Writing to") { connection in
      try connection.send("UPDATE Z_METADATA SET Z_VERSION = Z_VERSION")
      return try #require(try connection.lastLook().name)
    }
    try kept.access("Asking") { (connection) throws in
      #expect(try connection.outcome(of: name) == .committed)
      let other = TransactionName(number: name.number, timeline: "00000002")
      #expect(try connection.outcome(of: other) == .unknown)
      let later = TransactionName(number: "99999999", timeline: name.timeline)
      #expect(try connection.outcome(of: later) == .unknown)
    }
    try end()
  }
}
