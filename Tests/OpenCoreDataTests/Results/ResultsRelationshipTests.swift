import Foundation
@testable import ManagedObjectModel
@testable import OpenCoreData
@testable import PersistentStores
import TestSupport
import Testing

// Rules (Apple documentation: NSFetchedResultsController, "Responding to Changes"): the controller follows changes of the
// objects of its request. An object whose relationship changes is changed. An object at the other end is not one of the
// request's: its change moves nothing, as in Apple's framework.

@Suite("A sort key and sections over a relationship", .overBothStores)
struct ResultsRelationshipTests {
  /// The calls of a delegate, with the number of the node.
  private final class Calls: NSObject, NSFetchedResultsControllerDelegate {
    var log: [String] = []

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      let number = (anObject as? NSManagedObject)?.value(forKey: "number") as? Int ?? 0
      let places = [indexPath, newIndexPath].map { path in path.map { "\($0.section).\($0.item)" } ?? "-" }
      log.append("\(type) \(number) \(places.joined(separator: " "))")
    }

    func take() -> [String] {
      defer { log = [] }
      return log
    }
  }

  private typealias Controller = NSFetchedResultsController<NSManagedObject>

  /// Boxes 10 and 20 with the nodes 1 and 2, and 3, shown by the numbers of their boxes.
  private func show(_ body: (_ context: NSManagedObjectContext, Controller, Calls) throws -> Void) throws {
    let graph = try LinkedGraph(kind: .current)
    let context = graph.context()
    try context.performAndWait {
      let boxes = [10, 20].map { LinkedGraph.make("Box", $0, in: context) }
      for (number, box) in [(1, 0), (2, 0), (3, 1)] {
        LinkedGraph.make("Node", number, in: context).setValue(boxes[box], forKey: "box")
      }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
      request.sortDescriptors = ["box.number", "number"].map { NSSortDescriptor(key: $0, ascending: true) }
      let controller = Controller(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "box.number", cacheName: nil)
      let calls = Calls()
      controller.delegate = calls
      try controller.performFetch()
      #expect(shown(controller) == ["10: [1, 2]", "20: [3]"])
      try body(context, controller, calls)
    }
  }

  private func shown(_ controller: Controller) -> [String] {
    (controller.sections ?? []).map { section in
      let numbers = (section.objects as? [NSManagedObject])?.compactMap { $0.value(forKey: "number") as? Int } ?? []
      return "\(section.name): \(numbers)"
    }
  }

  @Test("A relationship that is set moves its object, whichever end is set")
  func relationship() throws {
    try show { context, controller, calls in
      let far = try LinkedGraph.find("Box", 20, in: context)
      let node = try LinkedGraph.find("Node", 1, in: context)
      node.setValue(far, forKey: "box")
      context.processPendingChanges()
      #expect(shown(controller) == ["10: [2]", "20: [1, 3]"])
      #expect(calls.take() == ["move 1 0.0 1.0"])
      let near = try LinkedGraph.find("Box", 10, in: context)
      near.mutableOrderedSetValue(forKey: "items").add(node)
      context.processPendingChanges()
      #expect(shown(controller) == ["10: [1, 2]", "20: [3]"])
      #expect(calls.take() == ["move 1 1.0 0.0"])
      try context.save()
      #expect(calls.take() == [])
    }
  }

  @Test("A change at the other end moves nothing until the object itself changes, or the next fetch")
  func otherEnd() throws {
    try show { context, controller, calls in
      try LinkedGraph.find("Box", 10, in: context).setValue(30, forKey: "number")
      context.processPendingChanges()
      #expect(shown(controller) == ["10: [1, 2]", "20: [3]"] && calls.take() == [])
      try LinkedGraph.find("Node", 1, in: context).setValue(nil, forKey: "note")
      try LinkedGraph.find("Node", 1, in: context).setValue(1, forKey: "number")
      context.processPendingChanges()
      #expect(shown(controller) == ["10: [2]", "20: [3]", "30: [1]"])
      try context.save()
      try controller.performFetch()
      #expect(shown(controller) == ["20: [3]", "30: [1, 2]"])
    }
  }
}
