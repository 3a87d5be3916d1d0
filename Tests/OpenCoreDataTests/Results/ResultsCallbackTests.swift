import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchedResultsControllerDelegate): will change, sections, objects, did change; deleted
// objects with old index paths, inserted ones with new, moved ones with both; a changed sort key is a move, another
// change an update; changes of sections come before those of objects. (NSFetchedResultsController, "Responding to
// Changes"): without a delegate nothing is followed.

@Suite("A delegate is called for each change in Apple's order", .overBothStores)
struct ResultsCallbackTests {
  private static let sessions: [(String, String?, Int)] = [
    ("b", "Bells", 2), ("d", "Bells", 4), ("f", "Bells", 1), ("a", "Jaws", 3),
  ]

  @Test("An unsaved insertion, and its rollback")
  func insertion() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let inserted = try fixture.reported { Results.insert("c", place: "Bells", rating: 1, in: $0, fixture.stack.entity) }
    #expect(inserted == ["will", "insert c - 0.1", "did"])
    #expect(try fixture.reported { $0.rollback() } == ["will", "delete c 0.1 -", "did"])
  }

  @Test("Among equals of several stores, a changed object keeps the place that a fetch gives it")
  func equalsOfStores() throws {
    let folder = try TemporaryFolder()
    let stores = try TwoStores(folder)
    let context = stores.context()
    let told = TypesTold()
    try context.performAndWait {
      for store in [stores.a, stores.b, stores.a, stores.b] { stores.insert("Bells", into: store, context) }
      try context.save()
      let request = stores.request()
      request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      controller.delegate = told
      try controller.performFetch()
      for object in try context.fetch(request) {
        object.setValue(5, forKey: "rating")
        context.processPendingChanges()
      }
      #expect(told.types == [.update, .update, .update, .update])
      let fetched = try context.fetch(request)
      #expect(controller.fetchedObjects == fetched)
    }
  }

  @Test("Saving tells nothing new")
  func save() throws {
    let fixture = try ResultsFixture(Self.sessions)
    _ = try fixture.reported { Results.insert("c", place: "Bells", rating: 1, in: $0, fixture.stack.entity) }
    #expect(try fixture.reported { try $0.save() } == [])
    #expect(fixture.controller.fetchedObjects?.contains { $0.objectID.isTemporaryID } == false)
  }

  @Test("Deletions go from the last to the first, insertions from the first to the last")
  func order() throws {
    let fixture = try ResultsFixture(Self.sessions)
    // Found beforehand: a fetch announces what is pending.
    let gone = try ["b", "f"].map { try fixture.session($0) }
    let (d, a) = (try fixture.session("d"), try fixture.session("a"))
    let log = try fixture.reported { context in
      for object in gone { context.delete(object) }
      for title in ["e", "c"] { Results.insert(title, place: "Bells", rating: 1, in: context, fixture.stack.entity) }
      d.setValue(5, forKey: "rating")
      a.setValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "date")
    }
    #expect(log.first == "will" && log.last == "did")
    #expect(
      log.filter { $0 != "will" && $0 != "did" } == [
        "delete f 0.2 -", "delete b 0.0 -", "insert c - 0.0", "insert e - 0.2", "update d 0.1 0.1", "update a 1.0 1.0",
      ])
  }

  @Test("A changed sort key is a move, an update where the place stays the same")
  func moves() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let moved = try fixture.reported { _ in try fixture.session("b").setValue("e", forKey: "title") }
    #expect(moved == ["will", "move e 0.0 0.1", "did"])
    let stayed = try fixture.reported { _ in try fixture.session("e").setValue("e2", forKey: "title") }
    #expect(stayed == ["will", "update e2 0.1 0.1", "did"])
  }

  @Test("Sections come and go before their objects do")
  func sections() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let log = try fixture.reported { _ in try fixture.session("a").setValue("Cloud 9", forKey: "place") }
    #expect(log == ["will", "delete section Jaws 1", "insert section Cloud 9 1", "move a 1.0 1.0", "did"])
    let joined = try fixture.reported { _ in try fixture.session("a").setValue("Bells", forKey: "place") }
    #expect(joined == ["will", "delete section Cloud 9 1", "move a 1.0 0.0", "did"])
    let emptied = try fixture.reported { context in
      for object in fixture.controller.fetchedObjects ?? [] { context.delete(object) }
    }
    #expect(emptied.prefix(2) == ["will", "delete section Bells 0"] && emptied.count == 7)
    #expect(fixture.controller.sections?.isEmpty == true)
  }

  @Test("Sections that change places are reported as deleted and inserted, their objects as moved")
  func swappedSections() throws {
    let fixture = try ResultsFixture([("a", "Bells", 1), ("b", "Jaws", 2)], keys: ["rating"])
    let log = try fixture.reported { _ in try fixture.session("a").setValue(3, forKey: "rating") }
    #expect(
      log == [
        "will", "delete section Jaws 1", "insert section Jaws 0", "move b 1.0 0.0", "update a 0.0 1.0", "did",
      ])
  }

  @Test("Changes that concern no object of the request are not reported")
  func unconcerned() throws {
    let fixture = try ResultsFixture(Self.sessions) { $0.predicate = NSPredicate(format: "rating >= 2") }
    #expect(fixture.titles == ["b", "d", "a"])
    let log = try fixture.reported { context in
      try fixture.session("f").setValue(0, forKey: "rating")
      Results.insert("x", place: "Bells", rating: 1, in: context, fixture.stack.entity)
    }
    #expect(log == [])
    let (f, d) = (try fixture.session("f"), try fixture.session("d"))
    let entered = try fixture.reported { _ in
      f.setValue(2, forKey: "rating")
      d.setValue(0, forKey: "rating")
    }
    #expect(entered == ["will", "delete d 0.1 -", "insert f - 0.1", "did"])
  }

  @Test("Without a delegate nothing is followed; one that is set later gets all of it at the next change")
  func noDelegate() throws {
    let fixture = try ResultsFixture(Self.sessions)
    fixture.controller.delegate = nil
    #expect(try fixture.reported { _ in } == [])
    try fixture.context.performAndWait {
      fixture.context.delete(try fixture.session("d"))
      try fixture.context.save()
    }
    #expect(fixture.controller.fetchedObjects?.count == 4)
    fixture.controller.delegate = fixture.table
    let log = try fixture.reported { Results.insert("g", place: "Bells", rating: 1, in: $0, fixture.stack.entity) }
    #expect(log.filter { !$0.hasPrefix("update") } == ["will", "delete d 0.1 -", "insert g - 0.2", "did"])
  }

  @Test("What a save elsewhere changed shows once it is merged, also what the context had not known")
  func merged() throws {
    let fixture = try ResultsFixture(Self.sessions) { $0.predicate = NSPredicate(format: "rating >= 2") }
    let other = fixture.stack.context()
    let notes = NoteKeeper(other)
    try other.performAndWait {
      try fixture.session("f", in: other).setValue(5, forKey: "rating")
      other.delete(try fixture.session("b", in: other))
      Results.insert("c", place: "Bells", rating: 4, in: other, fixture.stack.entity)
      try other.save()
    }
    let note = try #require(notes.notifications.last { $0.name == .NSManagedObjectContextDidSave })
    let log = try fixture.reported { $0.mergeChanges(fromContextDidSave: note) }
    #expect(
      log == ["will", "delete b 0.0 -", "insert c - 0.0", "did", "will", "insert f - 0.2", "did"])
  }

  @Test("A reset is reported as what another fetch finds; objects are others then")
  func reset() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let before = fixture.controller.fetchedObjects ?? []
    let log = try fixture.reported { context in
      Results.insert("c", place: "Bells", rating: 1, in: context, fixture.stack.entity)
      context.processPendingChanges()
      context.reset()
    }
    #expect(log.contains("delete nil 0.1 -") && log.filter { $0.hasPrefix("update") }.count == 4)
    #expect(fixture.titles == ["b", "d", "f", "a"])
    #expect(zip(before, fixture.controller.fetchedObjects ?? []).allSatisfy { $0 !== $1 })
  }

  @Test("Limit and offset are for the first fetch: what comes later is put in")
  func limit() throws {
    let fixture = try ResultsFixture(Self.sessions) { $0.fetchLimit = 2 }
    #expect(fixture.titles == ["b", "d"])
    let log = try fixture.reported { Results.insert("a2", place: "Bells", rating: 1, in: $0, fixture.stack.entity) }
    #expect(log == ["will", "insert a2 - 0.0", "did"])
    #expect(fixture.titles == ["a2", "b", "d"])
    try fixture.context.performAndWait { try fixture.controller.performFetch() }
    #expect(fixture.titles == ["a2", "b"])
  }

  @Test("What a delegate changes during its calls is reported afterwards")
  func nested() throws {
    let fixture = try ResultsFixture(Self.sessions)
    let meddler = Meddler(fixture)
    fixture.controller.delegate = meddler
    fixture.context.performAndWait {
      Results.insert("c", place: "Bells", rating: 1, in: fixture.context, fixture.stack.entity)
      fixture.context.processPendingChanges()
    }
    #expect(meddler.log == ["will", "c", "did", "will", "z", "did"])
    #expect(fixture.titles == ["b", "c", "d", "f", "z", "a"])
  }

  /// Inserts one more object as soon as it hears of one, and has it announced at once.
  private final class Meddler: NSObject, NSFetchedResultsControllerDelegate {
    private let fixture: ResultsFixture
    private(set) var log: [String] = []
    init(_ fixture: ResultsFixture) { self.fixture = fixture }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      log.append("will")
    }
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      log.append("did")
    }
    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
      for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      let title = (anObject as? NSManagedObject)?.sessionTitle ?? ""
      log.append(title)
      guard title == "c" else { return }
      Results.insert("z", place: "Bells", rating: 1, in: fixture.context, fixture.stack.entity)
      fixture.context.processPendingChanges()
    }
  }
}

/// The types of changes alone.
private final class TypesTold: NSObject, NSFetchedResultsControllerDelegate {
  private(set) var types: [NSFetchedResultsChangeType] = []

  func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) { types.append(type) }
}
