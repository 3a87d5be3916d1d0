import Foundation
import SystemSupport
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rule: setting one end of a relationship sets the other, and both count as changed (Apple documentation: Core Data
// Programming Guide, "Creating Managed Object Relationships"). A context may keep the links of new objects in a list until
// something asks for one; nothing that a client can see depends on that.

@Suite("Links of new objects that wait until they are asked for")
struct DeferredLinkTests {
  private let graph: LinkedGraph
  private let context: NSManagedObjectContext

  /// The store has the nodes 1 and 2.
  init() throws {
    graph = try LinkedGraph()
    context = graph.context()
    let first = graph.context()
    try first.performAndWait {
      for number in 1...2 { LinkedGraph.make("Node", number, in: first) }
      try first.save()
    }
  }

  private var waits: Bool { !context.graph.insertions.deferredLinks.isEmpty }

  private func node(_ number: Int) throws -> NSManagedObject { try LinkedGraph.find("Node", number, in: context) }

  /// New nodes, each of which is a child of `parent`.
  @discardableResult
  private func add(_ numbers: [Int], to parent: NSManagedObject) -> [NSManagedObject] {
    numbers.map { number in
      let node = LinkedGraph.make("Node", number, in: context)
      node.setValue(parent, forKey: "parent")
      return node
    }
  }

  private var rows: String {
    get throws {
      try sqlite(
        graph.file,
        "SELECT n.ZNUMBER, n.Z_OPT, p.ZNUMBER FROM ZNODE n LEFT JOIN ZNODE p ON p.Z_PK = n.ZPARENT ORDER BY 1")
    }
  }

  @Test func `A save writes them, and counts the version of each owner once`() throws {
    try context.performAndWait {
      let (one, two) = (try node(1), try node(2))
      add([11, 12], to: one)
      add([21], to: two)
      add([13], to: one)
      #expect(waits)
      try context.save()
      #expect(!waits)
      #expect(LinkedGraph.numbers(one, "children") == [11, 12, 13] && LinkedGraph.numbers(two, "children") == [21])
      one.setValue(100, forKey: "number")
      try context.save()
    }
    #expect(try rows == "2|2|\n11|1|100\n12|1|100\n13|1|100\n21|1|2\n100|3|")
  }

  @Test func `Both ends show them before the save, and count as changed`() throws {
    try context.performAndWait {
      let one = try node(1)
      let new = add([11, 12], to: one)
      #expect(waits && one.isUpdated)
      #expect(context.updatedObjects == [one])
      #expect(LinkedGraph.numbers(new[0], "parent") == [1])
      #expect(!waits)
      add([13], to: one)
      #expect(LinkedGraph.numbers(one, "children") == [11, 12, 13])
      #expect(one.changedValues().keys.sorted() == ["children"] && one.hasPersistentChangedValues)
      #expect(new[1].changedValues().keys.sorted() == ["number", "parent"])
      #expect((one.changedValuesForCurrentEvent()["children"] as? NSSet)?.count == 0)
      #expect(new[1].changedValuesForCurrentEvent().keys.sorted() == ["number", "parent"])
    }
  }

  @Test func `The next event begins with those of the last one`() throws {
    try context.performAndWait {
      let one = try node(1)
      let first = add([11], to: one)
      context.processPendingChanges()
      #expect(waits)
      #expect(first[0].changedValuesForCurrentEvent().isEmpty)
      add([12], to: one)
      let before = one.changedValuesForCurrentEvent()["children"] as? Set<NSManagedObject>
      #expect(before == Set(first))
      #expect(LinkedGraph.numbers(one, "children") == [11, 12])
      context.processPendingChanges()
      one.setValue(10, forKey: "number")
      #expect(one.changedValuesForCurrentEvent().keys.sorted() == ["number"])
    }
  }

  @Test func `Observers of the event see both ends and what they were`() throws {
    let seen = Locked<[String]>([])
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { notification in
      for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey] {
        let objects = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
        let lines = objects.map { object in
          let number = object.value(forKey: "number") as? Int ?? 0
          return "\(key) \(number): \(object.changedValuesForCurrentEvent().keys.sorted())"
        }
        seen.withLock { $0 += lines.sorted() }
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try context.performAndWait {
      let one = try node(1)
      add([11], to: one)
      context.processPendingChanges()
    }
    #expect(seen.withLock { $0 } == ["inserted 11: [\"number\", \"parent\"]", "updated 1: [\"children\"]"])
  }

  @Test func `They can be set again, to nil, and read in between`() throws {
    try context.performAndWait {
      let (one, two) = (try node(1), try node(2))
      let new = add([11, 12, 13], to: one)
      new[0].setValue(two, forKey: "parent")
      new[1].setValue(nil, forKey: "parent")
      add([14], to: one)
      #expect(LinkedGraph.numbers(one, "children") == [13, 14] && LinkedGraph.numbers(two, "children") == [11])
      new[1].setValue(two, forKey: "parent")
      try context.save()
    }
    #expect(try rows == "1|2|\n2|2|\n11|1|2\n12|1|2\n13|1|1\n14|1|1")
  }

  @Test func `Deletions, refreshes and a rollback reach them`() throws {
    try context.performAndWait {
      var (one, two) = (try node(1), try node(2))
      var new = add([11, 12], to: one) + add([21], to: two)
      context.delete(new[0])
      #expect(LinkedGraph.numbers(one, "children") == [12])
      new += add([22], to: two)
      context.delete(two)
      context.processPendingChanges()
      // The rule cascades.
      #expect(new.map(\.isInserted) == [false, true, false, false])
      context.rollback()
      #expect(!waits && !context.hasChanges)
      (one, two) = (try node(1), try node(2))
      add([15], to: one)
      context.refresh(one, mergeChanges: false)
      #expect(LinkedGraph.numbers(one, "children").isEmpty)
      add([16], to: two)
      context.refresh(two, mergeChanges: true)
      #expect(LinkedGraph.numbers(two, "children") == [16])
      add([17], to: two)
      context.reset()
      #expect(!waits && !context.hasChanges)
    }
    #expect(try rows == "1|1|\n2|1|")
  }

  @Test func `A new owner, an object itself and another kind of relationship can be the other end`() throws {
    try context.performAndWait {
      let owner = LinkedGraph.make("Node", 30, in: context)
      let new = add([31, 32], to: owner)
      let box = LinkedGraph.make("Box", 9, in: context)
      new[1].setValue(box, forKey: "box")
      let own = LinkedGraph.make("Node", 33, in: context)
      own.setValue(own, forKey: "parent")
      new[0].setValue(new[1], forKey: "partner")
      #expect(LinkedGraph.numbers(own, "children") == [33])
      try context.save()
    }
    #expect(try rows == "1|1|\n2|1|\n30|1|\n31|1|30\n32|1|30\n33|1|33")
  }

  @Test func `A save that fails leaves them, and a child context reads them`() throws {
    let child = graph.context(context)
    try context.performAndWait {
      let one = try node(1)
      add([11], to: one)
      try graph.renewVersion(ofNode: 1)
      #expect(throws: NSError.self) { try context.save() }
      #expect(LinkedGraph.numbers(one, "children") == [11])
    }
    try child.performAndWait {
      let new = try LinkedGraph.find("Node", 11, in: child)
      #expect(LinkedGraph.numbers(new, "parent") == [1])
    }
    try context.performAndWait {
      context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try context.save()
    }
    #expect(try rows == "1|4|\n2|1|\n11|1|1")
  }
}

@Suite("Entities of classes")
struct ClassEntityTests {
  @Test func `A context that gets another model makes objects of its entities`() throws {
    func coordinator() throws -> NSPersistentStoreCoordinator {
      NSPersistentStoreCoordinator(managedObjectModel: try NSManagedObjectModel.load(xml: Data(LinkedGraph.xml.utf8)))
    }
    let (first, second) = (try coordinator(), try coordinator())
    let (parent, child) = (
      NSManagedObjectContext(concurrencyType: .privateQueue), NSManagedObjectContext(concurrencyType: .privateQueue)
    )
    parent.persistentStoreCoordinator = first
    child.parent = parent
    var entities = ClassEntities()
    func find(in coordinator: NSPersistentStoreCoordinator) -> NSEntityDescription? {
      entities.entity(of: NSManagedObject.self) { coordinator.managedObjectModel.entitiesByName["Tag"] }
    }
    let known = find(in: first)
    #expect(known === first.managedObjectModel.entitiesByName["Tag"] && find(in: second) === known)
    parent.persistentStoreCoordinator = second
    #expect(find(in: second) === second.managedObjectModel.entitiesByName["Tag"])
  }
}
