import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rule (Apple documentation: NSAttributeDescription, `defaultValue`; NSPropertyDescription, `isTransient`): an object that
// is read has the default of each transient attribute, whatever way it is read.

@Suite("A transient attribute has its default after any read", .overBothStores)
struct TransientDefaultTests {
  private let graph: LinkedGraph

  private static let xml = """
    <model>
      <entity name="Box">
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="items" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="Node" inverseName="box" inverseEntity="Node"/>
      </entity>
      <entity name="Node">
        <attribute name="mood" optional="YES" transient="YES" attributeType="String" defaultValueString="calm"/>
        <attribute name="number" optional="YES" attributeType="Integer 64"/>
        <relationship name="box" optional="YES" maxCount="1" destinationEntity="Box" inverseName="items" inverseEntity="Box"/>
      </entity>
    </model>
    """

  init() throws {
    graph = try LinkedGraph(xml: Self.xml, kind: .current)
    let context = graph.context()
    try context.performAndWait {
      let box = LinkedGraph.make("Box", 0, in: context)
      for number in 1...3 { LinkedGraph.make("Node", number, in: context).setValue(box, forKey: "box") }
      try context.save()
    }
  }

  private static func moods(_ objects: some Sequence) -> [String] {
    objects.map { (($0 as? NSManagedObject)?.value(forKey: "mood") as? String) ?? "none" }
  }

  private static let calm = ["calm", "calm", "calm"]

  @Test("by a fetch, a walk, and a relationship that is read ahead or on demand")
  func reads() throws {
    let context = graph.context()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
      #expect(try Self.moods(context.fetch(request)) == Self.calm)
      context.reset()
      var walked: [String] = []
      try context.walkObjects(request, objectsPerBatch: 2) { objects in
        walked += Self.moods(objects)
        return true
      }
      #expect(walked == Self.calm)
      for keyPaths in [["items"], []] {
        context.reset()
        let boxes = NSFetchRequest<NSManagedObject>(entityName: "Box")
        boxes.relationshipKeyPathsForPrefetching = keyPaths
        let items = try context.fetch(boxes).first?.value(forKey: "items") as? NSSet
        #expect(Self.moods(items ?? NSSet()) == Self.calm, "\(keyPaths)")
      }
    }
  }

  @Test("by a cascade, in each context that it goes through")
  func cascade() throws {
    let parent = graph.context()
    let child = graph.context(parent)
    for context in [parent, child] { context.performAndWait { context.retainsRegisteredObjects = true } }
    try child.performAndWait {
      child.delete(try LinkedGraph.find("Box", 0, in: child))
      child.processPendingChanges()
      #expect(Self.moods(child.deletedObjects.filter { $0.entity.name == "Node" }) == Self.calm)
      try child.save()
    }
    try parent.performAndWait {
      #expect(Self.moods(parent.deletedObjects.filter { $0.entity.name == "Node" }) == Self.calm)
      try parent.save()
    }
  }
}
