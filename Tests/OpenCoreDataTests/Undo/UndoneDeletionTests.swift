import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: UndoManager; Core Data Programming Guide, "Change Management"): an undo gives both ends of
// a relationship what they had, also if one of them had left its context.

@Suite("The undo of a deletion")
struct UndoneDeletionTests {
  @Test(
    "Both ends are back after a cascade from an object that was never saved", arguments: [false, true], [false, true])
  func bothEnds(isMemberSaved: Bool, isRefreshed: Bool) throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    context.undoManager = UndoManager()
    context.undoManager?.groupsByEvent = false
    try context.performAndWait {
      var member = LinkedGraph.make("Node", 1, in: context)
      if isMemberSaved { try context.save() }
      let owner = LinkedGraph.make("Node", 2, in: context)
      member = try LinkedGraph.find("Node", 1, in: context)
      member.setValue(owner, forKey: "parent")
      owner.setValue(owner, forKey: "parent")
      context.processPendingChanges()
      context.undoManager?.removeAllActions()
      context.undoManager?.beginUndoGrouping()
      context.delete(owner)
      context.undoManager?.endUndoGrouping()
      #expect(owner.isDeleted && member.isDeleted)
      if isRefreshed { context.refreshAllObjects() }
      context.undo()
      #expect(LinkedGraph.numbers(owner, "children") == [1, 2])
      #expect(LinkedGraph.numbers(member, "parent") == [2] && LinkedGraph.numbers(owner, "parent") == [2])
      try context.save()
    }
    #expect(try sqlite(graph.file, "SELECT count(*), count(DISTINCT ZPARENT), count(ZPARENT) FROM ZNODE") == "2|1|2")
  }

  @Test("The object can be changed again after the undo was saved through two contexts", arguments: [false, true])
  func savedAgain(isLinkedHere: Bool) throws {
    let graph = try LinkedGraph()
    let parent = graph.context()
    let child = graph.context(parent)
    func save() throws {
      try child.save()
      try parent.performAndWait { try parent.save() }
    }
    child.undoManager = UndoManager()
    child.undoManager?.groupsByEvent = false
    try child.performAndWait {
      let (node, tag) = (LinkedGraph.make("Node", 1, in: child), LinkedGraph.make("Tag", 2, in: child))
      try save()
      tag.setValue(NSOrderedSet(object: node), forKey: "ranked")
      try save()
      if !isLinkedHere { child.refreshAllObjects() }
      child.undoManager?.beginUndoGrouping()
      child.delete(node)
      child.undoManager?.endUndoGrouping()
      child.undo()
      try save()
      node.setValue(3, forKey: "number")
      try save()
      #expect(LinkedGraph.numbers(tag, "ranked") == [3])
    }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZNODE WHERE ZNUMBER = 3") == "1")
  }
}
