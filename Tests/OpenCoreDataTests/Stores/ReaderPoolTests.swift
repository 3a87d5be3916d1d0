import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (RowStore.read; SQLite, "Write-Ahead Logging": readers and a writer run together): a reader sees what was
// committed last and does not wait for a save; a store in memory and one with an open transaction answer on their one
// connection; removing a store waits for its readers.

@Suite("Contexts read while another one saves")
struct ReaderPoolTests {
  private let folder: TemporaryFolder
  init() throws { folder = try TemporaryFolder() }

  private static func count(_ coordinator: NSPersistentStoreCoordinator, _ entityName: String = "Session") throws -> Int
  {
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entityName))
    }
  }

  @Test("A fetch, a count, dictionaries, faults and a walk show the last commit during an open save")
  func readsDuringSave() throws {
    let stack = try Stack.filled(folder, count: 4)
    let reader = stack.context()
    let ids = try reader.performAndWait { try reader.fetch(stack.request()).map(\.objectID) }
    try HeldSave.during(stack.coordinator) { context in
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Session")) {
        object.setValue("unsaved", forKey: "place")
      }
      InsertionWay.single.insert(10..<13, into: context, stack.entity)
    } _: {
      try reader.performAndWait {
        reader.reset()
        let request = stack.request()
        #expect(try reader.count(for: request) == 4)
        #expect(try reader.fetch(request).map(\.place) == (0..<4).map { "Spot \($0)" })
        reader.reset()
        #expect(ids.map { reader.object(with: $0).place } == (0..<4).map { "Spot \($0)" })
        reader.reset()
        request.predicate = NSPredicate(format: "place == 'unsaved'")
        #expect(try reader.fetch(request).isEmpty)
        let places = try reader.fetch(stack.dictionaries { $0.propertiesToFetch = ["place"] })
        #expect(places.map { $0["place"] as? String } == (0..<4).map { "Spot \($0)" })
        var walked = 0
        try reader.walkObjects(stack.request(), objectsPerBatch: 3) { objects in
          walked += objects.count
          return true
        }
        #expect(walked == 4)
      }
    }
    #expect(try Self.count(stack.coordinator) == 7)
    let unsaved = stack.request()
    unsaved.predicate = NSPredicate(format: "place == 'unsaved'")
    #expect(try reader.performAndWait { try reader.count(for: unsaved) } == 4)
  }

  @Test("Relationships are read during an open save")
  func relationships() throws {
    let library = try LibraryStore()
    let coordinator = try library.coordinator()
    let reader = NSManagedObjectContext(concurrencyType: .privateQueue)
    reader.persistentStoreCoordinator = coordinator
    try HeldSave.during(coordinator) { context in
      try LibraryStore.object("Book", where: "title", is: "Reefs", in: context).setValue("Sandbanks", forKey: "title")
    } _: {
      try reader.performAndWait {
        let ann = try LibraryStore.object("Author", where: "name", is: "Ann", in: reader)
        #expect(Set(LibraryStore.texts(ann.value(forKey: "works"), "title")) == ["Reefs", "Storm"])
        let favourite = try #require(ann.value(forKey: "favourite") as? NSManagedObject)
        #expect(LibraryStore.texts(favourite.value(forKey: "chapters"), "heading") == ["First", "Middle", "Last"])
      }
    }
  }

  @Test("Readers never see half a save")
  func wholeSaves() throws {
    let stack = try Stack(folder)
    let pairs = 8
    let writer = stack.context()
    let objects = try writer.performAndWait {
      let objects = (0..<2 * pairs).map { number in
        let object = NSManagedObject.make(stack.entity, in: writer)
        object.setValue("pair \(number / 2)", forKey: "place")
        object.setValue(50, forKey: "rating")
        return object
      }
      try writer.save()
      return objects
    }
    // Safe: the objects are used on the writer's queue only.
    nonisolated(unsafe) let halves = objects
    let ratings = Noted<[String]>()
    let readCount = Counter()
    do {
      let sign = CancellationFlag()
      let readers = (0..<6).map { number in
        Background {
          let context = stack.context()
          repeat {
            try context.performAndWait {
              context.reset()
              var sums: [String: Int] = [:]
              if number.isMultiple(of: 2) {
                for object in try context.fetch(stack.request()) {
                  sums[object.place ?? "", default: 0] += object.value(forKey: "rating") as? Int ?? 0
                }
              } else {
                for row in try context.fetch(stack.dictionaries { $0.propertiesToFetch = ["place", "rating"] }) {
                  sums[row["place"] as? String ?? "", default: 0] += row["rating"] as? Int ?? 0
                }
              }
              if sums.count != pairs || sums.values.contains(where: { $0 != 100 }) { ratings.set(["\(sums)"]) }
              readCount.increase()
            }
          } while !sign.isCancelled
        }
      }
      for round in 1...TestLength.rounds(60, long: 1000) {
        try writer.performAndWait {
          for pair in 0..<pairs {
            let share = (round * 7 + pair * 13) % 100
            halves[2 * pair].setValue(share, forKey: "rating")
            halves[2 * pair + 1].setValue(100 - share, forKey: "rating")
          }
          try writer.save()
        }
      }
      sign.cancel()
      for reader in readers { reader.expectEnd() }
    }
    #expect(ratings.value == nil)
    #expect(readCount.count >= 6)
  }

  @Test("Removing a store waits for its readers, and holds no lock meanwhile that they could need")
  func removal() throws {
    let stack = try Stack.filled(folder, count: 5)
    let rows = try #require(stack.coordinator.rowStores.first)
    let store = try #require(stack.coordinator.persistentStores.first)
    let query = FetchQuery(entity: stack.entity)
    let (isReading, mayRead) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let log = Locked<[String]>([])
    // An open save has the reader take a connection of the pool.
    let reader = try HeldSave.during(stack.coordinator) { context in
      InsertionWay.single.insert(5..<6, into: context, stack.entity)
    } _: {
      let reader = Background {
        try rows.read(nil) { reader in
          isReading.signal()
          guard mayRead.wait(timeout: .now() + HeldSave.patience) == .success else {
            throw HeldSave.WaitedTooLong(what: "the test to let the reader read")
          }
          let count = try reader.rows(query).count
          log.withLock { $0.append("read \(count)") }
        }
      }
      #expect(isReading.wait(timeout: .now() + HeldSave.patience) == .success)
      return reader
    }
    let removal = Background {
      try stack.coordinator.remove(store)
      log.withLock { $0.append("removed") }
    }
    #expect(!removal.ends(within: 200))
    Background { _ = try rows.makeSnapshot() }.expectEnd()
    mayRead.signal()
    reader.expectEnd()
    removal.expectEnd()
    #expect(log.withLock { $0 } == ["read 6", "removed"])
    let error = #expect(throws: NSError.self) { try rows.read(nil) { try $0.count(query) } }
    #expect(error?.code == NSPersistentStoreOperationError)
  }

  @Test("A store in memory has one connection: readers wait for the save and show it")
  func inMemory() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let entity = try #require(coordinator.managedObjectModel.entitiesByName["Session"])
    let seen = Noted<Int>()
    let reader = try HeldSave.during(coordinator) { context in
      InsertionWay.single.insert(0..<3, into: context, entity)
    } _: {
      let reader = Background { seen.set(try Self.count(coordinator)) }
      #expect(!reader.ends(within: 200))
      return reader
    }
    reader.expectEnd()
    #expect(seen.value == 3)
  }

  @Test("Between saves of one transaction every thread sees what it has written so far", arguments: [false, true])
  func openTransaction(commits: Bool) throws {
    let stack = try Stack.filled(folder, count: 2)
    try stack.coordinator.beginTransaction()
    let seen = Noted<[Int]>()
    for number in 0..<2 {
      let context = stack.context()
      try context.performAndWait {
        InsertionWay.single.insert(number * 3..<number * 3 + 3, into: context, stack.entity)
        try context.save()
      }
      Background { seen.set((seen.value ?? []) + [try Self.count(stack.coordinator)]) }.expectEnd()
    }
    #expect(seen.value == [5, 8])
    if commits { try stack.coordinator.commitTransaction() } else { try stack.coordinator.rollBackTransaction() }
    #expect(try Self.count(stack.coordinator) == (commits ? 8 : 2))
    #expect(try stack.sqlite("SELECT count(*) FROM ZSESSION") == (commits ? "8" : "2"))
  }

  @Test("An option bounds the number of readers; further ones wait", arguments: [1, 3])
  func size(sizeMax: Int) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    let store = try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("store.sqlite"),
      options: [NSPersistentStoreConnectionPoolMaxSizeKey: NSNumber(value: sizeMax)])
    let entity = try #require(coordinator.managedObjectModel.entitiesByName["Session"])
    let (rows, query) = (store.rowStore, FetchQuery(entity: entity))
    let reading = Locked((now: 0, most: 0))
    let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let readers = try HeldSave.during(coordinator) { context in
      InsertionWay.single.insert(0..<1, into: context, entity)
    } _: {
      let readers = (0..<sizeMax + 3).map { _ in
        Background {
          try rows.read(nil) { reader in
            reading.withLock {
              $0.now += 1
              $0.most = max($0.most, $0.now)
            }
            isReading.signal()
            _ = mayEnd.wait(timeout: .now() + HeldSave.patience)
            let count = try reader.count(query)
            #expect(count == 0)
            reading.withLock { $0.now -= 1 }
          }
        }
      }
      for _ in 0..<sizeMax { #expect(isReading.wait(timeout: .now() + HeldSave.patience) == .success) }
      #expect(isReading.wait(timeout: .now() + .milliseconds(200)) == .timedOut)
      for _ in readers { mayEnd.signal() }
      for reader in readers { reader.expectEnd() }
      return readers
    }
    #expect(reading.withLock { $0.most } == sizeMax && readers.count == sizeMax + 3)
  }
}
