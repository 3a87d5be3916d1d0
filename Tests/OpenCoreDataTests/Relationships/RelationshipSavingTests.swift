import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: a save writes keys, entity numbers, join rows and positions as in docs/coredata-format.md, and each changed
// object's version grows by one, at both ends. Children hand up what was added and removed.

@Suite("Saved relationships")
struct RelationshipSavingTests {
  private let graph: LinkedGraph
  private let root: NSManagedObjectContext

  init() throws {
    graph = try LinkedGraph()
    root = graph.context()
  }

  private func inRoot<Result>(_ body: () throws -> Result) rethrows -> Result { try root.performAndWait(body) }

  private func make(_ entity: String, _ numbers: Int...) -> [NSManagedObject] {
    numbers.map { LinkedGraph.make(entity, $0, in: root) }
  }

  @Test("Keys, entity numbers, join rows of both directions and positions with gaps")
  func rows() throws {
    try inRoot {
      let (node, leaf, box, tag) = (make("Node", 1)[0], make("Leaf", 2)[0], make("Box", 3)[0], make("Tag", 4)[0])
      node.setValue(leaf, forKey: "partner")
      node.setValue(NSSet(array: [leaf]), forKey: "friends")
      box.setValue(NSOrderedSet(array: [leaf, node]), forKey: "items")
      tag.setValue(NSOrderedSet(array: [node, leaf]), forKey: "ranked")
      try root.save()
    }
    #expect(
      try sqlite(graph.file, "SELECT ZNUMBER, Z_OPT, ZPARTNER, Z2_PARTNER, ZBOX, Z_FOK_BOX FROM ZNODE ORDER BY ZNUMBER")
        == "1|1|2|3|1|2048\n2|1|1|2|1|1024")
    #expect(try sqlite(graph.file, "SELECT * FROM Z_2FRIENDS ORDER BY 1") == "1|2\n2|1")
    #expect(try sqlite(graph.file, "SELECT Z_2RANKED, Z_FOK_2RANKED FROM Z_2RANKINGS ORDER BY 2") == "1|1024\n2|2048")
  }

  @Test("The versions of both ends grow by one")
  func versions() throws {
    try inRoot {
      let (node, boxes) = (make("Node", 1)[0], make("Box", 8, 9))
      node.setValue(boxes[0], forKey: "box")
      try root.save()
      node.setValue(boxes[1], forKey: "box")
      try root.save()
      #expect(try sqlite(graph.file, "SELECT Z_OPT FROM ZNODE UNION ALL SELECT Z_OPT FROM ZBOX") == "2\n2\n2")
      node.setValue(5, forKey: "number")
      boxes[0].setValue(5, forKey: "number")
      try root.save()
      #expect(try sqlite(graph.file, "SELECT group_concat(Z_OPT) FROM ZBOX") == "3,2")
    }
  }

  @Test("An insertion in the middle changes no other position, and a list without gaps is numbered anew")
  func positions() throws {
    #expect(OrderPositions.changes(from: [1024, nil, 2048]) == [1: 1536])
    #expect(OrderPositions.changes(from: [1024, 2048, nil]) == [2: 3072])
    #expect(OrderPositions.changes(from: [nil, 1024]) == [0: 512])
    #expect(OrderPositions.changes(from: [3072, 1024, 2048]) == [0: 512])
    #expect(OrderPositions.changes(from: [1, nil, 2]) == [0: 1024, 1: 2048, 2: 3072])
    #expect(OrderPositions.changes(from: []) == [:])
  }

  // The order that the second child has set comes first; what it did not have follows the object that it followed.
  @Test("Siblings that each add to the same relationship both win")
  func siblings() throws {
    let boxes = try inRoot {
      let boxes = make("Box", 9)
      make("Node", 1, 2).forEach { $0.setValue(boxes[0], forKey: "box") }
      try root.save()
      return boxes.map(\.objectID)
    }
    let children = [graph.context(root), graph.context(root)]
    for (index, child) in children.enumerated() {
      child.performAndWait {
        let box = child.object(with: boxes[0])
        LinkedGraph.make("Node", 3 + index, in: child).setValue(box, forKey: "box")
        if index == 1 { box.mutableOrderedSetValue(forKey: "items").exchangeObject(at: 0, withObjectAt: 1) }
      }
    }
    for child in children { try child.performAndWait { try child.save() } }
    try inRoot {
      #expect(LinkedGraph.numbers(root.object(with: boxes[0]), "items") == [2, 3, 1, 4])
      try root.save()
      #expect(LinkedGraph.numbers(root.object(with: boxes[0]), "items") == [2, 3, 1, 4])
    }
  }

  @Test("Two contexts on the coordinator that change one owner are in conflict, and a policy resolves it by property")
  func conflicts() throws {
    let ids = try inRoot {
      let objects = make("Node", 1) + make("Tag", 7, 8)
      objects[0].setValue(objects[1], forKey: "note")
      try root.save()
      return objects.map(\.objectID)
    }
    let others = [NSErrorMergePolicy, NSMergeByPropertyStoreTrumpMergePolicy, NSMergeByPropertyObjectTrumpMergePolicy]
    for (index, policy) in others.enumerated() {
      let other = graph.context()
      other.mergePolicy = policy
      try other.performAndWait {
        let node = other.object(with: ids[0])
        node.setValue(nil, forKey: "note")
        try inRoot {
          root.refreshAllObjects()
          let node = root.object(with: ids[0])
          let next = node.value(forKeyPath: "note.number") as? Int == 7 ? 2 : 1
          node.setValue(root.object(with: ids[next]), forKey: "note")
          try root.save()
        }
        if index == 0 {
          let error = #expect(throws: NSError.self) { try other.save() }
          #expect(error?.code == NSManagedObjectMergeError)
        } else {
          try other.save()
          #expect((node.value(forKey: "note") == nil) == (index == 2))
        }
      }
      #expect(try sqlite(graph.file, "SELECT ZNOTE IS NULL FROM ZNODE") == (index == 2 ? "1" : "0"))
    }
  }

  @Test("A merge shows the changed relationships of other contexts, and a deletion elsewhere takes changes back")
  func merging() throws {
    let ids = try inRoot {
      let objects = make("Node", 1) + make("Box", 8, 9)
      try root.save()
      objects[0].setValue(objects[1], forKey: "box")
      return objects.map(\.objectID)
    }
    let other = graph.context()
    let center = NotificationCenter.default
    let token = center.addObserver(forName: .NSManagedObjectContextDidSave, object: other, queue: nil) { note in
      root.performAndWait { root.mergeChanges(fromContextDidSave: note) }
    }
    defer { center.removeObserver(token) }
    try other.performAndWait {
      other.delete(other.object(with: ids[1]))
      try other.save()
    }
    try inRoot {
      #expect(root.object(with: ids[0]).value(forKey: "box") == nil)
      try root.save()
    }
    try other.performAndWait {
      other.object(with: ids[2]).mutableOrderedSetValue(forKey: "items").add(other.object(with: ids[0]))
      try other.save()
    }
    inRoot { #expect(LinkedGraph.numbers(root.object(with: ids[0]), "box") == [9]) }
    #expect(try sqlite(graph.file, "SELECT ZBOX FROM ZNODE") == "2")
  }
}
