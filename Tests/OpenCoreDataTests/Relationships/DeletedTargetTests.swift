import Foundation
import TestSupport
import Testing

@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores

// Rules (Apple documentation: NSManagedObjectContext, delete(_:) and "shouldDeleteInaccessibleFaults"; Core Data
// Programming Guide, "Relationship Delete Rules"): nothing leads to an object that the context deletes; a fault whose row
// is gone becomes a deleted object; an object that was changed here and deleted elsewhere is a conflict (133020).

@Suite("An object that leads to a deleted one")
struct DeletedTargetTests {
  private let graph: LinkedGraph
  private let (own, other): (NSManagedObjectContext, NSManagedObjectContext)

  init() throws {
    graph = try LinkedGraph()
    (own, other) = (graph.context(), graph.context())
  }

  private static let entities = ["box": "Box", "parent": "Node", "tags": "Tag", "note": "Tag"]
  /// How many of the new nodes are in the store, and to how many objects they lead.
  private static let found = """
    SELECT count(*), count(ZBOX) + count(ZPARENT) + count(ZNOTE) + (SELECT count(*) FROM Z_2TAGS) FROM ZNODE WHERE ZNUMBER = 1
    """

  /// A stored object at the other end of a relationship.
  private func target(of key: String) throws -> NSManagedObjectID {
    try other.performAndWait {
      let target = LinkedGraph.make(try #require(Self.entities[key]), 5, in: other)
      try other.save()
      return target.objectID
    }
  }

  private func deleteElsewhere(_ id: NSManagedObjectID) throws {
    try other.performAndWait {
      other.delete(other.object(with: id))
      try other.save()
    }
  }

  private func lead(_ node: NSManagedObject, _ key: String, to target: NSManagedObject) {
    node.setValue(key == "tags" ? NSSet(array: [target]) : target, forKey: key)
  }

  private func leads(_ node: NSManagedObject, _ key: String) -> Bool {
    node.value(forKey: key).map { ($0 as? NSSet)?.count != 0 } ?? false
  }

  @Test(
    "It leads to nothing after a deletion in its context, and is saved", arguments: ["box", "parent", "tags", "note"])
  func deletedHere(key: String) throws {
    let id = try target(of: key)
    try own.performAndWait {
      let (node, target) = (LinkedGraph.make("Node", 1, in: own), own.object(with: id))
      lead(node, key, to: target)
      own.delete(target)
      try own.save()
      #expect(!leads(node, key))
    }
    #expect(try sqlite(graph.file, Self.found) == (key == "parent" ? "0|0" : "1|0"))
  }

  @Test("It does not lead to a fault whose row is gone, which is deleted then", arguments: ["box", "parent", "tags"])
  func goneBefore(key: String) throws {
    let id = try target(of: key)
    try deleteElsewhere(id)
    try own.performAndWait {
      let (node, target) = (LinkedGraph.make("Node", 1, in: own), own.object(with: id))
      lead(node, key, to: target)
      #expect(target.isDeleted && !leads(node, key))
      try own.save()
    }
    #expect(try sqlite(graph.file, Self.found) == "1|0")
  }

  @Test(
    "It is a conflict if the object was known, because what leads to it changes it, too",
    arguments: ["box", "parent", "tags"])
  func goneAfterwards(key: String) throws {
    let id = try target(of: key)
    try own.performAndWait {
      let (node, target) = (LinkedGraph.make("Node", 1, in: own), own.object(with: id))
      lead(node, key, to: target)
      try deleteElsewhere(id)
      let error = #expect(throws: NSError.self) { try own.save() }
      #expect(error?.code == NSManagedObjectMergeError)
    }
    #expect(try sqlite(graph.file, Self.found) == "0|0")
  }

  @Test("It is refused if the object does not know of it, and its row is gone")
  func withoutInverse() throws {
    let id = try target(of: "note")
    try own.performAndWait {
      lead(LinkedGraph.make("Node", 1, in: own), "note", to: own.object(with: id))
      try deleteElsewhere(id)
      let error = #expect(throws: NSError.self) { try own.save() }
      #expect(error?.code == NSManagedObjectReferentialIntegrityError)
    }
    #expect(try sqlite(graph.file, Self.found) == "0|0")
  }

  /// A packed row leads to an object that no context has read.
  @Test("A row of a child that leads to a gone object is refused when the parent saves it", arguments: [false, true])
  func packed(hasObjects: Bool) throws {
    let library = try LibraryStore()
    let parent = try library.context()
    let (author, tag) = try parent.performAndWait {
      defer { parent.reset() }
      return (
        try LibraryStore.object("Author", where: "name", is: "Cleo", in: parent).objectID,
        try LibraryStore.object("Tag", where: "word", is: "none", in: parent).objectID
      )
    }
    _ = try sqlite(library.file, "DELETE FROM ZAUTHOR WHERE ZNAME = 'Cleo'")
    let middle = try library.context(parent)
    let child = try library.context(middle)
    for context in [parent, middle, child] { context.changeNotificationContents = .objectIDs }
    try child.performAndWait {
      let entity = try #require(library.model.entitiesByName["Book"])
      var batch = ObjectBatch(entity: entity, rowCapacity: 1)
      batch.appendRow()
      batch.setValue(.text("New"), row: 0, slot: try #require(entity.slot(named: "title")))
      batch.setObject(author, for: try #require(entity.relationshipsByName["author"]))
      let rows = child.insert(batch)
      // The parent links rows by objects then.
      if hasObjects { child.object(with: rows[0]).addRelatedObjects([child.object(with: tag)], forKey: "tags") }
      try child.save()
    }
    let error = #expect(throws: NSError.self) {
      for context in [middle, parent] { try context.performAndWait { try context.save() } }
    }
    #expect(error?.code == NSManagedObjectReferentialIntegrityError, "\(String(describing: error))")
    #expect(try sqlite(library.file, "SELECT count(*) FROM ZWORK WHERE ZTITLE = 'New'") == "0")
  }
}
