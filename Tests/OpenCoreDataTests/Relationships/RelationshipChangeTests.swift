import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: Core Data Programming Guide, "Creating Managed Object Relationships"; NSManagedObject):
// setting one end sets the other, both count as changed, and a to-many relationship is not read to add to it.

/// A delegate, without which a controller does not follow changes.
private final class Listener: NSObject, NSFetchedResultsControllerDelegate {
  private(set) var changes = 0
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { changes += 1 }
}

@Suite("A change of a relationship reaches both ends at once", .overBothStores)
struct RelationshipChangeTests {
  private let graph: LinkedGraph
  private let context: NSManagedObjectContext

  init() throws {
    graph = try LinkedGraph(kind: .current)
    context = graph.context()
  }

  private func make(_ entity: String, _ numbers: Int...) -> [NSManagedObject] {
    numbers.map { LinkedGraph.make(entity, $0, in: context) }
  }

  private func find(_ entity: String, _ number: Int) throws -> NSManagedObject {
    try LinkedGraph.find(entity, number, in: context)
  }

  @Test("One to one: the former partners of both are alone")
  func oneToOne() {
    context.performAndWait {
      let nodes = make("Node", 1, 2, 3, 4)
      nodes[0].setValue(nodes[1], forKey: "partner")
      nodes[2].setValue(nodes[3], forKey: "partner")
      nodes[0].setValue(nodes[3], forKey: "partner")
      #expect(nodes.map { LinkedGraph.numbers($0, "partner") } == [[4], [], [], [1]])
      nodes[3].setValue(nil, forKey: "partner")
      #expect(nodes.allSatisfy { $0.value(forKey: "partner") == nil })
    }
  }

  @Test("One to many: an object leaves its former owner, and order is kept where there is one")
  func oneToMany() {
    context.performAndWait {
      let (nodes, boxes) = (make("Leaf", 1, 2, 3), make("Box", 8, 9))
      boxes[0].setValue(NSOrderedSet(array: [nodes[2], nodes[0]]), forKey: "items")
      nodes[1].setValue(boxes[0], forKey: "box")
      #expect(LinkedGraph.numbers(boxes[0], "items") == [3, 1, 2])
      boxes[1].mutableOrderedSetValue(forKey: "items").add(nodes[0])
      #expect(LinkedGraph.numbers(boxes[0], "items") == [3, 2])
      #expect(nodes[0].value(forKeyPath: "box.number") as? Int == 9)
      nodes[0].setValue(nodes[1], forKey: "parent")
      #expect(LinkedGraph.numbers(nodes[1], "children") == [1])
    }
  }

  @Test("Ordered proxies insert, remove, replace, move and exchange")
  func orderedProxy() {
    context.performAndWait {
      let (nodes, box) = (make("Node", 1, 2, 3, 4, 5), make("Box", 9)[0])
      let items = box.mutableOrderedSetValue(forKey: "items")
      items.addObjects(from: Array(nodes[0..<3]))
      items.insert(nodes[3], at: 1)
      #expect(LinkedGraph.numbers(box, "items") == [1, 4, 2, 3])
      items.removeObject(at: 0)
      items.replaceObject(at: 0, with: nodes[4])
      #expect(LinkedGraph.numbers(box, "items") == [5, 2, 3])
      items.exchangeObject(at: 0, withObjectAt: 2)
      items.moveObjects(at: IndexSet(integer: 2), to: 0)
      #expect(LinkedGraph.numbers(box, "items") == [5, 3, 2])
      #expect(items.count == 3 && items.contains(nodes[1]) && items.index(of: nodes[2]) == 1)
      #expect(items.array.count == 3 && items.firstObject as? NSManagedObject === nodes[4])
      #expect(nodes.map { $0.value(forKey: "box") == nil } == [true, false, false, true, false])
      items.removeAllObjects()
      #expect(LinkedGraph.numbers(box, "items") == [])
    }
  }

  @Test("A set that was handed out stays as it is, a mutable one shows each change")
  func handedOut() {
    context.performAndWait {
      let (node, tags) = (make("Node", 1)[0], make("Tag", 7, 8))
      let mutable = node.mutableSetValue(forKey: "tags")
      let before = node.value(forKey: "tags") as? NSSet
      mutable.add(tags[0])
      node.mutableSetValue(forKeyPath: "tags").add(tags[1])
      #expect(before?.count == 0 && mutable.count == 2 && mutable.contains(tags[1]))
      mutable.minus([tags[0]])
      #expect(LinkedGraph.numbers(node, "tags") == [8] && mutable.allObjects.count == 1)
      #expect(LinkedGraph.numbers(tags[1], "nodes") == [1])
    }
  }

  @Test("Adding to a relationship of a stored object does not read it")
  func unread() throws {
    try context.performAndWait {
      let (parent, tag) = (make("Node", 1)[0], make("Tag", 2)[0])
      make("Node", 3, 4).forEach { $0.setValue(parent, forKey: "parent") }
      try context.save()
      parent.mutableSetValue(forKey: "children").add(make("Node", 5)[0])
      parent.mutableSetValue(forKey: "tags").add(tag)
      try find("Node", 3).setValue(nil, forKey: "parent")
      #expect(parent.hasFault(forRelationshipNamed: "children") && parent.hasFault(forRelationshipNamed: "tags"))
      #expect(tag.hasFault(forRelationshipNamed: "nodes"))
      try context.save()
      #expect(LinkedGraph.numbers(parent, "children") == [4, 5] && LinkedGraph.numbers(tag, "nodes") == [1])
    }
  }

