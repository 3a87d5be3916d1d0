import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchRequest.execute(): the request runs in the context of the queue that it is called
// on; NSFetchRequest, affectedStores, copying; NSManagedObjectContext: a fetch posts nothing).

@Suite("A request finds the context it is executed in", .overBothStores)
struct ExecuteTests {
  private let folder: TemporaryFolder
  private let stack: Stack

  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack.filled(folder, count: 3)
  }

  @Test("execute() asks the context whose block is running, the innermost of several")
  func innermost() async throws {
    let (outer, inner) = (stack.context(), stack.context())
    let stack = stack
    let owners = try await outer.perform {
      let before = try stack.request().execute().first?.managedObjectContext
      let within = try inner.performAndWait { try stack.request().execute().first?.managedObjectContext === inner }
      let after = try stack.request().execute().first?.managedObjectContext
      return [before === outer, within, after === outer]
    }
    #expect(owners == [true, true, true])
    let fromBlock = await withCheckedContinuation { continuation in
      outer.perform {
        let count = (try? stack.request().execute().count) ?? -1
        continuation.resume(returning: count)
      }
    }
    #expect(fromBlock == 3)
  }

  @Test("Outside of any block it says what to do")
  func nowhere() {
    #expect(message { _ = try stack.request().execute() }.contains("perform"))
  }

  @Test("A copy has everything and is another request")
  func copies() throws {
    let request = stack.request()
    request.fetchLimit = 2
    request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: false)]
    let copy = try #require(request.copy() as? NSFetchRequest<NSManagedObject>)
    request.fetchLimit = 1
    let context = stack.context()
    let places = try context.performAndWait { try context.fetch(copy).map(\.place) }
    #expect(places == ["Spot 2", "Spot 1"])
  }

  @Test("affectedStores: a store that is not named is not asked, by any kind of fetch")
  func stores() throws {
    let other = try Stack.filled(folder, count: 1, name: "other.sqlite")
    for (stores, count) in [(stack.coordinator.persistentStores, 3), (other.coordinator.persistentStores, 0)] {
      let context = stack.context()
      try context.performAndWait {
        let request = stack.request()
        request.affectedStores = stores
        #expect(try context.fetch(request).count == count)
        #expect(try context.count(for: request) == count)
        let dictionaries = stack.dictionaries { $0.affectedStores = stores }
        #expect(try context.fetch(dictionaries).count == count)
        var walked = 0
        try context.walk(request) { batch, _ in
          walked += batch.count
          return true
        }
        #expect(walked == count)
      }
    }
  }

  @Test("A fetch posts no notification")
  func silence() throws {
    let context = stack.context()
    let posted = Counter()
    let names: [Notification.Name] = [
      .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextWillSave, .NSManagedObjectContextDidSave,
      .NSManagedObjectContextDidSaveObjectIDs,
    ]
    let tokens = names.map {
      NotificationCenter.default.addObserver(forName: $0, object: context, queue: nil) { _ in posted.increase() }
    }
    defer { tokens.forEach(NotificationCenter.default.removeObserver) }
    try context.performAndWait {
      let request = stack.request()
      request.fetchBatchSize = 2
      request.shouldRefreshRefetchedObjects = true
      #expect(try context.fetch(request).map(\.place).count == 3)
      _ = try context.fetch(request)
      _ = try context.count(for: request)
      context.processPendingChanges()
    }
    #expect(posted.count == 0)
    context.performAndWait {
      InsertionWay.single.insert(9..<10, into: context, stack.entity)
      context.processPendingChanges()
    }
    #expect(posted.count == 1)
  }
}
