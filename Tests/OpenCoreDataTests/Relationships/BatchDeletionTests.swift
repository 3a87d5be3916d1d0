import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rule (Apple's SQL store, by its messages "Batch delete failed due to mandatory OTO nullify inverse on …"): a batch
// deletion sets what leads to deleted rows to nil, takes along what a cascade reaches, and changes nothing where a
// relationship that leads to a deleted row is mandatory. The rows, their versions and the history are as a save of the
// same deletion leaves them.

@Suite("A batch deletion of linked rows", .seeded)
struct BatchDeletionTests {
  /// A random graph in a store with a history.
  private static func graph(seed: UInt64, kind: StoreKind = .sqlite) throws -> LinkedGraph {
    let graph = try LinkedGraph(kind: kind, options: [NSPersistentHistoryTrackingKey: true])
    var random = SeededGenerator(seed: seed)
    func number(_ end: Int) -> Int { Int.random(in: 0..<end, using: &random) }
    let context = graph.context()
    try context.performAndWait {
      let nodes = (0..<30).map { LinkedGraph.make($0.isMultiple(of: 3) ? "Leaf" : "Node", $0, in: context) }
      let boxes = (0..<5).map { LinkedGraph.make("Box", $0, in: context) }
      let tags = (0..<8).map { LinkedGraph.make("Tag", $0, in: context) }
      for node in nodes {
        if number(3) > 0 { node.setValue(boxes[number(5)], forKey: "box") }
        if number(3) == 0 { node.setValue(nodes[number(30)], forKey: "partner") }
        if number(3) == 0 { node.setValue(nodes[number(30)], forKey: "parent") }
        // Nothing knows of notes: few deletions of tags are possible with them.
        if number(20) == 0 { node.setValue(tags[number(8)], forKey: "note") }
        for key in ["tags", "rankings"] where number(2) == 0 {
          node.mutableSetValue(forKey: key).add(tags[number(8)])
          node.mutableSetValue(forKey: key).add(tags[number(8)])
        }
        if number(4) == 0 { node.mutableSetValue(forKey: "friends").add(nodes[number(30)]) }
      }
      try context.save()
    }
    return graph
  }

  private static func request(_ entity: String, below number: Int) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: "number < %d", number)
    return request
  }

  /// All rows and the changes that the history has, without their order and keys.
  private static func rows(_ graph: LinkedGraph) throws -> [String] {
    let tables = ["ZBOX", "ZNODE", "ZTAG", "Z_2TAGS", "Z_2FRIENDS", "Z_2RANKINGS"]
    return try tables.flatMap { table in
      try sqlite(graph.file, "SELECT '\(table)', * FROM \(table)").split(separator: "\n").map(String.init).sorted()
    }
      + sqlite(graph.file, "SELECT ZTRANSACTIONID, ZCHANGETYPE, ZENTITY, ZENTITYPK, hex(ZCOLUMNS) FROM ACHANGE")
      .split(separator: "\n").map(String.init).sorted()
  }

  @Test(
    "The rows, their versions and the history are those of a save of the same deletion",
    arguments: Randomness.seeds(12, long: 400))
  func asSave(seed: UInt64) throws {
    for entity in ["Node", "Leaf", "Box", "Tag"] {
      let below = Int(seed % 6) + 1
      let (saved, batched) = (try Self.graph(seed: seed), try Self.graph(seed: seed))
      #expect(try Self.rows(saved) == Self.rows(batched))
      let context = saved.context()
      let error = context.performAndWait { () -> NSError? in
        do {
          for object in try context.fetch(Self.request(entity, below: below)) { context.delete(object) }
          try context.save()
          return nil
        } catch { return error as NSError }
      }
      let other = batched.context()
      let batchError = other.performAndWait { () -> NSError? in
        do {
          try other.execute(NSBatchDeleteRequest(fetchRequest: Self.request(entity, below: below)))
          return nil
        } catch { return error as NSError }
      }
      #expect(error?.code == batchError?.code, "seed \(seed), \(entity) below \(below)")
      let (expected, found) = (try Self.rows(saved), try Self.rows(batched))
      #expect(expected == found, "seed \(seed), \(entity) below \(below)")
    }
  }

  @Test("The comparison can fail: one version that differs is noticed")
  func canary() throws {
    let (one, other) = (try Self.graph(seed: 3), try Self.graph(seed: 3))
    for (graph, isWhole) in [(one, true), (other, false)] {
      let context = graph.context()
      try context.performAndWait {
        let request = NSBatchDeleteRequest(fetchRequest: Self.request("Box", below: 2))
        try context.execute(request)
      }
      if !isWhole { try sqlite(graph.file, "UPDATE ZNODE SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 7") }
    }
    #expect(try Self.rows(one) != Self.rows(other))
  }

  /// What is left of owners and things after a batch deletion of the owners, for the rule of the owner's end.
  private func left(_ rule: String, thing attributes: String, toMany: Bool, kind: StoreKind) throws -> (
    code: Int?, left: String
  ) {
    let graph = try LinkedGraph(
      xml: """
        <model>
          <entity name="Owner"><attribute name="number" optional="YES" attributeType="Integer 64"/>
            <relationship name="things" optional="YES" \(toMany ? "toMany=\"YES\"" : "maxCount=\"1\"") deletionRule="\(rule)" destinationEntity="Thing" inverseName="owner" inverseEntity="Thing"/></entity>
          <entity name="Thing"><attribute name="number" optional="YES" attributeType="Integer 64"/>
            <relationship name="owner" \(attributes) maxCount="1" destinationEntity="Owner" inverseName="things" inverseEntity="Owner"/></entity>
        </model>
        """, kind: kind)
    let context = graph.context()
    return try context.performAndWait {
      for number in 1...2 {
        let (owner, thing) = (
          LinkedGraph.make("Owner", number, in: context), LinkedGraph.make("Thing", number, in: context)
        )
        thing.setValue(owner, forKey: "owner")
      }
      try context.save()
      var code: Int?
      do {
        let deletion = NSBatchDeleteRequest(fetchRequest: Self.request("Owner", below: 2))
        deletion.resultType = .resultTypeCount
        #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 1)
      } catch { code = (error as NSError).code }
      context.reset()
      let parts = try ["Owner", "Thing"].map { entity in
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        return try context.fetch(request).map { object in
          "\(object.value(forKey: "number") ?? "")"
            + (entity == "Thing" && object.value(forKey: "owner") == nil ? " alone" : "")
        }.joined(separator: ", ")
      }
      return (code, parts.joined(separator: "; "))
    }
  }

  @Test("Each rule is carried out", arguments: StoreKind.available, [true, false])
  func rules(kind: StoreKind, toMany: Bool) throws {
    let optional = #"optional="YES""#
    for (rule, thing, code, expected) in [
      ("Nullify", optional, nil as Int?, "2; 1 alone, 2"), ("Nullify", "", 1600, "1, 2; 1, 2"),
      ("Cascade", optional, nil, "2; 2"), ("Cascade", "", nil, "2; 2"), ("Deny", optional, 1600, "1, 2; 1, 2"),
      ("Deny", "", 1600, "1, 2; 1, 2"),
    ] {
      let found = try left(rule, thing: thing, toMany: toMany, kind: kind)
      #expect(found.code == code && found.left == expected, "\(rule) \(thing): \(found)")
    }
  }

  @Test("Statements are for many rows at a time")
  func statements() throws {
    let graph = try LinkedGraph()
    let context = graph.context()
    try context.performAndWait {
      let box = LinkedGraph.make("Box", 1, in: context)
      for number in 0..<300 {
        let (node, child) = (LinkedGraph.make("Node", number, in: context), LinkedGraph.make("Leaf", -1, in: context))
        node.setValue(box, forKey: "box")
        child.setValue(node, forKey: "parent")
        child.mutableSetValue(forKey: "tags").add(LinkedGraph.make("Tag", number, in: context))
      }
      try context.save()
    }
    let store = try #require(graph.coordinator.rowStores.first as? SQLiteStore)
    let connection = try store.writingReader().connection
    var count = 0
    connection.traceHandler = { _ in count += 1 }
    defer { connection.traceHandler = nil }
    _ = try context.performAndWait {
      try context.execute(NSBatchDeleteRequest(fetchRequest: Self.request("Node", below: 300)))
    }
    #expect(count < 80)
    #expect(try sqlite(graph.file, "SELECT count(*), (SELECT Z_OPT FROM ZBOX) FROM ZNODE") == "0|2")
  }
}
