import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSQueryGenerationToken, NSManagedObjectContext.setQueryGenerationFrom(_:), "Accessing data
// when the store changes"; NSManagedObjectContext.h): a context that is pinned reads one state of the store, from its
// first read on; children read what the root does and can't be pinned; a save or reset moves on; nil unpins; only
// SQLite stores with a log have generations.

@Suite("A pinned context goes on reading one state of the store while others save")
struct QueryGenerationTests {
  private let folder: TemporaryFolder
  private let stack: Stack
  init() throws {
    folder = try TemporaryFolder()
    stack = try Stack(folder)
    let writer = stack.context()
    try writer.performAndWait {
      InsertionWay.single.insert(0..<3, into: writer, stack.entity)
      try writer.save()
    }
  }

  private func places(_ context: NSManagedObjectContext) throws -> [String?] {
    try context.performAndWait {
      let request = stack.request()
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
      request.returnsObjectsAsFaults = false
      request.shouldRefreshRefetchedObjects = true
      let found = try context.fetch(request).map(\.place)
      #expect(try context.count(for: request) == found.count)
      var walked = 0
      try context.walk(request, rowsPerBatch: 2) { batch, _ in
        walked += batch.count
        return true
      }
      #expect(walked == found.count)
      return found
    }
  }

  private func pin(_ context: NSManagedObjectContext, _ token: NSQueryGenerationToken? = .current) throws {
    try context.performAndWait { try context.setQueryGenerationFrom(token) }
  }

  /// Another context's save: one session changed, one deleted, one new.
  private func edit() throws {
    let other = stack.context()
    try other.performAndWait {
      let all = try other.fetch(stack.request())
      all.first { $0.place == "Spot 0" }?.setValue("changed", forKey: "place")
      all.first { $0.place == "Spot 1" }.map(other.delete)
      InsertionWay.single.insert(3..<4, into: other, stack.entity)
      try other.save()
    }
  }

  private let before: [String?] = ["Spot 0", "Spot 1", "Spot 2"]
  private let after: [String?] = ["changed", "Spot 2", "Spot 3"]

  @Test("What others save is seen once the generation is set again, or unpinned", arguments: [true, false])
  func pinned(again: Bool) throws {
    let context = stack.context()
    let child = stack.context(context)
    try pin(context)
    #expect(try places(context) == before)
    try edit()
    #expect(try places(context) == before && places(child) == before)
    #expect(try places(stack.context()) == after)
    try pin(context, again ? .current : nil)
    #expect(try places(context) == after && places(child) == after)
    #expect(try sqlite(stack.file, "SELECT count(*) FROM ZSESSION") == "3")
  }

  @Test("The current generation is the one of the first read")
  func lazily() throws {
    let context = stack.context()
    try pin(context)
    #expect(context.queryGenerationToken == .current)
    try edit()
    #expect(try places(context) == after)
    #expect(context.queryGenerationToken != .current && context.queryGenerationToken != nil)
  }

  @Test("A fault of a row that is deleted in the meantime is still filled")
  func faults() throws {
    let context = stack.context()
    try pin(context)
    try context.performAndWait {
      let request = stack.request()
      request.includesPropertyValues = false
      let objects = try context.fetch(request)
      #expect(objects.allSatisfy { $0.isFault })
      try edit()
      #expect(objects.map(\.place) == before)
      let gone = try #require(objects.first { $0.place == "Spot 1" })
      context.refresh(gone, mergeChanges: false)
      #expect(gone.place == "Spot 1" && !gone.isDeleted)
      try context.setQueryGenerationFrom(nil)
      context.refresh(gone, mergeChanges: false)
      #expect(gone.place == nil && gone.isDeleted)
    }
  }

