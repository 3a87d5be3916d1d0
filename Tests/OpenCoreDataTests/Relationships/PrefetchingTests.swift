import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchRequest, `relationshipKeyPathsForPrefetching`, `shouldRefreshRefetchedObjects`; Core
// Data Programming Guide, "Breaking Strong References Between Objects"): what is named is read together with the fetch,
// whatever way the fetch takes; it stays as long as the objects that lead to it, until they are refreshed or the context
// goes.

@Suite("Relationships are read ahead, and released")
struct PrefetchingTests {
  private let library: LibraryStore

  init() throws { library = try LibraryStore() }

  private func request(_ entity: String, _ keyPaths: [String]) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.relationshipKeyPathsForPrefetching = keyPaths
    return request
  }

  @Test("what is asked for ahead is not a fault any more, at each step of a path")
  func steps() throws {
    let context = try library.context()
    try context.performAndWait {
      let authors = try context.fetch(request("Author", ["works.tags", "mentor"]))
      #expect(authors.allSatisfy { !$0.hasFault(forRelationshipNamed: "works") })
      #expect(authors.allSatisfy { !$0.hasFault(forRelationshipNamed: "mentor") })
      #expect(authors.allSatisfy { $0.hasFault(forRelationshipNamed: "pupils") })
      let works = authors.flatMap { ($0.value(forKey: "works") as? NSSet)?.allObjects ?? [] }
        .compactMap { $0 as? NSManagedObject }
      #expect(works.count == 3)
      #expect(works.allSatisfy { !$0.hasFault(forRelationshipNamed: "tags") })
    }
  }

  @Test("each object gets its own, in whatever order they are fetched", arguments: [true, false])
  func order(isAscending: Bool) throws {
    let context = try library.context()
    try context.performAndWait {
      let request = request("Author", ["works"])
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: isAscending)]
      let authors = try context.fetch(request)
      #expect(authors.allSatisfy { !$0.hasFault(forRelationshipNamed: "works") })
      let titles = authors.map { LibraryStore.texts($0.value(forKey: "works"), "title").sorted() }
      let expected = [[], ["Reefs", "Storm"], ["Tides"], []]
      #expect(titles == (isAscending ? expected : expected.reversed()))
    }
  }

  @Test(
    "what is not a relationship is refused, whatever is found", arguments: ["books", "works.name", "works.chapters.x"])
  func unknown(keyPath: String) throws {
    let context = try library.context()
    context.performAndWait {
      for format in ["TRUEPREDICATE", "FALSEPREDICATE"] {
        let request = request("Author", [keyPath])
        request.predicate = NSPredicate(format: format)
        let error = #expect(throws: NSError.self) { try context.fetch(request) }
        #expect(error?.localizedDescription.contains(keyPath) == true)
      }
    }
  }

  @Test("a results controller and an asynchronous fetch read ahead as any fetch does")
  func otherWays() async throws {
    let context = try library.context()
    try context.performAndWait {
      let request = request("Work", ["author"])
      request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
      request.fetchBatchSize = 2
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "title", cacheName: nil)
      try controller.performFetch()
      #expect(controller.fetchedObjects?.count == 4)
      #expect(controller.fetchedObjects?.allSatisfy { !$0.hasFault(forRelationshipNamed: "author") } == true)
    }
    let other = try library.context()
    let faults = try await withCheckedThrowingContinuation { (done: CheckedContinuation<Int?, any Error>) in
      other.performAndWait {
        let fetch = NSAsynchronousFetchRequest(fetchRequest: request("Work", ["author"])) { result in
          done.resume(returning: result.finalResult?.count { $0.hasFault(forRelationshipNamed: "author") })
        }
        do { try other.execute(fetch) } catch { done.resume(throwing: error) }
      }
    }
    #expect(faults == 0)
  }

  @Test("the same read again holds nothing twice")
  func again() throws {
    let context = try library.context()
    try context.performAndWait {
      let authors = try (0..<5).map { _ in try context.fetch(request("Author", ["works"])) }
      for author in authors[0] {
        #expect(
          author.related?.objectsAhead["works"]?.count ?? 0 == author.objectIDs(forRelationshipNamed: "works").count)
      }
    }
  }

  private struct Held { weak var object: NSManagedObject? }

  @Test(
    "objects that lead to each other go when one end is refreshed, and with a reset or their context",
    arguments: ["refresh", "refresh all", "reset", "context"])
  func letGo(way: String) throws {
    var context: NSManagedObjectContext? = try library.context()
    var held: [Held] = []
    try context?.performAndWait {
      guard let context else { return }
      var authors = try context.fetch(request("Author", ["works.author"]))
      held = authors.map { Held(object: $0) }
      held += authors.flatMap { ($0.value(forKey: "works") as? NSSet)?.allObjects ?? [] }
        .map { Held(object: $0 as? NSManagedObject) }
      let kept = way == "refresh" ? authors : []
      authors = []
      #expect(held.contains { $0.object != nil })
      switch way {
      case "refresh": for author in kept { context.refresh(author, mergeChanges: false) }
      case "refresh all": context.refreshAllObjects()
      case "reset": context.reset()
      default: break
      }
      context.processPendingChanges()
    }
    if way == "context" { context = nil }
    #expect(held.count == 7 && held.allSatisfy { $0.object == nil })
  }

  @Test("a fetch that refreshes what it finds again reads relationships anew")
  func refreshing() throws {
    let context = try library.context()
    try context.performAndWait {
      let bob = try LibraryStore.object("Author", where: "name", is: "Bob", in: context)
      #expect(LibraryStore.texts(bob.value(forKey: "works"), "title") == ["Tides"])
      try sqlite(library.file, "UPDATE ZWORK SET ZAUTHOR = 2 WHERE ZTITLE = 'Orphan'")
      let request = request("Author", [])
      _ = try context.fetch(request)
      #expect(LibraryStore.texts(bob.value(forKey: "works"), "title") == ["Tides"])
      request.shouldRefreshRefetchedObjects = true
      _ = try context.fetch(request)
      #expect(LibraryStore.texts(bob.value(forKey: "works"), "title").sorted() == ["Orphan", "Tides"])
    }
  }
}
