import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSAsynchronousFetchRequest, NSAsynchronousFetchResult): execute returns before anything
// is read; the completion block is called on the context's queue; progress counts results; a cancel ends the reading
// and gives NSUserCancelledError.

@Suite("An asynchronous fetch reads off the queue and delivers on it", .overBothStores)
struct AsynchronousFetchTests {
  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 2500)
  }

  /// What a fetch delivers, looked at by `look` on the context's queue.
  private func deliver<ResultType, Seen: Sendable>(
    _ context: NSManagedObjectContext, _ request: () -> NSFetchRequest<ResultType>,
    afterwards: (NSPersistentStoreAsynchronousResult) throws -> Void = { _ in },
    look: @escaping @Sendable (NSAsynchronousFetchResult<ResultType>) -> Seen
  ) async throws -> Seen {
    let (stream, continuation) = AsyncStream.makeStream(of: Seen.self)
    try context.performAndWait {
      let asynchronous = NSAsynchronousFetchRequest(fetchRequest: request()) { result in
        continuation.yield(look(result))
      }
      let result = try context.execute(asynchronous)
      try afterwards(try #require(result as? NSPersistentStoreAsynchronousResult))
    }
    var iterator = stream.makeAsyncIterator()
    return try #require(await iterator.next())
  }

  private func places(_ context: NSManagedObjectContext, _ change: (NSFetchRequest<NSManagedObject>) -> Void)
    async throws
    -> [String?]
  {
    let request = { () -> NSFetchRequest<NSManagedObject> in
      let request = stack.request()
      change(request)
      return request
    }
    return try await deliver(context, request) { ($0.finalResult ?? []).map(\.place) }
  }

  @Test("Objects come on the context's queue, and progress has counted them")
  func objects() async throws {
    let context = stack.context()
    let seen = try await deliver(context, stack.request) { result in
      [
        context.queue.isCurrent, result.finalResult?.count == 2500, result.operationError == nil,
        result.progress?.completedUnitCount == 2500, result.progress?.totalUnitCount == 2500,
        result.finalResult?.last?.managedObjectContext === context, result.finalResult?.last?.place == "Spot 2499",
      ]
    }
    #expect(seen == Array(repeating: true, count: 7))
  }

  @Test("Nothing is there before the block is done")
  func laziness() async throws {
    let context = stack.context()
    let count = try await deliver(context, stack.request) { result in
      let later = result as? NSAsynchronousFetchResult<NSManagedObject>
      #expect(later?.finalResult == nil && later?.progress?.totalUnitCount == -1)
    } look: {
      $0.finalResult?.count
    }
    #expect(count == 2500)
  }

  @Test("Pending changes of the whole chain count, with order, limit and offset")
  func pending() async throws {
    let parent = stack.context()
    let child = stack.context(parent)
    try parent.performAndWait {
      let objects = try parent.fetch(stack.request())
      parent.delete(objects[0])
      objects[1].setValue("Changed", forKey: "place")
    }
    child.performAndWait { InsertionWay.single.insert(9000..<9001, into: child, stack.entity) }
    #expect(
      try await places(child) {
        $0.fetchLimit = 3
        $0.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
      } == ["Changed", "Spot 2", "Spot 3"])
    #expect(try await places(child) { $0.fetchOffset = 2497 } == ["Spot 2498", "Spot 2499", "Spot 9000"])
  }

  @Test(
    "What is saved, inserted or dropped between reading and delivery is neither lost nor doubled",
    arguments: ["save", "insert", "rollback"])
  func meanwhile(change: String) async throws {
    let context = stack.context()
    context.performAndWait { InsertionWay.single.insert(9000..<9001, into: context, stack.entity) }
    let found = try await deliver(context, stack.request) { _ in
      // The block still holds the queue, so this happens before the delivery.
      Thread.sleep(forTimeInterval: 0.05)
      switch change {
      case "save": try context.save()
      case "insert": InsertionWay.single.insert(9001..<9002, into: context, stack.entity)
      default: context.rollback()
      }
    } look: {
      ($0.finalResult ?? []).dropFirst(2500).map(\.place)
    }
    let expected = ["save": ["Spot 9000"], "insert": ["Spot 9000", "Spot 9001"], "rollback": []][change]
    #expect(found == expected)
  }

  @Test("IDs, counts and dictionaries come this way too")
  func resultTypes() async throws {
    let context = stack.context()
    context.performAndWait { InsertionWay.single.insert(9000..<9001, into: context, stack.entity) }
    func request<ResultType>(_ type: NSFetchRequestResultType) -> NSFetchRequest<ResultType> {
      let request = NSFetchRequest<ResultType>(entityName: "Session")
      request.resultType = type
      return request
    }
    let ids: Int? = try await deliver(
      context, { request(.managedObjectIDResultType) as NSFetchRequest<NSManagedObjectID> }
    ) { $0.finalResult?.count }
    let count: Int? = try await deliver(
      context, { request(.countResultType) as NSFetchRequest<NSNumber> }
    ) { $0.finalResult?.first?.intValue }
    let dictionaries: Int? = try await deliver(
      context, { request(.dictionaryResultType) as NSFetchRequest<NSDictionary> }
    ) { $0.finalResult?.count }
    #expect(ids == 2501 && count == 2501 && dictionaries == 2500)
  }

  @Test("A cancelled fetch delivers NSUserCancelledError and no result", arguments: [true, false])
  func cancelled(byProgress: Bool) async throws {
    let context = stack.context()
    let seen = try await deliver(context, stack.request) { result in
      if byProgress { result.progress?.cancel() } else { result.cancel() }
    } look: {
      ($0.finalResult == nil, ($0.operationError as NSError?)?.code)
    }
    #expect(seen.0 && seen.1 == CocoaError.userCancelled.rawValue)
  }

  @Test("A failing fetch delivers its error", .sqliteOnly("The table is renamed to make it fail"))
  func failure() async throws {
    let context = stack.context()
    try stack.sqlite("ALTER TABLE ZSESSION RENAME TO ELSEWHERE")
    let message = try await deliver(context, stack.request) { $0.operationError?.localizedDescription ?? "" }
    #expect(message.contains("ZSESSION"))
    let misfit = NSAsynchronousFetchRequest(
      fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Sesion"), completionBlock: nil)
    context.performAndWait {
      _ = #expect(throws: NSError.self) { try context.execute(misfit) }
    }
  }

  @Test(
    "A store in memory is read while nothing is written, and delivers in the same way",
    .sqliteOnly("The test adds a store of its own"))
  func inMemory() async throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let (context, writer) = (
      NSManagedObjectContext(concurrencyType: .privateQueue), NSManagedObjectContext(concurrencyType: .privateQueue)
    )
    for one in [context, writer] { one.persistentStoreCoordinator = coordinator }
    let entity = stack.entity
    try writer.performAndWait {
      InsertionWay.bulk.insert(0..<2500, into: writer, entity)
      try writer.save()
    }
    let count = try await deliver(context, stack.request) { _ in
      try writer.performAndWait {
        InsertionWay.bulk.insert(2500..<2600, into: writer, entity)
        try writer.save()
      }
    } look: {
      $0.finalResult?.count
    }
    #expect(count == 2500 || count == 2600)
  }

  @Test(
    "A cancellation flag ends a statement that would run for ever", .sqliteOnly("About a statement of SQL"),
    .timeLimit(.minutes(1)))
  func endless() throws {
    let connection = try SQLiteConnection(path: "", mode: .privateTemporary)
    let stop = CancellationFlag()
    DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { stop.cancel() }
    let error = #expect(throws: NSError.self) {
      try connection.stopping(at: stop) {
        _ = try connection.integer(
          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
      }
    }
    #expect(error?.code == CocoaError.userCancelled.rawValue)
    #expect(try connection.integer("SELECT 7") == 7)
  }
}
