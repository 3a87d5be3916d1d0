import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: Core Data Programming Guide, "Faulting and Uniquing"; NSManagedObject,
// `hasFault(forRelationshipNamed:)`, `objectIDs(forRelationshipNamed:)`; docs/coredata-format.md, "Relationships"): a
// to-one relationship is an object or nil, a to-many one an NSSet, an ordered one an NSOrderedSet in the order of its
// positions; both ends of a relationship show the same; the objects are those of the context; an object's relationships
// are faults until they are read, and again after a refresh.

@Suite("Relationships lead to the context's objects")
struct RelationshipReadingTests {
  private let library: LibraryStore

  init() throws { library = try LibraryStore() }

  private struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let entity: String
    let key: String
    let value: String
    let relationship: String
    let endKey: String
    let expected: [String]
    var isOrdered = false
  }

  private static let cases = [
    Case(
      testDescription: "to-many of an abstract destination", entity: "Author", key: "name", value: "Ann",
      relationship: "works", endKey: "title", expected: ["Reefs", "Storm"]),
    Case(
      testDescription: "self relation, many end", entity: "Author", key: "name", value: "Ann", relationship: "pupils",
      endKey: "name", expected: ["Bob", "Cleo"]),
    Case(
      testDescription: "its own inverse, row with this end first or second", entity: "Author", key: "name",
      value: "Ann", relationship: "friends", endKey: "name", expected: ["Bob", "Cleo"]),
    Case(
      testDescription: "its own inverse, seen from the other end", entity: "Author", key: "name", value: "Cleo",
      relationship: "friends", endKey: "name", expected: ["Ann"]),
    Case(
      testDescription: "ordered one-to-many", entity: "Book", key: "title", value: "Reefs", relationship: "chapters",
      endKey: "heading", expected: ["First", "Middle", "Last"], isOrdered: true),
    Case(
      testDescription: "ordered many-to-many", entity: "Tag", key: "word", value: "sea", relationship: "works",
      endKey: "title", expected: ["Storm", "Tides", "Reefs"], isOrdered: true),
    Case(
      testDescription: "the inverse without an order", entity: "Play", key: "title", value: "Storm",
      relationship: "tags", endKey: "word", expected: ["drama", "sea"]),
    Case(
      testDescription: "many-to-many with nothing", entity: "Tag", key: "word", value: "none", relationship: "works",
      endKey: "title", expected: [], isOrdered: true),
    Case(
      testDescription: "fans of a play", entity: "Play", key: "title", value: "Storm", relationship: "fans",
      endKey: "name", expected: ["Bob"]),
  ]

  @Test("a to-many relationship is a set, an ordered one an ordered set", arguments: cases)
  private func toMany(test: Case) throws {
    let context = try library.context()
    try context.performAndWait {
      let object = try LibraryStore.object(test.entity, where: test.key, is: test.value, in: context)
      let value = object.value(forKey: test.relationship)
      #expect(test.isOrdered ? value is NSOrderedSet : value is NSSet)
      let texts = LibraryStore.texts(value, test.endKey)
      #expect((test.isOrdered ? texts : texts.sorted()) == test.expected)
    }
  }

  @Test("a to-one relationship is the one object that the context has, of the entity that its row is of")
  func toOne() throws {
    let context = try library.context()
    try context.performAndWait {
      let storm = try LibraryStore.object("Work", where: "title", is: "Storm", in: context)
      let (ann, bob) = try (
        LibraryStore.object("Author", where: "name", is: "Ann", in: context),
        LibraryStore.object("Author", where: "name", is: "Bob", in: context)
      )
      #expect(storm.value(forKey: "author") as? NSManagedObject === ann)
      #expect(bob.value(forKey: "favourite") as? NSManagedObject === storm)
      #expect((ann.value(forKey: "favourite") as? NSManagedObject)?.entity.name == "Book")
      #expect(ann.value(forKey: "mentor") == nil)
      #expect(bob.value(forKeyPath: "favourite.author.name") as? String == "Ann")
      #expect(bob.value(forKeyPath: "mentor.pupils.@count") as? Int == 2)
      #expect((ann.value(forKeyPath: "works.title") as? NSSet)?.isEqual(to: ["Reefs", "Storm"]) == true)
    }
  }

  @Test("collection operators in a key path have the values that predicates have")
  func operators() throws {
    let context = try library.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Shelf")
      request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
      let shelves = try context.fetch(request)
      #expect(shelves.map { $0.value(forKeyPath: "books.@count") as? Int } == [2, 0])
      #expect(shelves.map { $0.value(forKeyPath: "books.@sum.pages") as? Int } == [420, 0])
      #expect(shelves.map { $0.value(forKeyPath: "books.@max.pages") as? Int } == [300, nil])
      #expect(shelves.map { $0.value(forKeyPath: "books.@min.title") as? String } == ["Reefs", nil])
      #expect(shelves.map { $0.value(forKeyPath: "books.@avg.pages") as? Double } == [210, nil])
      let titles = shelves[0].value(forKeyPath: "books.@unionOfObjects.title") as? [String]
      #expect(titles?.sorted() == ["Reefs", "Tides"])
      let names = shelves[0].value(forKeyPath: "books.@distinctUnionOfObjects.author.name") as? NSSet
      #expect(names == NSSet(array: ["Ann", "Bob"]))
      let tides = try LibraryStore.object("Book", where: "title", is: "Tides", in: context)
      #expect(tides.value(forKeyPath: "author.mentor.works.@count") as? Int == 2)
      #expect(tides.value(forKeyPath: "author.mentor.mentor.works.@count") == nil)
    }
  }

  @Test("a to-many relationship without an inverse is read by its hidden key")
  func withoutInverse() throws {
    let context = try library.context()
    try context.performAndWait {
      let shelves = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
      let books = shelves.map { LibraryStore.texts($0.value(forKey: "books"), "title").sorted() }
      #expect(Set(books) == [["Reefs", "Tides"], []])
    }
  }

  @Test("a relationship is a fault until it is asked for, and again after a refresh")
  func faults() throws {
    let context = try library.context()
    try context.performAndWait {
      let ann = try LibraryStore.object("Author", where: "name", is: "Ann", in: context)
      #expect(ann.hasFault(forRelationshipNamed: "works"))
      #expect(ann.primitiveValue(forKey: "works") == nil)
      #expect(ann.objectIDs(forRelationshipNamed: "works").count == 2)
      #expect(!ann.hasFault(forRelationshipNamed: "works"))
      #expect((ann.primitiveValue(forKey: "works") as? NSSet)?.count == 2)
      #expect(ann.hasFault(forRelationshipNamed: "pupils"))
      context.refresh(ann, mergeChanges: true)
      #expect(ann.hasFault(forRelationshipNamed: "works"))
      // As an accessor does that is written by hand.
      ann.willAccessValue(forKey: "works")
      #expect((ann.primitiveValue(forKey: "works") as? NSSet)?.count == 2)
      ann.didAccessValue(forKey: "works")
      #expect((ann.value(forKey: "works") as? NSSet)?.count == 2)
    }
  }

  @Test("the row of an object says of which entity it is, whatever is next to the key that leads to it")
  func entityOfRow() throws {
    try sqlite(library.file, "UPDATE ZAUTHOR SET Z5_FAVOURITE = NULL WHERE ZNAME = 'Bob'")
    let context = try library.context()
    try context.performAndWait {
      let bob = try LibraryStore.object("Author", where: "name", is: "Bob", in: context)
      #expect((bob.value(forKey: "favourite") as? NSManagedObject)?.entity.name == "Play")
    }
  }

  @Test("an ordered relationship that is its own inverse shows each object once")
  func orderedMutual() throws {
    let folder = try TemporaryFolder()
    let model = try NSManagedObjectModel.load(
      xml: Data(
        """
        <model><entity name="A"><attribute name="a" optional="YES" attributeType="String"/>
        <relationship name="peers" optional="YES" toMany="YES" ordered="YES" destinationEntity="A" inverseName="peers"
        inverseEntity="A"/></entity></model>
        """.utf8))
    func context() throws -> NSManagedObjectContext {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("A.sqlite"))
      let context = NSManagedObjectContext(concurrencyType: .privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    _ = try context()
    try sqlite(
      folder.file("A.sqlite"),
      """
      INSERT INTO ZA(Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x'), (2, 1, 1, 'y'), (3, 1, 1, 'z');
      INSERT INTO Z_1PEERS(Z_1PEERS, REFLEXIVE, Z_FOK_REFLEXIVE) VALUES (1, 3, 1), (1, 2, 2), (2, 1, 9)
      """)
    let reading = try context()
    try reading.performAndWait {
      for (name, peers) in [("x", Set(["y", "z"])), ("y", ["x"]), ("z", ["x"])] {
        let object = try LibraryStore.object("A", where: "a", is: name, in: reading)
        let found = LibraryStore.texts(object.value(forKey: "peers"), "a")
        #expect(found.count == peers.count && Set(found) == peers)
      }
    }
  }

  @Test("a child context reads through its parent, where deleted objects are not an other end any more")
  func children() throws {
    let parent = try library.context()
    let child = try library.context(parent)
    try parent.performAndWait {
      parent.delete(try LibraryStore.object("Play", where: "title", is: "Storm", in: parent))
    }
    try child.performAndWait {
      let ann = try LibraryStore.object("Author", where: "name", is: "Ann", in: child)
      let works = ann.value(forKey: "works") as? NSSet
      #expect(LibraryStore.texts(works, "title") == ["Reefs"])
      #expect((works?.anyObject() as? NSManagedObject)?.managedObjectContext === child)
    }
  }

  @Test("an object deleted in the context is not an other end, and is one again after a rollback")
  func deletedObjects() throws {
    let context = try library.context()
    try context.performAndWait {
      let ann = try LibraryStore.object("Author", where: "name", is: "Ann", in: context)
      #expect((ann.value(forKey: "works") as? NSSet)?.count == 2)
      context.delete(try LibraryStore.object("Play", where: "title", is: "Storm", in: context))
      #expect((ann.value(forKey: "works") as? NSSet)?.count == 1)
      context.rollback()
      #expect((ann.value(forKey: "works") as? NSSet)?.count == 2)
    }
  }

  @Test("a pinned generation has its own links, and paths over them")
  func generations() throws {
    let context = try library.context()
    try context.performAndWait {
      try context.setQueryGenerationFrom(.current)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Work")
      request.predicate = NSPredicate(format: "author.name == 'Bob'")
      #expect(try context.count(for: request) == 1)
      try sqlite(library.file, "UPDATE ZWORK SET ZAUTHOR = 2")
      let bob = try LibraryStore.object("Author", where: "name", is: "Bob", in: context)
      #expect(LibraryStore.texts(bob.value(forKey: "works"), "title") == ["Tides"])
      #expect(try context.count(for: request) == 1)
      try context.setQueryGenerationFrom(nil)
      context.refreshAllObjects()
      #expect((bob.value(forKey: "works") as? NSSet)?.count == 4)
      #expect(try context.count(for: request) == 4)
    }
  }

  @Test("a new object's relationships are empty")
  func newObjects() throws {
    let context = try library.context()
    context.performAndWait {
      let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
      #expect((author.value(forKey: "works") as? NSSet)?.count == 0)
      #expect(author.value(forKey: "mentor") == nil)
      #expect(!author.hasFault(forRelationshipNamed: "works"))
    }
  }

  @Test("what another context saved shows after a merge")
  func merges() throws {
    let coordinator = try library.coordinator()
    let contexts = (0..<2).map { _ in
      let context = NSManagedObjectContext(concurrencyType: .privateQueue)
      context.persistentStoreCoordinator = coordinator
      context.automaticallyMergesChangesFromParent = true
      return context
    }
    try contexts[0].performAndWait {
      let cleo = try LibraryStore.object("Author", where: "name", is: "Cleo", in: contexts[0])
      #expect((cleo.value(forKeyPath: "mentor.pupils") as? NSSet)?.count == 2)
    }
    try contexts[1].performAndWait {
      contexts[1].delete(try LibraryStore.object("Author", where: "name", is: "Bob", in: contexts[1]))
      try contexts[1].save()
    }
    try contexts[0].performAndWait {
      let ann = try LibraryStore.object("Author", where: "name", is: "Ann", in: contexts[0])
      #expect(LibraryStore.texts(ann.value(forKey: "pupils"), "name") == ["Cleo"])
    }
  }
}
