import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rule: what a relationship had at the start of an event is known, and additions in many events cost no more than in one:
// none of them copies those of earlier events.

@Suite("Objects that are added to a relationship one by one", .overBothStores)
struct AddedMembersTests {
  @Test("Each event knows what there was before, and copies nothing for it")
  func events() throws {
    let graph = try LinkedGraph(kind: .current)
    let context = graph.context()
    try context.performAndWait {
      let parent = LinkedGraph.make("Node", 0, in: context)
      try context.save()
      var storages: Set<ObjectIdentifier> = []
      for number in 1...100 {
        LinkedGraph.make("Node", number, in: context).setValue(parent, forKey: "parent")
        let added = try #require(parent.pending?.many["children"]?.added)
        // Copies of `AddedMembers` share this object until one is changed.
        let storage = try #require(Mirror(reflecting: added).descendant("storage")) as AnyObject
        storages.insert(ObjectIdentifier(storage))
        let before = parent.changedValuesForCurrentEvent()["children"] as? NSSet
        #expect(before?.count == number - 1)
        context.processPendingChanges()
      }
      #expect(storages.count == 1)
      #expect(LinkedGraph.numbers(parent, "children") == Array(1...100))
    }
  }

  @Test("Any additions, moves, removals and copies agree with lists")
  func agreement() throws {
    var random = Randomness.generator()
    let graph = try LinkedGraph(kind: .current)
    let context = graph.context()
    try context.performAndWait {
      let objects = (0..<8).map { LinkedGraph.make("Node", $0, in: context) }
      var copies = [(members: AddedMembers(), list: [NSManagedObject]())]
      for _ in 0..<5000 {
        let place = copies.indices.randomElement(using: &random) ?? 0
        let object = objects[Int.random(in: 0..<8, using: &random)]
        switch Int.random(in: 0..<8, using: &random) {
        case 0: copies[place].members.remove(object)
        case 1:
          if copies.count < 5 { copies.append(copies[place]) } else { copies.remove(at: place) }
          continue
        default: copies[place].members.append(object)
        }
        let isThere = copies[place].members.contains(object)
        copies[place].list.removeAll { $0 === object }
        if isThere { copies[place].list.append(object) }
        for copy in copies {
          try #require(copy.members.inOrder == copy.list && copy.members.count == copy.list.count)
          try #require(objects.allSatisfy { copy.members.contains($0) == copy.list.contains($0) })
        }
      }
    }
  }
}
