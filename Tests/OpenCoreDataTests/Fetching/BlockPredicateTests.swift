import Foundation
import TestSupport
import Testing

@testable import OpenCoreData

// Rule (Apple documentation: NSPredicate, "Predicates and Core Data"; Core Data Programming Guide, "Fetching Managed
// Objects"): a SQLite store can't evaluate a block, a store in memory can.

@Suite(
  "Fetches with predicates made from blocks", .withoutStore("Its stores are in memory, and one is a file that refuses"))
struct BlockPredicateTests {
  private let context: NSManagedObjectContext

  init() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sessions.model())
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    let context = context
    try context.performAndWait {
      for rating in 0..<10 { insert(rating) }
      try context.save()
    }
  }

  @discardableResult
  private func insert(_ rating: Int) -> NSManagedObject {
    let session = NSEntityDescription.insertNewObject(forEntityName: "Session", into: context)
    session.setValue(rating, forKey: "rating")
    session.setValue("p\(rating)", forKey: "place")
    return session
  }

  private static var isEven: NSPredicate {
    NSPredicate { object, _ in
      ((object as? NSManagedObject)?.value(forKey: "rating") as? Int).map { $0.isMultiple(of: 2) } ?? false
    }
  }

  private func request(_ predicate: NSPredicate) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "rating", ascending: false)]
    return request
  }

  private func ratings(_ objects: [NSManagedObject]) -> [Int] {
    objects.compactMap { $0.value(forKey: "rating") as? Int }
  }

  @Test("A store in memory evaluates them, alone and in compounds, with limits, counts and unsaved changes")
  func memory() throws {
    let context = context
    try context.performAndWait {
      #expect(ratings(try context.fetch(request(Self.isEven))) == [8, 6, 4, 2, 0])
      let parts: [NSPredicate] = [Self.isEven, NSPredicate(format: "rating > 2")]
      let both = request(NSCompoundPredicate(andPredicateWithSubpredicates: parts))
      #expect(ratings(try context.fetch(both)) == [8, 6, 4])
      let either = request(
        NSCompoundPredicate(orPredicateWithSubpredicates: [Self.isEven, NSPredicate(format: "rating == 7")]))
      #expect(ratings(try context.fetch(either)) == [8, 7, 6, 4, 2, 0])
      #expect(try context.count(for: request(NSCompoundPredicate(notPredicateWithSubpredicate: Self.isEven))) == 5)
      let some = request(Self.isEven)
      (some.fetchOffset, some.fetchLimit) = (1, 2)
      #expect(ratings(try context.fetch(some)) == [6, 4])
      #expect(try context.count(for: some) == 2)
      let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Session")
      (ids.predicate, ids.resultType) = (Self.isEven, .managedObjectIDResultType)
      #expect(try context.fetch(ids).count == 5)
      insert(12)
      try context.fetch(both).first { ratings([$0]) == [4] }?.setValue(5, forKey: "rating")
      #expect(ratings(try context.fetch(both)) == [12, 8, 6])
    }
  }

  @Test("A results controller follows changes by the block")
  func controller() throws {
    let context = context
    try context.performAndWait {
      let controller = NSFetchedResultsController(
        fetchRequest: request(Self.isEven), managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      let delegate = Follower()
      controller.delegate = delegate
      try controller.performFetch()
      #expect(ratings(controller.fetchedObjects ?? []) == [8, 6, 4, 2, 0])
      insert(10)
      insert(11)
      controller.fetchedObjects?.last?.setValue(1, forKey: "rating")
      context.processPendingChanges()
      #expect(ratings(controller.fetchedObjects ?? []) == [10, 8, 6, 4, 2])
      #expect(delegate.changes == 1)
    }
  }

  private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { changes += 1 }
  }

  @Test("A SQLite store refuses them with the reason, in a fetch, a count and a results controller")
  func sqlite() throws {
    let stack = try Stack(try TemporaryFolder())
    let context = stack.context()
    context.performAndWait {
      let request = request(Self.isEven)
      let fetch = #expect(throws: NSError.self) { try context.fetch(request) }
      #expect(fetch?.code == 134_060 && fetch?.localizedDescription.contains("made from a block") == true)
      #expect(throws: NSError.self) { try context.count(for: request) }
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      #expect(throws: NSError.self) { try controller.performFetch() }
    }
  }

  @Test("Dictionaries and batch requests refuse them")
  func refused() throws {
    let context = context
    context.performAndWait {
      let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Session")
      (dictionaries.predicate, dictionaries.resultType) = (Self.isEven, .dictionaryResultType)
      #expect(throws: NSError.self) { try context.fetch(dictionaries) }
      let found = NSFetchRequest<any NSFetchRequestResult>(entityName: "Session")
      found.predicate = Self.isEven
      #expect(throws: NSError.self) { try context.execute(NSBatchDeleteRequest(fetchRequest: found)) }
    }
  }
}
