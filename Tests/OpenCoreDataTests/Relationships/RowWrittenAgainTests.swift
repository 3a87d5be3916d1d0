import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (docs/invariants.md; Deviations, "Contexts"): a row that others have deleted and that a context writes again has
// both ends of its relationships, a place in ordered ones, and leads to nothing that is gone or belongs to another.

@Suite("A row that others have deleted and a save writes again")
struct RowWrittenAgainTests {
  private let graph: LinkedGraph
  private let (own, other): (NSManagedObjectContext, NSManagedObjectContext)

  init() throws { try self.init(LinkedGraph()) }

  private init(_ graph: LinkedGraph) {
    self.graph = graph
    (own, other) = (graph.context(), graph.context())
    own.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
  }

  private func node(_ number: Int, in context: NSManagedObjectContext) throws -> NSManagedObject {
    try LinkedGraph.find("Node", number, in: context)
  }

  private var partners: String {
    get throws {
      try sqlite(
        graph.file,
        "SELECT a.ZNUMBER, b.ZNUMBER, a.Z2_PARTNER FROM ZNODE a LEFT JOIN ZNODE b ON b.Z_PK = a.ZPARTNER ORDER BY 1")
    }
  }

  @Test("The other end of a one-to-one pair leads to it again, once", arguments: [false, true])
  func pair(changesOther: Bool) throws {
    try own.performAndWait {
      let nodes = (1...2).map { LinkedGraph.make("Node", $0, in: own) }
      nodes[0].setValue(nodes[1], forKey: "partner")
      try own.save()
      #expect(LinkedGraph.numbers(nodes[0], "partner") == [2])
      try other.performAndWait {
        other.delete(try node(1, in: other))
        try other.save()
      }
      #expect(try partners == "2||")
      nodes[0].setValue(11, forKey: "number")
      if changesOther { nodes[1].setValue(12, forKey: "number") }
      try own.save()
      #expect(try partners == (changesOther ? "11|12|2\n12|11|2" : "2|11|2\n11|2|2"))
      #expect(LinkedGraph.numbers(nodes[1], "partner") == [11])
      // Versions agree: no further conflict.
      own.mergePolicy = NSErrorMergePolicy
      own.refreshAllObjects()
      nodes[1].setValue(13, forKey: "number")
      try own.save()
      nodes[1].setValue(14, forKey: "number")
      try own.save()
    }
  }

  @Test("A partner that has another one by now keeps that")
  func takenPartner() throws {
    try own.performAndWait {
      let nodes = (1...3).map { LinkedGraph.make("Node", $0, in: own) }
      nodes[0].setValue(nodes[1], forKey: "partner")
      try own.save()
      #expect(LinkedGraph.numbers(nodes[0], "partner") == [2])
      try other.performAndWait {
        other.delete(try node(1, in: other))
        try node(2, in: other).setValue(try node(3, in: other), forKey: "partner")
        try other.save()
      }
      nodes[0].setValue(11, forKey: "number")
      try own.save()
      #expect(try partners == "2|3|2\n3|2|2\n11||")
      #expect(LinkedGraph.numbers(nodes[0], "partner") == [] && LinkedGraph.numbers(nodes[1], "partner") == [3])
    }
  }

  @Test("It comes at the end of the ordered list that it was in", arguments: [false, true])
  func position(hasAdditions: Bool) throws {
    try own.performAndWait {
      let box = LinkedGraph.make("Box", 1, in: own)
      let nodes = (10...12).map { LinkedGraph.make("Node", $0, in: own) }
      box.setValue(NSOrderedSet(array: nodes), forKey: "items")
      try own.save()
      #expect(LinkedGraph.numbers(nodes[1], "box") == [1])
      try other.performAndWait {
        other.delete(try node(11, in: other))
        try other.save()
      }
      nodes[1].setValue(111, forKey: "number")
      if hasAdditions { LinkedGraph.make("Node", 13, in: own).setValue(box, forKey: "box") }
      try own.save()
      own.reset()
      let expected = hasAdditions ? [10, 12, 13, 111] : [10, 12, 111]
      #expect(LinkedGraph.numbers(try LinkedGraph.find("Box", 1, in: own), "items") == expected)
      #expect(try sqlite(graph.file, "SELECT count(*) FROM ZNODE WHERE Z_FOK_BOX IS NULL") == "0")
      #expect(try sqlite(graph.file, "SELECT count(DISTINCT Z_FOK_BOX) FROM ZNODE") == "\(expected.count)")
    }
  }

