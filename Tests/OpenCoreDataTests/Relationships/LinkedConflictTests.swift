import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules: a save to several stores writes the links of each; an inserted object that turns out to be a duplicate of a
// stored one hands its links over instead of taking along what it leads to.

@Suite("Links in saves that go to several stores or meet duplicates")
struct LinkedConflictTests {
  @Test("With two stores the links are written too")
  func twoStores() throws {
    let graph = try LinkedGraph()
    let other = graph.folder.file("Other.sqlite")
    try graph.coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: other)
    let context = graph.context()
    try context.performAndWait {
      let (owner, child) = (
        LinkedGraph.make("Node", 1, in: context), LinkedGraph.make("Node", 2, in: context)
      )
      let tag = LinkedGraph.make("Tag", 3, in: context)
      child.setValue(owner, forKey: "parent")
      child.setValue(NSSet(object: tag), forKey: "tags")
      try context.save()
      context.reset()
      #expect(LinkedGraph.numbers(try LinkedGraph.find("Node", 1, in: context), "children") == [2])
      #expect(LinkedGraph.numbers(try LinkedGraph.find("Tag", 3, in: context), "nodes") == [2])
      context.delete(try LinkedGraph.find("Tag", 3, in: context))
      try context.save()
      context.reset()
      let found = try LinkedGraph.find("Node", 2, in: context)
      #expect(LinkedGraph.numbers(found, "tags") == [])
      #expect(LinkedGraph.numbers(found, "parent") == [1])
    }
  }

  @Test(
    "What a duplicate leads to stays, and leads to the object that remains",
    arguments: [
      NSMergePolicyType.mergeByPropertyObjectTrumpMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType,
      .overwriteMergePolicyType,
    ])
  func duplicate(policy: NSMergePolicyType) throws {
    let unique =
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"number\"/></uniquenessConstraint>"
      + "</uniquenessConstraints></entity><entity name=\"Leaf\""
    let folder = try TemporaryFolder()
    let xml = LinkedGraph.xml.replacingOccurrences(of: "</entity>\n  <entity name=\"Leaf\"", with: unique)
    try #require(xml != LinkedGraph.xml)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try .load(xml: Data(xml.utf8)))
    let file = folder.file("Graph.sqlite")
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
    let context = NSManagedObjectContext(concurrencyType: .privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy(merge: policy)
    try context.performAndWait {
      LinkedGraph.make("Node", 1, in: context)
      try context.save()
      let duplicate = LinkedGraph.make("Node", 1, in: context)
      for number in [11, 12] {
        LinkedGraph.make("Node", number, in: context).setValue(duplicate, forKey: "parent")
      }
      duplicate.setValue(NSSet(object: LinkedGraph.make("Tag", 5, in: context)), forKey: "tags")
      try context.save()
      context.reset()
      let node = try LinkedGraph.find("Node", 1, in: context)
      #expect(LinkedGraph.numbers(node, "children") == [11, 12])
      #expect(LinkedGraph.numbers(node, "tags") == [5])
    }
    #expect(try sqlite(file, "SELECT group_concat(ZPARENT) FROM ZNODE WHERE ZNUMBER > 10") == "1,1")
  }

  @Test("Under the rollback policy both ends of a new link are taken back")
  func rollbackPolicy() throws {
    let graph = try LinkedGraph()
    let (context, other) = (graph.context(), graph.context())
    context.mergePolicy = NSRollbackMergePolicy
    try context.performAndWait {
      let box = LinkedGraph.make("Box", 1, in: context)
      let node = LinkedGraph.make("Node", 2, in: context)
      let tag = LinkedGraph.make("Tag", 3, in: context)
      try context.save()
      box.setValue(NSOrderedSet(object: node), forKey: "items")
      tag.setValue(NSSet(object: node), forKey: "nodes")
      try other.performAndWait {
        for entity in ["Box", "Tag"] {
          let number = entity == "Box" ? 1 : 3
          try LinkedGraph.find(entity, number, in: other).setValue(number + 10, forKey: "number")
        }
        try other.save()
      }
      try context.save()
      #expect(LinkedGraph.numbers(node, "box") == [])
      #expect(LinkedGraph.numbers(node, "tags") == [])
    }
    #expect(try sqlite(graph.file, "SELECT ZBOX IS NULL FROM ZNODE") == "1")
    #expect(try sqlite(graph.file, "SELECT ZNUMBER FROM ZBOX UNION SELECT ZNUMBER FROM ZTAG") == "11\n13")
  }

  @Test(
    "Under the policy overwrite a to-one relationship is as the context has read it, and the other ends are others'")
  func overwritePolicy() throws {
    let graph = try LinkedGraph()
    let (context, other) = (graph.context(), graph.context())
    context.mergePolicy = NSOverwriteMergePolicy
    try context.performAndWait {
      let nodes = (1...3).map { LinkedGraph.make("Node", $0, in: context) }
      nodes[0].setValue(nodes[1], forKey: "partner")
      nodes[0].setValue(nodes[1], forKey: "parent")
      try context.save()
      for node in nodes { for key in ["partner", "parent", "children", "number"] { _ = node.value(forKey: key) } }
      try other.performAndWait {
        let (first, third) = (try LinkedGraph.find("Node", 1, in: other), try LinkedGraph.find("Node", 3, in: other))
        for key in ["partner", "parent"] { first.setValue(third, forKey: key) }
        for number in 1...3 { try LinkedGraph.find("Node", number, in: other).setValue(number + 10, forKey: "number") }
        try other.save()
      }
      nodes[0].setValue(4, forKey: "number")
      try context.save()
      for key in ["partner", "parent"] { #expect(LinkedGraph.numbers(nodes[0], key) == [12]) }
      #expect(LinkedGraph.numbers(nodes[2], "children") == [] && LinkedGraph.numbers(nodes[1], "partner") == [4])
    }
    let rows = "SELECT ZNUMBER, ZPARTNER, ZPARENT FROM ZNODE ORDER BY Z_PK"
    #expect(try sqlite(graph.file, rows) == "4|2|2\n12|1|\n13||")
  }

  @Test("Under the policy overwrite a pinned context leads to nothing that others have deleted")
  func overwritePinned() throws {
    let graph = try LinkedGraph()
    let (context, other) = (graph.context(), graph.context())
    context.mergePolicy = NSOverwriteMergePolicy
    try context.performAndWait {
      let node = LinkedGraph.make("Node", 1, in: context)
      node.setValue(LinkedGraph.make("Tag", 1, in: context), forKey: "note")
      try context.save()
      try context.setQueryGenerationFrom(.current)
      _ = LinkedGraph.numbers(node, "note")
      try other.performAndWait {
        try LinkedGraph.find("Node", 1, in: other).setValue(nil, forKey: "note")
        other.delete(try LinkedGraph.find("Tag", 1, in: other))
        try other.save()
      }
      node.setValue(4, forKey: "number")
      try context.save()
    }
    #expect(try sqlite(graph.file, "SELECT ZNUMBER, ZNOTE FROM ZNODE") == "4|")
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZTAG") == "0")
  }

  @Test("A refresh that discards the changes of one end takes the link back at the other")
  func refresh() throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    try context.performAndWait {
      let box = LinkedGraph.make("Box", 1, in: context)
      let node = LinkedGraph.make("Node", 2, in: context)
      try context.save()
      box.setValue(NSOrderedSet(object: node), forKey: "items")
      context.refresh(node, mergeChanges: false)
      #expect(LinkedGraph.numbers(box, "items") == [])
      let new = LinkedGraph.make("Node", 3, in: context)
      box.setValue(NSOrderedSet(object: new), forKey: "items")
      context.refresh(new, mergeChanges: false)
      #expect(LinkedGraph.numbers(box, "items") == [])
      try context.save()
    }
    #expect(try sqlite(graph.file, "SELECT ZNUMBER, ZBOX IS NULL FROM ZNODE") == "2|1")
  }

  @Test("A child takes away a link that its parent has saved meanwhile")
  func removalAfterSave() throws {
    let graph = try LinkedGraph()
    let parent = graph.context()
    let child = graph.context(parent)
    parent.performAndWait {
      let node = LinkedGraph.make("Node", 1, in: parent)
      node.setValue(NSSet(object: LinkedGraph.make("Tag", 2, in: parent)), forKey: "tags")
    }
    try child.performAndWait {
      let (node, tag) = (try LinkedGraph.find("Node", 1, in: child), try LinkedGraph.find("Tag", 2, in: child))
      #expect(LinkedGraph.numbers(node, "tags") == [2])
      node.mutableSetValue(forKey: "tags").add(tag)
      try parent.performAndWait { try parent.save() }
      node.mutableSetValue(forKey: "tags").remove(tag)
      #expect(LinkedGraph.numbers(node, "tags") == [])
      try child.save()
    }
    try parent.performAndWait { try parent.save() }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM Z_2TAGS") == "0")
  }

  @Test("An end of a pair that was emptied is led to by no row, although others have given it a partner")
  func emptiedPair() throws {
    let graph = try LinkedGraph()
    let (context, other) = (graph.context(), graph.context())
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try context.performAndWait {
      let nodes = (1...3).map { LinkedGraph.make("Node", $0, in: context) }
      nodes[0].setValue(nodes[1], forKey: "partner")
      try context.save()
      nodes[0].setValue(nil, forKey: "partner")
      try other.performAndWait {
        try LinkedGraph.find("Node", 1, in: other)
          .setValue(try LinkedGraph.find("Node", 3, in: other), forKey: "partner")
        try other.save()
      }
      try context.save()
      #expect(nodes.map { LinkedGraph.numbers($0, "partner") } == [[], [], []])
    }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZNODE WHERE ZPARTNER IS NOT NULL") == "0")
  }

  @Test("After a conflict about a one-to-one relationship no third row leads to the same object")
  func oneToOne() throws {
    let graph = try LinkedGraph()
    let (context, other) = (graph.context(), graph.context())
    context.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    try context.performAndWait {
      let nodes = (1...3).map { LinkedGraph.make("Node", $0, in: context) }
      try context.save()
      nodes[0].setValue(nodes[2], forKey: "partner")
      try other.performAndWait {
        try LinkedGraph.find("Node", 2, in: other)
          .setValue(try LinkedGraph.find("Node", 3, in: other), forKey: "partner")
        try other.save()
      }
      try context.save()
    }
    let rows = "SELECT a.ZNUMBER, b.ZNUMBER FROM ZNODE a LEFT JOIN ZNODE b ON b.Z_PK = a.ZPARTNER ORDER BY 1"
    #expect(try sqlite(graph.file, rows) == "1|3\n2|\n3|1")
  }

  /// Where two contexts move a node: from one box, or from none, to others.
  struct Rivals: Sendable, CustomTestStringConvertible {
    let policy: NSMergePolicyType
    let start, saved, own: Int?
    var testDescription: String { "\(policy.rawValue): \(box(start)) to \(box(saved)) and \(box(own))" }
    private func box(_ number: Int?) -> String { number.map(String.init) ?? "none" }

    static let all: [Rivals] = [
      .mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType,
      .rollbackMergePolicyType,
    ].flatMap { policy in
      [nil, 1].flatMap { start in
        [(2, 3), (2, 2), (nil, 3), (2, nil)].map { Rivals(policy: policy, start: start, saved: $0, own: $1) }
      }
    }.filter { $0.saved != $0.start && $0.own != $0.start }
  }

  @Test(
    "A node that two contexts have moved is where the policy says, also if its boxes are in conflict",
    arguments: Rivals.all, [false, true])
  func rivalLinks(_ rivals: Rivals, ofChangedBoxes: Bool) throws {
    let graph = try LinkedGraph()
    let (context, other) = (graph.context(), graph.context())
    context.mergePolicy = NSMergePolicy(merge: rivals.policy)
    func box(_ number: Int?, in context: NSManagedObjectContext) throws -> NSManagedObject? {
      try number.map { try LinkedGraph.find("Box", $0, in: context) }
    }
    try other.performAndWait {
      for number in 1...3 { LinkedGraph.make("Box", number, in: other) }
      LinkedGraph.make("Node", 7, in: other).setValue(try box(rivals.start, in: other), forKey: "box")
      try other.save()
    }
    try context.performAndWait {
      let node = try LinkedGraph.find("Node", 7, in: context)
      let boxes = try (1...3).map { try LinkedGraph.find("Box", $0, in: context) }
      for box in boxes { _ = LinkedGraph.numbers(box, "items") }
      node.setValue(try box(rivals.own, in: context), forKey: "box")
      try other.performAndWait {
        let node = try LinkedGraph.find("Node", 7, in: other)
        node.setValue(try box(rivals.saved, in: other), forKey: "box")
        if ofChangedBoxes {
          for number in 1...3 { try box(number, in: other)?.setValue(number + 10, forKey: "number") }
        }
        try other.save()
      }
      try context.save()
      let storeWins = [.mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType].contains(rivals.policy)
      let expected = storeWins ? rivals.saved : rivals.own
      #expect(LinkedGraph.numbers(node, "box").map { $0 % 10 } == (expected.map { [$0] } ?? []))
      for (number, box) in zip(1..., boxes) {
        #expect(LinkedGraph.numbers(box, "items") == (number == expected ? [7] : []))
      }
      let stored = try sqlite(graph.file, "SELECT b.ZNUMBER % 10 FROM ZNODE n LEFT JOIN ZBOX b ON b.Z_PK = n.ZBOX")
      #expect(stored == (expected.map(String.init) ?? ""))
    }
  }

  @Test("Under the rollback policy a node that was moved into a box in conflict is back in its former one")
  func rollbackOfAMove() throws {
    let graph = try LinkedGraph()
    let (context, other) = (graph.context(), graph.context())
    context.mergePolicy = NSRollbackMergePolicy
    try context.performAndWait {
      let boxes = [1, 2].map { LinkedGraph.make("Box", $0, in: context) }
      let node = LinkedGraph.make("Node", 7, in: context)
      node.setValue(boxes[0], forKey: "box")
      try context.save()
      boxes[1].setValue(NSOrderedSet(object: node), forKey: "items")
      try other.performAndWait {
        try LinkedGraph.find("Box", 2, in: other).setValue(22, forKey: "number")
        try other.save()
      }
      try context.save()
      #expect(LinkedGraph.numbers(node, "box") == [1])
      #expect(LinkedGraph.numbers(boxes[0], "items") == [7] && LinkedGraph.numbers(boxes[1], "items") == [])
    }
    #expect(try sqlite(graph.file, "SELECT ZNUMBER FROM ZBOX WHERE Z_PK = (SELECT ZBOX FROM ZNODE)") == "1")
  }
}
