import Foundation
@testable import OpenCoreData
import SystemSupport
import TestSupport
import Testing

// Rules (Apple documentation: NSPropertyDescription, isTransient; Core Data Programming Guide, "Non-Standard Persistent
// Attributes"): a transient property is not saved, and keeps its value until the object becomes a fault. Both ends of a
// relationship agree.

@Suite("Transient relationships", .overBothStores)
struct TransientRelationshipTests {
  private static let xml = """
    <model>
      <entity name="Node">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="marks" optional="YES" transient="YES" toMany="YES" destinationEntity="Node"/>
        <relationship name="list" optional="YES" transient="YES" toMany="YES" ordered="YES" destinationEntity="Node" inverseName="lists" inverseEntity="Node"/>
        <relationship name="lists" optional="YES" transient="YES" toMany="YES" destinationEntity="Node" inverseName="list" inverseEntity="Node"/>
        <relationship name="partner" optional="YES" transient="YES" maxCount="1" destinationEntity="Node" inverseName="partner" inverseEntity="Node"/>
        <relationship name="pupils" optional="YES" transient="YES" toMany="YES" destinationEntity="Node" inverseName="teacher" inverseEntity="Node"/>
        <relationship name="teacher" optional="YES" transient="YES" maxCount="1" destinationEntity="Node" inverseName="pupils" inverseEntity="Node"/>
      </entity>
    </model>
    """
  private static let keys = ["list", "lists", "marks", "partner", "pupils", "teacher"]

  private let graph: LinkedGraph
  /// The last one is on the coordinator.
  private let contexts: [NSManagedObjectContext]
  private var leaf: NSManagedObjectContext { contexts[0] }

  init() throws {
    graph = try LinkedGraph(xml: Self.xml, kind: .current)
    let root = graph.context()
    let middle = graph.context(root)
    contexts = [graph.context(middle), middle, root]
  }

  private func save(_ contexts: some Sequence<NSManagedObjectContext>) throws {
    for context in contexts { try context.performAndWait { try context.save() } }
  }

  private func shown(_ nodes: [NSManagedObject]) -> [String] {
    nodes.flatMap { node in
      Self.keys.compactMap { key in
        let numbers = LinkedGraph.numbers(node, key)
        return numbers.isEmpty ? nil : "\(node.value(forKey: "number") ?? "").\(key) \(numbers)"
      }
    }
  }

  /// Four nodes with links of each kind.
  private func nodes(in context: NSManagedObjectContext) -> [NSManagedObject] {
    let nodes = (1...4).map { LinkedGraph.make("Node", $0, in: context) }
    nodes[0].setValue(nodes[1], forKey: "partner")
    nodes[1].setValue(nodes[0], forKey: "teacher")
    nodes[2].setValue(nodes[0], forKey: "teacher")
    nodes[3].setValue(NSOrderedSet(array: [nodes[2], nodes[0]]), forKey: "list")
    nodes[3].setValue(NSSet(object: nodes[1]), forKey: "marks")
    return nodes
  }

  private static let linked = [
    "1.lists [4]", "1.partner [2]", "1.pupils [2, 3]", "2.partner [1]", "2.teacher [1]", "3.lists [4]", "3.teacher [1]",
    "4.list [3, 1]", "4.marks [2]",
  ]

