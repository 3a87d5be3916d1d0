import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rule: rows whose relationships are packed leave the store as objects that are linked one by one, and a context that
// is asked for one of them answers as if it had been.

@Suite("Packed relationships", .seeded)
struct PackedLinkTests {
  private static let tables = """
    SELECT Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZBOX, Z_FOK_BOX, ZPARENT, Z2_PARENT, ZNOTE, ZPARTNER FROM ZNODE;
    SELECT Z_PK, Z_OPT, ZNUMBER FROM ZBOX; SELECT Z_PK, Z_OPT, ZNUMBER FROM ZTAG;
    SELECT Z_NAME, Z_MAX FROM Z_PRIMARYKEY ORDER BY 1
    """

  /// What a row of a batch leads to: numbers of stored objects, or rows of the batch that is pending.
  private struct Row {
    var box: Int?
    var parent: Int?
    var note: Int?
    var partner: Int?
  }

  /// A store with three boxes, of which the first has nodes, three nodes or leaves, and two tags.
  private func prepared() throws -> LinkedGraph {
    let graph = try LinkedGraph()
    let root = graph.context()
    try root.performAndWait {
      let boxes = (1...3).map { LinkedGraph.make("Box", $0, in: root) }
      for number in 11...13 {
        let node = LinkedGraph.make(number == 12 ? "Leaf" : "Node", number, in: root)
        if number < 13 { node.setValue(boxes[0], forKey: "box") }
      }
      for number in 21...22 { LinkedGraph.make("Tag", number, in: root) }
      try root.save()
    }
    return graph
  }

  private func random(_ generator: inout some RandomNumberGenerator) -> [Row] {
    (0..<Int.random(in: 1...400, using: &generator)).map { _ in
      func pick(_ numbers: [Int]) -> Int? {
        Bool.random(using: &generator) ? numbers.randomElement(using: &generator) : nil
      }
      return Row(box: pick([1, 2, 3, 4]), parent: pick([11, 12, 13]), note: pick([21, 22]), partner: nil)
    }
  }

  private static let ends = [("box", "Box"), ("parent", "Node"), ("note", "Tag"), ("partner", "Node")]

  private func number(_ row: Row, _ name: String) -> Int? {
    switch name {
    case "box": row.box
    case "parent": row.parent
    case "note": row.note
    default: row.partner
    }
  }

