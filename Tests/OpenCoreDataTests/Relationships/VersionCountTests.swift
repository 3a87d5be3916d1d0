import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rule (Apple documentation: Core Data Programming Guide, "Change Management"): an object whose relationship has changed
// has a new version, and a change by others since it was read is a conflict, also if many rows change in nothing else.

@Suite("Objects whose relationships alone have changed", .overBothStores)
struct VersionCountTests {
  private let graph: LinkedGraph
  private static let boxes = 5

  init() throws {
    graph = try LinkedGraph(kind: .current)
    let context = graph.context()
    try context.performAndWait {
      for number in 0..<Self.boxes { LinkedGraph.make("Box", number, in: context) }
      try context.save()
    }
  }

  private func versions() throws -> [Int64] {
    let store = try #require(graph.coordinator.rowStores.first)
    let entity = try #require(graph.model.entitiesByName["Box"])
    return try store.read(nil) { try $0.rows(FetchQuery(entity: entity)).map(\.version) }
  }

  /// Gives each box an item. Another context has changed some of them after they were read.
  private func link(_ context: NSManagedObjectContext, changed: [Int]) throws {
    try context.performAndWait {
      let boxes = try (0..<Self.boxes).map { try LinkedGraph.find("Box", $0, in: context) }
      let other = graph.context()
      try other.performAndWait {
        for number in changed {
          try LinkedGraph.find("Box", number, in: other).setValue(number + 100, forKey: "number")
        }
        try other.save()
      }
      for box in boxes { LinkedGraph.make("Node", 0, in: context).setValue(box, forKey: "box") }
      try context.save()
    }
  }

  @Test("each counts once for a save")
  func counted() throws {
    try link(graph.context(), changed: [])
    #expect(try versions() == [2, 2, 2, 2, 2])
  }

  @Test("those that others have changed are the conflicts, and nothing is written", arguments: [[3], [1, 4]])
  func conflicts(changed: [Int]) throws {
    let error = #expect(throws: NSError.self) { try link(graph.context(), changed: changed) }
    #expect(error?.code == 133_020)
    let failed = error?.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID]
    #expect(failed?.compactMap(\.storeKey) == changed.map { Int64($0 + 1) })
    #expect(try versions() == (0..<Self.boxes).map { changed.contains($0) ? 2 : 1 })
  }

  @Test("with a merge policy all are written")
  func merged() throws {
    let context = graph.context()
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try link(context, changed: [2])
    #expect(try versions() == [2, 2, 3, 2, 2])
  }
}
