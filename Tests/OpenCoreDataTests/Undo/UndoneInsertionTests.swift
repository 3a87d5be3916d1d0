import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: UndoManager; Core Data Programming Guide, "Change Management"): an undo takes back what the
// group has done, and nothing else. Delete rules are for deletions.

@Suite("The undo of an insertion takes back the insertion only")
struct UndoneInsertionTests {
  private static func graph(_ rule: String) throws -> LinkedGraph {
    let note = "<relationship name=\"note\" optional=\"YES\" maxCount=\"1\""
    let xml = LinkedGraph.xml.replacingOccurrences(of: note, with: note + " deletionRule=\"\(rule)\"")
    try #require(xml != LinkedGraph.xml)
    return try LinkedGraph(xml: xml)
  }

  private static func group(_ context: NSManagedObjectContext, _ body: () throws -> Void) rethrows {
    context.undoManager?.beginUndoGrouping()
    try body()
    context.undoManager?.endUndoGrouping()
  }

  private static func context(of graph: LinkedGraph) -> NSManagedObjectContext {
    let context = graph.context()
    context.undoManager = UndoManager()
    context.undoManager?.groupsByEvent = false
    return context
  }

  @Test(
    "What the object leads to by a relationship without an inverse stays, whatever its rule is",
    arguments: ["Cascade", "Deny", "Nullify", "No Action"], [false, true])
  func withoutInverse(rule: String, isSaved: Bool) throws {
    let graph = try Self.graph(rule)
    let context = Self.context(of: graph)
    try context.performAndWait {
      let tag = LinkedGraph.make("Tag", 1, in: context)
      try context.save()
      var made: NSManagedObject?
      Self.group(context) {
        let node = LinkedGraph.make("Node", 2, in: context)
        node.setValue(tag, forKey: "note")
        made = node
      }
      let node = try #require(made)
      if isSaved { try context.save() }
      context.undo()
      #expect(!tag.isDeleted && tag.managedObjectContext === context)
      #expect(node.isDeleted)
      try context.save()
      #expect(try sqlite(graph.file, "SELECT count(*) FROM ZTAG; SELECT count(*) FROM ZNODE") == "1\n0")
      context.redo()
      #expect(node.isInserted && node.value(forKey: "note") as? NSManagedObject === tag)
      try context.save()
      #expect(try sqlite(graph.file, "SELECT ZNUMBER, ZNOTE FROM ZNODE") == "2|1")
    }
  }

  @Test("What others have put below a saved object since stays, and nothing leads to the object any more")
  func othersChildren() throws {
    let graph = try LinkedGraph()
    let (context, other) = (Self.context(of: graph), graph.context())
    try context.performAndWait {
      var made: NSManagedObject?
      Self.group(context) { made = LinkedGraph.make("Node", 1, in: context) }
      let node = try #require(made)
      try context.save()
      let keeper = NoteKeeper(other)
      try other.performAndWait {
        let child = LinkedGraph.make("Node", 2, in: other)
        child.setValue(try LinkedGraph.find("Node", 1, in: other), forKey: "parent")
        try other.save()
      }
      for note in keeper.notifications where note.name == .NSManagedObjectContextDidSave {
        context.mergeChanges(fromContextDidSave: note)
      }
      #expect(LinkedGraph.numbers(node, "children") == [2])
      context.undo()
      #expect(node.isDeleted)
      try context.save()
    }
    #expect(try sqlite(graph.file, "SELECT ZNUMBER, ZPARENT IS NULL FROM ZNODE") == "2|1")
  }

  @Test("A deletion whose relationships can't be read is registered once they can be")
  func unreadable() throws {
    let graph = try LinkedGraph()
    let context = Self.context(of: graph)
    try context.performAndWait {
      let node = LinkedGraph.make("Node", 1, in: context)
      node.setValue(NSSet(object: LinkedGraph.make("Tag", 2, in: context)), forKey: "tags")
      try context.save()
      context.undoManager?.removeAllActions()
      context.refresh(node, mergeChanges: false)
      _ = node.value(forKey: "number")
      try sqlite(graph.file, "ALTER TABLE Z_2TAGS RENAME TO GONE")
      context.delete(node)
      context.processPendingChanges()
      #expect(context.undoManager?.canUndo == false)
      try sqlite(graph.file, "ALTER TABLE GONE RENAME TO Z_2TAGS")
      try context.save()
      #expect(try sqlite(graph.file, "SELECT count(*) FROM Z_2TAGS") == "0")
      context.undo()
      #expect(LinkedGraph.numbers(node, "tags") == [2])
      try context.save()
    }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM Z_2TAGS") == "1")
  }

  @Test("What observers of a merge change can be undone, what the merge changes can't")
  func observersOfMerges() throws {
    let graph = try LinkedGraph()
    let (context, other) = (Self.context(of: graph), graph.context())
    try context.performAndWait {
      let (box, tag) = (LinkedGraph.make("Box", 1, in: context), LinkedGraph.make("Tag", 2, in: context))
      try context.save()
      context.undoManager?.removeAllActions()
      let observer = ChangeObserver(context) { _ in
        if tag.value(forKey: "number") as? Int == 2 { tag.setValue(20, forKey: "number") }
      }
      defer { observer.stop() }
      let keeper = NoteKeeper(other)
      try other.performAndWait {
        try LinkedGraph.find("Box", 1, in: other).setValue(10, forKey: "number")
        try other.save()
      }
      for note in keeper.notifications where note.name == .NSManagedObjectContextDidSave {
        context.mergeChanges(fromContextDidSave: note)
      }
      observer.stop()
      #expect(box.value(forKey: "number") as? Int == 10 && tag.value(forKey: "number") as? Int == 20)
      context.undo()
      #expect(box.value(forKey: "number") as? Int == 10 && tag.value(forKey: "number") as? Int == 2)
    }
  }

  @Test("An action's name belongs to the changes before it, also while they are not registered yet")
  func names() throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    try context.performAndWait {
      let box = LinkedGraph.make("Box", 1, in: context)
      try context.save()
      let manager = UndoManager()
      manager.groupsByEvent = false
      context.undoManager = manager
      box.setValue(2, forKey: "number")
      manager.setActionName("Two")
      box.setValue(3, forKey: "number")
      manager.setActionName("Three")
      manager.setActionIsDiscardable(true)
      #expect(manager.undoActionName == "Three" && manager.undoActionIsDiscardable)
      context.undo()
      #expect(box.value(forKey: "number") as? Int == 2)
      #expect(manager.undoActionName == "Two" && !manager.undoActionIsDiscardable)
    }
  }
}
