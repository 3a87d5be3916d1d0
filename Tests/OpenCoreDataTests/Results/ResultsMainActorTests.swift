import Foundation
import OpenCoreData
import TestSupport
import Testing

// Rules (Swift 6): a controller on a main-queue context, and a delegate on the main actor, need no unchecked
// annotation of the client's.

@Suite("A delegate on the main actor", .overBothStores)
@MainActor
struct ResultsMainActorTests {
  /// As an app's screen has it.
  @MainActor private final class Screen: NSObject, @MainActor NSFetchedResultsControllerDelegate {
    private let controller: NSFetchedResultsController<NSManagedObject>
    private(set) var rows: [String] = []

    init(_ context: NSManagedObjectContext) throws {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Session")
      request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: true)]
      controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      super.init()
      controller.delegate = self
      try controller.performFetch()
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      rows = (controller.fetchedObjects as? [NSManagedObject] ?? []).compactMap { $0.value(forKey: "place") as? String }
    }
  }

  @Test("It is called on the main queue, and reads objects there")
  func screen() throws {
    let stack = try Stack(TemporaryFolder())
    let context = NSManagedObjectContext(concurrencyType: .mainQueue)
    context.persistentStoreCoordinator = stack.coordinator
    let screen = try Screen(context)
    for place in ["Jaws", "Bells"] { NSManagedObject.make(stack.entity, in: context).setValue(place, forKey: "place") }
    context.processPendingChanges()
    #expect(screen.rows == ["Bells", "Jaws"])
  }
}
