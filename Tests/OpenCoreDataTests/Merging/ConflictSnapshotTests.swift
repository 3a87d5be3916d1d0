import Foundation
@testable import OpenCoreData
import TestSupport
import Testing

// Rule (Apple documentation: NSMergeConflict; NSManagedObject, committedValues(forKeys:)): a snapshot has what a row has,
// which is attributes and the keys of to-one relationships; those to many are not in it.

@Suite("The snapshots of a conflict about linked objects", .overBothStores)
struct ConflictSnapshotTests {
  /// Keeps the conflicts, and lets the object win.
  private final class KeepingPolicy: NSMergePolicy {
    private(set) var conflicts: [NSMergeConflict] = []

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
      conflicts += list
      try super.resolve(optimisticLockingConflicts: list)
    }
  }

  private let graph: LinkedGraph
  private let (own, other): (NSManagedObjectContext, NSManagedObjectContext)
  private let policy = KeepingPolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)

  init() throws {
    graph = try LinkedGraph(kind: .current)
    (own, other) = (graph.context(), graph.context())
    own.mergePolicy = policy
    let context = graph.context()
    try context.performAndWait {
      let nodes = (1...2).map { LinkedGraph.make("Node", $0, in: context) }
      let boxes = (1...3).map { LinkedGraph.make("Box", $0, in: context) }
      nodes[0].setValue(boxes[0], forKey: "box")
      nodes[0].setValue(nodes[1], forKey: "parent")
      nodes[0].setValue(LinkedGraph.make("Tag", 1, in: context), forKey: "note")
      try context.save()
    }
  }

  private func find(_ entity: String, _ number: Int, in context: NSManagedObjectContext) throws -> NSManagedObject {
    try LinkedGraph.find(entity, number, in: context)
  }

  /// The numbers of what a snapshot's relationships lead to, 0 for nothing.
  private func links(_ snapshot: [String: Any]?) -> [String: Int] {
    let context = graph.context()
    return context.performAndWait {
      (snapshot ?? [:]).filter { $0.key != "number" }.mapValues { value in
        (value as? NSManagedObjectID).flatMap { context.object(with: $0).value(forKey: "number") as? Int }
          ?? (value is NSNull ? 0 : -1)
      }
    }
  }

  /// The conflict of a save in which the node gets another box, after another context has given it a third one.
  private func conflict(readsFirst: Bool) throws -> NSMergeConflict {
    try own.performAndWait {
      let node = try find("Node", 1, in: own)
      if readsFirst { for key in ["box", "note", "parent", "partner"] { _ = node.value(forKey: key) } }
      try other.performAndWait {
        let theirs = try find("Node", 1, in: other)
        theirs.setValue(try find("Box", 2, in: other), forKey: "box")
        theirs.setValue(nil, forKey: "note")
        try other.save()
      }
      if readsFirst {
        node.setValue(try find("Box", 3, in: own), forKey: "box")
      } else {
        node.setValue(7, forKey: "number")
      }
      try own.save()
    }
    return try #require(policy.conflicts.first { $0.sourceObject.entity.name == "Node" })
  }

  @Test("They have the IDs at the other ends of relationships to one, and none to many")
  func links() throws {
    let conflict = try conflict(readsFirst: true)
    #expect(links(conflict.cachedSnapshot) == ["box": 1, "note": 1, "parent": 2, "partner": 0])
    #expect(links(conflict.persistedSnapshot) == ["box": 2, "note": 0, "parent": 2, "partner": 0])
    #expect(links(conflict.objectSnapshot) == ["box": 3, "note": 1, "parent": 2, "partner": 0])
    #expect(conflict.persistedSnapshot?["number"] as? Int == 1)
  }

  @Test("What the context has not read is not in its cached snapshot, and is the store's in the object")
  func unread() throws {
    let conflict = try conflict(readsFirst: false)
    #expect(links(conflict.cachedSnapshot) == [:])
    #expect(links(conflict.persistedSnapshot) == ["box": 2, "note": 0, "parent": 2, "partner": 0])
    #expect(links(conflict.objectSnapshot) == ["box": 2, "note": 0, "parent": 2, "partner": 0])
  }

  @Test("Where the row is gone there is no persisted snapshot, and the others have what was read")
  func gone() throws {
    try own.performAndWait {
      let node = try find("Node", 1, in: own)
      _ = node.value(forKey: "box")
      try other.performAndWait {
        other.delete(try find("Node", 1, in: other))
        try other.save()
      }
      node.setValue(5, forKey: "number")
      try own.save()
    }
    let conflict = try #require(policy.conflicts.first)
    #expect(conflict.persistedSnapshot == nil)
    #expect(links(conflict.cachedSnapshot) == ["box": 1] && links(conflict.objectSnapshot) == ["box": 1])
  }

  @Test("They are read from the store as it is now, also in a context that is pinned to an earlier state")
  func pinned() throws {
    guard StoreKind.current == .sqlite else { return }
    try own.performAndWait { try own.setQueryGenerationFrom(.current) }
    let conflict = try conflict(readsFirst: true)
    #expect(links(conflict.persistedSnapshot) == ["box": 2, "note": 0, "parent": 2, "partner": 0])
  }
}