  @Test("A save is checked against the newest state, and moves the context on to it")
  func saving() throws {
    let context = stack.context()
    try pin(context)
    try context.performAndWait {
      let objects = try context.fetch(stack.request())
      let (changed, other) = (objects[0], objects[2])
      try edit()
      changed.setValue(5, forKey: "rating")
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSManagedObjectMergeError)
      #expect(try places(context).contains("Spot 1"), "a save that failed changes nothing")
      context.refresh(changed, mergeChanges: false)
      other.setValue(5, forKey: "rating")
      try context.save()
      #expect(context.queryGenerationToken == .current)
    }
    #expect(try places(context) == after)
    try edit()
    context.performAndWait { context.reset() }
    #expect(try places(context) == ["changed", "Spot 2", "Spot 3", "Spot 3"])
  }

  @Test("Contexts with one token see the same; tokens are equal when their generation is")
  func sharing() throws {
    let (first, second) = (stack.context(), stack.context())
    try pin(first)
    _ = try places(first)
    let token = try #require(first.queryGenerationToken)
    try edit()
    try pin(second, token)
    #expect(try places(second) == before)
    #expect(second.queryGenerationToken == token && token.copy() as? NSQueryGenerationToken == token)
    #expect(token != .current && NSQueryGenerationToken.current == .current && token.hash == token.hash)
    try pin(first, nil)
    #expect(try places(second) == before && places(first) == after)
  }

  @Test(
    "The WAL is written back whole once the last token is gone, and no client waits before", .timeLimit(.minutes(1))
  )
  func checkpoints() throws {
    let context = stack.context()
    try pin(context)
    _ = try places(context)
    try edit()
    let start = DispatchTime.now()
    try stack.coordinator.checkpoint()
    #expect(
      DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds < 9_000_000_000, "waits for the store's timeout")
    let store = try #require(stack.coordinator.persistentStores.first?.rowStore as? SQLiteStore)
    #expect(!store.snapshots.isEmpty)
    try pin(context, nil)
    #expect(store.snapshots.isEmpty)
    let outcome = try store.connection().rows("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(outcome == [[.integer(0), .integer(0), .integer(0)]])
  }

  @Test("Another process's save is not seen either")
  func processes() throws {
    let context = stack.context()
    try pin(context)
    #expect(try places(context) == before)
    try sqlite(stack.file, "DELETE FROM ZSESSION WHERE ZPLACE = 'Spot 1'")
    #expect(try places(context) == before)
    try pin(context)
    #expect(try places(context) == ["Spot 0", "Spot 2"])
  }

  @Test("A child, a context without stores and a foreign token are refused; stores without generations are not")
  func refusals() throws {
    let child = stack.context(stack.context())
    #expect(throws: NSError.self) { try pin(child) }
    #expect(throws: NSError.self) { try pin(child, nil) }
    let alone = NSManagedObjectContext(concurrencyType: .privateQueue)
    #expect(throws: NSError.self) { try pin(alone) }
    let other = try Stack(folder, "other.sqlite")
    let foreign = other.context()
    try pin(foreign)
    _ = try foreign.performAndWait { try foreign.fetch(other.request()) }
    #expect(throws: NSError.self) { try pin(stack.context(), foreign.queryGenerationToken) }
    let shapes: [(String, URL?, [String: NSObject])] = [
      (NSInMemoryStoreType, nil, [:]),
      (NSSQLiteStoreType, folder.file("rollback.sqlite"), ["journal_mode": NSString(string: "DELETE")]),
    ]
    for (type, url, pragmas) in shapes {
      let description = NSPersistentStoreDescription()
      description.url = url
      description.type = type
      for (name, value) in pragmas { description.setValue(value, forPragmaNamed: name) }
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
      coordinator.addPersistentStore(with: description) { _, error in #expect(error == nil) }
      let context = NSManagedObjectContext(concurrencyType: .privateQueue)
      context.persistentStoreCoordinator = coordinator
      try pin(context)
      #expect(try context.performAndWait { try context.count(for: other.request()) } == 0)
      try pin(context, nil)
    }
  }
}