  @Test("Both ends keep their objects through saves, in each context of a chain", arguments: [0, 1, 2])
  func kept(level: Int) throws {
    let chain = contexts[level...]
    let context = contexts[level]
    try context.performAndWait {
      let nodes = nodes(in: context)
      #expect(shown(nodes) == Self.linked)
      try save(chain)
      #expect(shown(nodes) == Self.linked && !context.hasChanges)
      // Once more, and with other changes.
      nodes[0].setValue(11, forKey: "number")
      nodes[2].setValue(nodes[1], forKey: "teacher")
      try save(chain)
      nodes[0].setValue(1, forKey: "number")
      try save(chain)
      #expect(LinkedGraph.numbers(nodes[0], "pupils") == [2] && LinkedGraph.numbers(nodes[1], "pupils") == [3])
      #expect(nodes[0].changedValues().isEmpty && !nodes[0].hasFault(forRelationshipNamed: "pupils"))
      nodes[2].setValue(nodes[0], forKey: "teacher")
      #expect(shown(nodes) == Self.linked)
      context.rollback()
      #expect(LinkedGraph.numbers(nodes[2], "teacher") == [2] && LinkedGraph.numbers(nodes[0], "pupils") == [2])
    }
  }

  @Test("A parent has what its child has saved")
  func handedUp() throws {
    try leaf.performAndWait {
      let nodes = nodes(in: leaf)
      try save(contexts.prefix(2))
      let root = contexts[2]
      try root.performAndWait {
        let above = try (1...4).map { try LinkedGraph.find("Node", $0, in: root) }
        #expect(shown(above) == Self.linked)
        try root.save()
        #expect(shown(above) == Self.linked)
        // Another child reads it there.
        let other = graph.context(root)
        try other.performAndWait {
          let below = try (1...4).map { try LinkedGraph.find("Node", $0, in: other) }
          #expect(shown(below) == Self.linked)
        }
      }
      #expect(shown(nodes) == Self.linked)
    }
  }

  @Test("They are empty at both ends once one of them is a fault again, and in other contexts")
  func faults() throws {
    let root = contexts[2]
    try root.performAndWait {
      let nodes = nodes(in: root)
      try root.save()
      root.refresh(nodes[0], mergeChanges: true)
      #expect(shown(nodes) == ["3.lists [4]", "4.list [3]", "4.marks [2]"])
      root.refreshAllObjects()
      #expect(shown(nodes) == [])
      let other = graph.context()
      try other.performAndWait {
        let found = try (1...4).map { try LinkedGraph.find("Node", $0, in: other) }
        #expect(shown(found) == [])
      }
    }
  }

  @Test("A deleted object is in none, and a rollback brings it back")
  func deletion() throws {
    let root = contexts[2]
    try root.performAndWait {
      let nodes = nodes(in: root)
      try root.save()
      root.delete(nodes[0])
      root.processPendingChanges()
      let rest = Array(nodes.dropFirst())
      #expect(shown(rest) == ["3.lists [4]", "4.list [3]", "4.marks [2]"])
      root.rollback()
      #expect(shown(nodes) == Self.linked)
      root.delete(nodes[0])
      try root.save()
      #expect(shown(rest) == ["3.lists [4]", "4.list [3]", "4.marks [2]"])
      root.delete(nodes[1])
      try root.save()
      #expect(shown([nodes[2], nodes[3]]) == ["3.lists [4]", "4.list [3]"])
    }
  }

  @Test("An undo and a redo lead to the states that were, also over a save")
  func undo() throws {
    let root = contexts[2]
    try root.performAndWait {
      let nodes = nodes(in: root)
      try root.save()
      let manager = UndoManager()
      manager.groupsByEvent = false
      root.undoManager = manager
      manager.beginUndoGrouping()
      nodes[1].setValue(nil, forKey: "partner")
      nodes[2].setValue(nodes[1], forKey: "teacher")
      manager.endUndoGrouping()
      let changed = shown(nodes)
      try root.save()
      #expect(shown(nodes) == changed)
      root.undo()
      #expect(shown(nodes) == Self.linked)
      root.redo()
      #expect(shown(nodes) == changed)
    }
  }

  @Test("Objects that lead to each other are freed with their context")
  func freed() throws {
    weak var node: NSManagedObject?
    try {
      let context = graph.context()
      try context.performAndWait {
        let nodes = nodes(in: context)
        try context.save()
        node = nodes[0]
      }
      #expect(node != nil)
    }()
    #expect(node == nil)
  }
}
