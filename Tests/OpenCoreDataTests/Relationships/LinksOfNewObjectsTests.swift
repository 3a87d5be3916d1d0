import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rule: a save packs the to-one relationships of its new objects. Levels above announce the other ends as changed, answer
// as if the objects had been linked there, and find conflicts about them. (docs/decisions/0030.)

@Suite("Relationships of new objects in a chain")
struct LinksOfNewObjectsTests {
  private let graph: LinkedGraph
  private let root: NSManagedObjectContext
  private let child: NSManagedObjectContext

  /// The store has the nodes 1 and 2 and a tag 9.
  init() throws {
    graph = try LinkedGraph()
    (root, child) = (graph.context(), NSManagedObjectContext(concurrencyType: .privateQueue))
    child.parent = root
    let first = graph.context()
    try first.performAndWait {
      for number in 1...2 { LinkedGraph.make("Node", number, in: first) }
      LinkedGraph.make("Tag", 9, in: first)
      try first.save()
    }
  }

  /// Saves new nodes to the root: children of a node, with the tag as their note.
  private func add(_ numbers: [Int], to parent: Int = 1) throws {
    try child.performAndWait {
      let (parent, tag) = (try LinkedGraph.find("Node", parent, in: child), try LinkedGraph.find("Tag", 9, in: child))
      for number in numbers {
        let node = LinkedGraph.make("Node", number, in: child)
        node.setValue(parent, forKey: "parent")
        node.setValue(tag, forKey: "note")
      }
      try child.save()
    }
  }

  private var rows: String {
    get throws {
      try sqlite(
        graph.file,
        "SELECT n.ZNUMBER, n.Z_OPT, p.ZNUMBER, t.ZNUMBER FROM ZNODE n LEFT JOIN ZNODE p ON p.Z_PK = n.ZPARENT "
          + "LEFT JOIN ZTAG t ON t.Z_PK = n.ZNOTE ORDER BY 1")
    }
  }

  private var isPacked: Bool { root.performAndWait { root.graph.insertions.hasPackedLinks } }

  @Test func `They stay packed up to the store, and the version of the other end grows once`() throws {
    try add([11, 12])
    #expect(isPacked)
    try root.performAndWait { try root.save() }
    #expect(try rows == "1|2||\n2|1||\n11|1|1|9\n12|1|1|9")
    try add([13])
    try root.performAndWait {
      // The root knows the version that its save has written.
      try LinkedGraph.find("Node", 1, in: root).setValue(1, forKey: "number")
      try root.save()
    }
    #expect(try rows.hasPrefix("1|3||\n"))
  }

  @Test func `A level above shows both ends, and the other end as changed`() throws {
    let updated = Locked<[Int]>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: root, queue: nil
    ) { notification in
      let objects = notification.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject> ?? []
      updated.withLock { $0 += objects.compactMap { $0.value(forKey: "number") as? Int } }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try add([11, 12])
    #expect(updated.withLock { $0 } == [1])
    try root.performAndWait {
      let parent = try LinkedGraph.find("Node", 1, in: root)
      #expect(parent.isUpdated && parent.hasPersistentChangedValues)
      #expect(parent.changedValues().keys.sorted() == ["children"])
      #expect(LinkedGraph.numbers(parent, "children") == [11, 12])
      let new = try LinkedGraph.find("Node", 11, in: root)
      #expect(LinkedGraph.numbers(new, "parent") == [1] && LinkedGraph.numbers(new, "note") == [9])
      root.processPendingChanges()
      // They were announced before; reading them changes nothing.
      #expect(updated.withLock { $0 } == [1])
      try root.save()
    }
    #expect(try rows == "1|2||\n2|1||\n11|1|1|9\n12|1|1|9")
  }

  @Test func `A change of the other end by others is a conflict at the root`() throws {
    try child.performAndWait {
      child.retainsRegisteredObjects = true
      _ = try LinkedGraph.find("Node", 1, in: child).value(forKey: "number")
    }
    try graph.renewVersion(ofNode: 1)
    try add([11])
    let error = #expect(throws: NSError.self) { try root.performAndWait { try root.save() } }
    #expect(error?.code == NSManagedObjectMergeError)
    try root.performAndWait {
      root.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try root.save()
    }
    #expect(try rows == "1|4||\n2|1||\n11|1|1|9")
  }

  @Test func `A level above moves, unlinks and deletes what a child has linked`() throws {
    try add([11, 12, 13])
    try root.performAndWait {
      let (two, tag) = (try LinkedGraph.find("Node", 2, in: root), try LinkedGraph.find("Tag", 9, in: root))
      try LinkedGraph.find("Node", 11, in: root).setValue(two, forKey: "parent")
      let twelve = try LinkedGraph.find("Node", 12, in: root)
      twelve.setValue(nil, forKey: "parent")
      twelve.setValue(nil, forKey: "note")
      root.delete(try LinkedGraph.find("Node", 1, in: root))
      root.delete(tag)
      try root.save()
    }
    #expect(try rows == "2|2||\n11|1|2|\n12|1||")
  }

  @Test func `A child's deletion reaches what the level above has gained since the child read it`() throws {
    child.performAndWait { child.retainsRegisteredObjects = true }
    try child.performAndWait {
      child.delete(try LinkedGraph.find("Node", 1, in: child))
      child.processPendingChanges()
    }
    try root.performAndWait {
      root.retainsRegisteredObjects = true
      let new = LinkedGraph.make("Node", 21, in: root)
      new.setValue(try LinkedGraph.find("Node", 1, in: root), forKey: "parent")
      try root.save()
    }
    try child.performAndWait { try child.save() }
    try root.performAndWait { try root.save() }
    #expect(try rows == "2|1||")
  }

  @Test func `An object that is read after packed rows lead to it has the version that their save writes`() throws {
    let node = try #require(graph.model.entitiesByName["Node"])
    try root.performAndWait {
      root.changeNotificationContents = .objectIDs
      root.retainsRegisteredObjects = true
      let id = try LinkedGraph.find("Node", 1, in: root).objectID
      root.reset()
      var batch = ObjectBatch(entity: node)
      batch.appendRow()
      batch.setObject(id, for: try #require(node.relationshipsByName["parent"]))
      root.insert(batch)
      let parent = root.object(with: id)
      _ = parent.value(forKey: "number")
      try root.save()
      parent.setValue(100, forKey: "number")
      try root.save()
    }
    #expect(try rows == "|1|100|\n2|1||\n100|3||")
  }

  @Test func `A rollback of a level above leaves nothing of them`() throws {
    try add([11])
    root.performAndWait { root.rollback() }
    #expect(!isPacked)
    try add([12], to: 2)
    try root.performAndWait { try root.save() }
    #expect(try rows == "1|1||\n2|2||\n12|1|2|9")
  }

  @Test func `An undo manager of a level above records both ends`() throws {
    root.performAndWait { root.undoManager = UndoManager() }
    try add([11])
    #expect(!isPacked)
    try root.performAndWait {
      root.processPendingChanges()
      root.undo()
      let parent = try LinkedGraph.find("Node", 1, in: root)
      #expect(LinkedGraph.numbers(parent, "children").isEmpty)
      #expect(!root.hasChanges)
    }
  }
}
