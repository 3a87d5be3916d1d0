import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: relationships can be read, not changed, and a store must stay consistent. An object that other rows lead to
// can't be deleted unless they are deleted in the same save (1600, NSValidationRelationshipDeniedDeleteError); a new
// object can't have its mandatory relationships (1570, 1580; Apple documentation: NSRelationshipDescription,
// "Cardinality").

@Suite("Links that nobody can set are never left leading nowhere")
struct LinkedObjectTests {
  private let library: LibraryStore

  init() throws { library = try LibraryStore() }

  private struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let entity: String
    let key: String
    let value: String
    /// The relationship in the way; nil where the object may go.
    let obstacle: String?
  }

  private static let cases = [
    Case(testDescription: "led to by a key", entity: "Author", key: "name", value: "Cleo", obstacle: "friends"),
    Case(testDescription: "by keys of several kinds", entity: "Author", key: "name", value: "Ann", obstacle: "friends"),
    Case(testDescription: "by a row of a join table", entity: "Tag", key: "word", value: "drama", obstacle: "tags"),
    Case(testDescription: "by chapters and a join table", entity: "Book", key: "title", value: "Tides", obstacle: ""),
    Case(testDescription: "leads to others only", entity: "Chapter", key: "heading", value: "Only", obstacle: nil),
    Case(testDescription: "on its own", entity: "Tag", key: "word", value: "none", obstacle: nil),
    Case(testDescription: "of a hierarchy, on its own", entity: "Work", key: "title", value: "Orphan", obstacle: nil),
  ]

  private func rows() throws -> String { try sqlite(library.file, ".dump") }

  @Test("what others lead to stays, and the save changes nothing", arguments: cases)
  private func deletion(test: Case) throws {
    let before = try rows()
    let context = try library.context()
    try context.performAndWait {
      let object = try LibraryStore.object(test.entity, where: test.key, is: test.value, in: context)
      context.delete(object)
      guard let obstacle = test.obstacle else { return try context.save() }
      let error = #expect(throws: NSError.self) { try context.save() }
      #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
      #expect(error?.localizedDescription.contains(".\(obstacle)") == true)
    }
    #expect(try (rows() == before) == (test.obstacle != nil))
    #expect(try sqlite(library.file, "PRAGMA integrity_check") == "ok")
  }

  @Test("both ends may go in one save")
  func together() throws {
    let context = try library.context()
    try context.performAndWait {
      for chapter in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Chapter")) {
        context.delete(chapter)
      }
      try sqlite(library.file, "DELETE FROM Z_5TAGS; UPDATE ZAUTHOR SET ZFAVOURITE = NULL, Z5_FAVOURITE = NULL")
      for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) { context.delete(book) }
      try context.save()
    }
    #expect(try sqlite(library.file, "SELECT count(*) FROM ZWORK") == "1")
  }

  @Test("a shelf that books lead to by a key that they do not know of stays")
  func hiddenKey() throws {
    let context = try library.context()
    try context.performAndWait {
      let shelves = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf"))
      for shelf in shelves where (shelf.value(forKey: "books") as? NSSet)?.count == 2 { context.delete(shelf) }
      #expect(throws: NSError.self) { try context.save() }
    }
    #expect(try sqlite(library.file, "SELECT count(*) FROM ZSHELF") == "2")
  }

  @Test("a batch deletion is refused as a whole")
  func batchDeletion() throws {
    let context = try library.context()
    try context.performAndWait {
      let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Author"))
      let error = #expect(throws: NSError.self) { try context.execute(request) }
      #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
      let chapters = NSBatchDeleteRequest(
        fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Chapter"))
      try context.execute(chapters)
    }
    #expect(try sqlite(library.file, "SELECT count(*) FROM ZAUTHOR") == "4")
    #expect(try sqlite(library.file, "SELECT count(*) FROM ZCHAPTER") == "0")
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
