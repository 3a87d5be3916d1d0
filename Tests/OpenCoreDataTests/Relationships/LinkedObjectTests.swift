import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: a store stays consistent. A deleted object leaves no key and no row of a join table behind, where the other end
// knows of it; where it does not, the deletion is refused (1600, NSValidationRelationshipDeniedDeleteError). A new
// object has its mandatory relationships, or is refused (1570, 1580; Apple documentation: NSRelationshipDescription,
// "Cardinality").

@Suite("Links never lead nowhere")
struct LinkedObjectTests {
  private let library: LibraryStore

  init() throws { library = try LibraryStore() }

  private struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let entity: String
    let key: String
    let value: String
  }

  private static let cases = [
    Case(testDescription: "led to by a key", entity: "Author", key: "name", value: "Cleo"),
    Case(testDescription: "by keys of several kinds", entity: "Author", key: "name", value: "Ann"),
    Case(testDescription: "by a row of a join table", entity: "Tag", key: "word", value: "drama"),
    Case(testDescription: "by chapters and a join table", entity: "Book", key: "title", value: "Tides"),
    Case(testDescription: "leads to others only", entity: "Chapter", key: "heading", value: "Only"),
    Case(testDescription: "on its own", entity: "Tag", key: "word", value: "none"),
    Case(testDescription: "in a hierarchy, on its own", entity: "Work", key: "title", value: "Orphan"),
  ]

  private static let danglingQuery = """
    SELECT count(*) FROM (
      SELECT ZMENTOR k FROM ZAUTHOR WHERE ZMENTOR NOT IN (SELECT Z_PK FROM ZAUTHOR)
      UNION ALL SELECT ZFAVOURITE FROM ZAUTHOR WHERE ZFAVOURITE NOT IN (SELECT Z_PK FROM ZWORK)
      UNION ALL SELECT ZAUTHOR FROM ZWORK WHERE ZAUTHOR NOT IN (SELECT Z_PK FROM ZAUTHOR)
      UNION ALL SELECT Z3BOOKS FROM ZWORK WHERE Z3BOOKS NOT IN (SELECT Z_PK FROM ZSHELF)
      UNION ALL SELECT ZBOOK FROM ZCHAPTER WHERE ZBOOK NOT IN (SELECT Z_PK FROM ZWORK)
      UNION ALL SELECT Z_4TAGS FROM Z_5TAGS WHERE Z_4TAGS NOT IN (SELECT Z_PK FROM ZTAG)
      UNION ALL SELECT Z_5WORKS FROM Z_5TAGS WHERE Z_5WORKS NOT IN (SELECT Z_PK FROM ZWORK)
      UNION ALL SELECT Z_1FRIENDS FROM Z_1FRIENDS WHERE Z_1FRIENDS NOT IN (SELECT Z_PK FROM ZAUTHOR)
      UNION ALL SELECT REFLEXIVE FROM Z_1FRIENDS WHERE REFLEXIVE NOT IN (SELECT Z_PK FROM ZAUTHOR))
    """

  @Test("what led to a deleted object leads to nothing", arguments: cases)
  private func deletion(test: Case) throws {
    let rows =
      "SELECT (SELECT count(*) FROM ZAUTHOR) + (SELECT count(*) FROM ZTAG) + (SELECT count(*) FROM ZWORK) "
      + "+ (SELECT count(*) FROM ZCHAPTER)"
    let before = try #require(Int(try sqlite(library.file, rows)))
    let context = try library.context()
    try context.performAndWait {
      context.delete(try LibraryStore.object(test.entity, where: test.key, is: test.value, in: context))
      try context.save()
    }
    #expect(try sqlite(library.file, rows) == "\(before - 1)")
    #expect(try sqlite(library.file, Self.danglingQuery) == "0")
    #expect(try sqlite(library.file, "PRAGMA integrity_check") == "ok")
  }

  @Test("a shelf that books lead to by a key that they do not know of leaves no key")
  func hiddenKey() throws {
    let context = try library.context()
    try context.performAndWait {
      let shelves = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
      for shelf in shelves where (shelf.value(forKey: "books") as? NSSet)?.count == 2 { context.delete(shelf) }
      try context.save()
    }
    #expect(try sqlite(library.file, "SELECT count(*) FROM ZSHELF") == "1")
    #expect(try sqlite(library.file, "SELECT count(Z3BOOKS) FROM ZWORK") == "0")
  }

  @Test("an object that others lead to by a relationship without an inverse stays until they are changed")
  func oneWay() throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    try context.performAndWait {
      let (node, tag) = (LinkedGraph.make("Node", 1, in: context), LinkedGraph.make("Tag", 2, in: context))
      node.setValue(tag, forKey: "note")
      try context.save()
      context.delete(tag)
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
      #expect(error?.localizedDescription.contains("Node.note") == true)
      node.setValue(nil, forKey: "note")
      try context.save()
    }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZTAG") == "0")
  }

  @Test("a batch deletion is refused as a whole")
  func batchDeletion() throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    try context.performAndWait {
      let node = LinkedGraph.make("Node", 1, in: context)
      let tags = (2...3).map { LinkedGraph.make("Tag", $0, in: context) }
      node.setValue(NSSet(array: tags), forKey: "tags")
      node.setValue(tags[0], forKey: "note")
      try context.save()
      let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Tag"))
      let error = #expect(throws: NSError.self) { try context.execute(request) }
      #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
      #expect(error?.localizedDescription.contains("Node.note") == true)
      let left = "SELECT (SELECT count(*) FROM ZTAG), (SELECT count(*) FROM Z_2TAGS), Z_OPT FROM ZNODE"
      #expect(try sqlite(graph.file, left) == "2|2|1")
      node.setValue(nil, forKey: "note")
      try context.save()
      try context.execute(request)
      #expect(try sqlite(graph.file, left) == "0|0|3")
    }
  }

  @Test(
    "a new object is refused where a relationship is mandatory",
    arguments: [
      (#"maxCount="1""#, 1570 as Int?), (#"toMany="YES" minCount="1""#, 1580), (#"toMany="YES""#, nil),
      (#"optional="YES" maxCount="1""#, nil), (#"optional="YES" toMany="YES" minCount="2""#, nil),
    ], [false, true])
  func mandatory(relationship: (attributes: String, code: Int?), inBulk: Bool) throws {
    let model = try NSManagedObjectModel.load(
      xml: Data(
        """
        <model><entity name="A"><attribute name="a" optional="YES" attributeType="String"/>
        <relationship name="b" \(relationship.attributes) destinationEntity="A"/></entity></model>
        """.utf8))
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let entity = try #require(model.entitiesByName["A"])
      if inBulk {
        var batch = ObjectBatch(entity: entity)
        batch.appendRow()
        context.insert(batch)
      } else {
        _ = NSManagedObject(entity: entity, insertInto: context)
      }
      guard let code = relationship.code else { return try context.save() }
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == code)
    }
  }
}
