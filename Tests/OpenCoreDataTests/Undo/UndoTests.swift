import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, undoManager, undo(), redo(), rollback(); Core Data Programming
// Guide, "Change Management"): an undo takes back what the last group has changed, at both ends of relationships.
// GraphModelTests plays random undos and redos.

@Suite("A context takes changes back")
struct UndoTests {
  private let graph: LinkedGraph
  private let context: NSManagedObjectContext
  private let manager = UndoManager()

  init() throws {
    graph = try LinkedGraph()
    context = graph.context()
    manager.groupsByEvent = false
  }

  /// A saved box with nodes, and the context with an undo manager.
  private func setUp(_ nodes: Int...) throws -> (box: NSManagedObject, nodes: [NSManagedObject]) {
    let box = LinkedGraph.make("Box", 1, in: context)
    let nodes = nodes.map { LinkedGraph.make("Node", $0, in: context) }
    box.setValue(NSOrderedSet(array: nodes), forKey: "items")
    try context.save()
    context.undoManager = manager
    return (box, nodes)
  }

  private func group(_ body: () throws -> Void) rethrows {
    manager.beginUndoGrouping()
    try body()
    manager.endUndoGrouping()
  }

  private func numbers(_ object: NSManagedObject, _ key: String) -> [Int] { LinkedGraph.numbers(object, key) }

  @Test("By default there is no manager, and nothing is recorded")
  func none() throws {
    #expect(context.undoManager == nil && context.graph.undo == nil)
    LinkedGraph.make("Box", 1, in: context)
    context.undo()
    context.redo()
    #expect(context.insertedObjects.count == 1)
    context.undoManager = manager
    context.undoManager = nil
    #expect(context.graph.undo == nil)
  }

  @Test("Values: those of the group only, announced as a change, and nothing is pending once all is back")
  func values() throws {
    let (box, nodes) = try setUp(1, 2)
    group { box.setValue(10, forKey: "number") }
    group {
      nodes[0].setValue(20, forKey: "number")
      nodes[0].setValue(21, forKey: "number")
    }
    var updated: [Set<NSManagedObject>] = []
    let observer = ChangeObserver(context) { info in
      if let objects = info[NSUpdatedObjectsKey] as? Set<NSManagedObject> { updated.append(objects) }
    }
    defer { observer.stop() }
    context.undo()
    #expect(nodes[0].value(forKey: "number") as? Int == 1 && box.value(forKey: "number") as? Int == 10)
    #expect(updated == [[nodes[0]]])
    context.undo()
    #expect(box.value(forKey: "number") as? Int == 1)
    #expect(!context.hasChanges && !box.isUpdated && box.changedValues().isEmpty)
    context.redo()
    #expect(box.changedValues()["number"] as? Int == 10)
  }

  @Test("An insertion: the object leaves, and a redo brings the same object back with its values and links")
  func insertion() throws {
    let (box, _) = try setUp(1)
    var made: NSManagedObject?
    group {
      let node = LinkedGraph.make("Node", 7, in: context)
      node.setValue(box, forKey: "box")
      made = node
    }
    let node = try #require(made)
    let id = node.objectID
    context.undo()
    #expect(node.managedObjectContext == nil && context.insertedObjects.isEmpty && numbers(box, "items") == [1])
    #expect(!context.hasChanges)
    context.redo()
    #expect(node.objectID == id && context.object(with: id) === node)
    #expect(node.isInserted && context.insertedObjects == [node] && numbers(box, "items") == [1, 7])
    #expect(node.value(forKey: "box") as? NSManagedObject === box)
    try context.save()
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZNODE WHERE ZNUMBER = 7 AND ZBOX = 1") == "1")
  }

  @Test("A deletion: what it has taken along and emptied is back, in its place", arguments: [false, true])
  func deletion(isSaved: Bool) throws {
    let (box, nodes) = try setUp(1, 2, 3)
    let tag = LinkedGraph.make("Tag", 9, in: context)
    nodes[2].setValue(nodes[1], forKey: "parent")
    nodes[0].setValue(nodes[1], forKey: "partner")
    nodes[1].setValue(NSSet(array: [tag]), forKey: "tags")
    try context.save()
    group { context.delete(nodes[1]) }
    #expect(numbers(box, "items") == [1] && nodes[2].isDeleted && nodes[0].value(forKey: "partner") == nil)
    if isSaved { try context.save() }
    context.undo()
    #expect(numbers(box, "items") == [1, 2, 3] && numbers(nodes[1], "children") == [3])
    #expect(numbers(nodes[0], "partner") == [2] && numbers(tag, "nodes") == [2])
    #expect(nodes[1].isInserted == isSaved && !nodes[1].isDeleted && nodes[1].managedObjectContext === context)
    try context.save()
    let rows = "SELECT group_concat(ZNUMBER) FROM (SELECT ZNUMBER FROM ZNODE WHERE ZBOX = 1 ORDER BY Z_FOK_BOX)"
    #expect(try sqlite(graph.file, rows) == "1,2,3")
    context.redo()
    #expect(nodes[1].isDeleted && nodes[2].isDeleted && numbers(box, "items") == [1])
    try context.save()
    #expect(try sqlite(graph.file, "SELECT group_concat(ZNUMBER) FROM ZNODE") == "1")
  }