  @Test("Without an object for a mandatory relationship it is not written; with another one it is")
  func mandatory() throws {
    let box = "<relationship name=\"box\" optional=\"YES\""
    let xml = LinkedGraph.xml.replacingOccurrences(of: box, with: "<relationship name=\"box\"")
    try #require(xml != LinkedGraph.xml)
    try Self(LinkedGraph(xml: xml)).checkMandatory()
  }

  private func checkMandatory() throws {
    try own.performAndWait {
      let boxes = (1...2).map { LinkedGraph.make("Box", $0, in: own) }
      let one = LinkedGraph.make("Node", 10, in: own)
      one.setValue(boxes[0], forKey: "box")
      try own.save()
      #expect(LinkedGraph.numbers(one, "box") == [1])
      try other.performAndWait {
        other.delete(try node(10, in: other))
        other.delete(try LinkedGraph.find("Box", 1, in: other))
        try other.save()
      }
      one.setValue(11, forKey: "number")
      let error = #expect(throws: NSError.self) { try own.save() }
      #expect(error?.code == NSValidationMissingMandatoryPropertyError)
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "box")
      #expect(try sqlite(graph.file, "SELECT count(*) FROM ZNODE") == "0")
      one.setValue(boxes[1], forKey: "box")
      try own.save()
      #expect(try sqlite(graph.file, "SELECT ZNUMBER, ZBOX, Z_FOK_BOX FROM ZNODE") == "11|2|1024")
    }
  }

  @Test("Where both ends are written again, they have one row of the join table, and none leads to nothing")
  func joinRows() throws {
    try own.performAndWait {
      let one = LinkedGraph.make("Node", 1, in: own)
      let tags = (2...3).map { LinkedGraph.make("Tag", $0, in: own) }
      try own.save()
      one.setValue(NSSet(array: tags), forKey: "tags")
      try other.performAndWait {
        other.delete(try node(1, in: other))
        other.delete(try LinkedGraph.find("Tag", 2, in: other))
        try other.save()
      }
      try own.save()
      own.reset()
      #expect(LinkedGraph.numbers(try node(1, in: own), "tags") == [2, 3])
    }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM Z_2TAGS") == "2")
  }

  @Test("Two contexts that each move one end of a pair show both ends alike after a merge, and save them so")
  func movedPair() throws {
    try own.performAndWait {
      let nodes = (1...4).map { LinkedGraph.make("Node", $0, in: own) }
      try own.save()
      nodes[0].setValue(nodes[2], forKey: "partner")
      let keeper = NoteKeeper(other)
      try other.performAndWait {
        try node(2, in: other).setValue(try node(3, in: other), forKey: "partner")
        try other.save()
      }
      for note in keeper.notifications where note.name == .NSManagedObjectContextDidSave {
        own.mergeChanges(fromContextDidSave: note)
      }
      func shown() -> [[Int]] { nodes.map { LinkedGraph.numbers($0, "partner") } }
      #expect(shown() == [[3], [], [1], []])
      nodes[1].setValue(nodes[3], forKey: "partner")
      #expect(shown() == [[3], [4], [1], [2]])
      try own.save()
      #expect(shown() == [[3], [4], [1], [2]])
      #expect(try partners == "1|3|2\n2|4|2\n3|1|2\n4|2|2")
    }
  }
}
