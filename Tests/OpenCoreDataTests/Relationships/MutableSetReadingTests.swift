import Foundation
@testable import OpenCoreData
import TestSupport
import Testing

// Rule (Apple documentation: mutableSetValue(forKey:), mutableOrderedSetValue(forKey:)): the proxies have the objects of
// the relationship, whichever member of a set asks for them.

@Suite("Mutable sets have the objects of their relationship for all that reads sets", .overBothStores)
struct MutableSetReadingTests {
  private let graph: LinkedGraph
  private let context: NSManagedObjectContext

  init() throws {
    graph = try LinkedGraph(kind: .current)
    context = graph.context()
  }

  private func make(_ entity: String, _ numbers: Int...) -> [NSManagedObject] {
    numbers.map { LinkedGraph.make(entity, $0, in: context) }
  }

  @Test("Lists, copies, comparisons, tests and texts of a mutable set")
  func unordered() {
    context.performAndWait {
      let (nodes, tags) = (make("Node", 1, 2), make("Tag", 7, 8))
      let expected = Set(tags)
      for node in nodes { node.setValue(NSSet(array: tags), forKey: "tags") }
      let (one, other) = (nodes[0].mutableSetValue(forKey: "tags"), nodes[1].mutableSetValue(forKey: "tags"))
      #expect((one.allObjects as? [NSManagedObject]).map(Set.init) == expected)
      #expect(one.copy() as? Set<NSManagedObject> == expected)
      #expect(one.mutableCopy() as? Set<NSManagedObject> == expected)
      #expect(NSSet(set: one) as? Set<NSManagedObject> == expected)
      #expect(Set(one.compactMap { $0 as? NSManagedObject }) == expected)
      #expect(one.isEqual(other) && one.isEqual(NSSet(array: tags)) && NSSet(array: tags).isEqual(one))
      #expect(one.isEqual(to: expected) && one.isSubset(of: expected) && one.intersects([tags[0]]))
      #expect(one.adding(nodes[0]) == Set<AnyHashable>(expected).union([nodes[0]]))
      #expect(one.objects(passingTest: { object, _ in object as? NSManagedObject === tags[1] }) == [tags[1]])
      #expect(one.description.contains("7") && one.description.contains("8"))
      other.remove(tags[0])
      #expect(!one.isEqual(other) && !one.isEqual(NSSet(object: tags[0])) && !one.isEqual(nil))
    }
  }

  @Test("Lists, copies, comparisons, tests and texts of a set that a property hands out")
  func handedOut() throws {
    try context.performAndWait {
      let (nodes, tags) = (make("Node", 1, 2), make("Tag", 7, 8))
      let expected = Set(tags)
      for node in nodes { node.setValue(NSSet(array: tags), forKey: "tags") }
      let one = try #require(nodes[0].value(forKey: "tags") as? NSSet)
      let other = try #require(nodes[1].value(forKey: "tags") as? NSSet)
      #expect(one.count == 2 && one.contains(tags[0]) && !one.contains(nodes[0]) && !one.contains("7"))
      #expect(one.member(tags[1]) as? NSManagedObject === tags[1] && one.anyObject() is NSManagedObject)
      #expect((one.allObjects as? [NSManagedObject]).map(Set.init) == expected)
      #expect(one as? Set<NSManagedObject> == expected && one.copy() as? Set<NSManagedObject> == expected)
      #expect(one.mutableCopy() as? Set<NSManagedObject> == expected && one.mutableCopy() is NSMutableSet)
      #expect(NSSet(set: one) as? Set<NSManagedObject> == expected)
      #expect(NSMutableSet(set: one) as? Set<NSManagedObject> == expected)
      #expect(NSOrderedSet(set: one as? Set<AnyHashable> ?? []).set as? Set<NSManagedObject> == expected)
      #expect(Set(one.compactMap { $0 as? NSManagedObject }) == expected)
      #expect(one.isEqual(other) && one.isEqual(NSSet(array: tags)) && NSSet(array: tags).isEqual(one))
      #expect(one.hash == NSSet(array: tags).hash && one == other)
      #expect(one.isEqual(to: expected) && one.isSubset(of: expected) && one.intersects([tags[0]]))
      #expect(one.adding(nodes[0]) == Set<AnyHashable>(expected).union([nodes[0]]))
      #expect(one.objects(passingTest: { object, _ in object as? NSManagedObject === tags[1] }) == [tags[1]])
      #expect(one.filtered(using: NSPredicate(format: "number > 7")) as? Set<NSManagedObject> == [tags[1]])
      #expect(one.description.contains("7") && one.description.contains("8"))
      let mutable = NSMutableSet()
      mutable.union(one as? Set<AnyHashable> ?? [])
      #expect(mutable.isEqual(one) && one.isEqual(mutable))
      nodes[1].mutableSetValue(forKey: "tags").remove(tags[0])
      #expect(other.count == 2 && one.isEqual(other))
      #expect(!one.isEqual(nodes[1].value(forKey: "tags")) && !one.isEqual(NSSet(object: tags[0])) && !one.isEqual(nil))
    }
  }

  @Test("Lists, copies, comparisons, tests and texts of a mutable ordered set")
  func ordered() {
    context.performAndWait {
      let (nodes, boxes) = (make("Node", 1, 2), make("Box", 8, 9))
      boxes[0].setValue(NSOrderedSet(array: nodes), forKey: "items")
      let items = boxes[0].mutableOrderedSetValue(forKey: "items")
      #expect(items.array as? [NSManagedObject] == nodes && items.compactMap { $0 as? NSManagedObject } == nodes)
      #expect(items.set as? Set<NSManagedObject> == Set(nodes))
      #expect((items.copy() as? NSOrderedSet)?.array as? [NSManagedObject] == nodes)
      #expect((items.mutableCopy() as? NSMutableOrderedSet)?.set as? Set<NSManagedObject> == Set(nodes))
      #expect(items.isEqual(NSOrderedSet(array: nodes)) && NSOrderedSet(array: nodes).isEqual(items))
      #expect(!items.isEqual(NSOrderedSet(array: nodes.reversed())))
      #expect(items.reversed.firstObject as? NSManagedObject === nodes[1])
      #expect(items.description.contains("1") && items.isSubset(of: Set<AnyHashable>(nodes)))
    }
  }
}