  @Test("A partner that was taken from another object goes back to it")
  func takenPartner() throws {
    let (_, nodes) = try setUp(1, 2, 3)
    nodes[0].setValue(nodes[1], forKey: "partner")
    try context.save()
    manager.removeAllActions()
    group { nodes[2].setValue(nodes[1], forKey: "partner") }
    func partners() -> [[Int]] { nodes.map { numbers($0, "partner") } }
    #expect(partners() == [[], [3], [2]])
    context.undo()
    #expect(partners() == [[2], [1], []] && !context.hasChanges)
    context.redo()
    #expect(partners() == [[], [3], [2]])
  }

  @Test("After a save the undo of a change or an insertion is pending until the next save")
  func overSaves() throws {
    let (box, _) = try setUp(1)
    group { box.setValue(2, forKey: "number") }
    var made: NSManagedObject?
    group { made = LinkedGraph.make("Tag", 5, in: context) }
    let tag = try #require(made)
    try context.save()
    context.undo()
    #expect(tag.isDeleted && context.deletedObjects == [tag])
    context.undo()
    #expect(box.isUpdated && box.changedValues()["number"] as? Int == 1)
    try context.save()
    #expect(try sqlite(graph.file, "SELECT ZNUMBER FROM ZBOX; SELECT count(*) FROM ZTAG") == "1\n0")
    context.redo()
    context.redo()
    #expect(tag.isInserted && tag.value(forKey: "number") as? Int == 5)
    try context.save()
    #expect(try sqlite(graph.file, "SELECT ZNUMBER FROM ZBOX; SELECT ZNUMBER FROM ZTAG") == "2\n5")
  }

  @Test("Adding what is in an unread relationship already is not a change to take back")
  func knownMember() throws {
    let (_, nodes) = try setUp(1)
    let tag = LinkedGraph.make("Tag", 9, in: context)
    nodes[0].setValue(NSSet(array: [tag]), forKey: "tags")
    try context.save()
    context.refreshAllObjects()
    manager.removeAllActions()
    group {
      nodes[0].mutableSetValue(forKey: "tags").add(tag)
      tag.setValue(10, forKey: "number")
    }
    context.undo()
    #expect(numbers(nodes[0], "tags") == [9] && numbers(tag, "nodes") == [1])
  }

  @Test("What a child saves is undone in its parent, and a child's undo is saved as another change")
  func chain() throws {
    let (box, nodes) = try setUp(1, 2)
    let child = graph.context(context)
    child.undoManager = UndoManager()
    try child.performAndWait {
      let own = try LinkedGraph.find("Box", 1, in: child)
      own.setValue(NSOrderedSet(array: []), forKey: "items")
      LinkedGraph.make("Node", 3, in: child).setValue(own, forKey: "box")
      try child.save()
    }
    context.processPendingChanges()
    #expect(numbers(box, "items") == [3])
    context.undo()
    #expect(numbers(box, "items") == [1, 2] && context.insertedObjects.isEmpty)
    context.redo()
    #expect(numbers(box, "items") == [3] && numbers(nodes[0], "box").isEmpty)
    try child.performAndWait {
      child.refreshAllObjects()
      child.undo()
      try child.save()
    }
    #expect(numbers(box, "items") == [1, 2])
  }

  @Test("Rows that were inserted together are taken back together")
  func batch() throws {
    _ = try setUp()
    let entity = try #require(graph.model.entitiesByName["Tag"])
    group {
      var batch = ObjectBatch(entity: entity, rowCapacity: 3)
      for number in 1...3 {
        batch.appendRow()
        batch.setInteger(Int64(number), at: entity.slot(named: "number") ?? 0)
      }
      context.insert(batch)
    }
    context.undo()
    #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 0)
    context.redo()
    try context.save()
    #expect(
      try sqlite(graph.file, "SELECT group_concat(ZNUMBER) FROM (SELECT * FROM ZTAG ORDER BY ZNUMBER)") == "1,2,3")
  }
}

/// Collects what a context announces.
final class ChangeObserver {
  private let token: any NSObjectProtocol

  init(_ context: NSManagedObjectContext, _ body: @escaping ([AnyHashable: Any]) -> Void) {
    nonisolated(unsafe) let body = body
    token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { body($0.userInfo ?? [:]) }
  }

  func stop() { NotificationCenter.default.removeObserver(token) }
}
