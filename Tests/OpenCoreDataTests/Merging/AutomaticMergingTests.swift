import Foundation
import OpenCoreData
import TestSupport
import Testing

/// Merging without waiting for the parent.
///
/// Rules pinned (Apple documentation: automaticallyMergesChangesFromParent, performAndWait(_:)):
/// - a context that merges on its own queue never waits for its parent's queue, on which code may be waiting for it;
/// - it has the values that the parent had when it announced them, and keeps its own changes.
@Suite("A merge on the child's queue does not wait for the parent", .overBothStores)
struct AutomaticMergingTests {
  /// Which of the child's objects the parent changes.
  enum Known: String, CaseIterable, Sendable { case unchanged, changed, deleted, insertedByTheChild }

  @Test("Delete rules that are not carried out yet wait for the next block", .timeLimit(.minutes(1)))
  func pendingRules() throws {
    let graph = try LinkedGraph()
    let parent = graph.context()
    let child = graph.context(parent)
    child.automaticallyMergesChangesFromParent = true
    try parent.performAndWait {
      let node = LinkedGraph.make("Node", 1, in: parent)
      for number in 2...4 { LinkedGraph.make("Node", number, in: parent).setValue(node, forKey: "parent") }
      try parent.save()
      child.performAndWait { child.delete(child.object(with: node.objectID)) }
      node.setValue(9, forKey: "number")
      try parent.save()
      try child.performAndWait {
        #expect(child.deletedObjects.count == 1)
        try child.save()
      }
      try parent.save()
      #expect(try parent.count(for: NSFetchRequest<NSManagedObject>(entityName: "Node")) == 0)
    }
  }

  @Test(
    "Code on the parent's queue saves it and waits for the child", .timeLimit(.minutes(1)), arguments: Known.allCases)
  func waitingParent(known: Known) throws {
    let stack = try Stack(try TemporaryFolder())
    let parent = stack.context()
    let child = stack.context(parent)
    child.automaticallyMergesChangesFromParent = true
    if known != .insertedByTheChild {
      try parent.performAndWait {
        InsertionWay.single.insert(0..<1, into: parent, stack.entity)
        try parent.save()
      }
    }
    let object = try child.performAndWait {
      if known == .insertedByTheChild {
        InsertionWay.single.insert(0..<1, into: child, stack.entity)
        try child.save()
      }
      let object = try #require(try child.fetch(stack.request()).first)
      #expect(object.place == "Spot 0")
      switch known {
      case .unchanged: break
      case .changed, .insertedByTheChild: object.setValue("the child's", forKey: "place")
      case .deleted: child.delete(object)
      }
      return object
    }
    try parent.performAndWait {
      let same = try #require(try parent.fetch(stack.request()).first)
      same.setValue(77, forKey: "rating")
      try parent.save()
      try child.performAndWait {
        if known == .deleted {
          #expect(child.deletedObjects == [object])
          child.rollback()
        }
        #expect(object.value(forKey: "rating") as? Int == 77)
        let isOwn = known == .changed || known == .insertedByTheChild
        #expect(object.place == (isOwn ? "the child's" : "Spot 0"))
        #expect(object.isUpdated == isOwn)
        if isOwn { try child.save() }
      }
      #expect(same.place == (known == .changed || known == .insertedByTheChild ? "the child's" : "Spot 0"))
    }
  }

  @Test("Code on the parent's queue waits for a child after the child's sibling has saved", .timeLimit(.minutes(1)))
  func waitingForASibling() throws {
    let stack = try Stack(try TemporaryFolder())
    let parent = stack.context()
    let (child, sibling) = (stack.context(parent), stack.context(parent))
    child.automaticallyMergesChangesFromParent = true
    try parent.performAndWait {
      InsertionWay.single.insert(0..<1, into: parent, stack.entity)
      try parent.save()
    }
    let object = try child.performAndWait {
      let object = try #require(try child.fetch(stack.request()).first)
      object.setValue("the child's", forKey: "place")
      return object
    }
    try parent.performAndWait {
      try sibling.performAndWait {
        try sibling.fetch(stack.request()).first?.setValue(77, forKey: "rating")
        try sibling.save()
      }
      child.performAndWait {
        #expect(object.value(forKey: "rating") as? Int == 77 && object.place == "the child's")
      }
    }
  }
}
