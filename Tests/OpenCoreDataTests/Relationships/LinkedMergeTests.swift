import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSManagedObjectContext, mergeChanges(fromContextDidSave:), "keeps unsaved changes"; Core
// Data Programming Guide, "Relationship Delete Rules"): both ends of a relationship agree after a merge as well; the
// rules of a deletion that is made while a save announces its changes belong to that save.

@Suite("Links that two contexts change, and deletions during a save")
struct LinkedMergeTests {
  private let graph: LinkedGraph
  private let (own, other): (NSManagedObjectContext, NSManagedObjectContext)

  init() throws {
    graph = try LinkedGraph()
    (own, other) = (graph.context(), graph.context())
  }

  /// Boxes 1 to 3, and nodes 10 to 12 in box 1.
  private func fill() throws {
    try own.performAndWait {
      for number in 1...3 { LinkedGraph.make("Box", number, in: own) }
      let nodes = (10...12).map { LinkedGraph.make("Node", $0, in: own) }
      try LinkedGraph.find("Box", 1, in: own).setValue(NSOrderedSet(array: nodes), forKey: "items")
      try own.save()
    }
  }

  /// Saves `body`'s changes in the other context, and merges them into the own one.
  private func merge(_ body: () throws -> Void) throws {
    let keeper = NoteKeeper(other)
    try other.performAndWait {
      try body()
      try other.save()
    }
    for note in keeper.notifications where note.name == .NSManagedObjectContextDidSave {
      own.mergeChanges(fromContextDidSave: note)
    }
  }

  @Test("A node that both have moved is in one box, before the save and after it")
  func movedTwice() throws {
    try fill()
    try own.performAndWait {
      own.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let boxes = try (1...3).map { try LinkedGraph.find("Box", $0, in: own) }
      func items() -> [[Int]] { boxes.map { LinkedGraph.numbers($0, "items") } }
      try LinkedGraph.find("Node", 11, in: own).setValue(boxes[2], forKey: "box")
      #expect(items() == [[10, 12], [], [11]])
      try merge {
        try LinkedGraph.find("Node", 11, in: other).setValue(try LinkedGraph.find("Box", 2, in: other), forKey: "box")
      }
      #expect(items() == [[10, 12], [], [11]])
      #expect(boxes[1].objectIDs(forRelationshipNamed: "items").isEmpty)
      try own.save()
      #expect(items() == [[10, 12], [], [11]])
      own.reset()
      #expect(LinkedGraph.numbers(try LinkedGraph.find("Box", 3, in: own), "items") == [11])
    }
  }

  @Test("An order that was set shows the members that others have added and removed since")
  func ordered() throws {
    try fill()
    try own.performAndWait {
      own.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let box = try LinkedGraph.find("Box", 1, in: own)
      let nodes = try [12, 11, 10].map { try LinkedGraph.find("Node", $0, in: own) }
      box.setValue(NSOrderedSet(array: nodes), forKey: "items")
      #expect(LinkedGraph.numbers(box, "items") == [12, 11, 10])
      try merge {
        let theirs = try LinkedGraph.find("Box", 1, in: other)
        theirs.mutableOrderedSetValue(forKey: "items").add(LinkedGraph.make("Node", 13, in: other))
        try LinkedGraph.find("Node", 11, in: other).setValue(nil, forKey: "box")
      }
      #expect(LinkedGraph.numbers(box, "items") == [12, 10, 13])
      try own.save()
      own.reset()
      #expect(LinkedGraph.numbers(try LinkedGraph.find("Box", 1, in: own), "items") == [12, 10, 13])
    }
  }

  @Test(
    "A row that is written again keeps the links that were read, unless they lead to nothing", arguments: [false, true])
  func writtenAgain(boxIsGone: Bool) throws {
    try fill()
    try own.performAndWait {
      own.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      let node = try LinkedGraph.find("Node", 11, in: own)
      #expect(LinkedGraph.numbers(node, "box") == [1])
      try other.performAndWait {
        other.delete(try LinkedGraph.find("Node", 11, in: other))
        if boxIsGone { other.delete(try LinkedGraph.find("Box", 1, in: other)) }
        try other.save()
      }
      node.setValue(111, forKey: "number")
      try own.save()
      own.reset()
      let found = try LinkedGraph.find("Node", 111, in: own)
      #expect(LinkedGraph.numbers(found, "box") == (boxIsGone ? [] : [1]))
    }
    let dangling = "SELECT count(*) FROM ZNODE WHERE ZBOX NOT IN (SELECT Z_PK FROM ZBOX)"
    #expect(try sqlite(graph.file, dangling) == "0")
  }

  @Test("What an observer deletes while a save announces its changes takes its children along")
  func deletedByObserver() throws {
    try own.performAndWait {
      let parent = LinkedGraph.make("Node", 1, in: own)
      LinkedGraph.make("Node", 2, in: own).setValue(parent, forKey: "parent")
      let tag = LinkedGraph.make("Tag", 3, in: own)
      try own.save()
      let (context, id) = (own, parent.objectID)
      let token = NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextObjectsDidChange, object: own, queue: nil
      ) { _ in
        let parent = context.object(with: id)
        if !parent.isDeleted { context.delete(parent) }
      }
      tag.setValue(4, forKey: "number")
      try own.save()
      NotificationCenter.default.removeObserver(token)
    }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZNODE") == "0")
  }

  @Test("A save whose delete rules can't read the store throws, and carries them out later")
  func unreadable() throws {
    try own.performAndWait {
      let parent = LinkedGraph.make("Node", 1, in: own)
      for number in 2...4 { LinkedGraph.make("Node", number, in: own).setValue(parent, forKey: "parent") }
      parent.setValue(NSSet(object: LinkedGraph.make("Tag", 5, in: own)), forKey: "tags")
      try own.save()
      own.reset()
      own.delete(try LinkedGraph.find("Node", 1, in: own))
      try sqlite(graph.file, "ALTER TABLE ZNODE RENAME TO GONE")
      own.processPendingChanges()
      #expect(throws: NSError.self) { try own.save() }
      try sqlite(graph.file, "ALTER TABLE GONE RENAME TO ZNODE")
      try own.save()
    }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZNODE") == "0")
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZTAG") == "1")
  }

  @Test("A rule that changes nothing reads nothing", arguments: ["Deny", "No Action"])
  func unread(rule: String) throws {
    let xml = LinkedGraph.xml.replacingOccurrences(of: "deletionRule=\"Cascade\"", with: "deletionRule=\"\(rule)\"")
    let folder = try TemporaryFolder()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(xml: Data(xml.utf8)))
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file("Graph.sqlite"))
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let parent = LinkedGraph.make("Node", 1, in: context)
      LinkedGraph.make("Node", 2, in: context).setValue(parent, forKey: "parent")
      try context.save()
      context.reset()
      let stored = try LinkedGraph.find("Node", 1, in: context)
      context.delete(stored)
      context.processPendingChanges()
      #expect(stored.hasFault(forRelationshipNamed: "children"))
      if rule == "Deny" {
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
      } else {
        try context.save()
      }
    }
  }
}
