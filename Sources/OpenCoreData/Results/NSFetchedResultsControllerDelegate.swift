import Foundation

/// What happened to an object or a section of a fetched results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  case insert = 1
  case delete
  case move
  case update
}

/// Receives the changes of a fetched results controller. (Apple documentation: NSFetchedResultsControllerDelegate.)
///
/// ```swift
/// final class ListView: NSObject, NSFetchedResultsControllerDelegate {
///   func controller(
///     _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
///     didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
///   ) { print("\(snapshot.numberOfItems) entries") }
/// }
/// ```
///
/// Every method has a default implementation, and there are three forms of reports; the controller finds out which one
/// a delegate has chosen by what it implements:
/// - `controller(_:didChangeContentWith:)` with a snapshot: called after each change and after `performFetch()`; no
///   other method is called then;
/// - the same with a difference, for a controller without sections;
/// - the callbacks: first `controllerWillChangeContent(_:)`, while the controller still shows the old content, then one
///   call for each section and each object that changed, then `controllerDidChangeContent(_:)`.
///
/// Callbacks come in this order: sections deleted, sections inserted; objects deleted (old index paths, from the last
/// to the first), inserted (new ones, from the first to the last), moved (both), updated (both; the old one in
/// `indexPath`). A list that removes deleted and moved objects at their old index path and inserts inserted and moved
/// ones at their new one ends with the controller's content. An object whose sort key changed has moved, unless its
/// position among the others is the same: then it is updated.
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// The index title of a section; by default the first letter of its name.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

  /// Removals and insertions of object IDs; a moved or updated object is a removal and an insertion that are associated
  /// with each other.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)
}

extension NSFetchedResultsControllerDelegate {
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? { ResultsCore.initial(of: sectionName) }

  /// Reports to the controller that its delegate does not implement this form.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) { controller.core.takesSnapshots = false }

  /// Reports to the controller that its delegate does not implement this form.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) { controller.core.takesDifferences = false }
}
