import Foundation
import SystemSupport
import Observation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Swift documentation: withObservationTracking(_:onChange:)): the closure is called once, before the first change
// of what was read. `changes` has what the context announces.

@Suite("Changes of objects can be followed")
struct ObservationTests {
  private let graph: LinkedGraph
  private let context: NSManagedObjectContext
  private let node: NSManagedObject
  private let tag: NSManagedObject

  init() throws {
    graph = try LinkedGraph()
    context = graph.context()
    node = LinkedGraph.make("Node", 1, in: context)
    tag = LinkedGraph.make("Tag", 2, in: context)
    try context.save()
  }

  /// Whether `change` is reported to code that has read `keys` of the node.
  private func isReported(_ keys: String..., change: () throws -> Void) rethrows -> Bool {
    let isReported = Locked(false)
    withObservationTracking {
      for key in keys { _ = node.value(forKey: key) }
    } onChange: {
      isReported.withLock { $0 = true }
    }
    try change()
    return isReported.withLock { $0 }
  }

  @Test("What was read is reported when it changes, and nothing else is")
  func tracking() throws {
    context.supportsObservation = true
    #expect(isReported("number") { node.setValue(2, forKey: "number") })
    #expect(!isReported("number") { node.setValue(tag, forKey: "note") })
    #expect(isReported("note") { node.setValue(nil, forKey: "note") })
    #expect(isReported("tags") { tag.mutableSetValue(forKey: "nodes").add(node) })
    #expect(!isReported("parent", "number") { tag.setValue(5, forKey: "number") })
    #expect(isReported("number") { context.rollback() })
    #expect(isReported("number") { context.refresh(node, mergeChanges: false) })
    context.undoManager = UndoManager()
    node.setValue(7, forKey: "number")
    #expect(isReported("number") { context.undo() })
  }

  @Test("What others have saved is reported when it is merged")
  func merging() throws {
    context.supportsObservation = true
    let other = graph.context()
    try LinkedGraph.find("Node", 1, in: other).setValue(9, forKey: "number")
    try other.save()
    let notification = Notification(
      name: .NSManagedObjectContextDidSave, object: other, userInfo: [NSUpdatedObjectIDsKey: Set([node.objectID])])
    #expect(isReported("number") { context.mergeChanges(fromContextDidSave: notification) })
    #expect(node.value(forKey: "number") as? Int == 9)
  }

  @Test("Without support for it an object has nothing for it")
  func off() throws {
    #expect(!isReported("number") { node.setValue(2, forKey: "number") })
    #expect(node.auxiliaryIfPresent?.observation == nil)
  }

  @Test("The sequence has what each event did to the object, and ends with its deletion")
  func changes() async throws {
    let changes = node.changes
    node.setValue(3, forKey: "number")
    tag.setValue(3, forKey: "number")
    node.setValue(tag, forKey: "note")
    context.processPendingChanges()
    tag.setValue(4, forKey: "number")
    context.processPendingChanges()
    context.rollback()
    context.delete(node)
    context.processPendingChanges()
    tag.setValue(4, forKey: "number")
    context.processPendingChanges()
    var seen: [ObjectChange] = []
    for await change in changes { seen.append(change) }
    #expect(seen == [.updated(keys: ["number", "note"]), .refreshed, .deleted])
  }

  @Test("An insertion is in the sequence; a reset ends it, and so does the end of the object")
  func end() async throws {
    let made = LinkedGraph.make("Tag", 7, in: context)
    let (ofMade, ofNode) = (made.changes, node.changes)
    context.changeNotificationContents = .objectIDs
    context.processPendingChanges()
    context.reset()
    var seen: [ObjectChange] = []
    for await change in ofMade { seen.append(change) }
    for await change in ofNode { seen.append(change) }
    #expect(seen == [.inserted])
    var found: NSManagedObject? = try LinkedGraph.find("Node", 1, in: context)
    let ofFound = try #require(found).changes
    found = nil
    LinkedGraph.make("Tag", 8, in: context)
    context.processPendingChanges()
    for await change in ofFound { seen.append(change) }
    #expect(seen == [.inserted])
  }
}
