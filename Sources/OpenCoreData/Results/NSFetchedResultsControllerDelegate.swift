import Foundation

/// What happened to an object or a section of a fetched results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// It was inserted.
  case insert = 1
  /// It was deleted.
  case delete
  /// It has another index path.
  case move
  /// It has other values at the same position.
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
  /// Called before the calls for single changes; `controllerDidChangeContent(_:)` follows them.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// Called for each object that was inserted, deleted, moved or updated.
  ///
  /// - Parameters:
  ///   - controller: The controller whose content changed.
  ///   - anObject: The object.
  ///   - indexPath: Where the object was; nil for an insertion.
  ///   - type: What happened to it.
  ///   - newIndexPath: Where the object is now; nil unless it was inserted or moved.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// Called for each section that was inserted or deleted.
  ///
  /// - Parameters:
  ///   - controller: The controller whose content changed.
  ///   - sectionInfo: The section.
  ///   - sectionIndex: Its index: the old one of a deleted section, the new one of an inserted section.
  ///   - type: `.insert` or `.delete`.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// Called after the calls for single changes: the controller has its new content.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// The index title of a section; by default the first letter of its name.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?

  /// The whole content after a change: the names of the sections and the IDs of their objects.
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
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}

  /// The first letter of the section's name.
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
