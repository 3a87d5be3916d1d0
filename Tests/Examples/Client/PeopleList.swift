import Foundation
import OpenCoreData

/// What stands between a list on a screen and the store.
@MainActor final class PeopleList: NSObject, NSFetchedResultsControllerDelegate {
  private let controller: NSFetchedResultsController<Person>
  private(set) var names: [String?] = []
  private(set) var snapshotCounts: [Int] = []

  init(_ context: NSManagedObjectContext) throws {
    let request: NSFetchRequest<Person> = Person.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(keyPath: \Person.age, ascending: false)]
    request.fetchBatchSize = 20
    controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    super.init()
    controller.delegate = self
    try controller.performFetch()
    names = (controller.fetchedObjects ?? []).map(\.name)
  }

  nonisolated func controller(
    _ controller: NSFetchedResultsController<NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) {
    MainActor.assumeIsolated {
      names = (self.controller.fetchedObjects ?? []).map(\.name)
      snapshotCounts.append((snapshot.itemIdentifiers as? [NSManagedObjectID] ?? []).count)
    }
  }
}