  /// Inserts a box with the number 4 and then the rows, packed or one by one, in the last of a chain of contexts, and
  /// saves them all.
  private func insert(_ rows: [Row], in graph: LinkedGraph, packed: Bool, levels: Int) throws {
    var chain = [graph.context()]
    for _ in 1..<levels { chain.insert(graph.context(chain[0]), at: 0) }
    for context in chain where packed { context.changeNotificationContents = .objectIDs }
    let context = chain[0]
    try context.performAndWait {
      let ids = try Self.stored(in: graph)
      let node = try #require(graph.model.entitiesByName["Node"])
      let slot = try #require(node.slot(named: "number"))
      if packed {
        let box = try #require(graph.model.entitiesByName["Box"])
        var boxes = ObjectBatch(entity: box)
        boxes.appendRow()
        boxes.setInteger(4, at: try #require(box.slot(named: "number")))
        let four = context.insert(boxes)[0]
        var batch = ObjectBatch(entity: node, rowCapacity: rows.count)
        for (index, row) in rows.enumerated() {
          batch.appendRow()
          batch.setInteger(Int64(100 + index), at: slot)
          for (name, _) in Self.ends {
            guard let other = number(row, name), let relationship = node.relationshipsByName[name] else { continue }
            batch.setObject(other == 4 ? four : ids[other], for: relationship)
          }
        }
        context.insert(batch)
        #expect(context.graph.insertions.hasPackedLinks == rows.contains { $0.box ?? $0.parent ?? $0.note != nil })
      } else {
        let four = LinkedGraph.make("Box", 4, in: context)
        for (index, row) in rows.enumerated() {
          let object = LinkedGraph.make("Node", 100 + index, in: context)
          for (name, _) in Self.ends {
            guard let other = number(row, name) else { continue }
            object.setValue(other == 4 ? four : ids[other].map(context.object(with:)), forKey: name)
          }
        }
      }
    }
    for context in chain { try context.performAndWait { try context.save() } }
  }

  /// The IDs of the stored objects by number.
  private static func stored(in graph: LinkedGraph) throws -> [Int: NSManagedObjectID] {
    let context = graph.context()
    return try context.performAndWait {
      var ids: [Int: NSManagedObjectID] = [:]
      for entity in ["Box", "Node", "Tag"] {
        for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)) {
          ids[object.value(forKey: "number") as? Int ?? 0] = object.objectID
        }
      }
      return ids
    }
  }

  @Test("The store is that of objects linked one by one, through one to three contexts")
  func sameStore() throws {
    var generator = Randomness.generator()
    for round in 0..<6 {
      let rows = random(&generator)
      let (packed, single) = (try prepared(), try prepared())
      try insert(rows, in: packed, packed: true, levels: 1 + round % 3)
      try insert(rows, in: single, packed: false, levels: 1)
      #expect(try sqlite(packed.file, Self.tables) == sqlite(single.file, Self.tables), "round \(round)")
    }
  }

  private func batch(_ numbers: Range<Int>, _ name: String, to other: NSManagedObjectID, in graph: LinkedGraph) throws
    -> ObjectBatch
  {
    let node = try #require(graph.model.entitiesByName["Node"])
    var batch = ObjectBatch(entity: node)
    for number in numbers {
      batch.appendRow()
      batch.setInteger(Int64(number), at: try #require(node.slot(named: "number")))
      batch.setObject(other, for: try #require(node.relationshipsByName[name]))
    }
    return batch
  }

  @Test("Asked for either end, each context of a chain shows the link before a save, and versions stay true")
  func asked() throws {
    for level in 0..<2 {
      let graph = try prepared()
      let ids = try Self.stored(in: graph)
      let root = graph.context()
      let child = graph.context(root)
      for context in [root, child] { context.changeNotificationContents = .objectIDs }
      let first = try #require(ids[1])
      try child.performAndWait {
        child.insert(try batch(100..<103, "box", to: first, in: graph))
        if level == 0 {
          #expect(LinkedGraph.numbers(child.object(with: first), "items") == [11, 12, 100, 101, 102])
          #expect(!child.graph.insertions.hasPackedLinks)
        }
        try child.save()
      }
      try root.performAndWait {
        let box = root.object(with: first)
        #expect(LinkedGraph.numbers(box, "items") == [11, 12, 100, 101, 102])
        let found = NSFetchRequest<NSManagedObject>(entityName: "Node")
        found.predicate = NSPredicate(format: "box.number == 1")
        #expect(try root.fetch(found).count == 5)
        try root.save()
        // The box is an object of the context: its next change is not a conflict.
        box.setValue(7, forKey: "number")
        try root.save()
      }
      #expect(try sqlite(graph.file, "SELECT Z_OPT FROM ZBOX WHERE Z_PK = 1") == "3")
    }
  }

  @Test("A one-to-one relationship releases the former partner")
  func oneToOne() throws {
    let graph = try prepared()
    let ids = try Self.stored(in: graph)
    let root = graph.context()
    root.changeNotificationContents = .objectIDs
    try root.performAndWait {
      root.insert(try batch(100..<102, "partner", to: try #require(ids[11]), in: graph))
      try root.save()
    }
    let pairs = "SELECT ZNUMBER, (SELECT ZNUMBER FROM ZNODE p WHERE p.Z_PK = n.ZPARTNER) FROM ZNODE n ORDER BY 1"
    #expect(try sqlite(graph.file, pairs) == "11|101\n12|\n13|\n100|\n101|11")
  }

  @Test("Rows that lead to a deleted object are refused, and nothing is written")
  func deletedTarget() throws {
    let graph = try prepared()
    let ids = try Self.stored(in: graph)
    for (name, number, table) in [("box", 3, "ZBOX"), ("note", 22, "ZTAG")] {
      let id = try #require(ids[number])
      try sqlite(graph.file, "DELETE FROM \(table) WHERE ZNUMBER = \(number)")
      let root = graph.context()
      root.changeNotificationContents = .objectIDs
      try root.performAndWait {
        root.insert(try batch(100..<102, name, to: id, in: graph))
        #expect(throws: NSError.self) { try root.save() }
      }
    }
    #expect(try sqlite(graph.file, "SELECT count(*) FROM ZNODE") == "3")
  }

  @Test("Rows that were removed and kept have their own objects")
  func rows() throws {
    let graph = try prepared()
    let ids = try Self.stored(in: graph)
    let (one, two) = (try #require(ids[1]), try #require(ids[2]))
    let relationship = try #require(graph.model.entitiesByName["Node"]?.relationshipsByName["box"])
    var batch = try batch(0..<5, "box", to: one, in: graph)
    batch.setObject(two, for: relationship)
    batch.removeLastRow()
    batch.appendRow()
    func targets() -> [NSManagedObjectID?] {
      (0..<batch.count).map { batch.links[0].target(row: $0).map { batch.links[0].targets[$0] } }
    }
    #expect(targets() == [one, one, one, one, nil])
    batch.setObject(two, for: relationship)
    batch.removeRows([1, 3])
    #expect(targets() == [one, one, two])
    batch.keepRows([0, 2])
    #expect(targets() == [one, two])
    batch.setObject(nil, for: relationship)
    #expect(targets() == [one, nil])
  }
}
