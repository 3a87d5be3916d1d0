import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (docs/invariants.md, P2 and R3): a child sees the relationships of its parent with the parent's changes, whatever
// keys the objects have and whenever they got them.

@Suite("A child reads relationships through its parent", .overBothStores)
struct ReadingThroughParentTests {
  private let graph: LinkedGraph
  private let (root, middle, child): (NSManagedObjectContext, NSManagedObjectContext, NSManagedObjectContext)

  init() throws {
    graph = try LinkedGraph(kind: StoreKind.current)
    root = graph.context()
    middle = graph.context(root)
    child = graph.context(middle)
  }

  /// What the child reads in a tag's `nodes`.
  private func nodesOfTag() throws -> [Int] {
    try child.performAndWait { LinkedGraph.numbers(try LinkedGraph.find("Tag", 1, in: child), "nodes") }
  }

  /// A tag with two nodes, pending in the root.
  private func insertTag() {
    root.performAndWait {
      let nodes = (1...2).map { LinkedGraph.make("Node", $0, in: root) }
      LinkedGraph.make("Tag", 1, in: root).mutableSetValue(forKey: "nodes").addObjects(from: nodes)
      root.processPendingChanges()
    }
  }

  @Test("A deleted object leaves those of other entities with its number")
  func otherHierarchy() throws {
    insertTag()
    try root.performAndWait {
      LinkedGraph.make("Box", 1, in: root)
      try root.save()
    }
    try middle.performAndWait {
      let (box, node) = (
        try LinkedGraph.find("Box", 1, in: middle), try LinkedGraph.find("Node", 1, in: middle)
      )
      try #require(box.objectID.storeKey == node.objectID.storeKey)
      middle.delete(box)
      middle.processPendingChanges()
      #expect(try nodesOfTag() == [1, 2])
    }
  }

  @Test("A deleted object is left out whose ID has become permanent since", arguments: [false, true])
  func deletedBeforeItsRowWasSaved(isProcessed: Bool) throws {
    insertTag()
    try middle.performAndWait {
      let node = try LinkedGraph.find("Node", 1, in: middle)
      middle.delete(node)
      if isProcessed { middle.processPendingChanges() }
      try root.performAndWait { try root.save() }
      #expect(try nodesOfTag() == [2])
    }
  }

  @Test("An added object is seen whose owner's ID has become permanent since")
  func addedBeforeTheOwnerWasSaved() throws {
    insertTag()
    try middle.performAndWait {
      let tag = try LinkedGraph.find("Tag", 1, in: middle)
      tag.mutableSetValue(forKey: "nodes").add(LinkedGraph.make("Node", 3, in: middle))
      let id = tag.objectID
      try root.performAndWait { try root.save() }
      child.performAndWait { #expect(LinkedGraph.numbers(child.object(with: id), "nodes") == [1, 2, 3]) }
    }
  }

  @Test(
    "An object of another entity is seen whose row has the key of one that is gone",
    .sqliteOnly("another program writes the row"))
  func replacedRow() throws {
    insertTag()
    try root.performAndWait { try root.save() }
    try middle.performAndWait {
      let node = try LinkedGraph.find("Node", 1, in: middle)
      middle.refresh(node, mergeChanges: false)
      try #require(node.isFault)
      _ = try sqlite(
        graph.file, "UPDATE ZNODE SET Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Leaf') WHERE ZNUMBER = 1")
      #expect(node.value(forKey: "number") == nil)
      #expect(node.isDeleted)
      #expect(try child.performAndWait { try LinkedGraph.find("Leaf", 1, in: child).entity.name } == "Leaf")
      #expect(try nodesOfTag() == [1, 2])
      let tags = try child.performAndWait {
        LinkedGraph.numbers(try LinkedGraph.find("Leaf", 1, in: child), "tags")
      }
      #expect(tags == [1])
    }
  }

  @Test("An object that was moved here is in one list, wherever others have moved it")
  func movedBeforeItsRowWasSaved() throws {
    let (node, boxes) = root.performAndWait {
      let boxes = (1...3).map { LinkedGraph.make("Box", $0, in: root) }
      let node = LinkedGraph.make("Node", 1, in: root)
      node.setValue(boxes[0], forKey: "box")
      root.processPendingChanges()
      return (node, boxes)
    }
    try middle.performAndWait {
      let own = try (1...3).map { try LinkedGraph.find("Box", $0, in: middle) }
      let moved = try LinkedGraph.find("Node", 1, in: middle)
      moved.setValue(own[1], forKey: "box")
      try root.performAndWait {
        node.setValue(boxes[2], forKey: "box")
        try root.save()
      }
      #expect(own.map { LinkedGraph.numbers($0, "items") } == [[], [1], []])
    }
  }

  @Test("A deletion that is taken back does not hold what its rules have read", arguments: [false, true])
  func rulesHoldNothing(isInsertedAgain: Bool) throws {
    try root.performAndWait {
      let nodes = (1...3).map { LinkedGraph.make("Node", $0, in: root) }
      nodes[0].mutableSetValue(forKey: "children").addObjects(from: [nodes[1], nodes[2]])
      try root.save()
    }
    let own = graph.context()
    try own.performAndWait {
      let node = try LinkedGraph.find("Node", 1, in: own)
      own.delete(node)
      own.processPendingChanges()
      let ids = own.deletedObjects.filter { $0 !== node }.map(\.objectID)
      try #require(ids.count == 2)
      if isInsertedAgain { own.insert(node) }
      own.rollback()
      #expect(ids.allSatisfy { own.registeredObject(for: $0) == nil })
      #expect(LinkedGraph.numbers(node, "children") == [2, 3])
    }
  }
}