  @Test("Both ends count as changed, with their values before and after", .sqliteOnly("The shell reads versions"))
  func changed() throws {
    try context.performAndWait {
      let (node, tags, box) = (make("Node", 1)[0], make("Tag", 7, 8), make("Box", 9)[0])
      node.setValue(NSSet(array: [tags[0]]), forKey: "tags")
      try context.save()
      node.setValue(NSSet(array: [tags[1]]), forKey: "tags")
      node.setValue(box, forKey: "box")
      #expect(context.updatedObjects == [node, tags[0], tags[1], box])
      #expect(Set(node.changedValues().keys) == ["tags", "box"])
      #expect(Set(box.changedValues().keys) == ["items"] && box.isUpdated && box.hasPersistentChangedValues)
      #expect(node.changedValues()["tags"] as? NSSet == NSSet(object: tags[1]))
      let committed = node.committedValues(forKeys: ["tags", "box", "number"])
      #expect(committed["tags"] as? NSSet == NSSet(object: tags[0]))
      #expect(committed["box"] is NSNull && committed["number"] as? Int == 1)
      #expect(node.changedValuesForCurrentEvent()["tags"] as? NSSet == NSSet(object: tags[0]))
      context.processPendingChanges()
      #expect(node.changedValuesForCurrentEvent().isEmpty)
      node.setValue(NSSet(array: [tags[0]]), forKey: "tags")
      node.setValue(nil, forKey: "box")
      #expect(node.changedValues().isEmpty && !node.hasPersistentChangedValues)
      let versions = "SELECT group_concat(Z_OPT) FROM (SELECT Z_OPT FROM ZNODE UNION ALL SELECT Z_OPT FROM ZBOX)"
      let before = try sqlite(graph.file, versions)
      try context.save()
      #expect(try sqlite(graph.file, versions) == before)
    }
  }

  @Test("Nothing is changed by nil or an empty set where nothing is set")
  func nothing() throws {
    try context.performAndWait {
      let (node, box) = (make("Node", 1)[0], make("Box", 2)[0])
      try context.save()
      node.setValue(nil, forKey: "parent")
      node.setValue(NSSet(), forKey: "tags")
      node.setValue(nil, forKey: "friends")
      box.setValue(NSOrderedSet(), forKey: "items")
      #expect(!context.hasChanges && !node.hasChanges)
    }
  }

  @Test("A rollback, a refresh and a reset take changes back")
  func takenBack() throws {
    try context.performAndWait {
      let (node, box) = (make("Node", 1)[0], make("Box", 2)[0])
      try context.save()
      node.setValue(box, forKey: "box")
      context.refresh(node, mergeChanges: true)
      #expect(LinkedGraph.numbers(node, "box") == [2] && node.isUpdated)
      context.rollback()
      #expect(node.value(forKey: "box") == nil && LinkedGraph.numbers(box, "items") == [] && !context.hasChanges)
      make("Node", 3)[0].setValue(box, forKey: "box")
      context.rollback()
      #expect(LinkedGraph.numbers(box, "items") == [])
      node.setValue(box, forKey: "box")
      context.refresh(node, mergeChanges: false)
      context.refresh(box, mergeChanges: false)
      #expect(node.value(forKey: "box") == nil && LinkedGraph.numbers(box, "items") == [] && !context.hasChanges)
    }
  }

  @Test("A fetch sees the changed relationship of new and changed objects")
  func fetching() throws {
    try context.performAndWait {
      let (nodes, boxes) = (make("Node", 1, 2), make("Box", 8, 9))
      nodes[0].setValue(boxes[0], forKey: "box")
      let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
      request.predicate = NSPredicate(format: "box.number == 8")
      #expect(try context.fetch(request) == [nodes[0]])
      try context.save()
      nodes[1].setValue(boxes[0], forKey: "box")
      nodes[0].setValue(boxes[1], forKey: "box")
      #expect(try context.fetch(request) == [nodes[1]])
      let child = graph.context(context)
      let count = try child.performAndWait { try child.count(for: request) }
      #expect(count == 1)
    }
  }

  @Test("A results controller moves what a changed relationship moves")
  func results() throws {
    try context.performAndWait {
      let (nodes, boxes) = (make("Node", 1, 2), make("Box", 7, 8, 9))
      for (node, box) in zip(nodes, boxes) { node.setValue(box, forKey: "box") }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
      request.sortDescriptors = [NSSortDescriptor(key: "box.number", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "box.number", cacheName: nil)
      let listener = Listener()
      controller.delegate = listener
      try context.save()
      try controller.performFetch()
      #expect(controller.fetchedObjects == nodes)
      nodes[0].setValue(boxes[2], forKey: "box")
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [nodes[1], nodes[0]])
      #expect(controller.sections?.map(\.name) == ["8", "9"] && listener.changes == 1)
    }
  }
}
