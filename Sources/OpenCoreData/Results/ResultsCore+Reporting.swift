import Foundation

/// Reporting to the delegate.
extension ResultsCore {
  /// Shows `new` from here on, and reports the changes since `old` to the delegate.
  func report(_ changes: ResultsChanges, from old: ResultsList, to new: ResultsList) {
    list = new
    guard !changes.isEmpty, let delegate, let controller = owner?.erased else { return }
    let changed = (changes.updates + changes.moves).map(\.new)
    if sendSnapshot(reloading: changed) || sendDifference(changes, from: old, to: new) { return }
    list = old
    delegate.controllerWillChangeContent(controller)
    list = new
    sendSections(changes, from: old, to: new, delegate: delegate, controller: controller)
    sendObjects(changes, from: old, to: new, delegate: delegate, controller: controller)
    delegate.controllerDidChangeContent(controller)
  }

  // MARK: Snapshots and differences

  /// - Returns: Whether the delegate takes snapshots. If it does not implement this form, the default implementation is
  ///   called and reports that.
  @discardableResult
  func sendSnapshot(reloading changed: [Int]) -> Bool {
    guard takesSnapshots, query != nil, let list, let delegate, let controller = owner?.erased else { return false }
    let ids = list.ids
    let snapshot = NSDiffableDataSourceSnapshotReference(
      names: list.sections.map(\.name), ids: list.sections.map { Array(ids[$0.rows]) },
      reloadedIDs: changed.map { ids[$0] })
    delegate.controller(controller, didChangeContentWith: snapshot)
    return takesSnapshots
  }

  private func sendDifference(_ changes: ResultsChanges, from old: ResultsList, to new: ResultsList) -> Bool {
    guard takesDifferences, sectionNameKeyPath == nil, let delegate, let controller = owner?.erased else {
      return false
    }
    let (before, after) = (old.ids, new.ids)
    var steps: [CollectionDifference<NSManagedObjectID>.Change] = []
    steps += changes.deletions.map { .remove(offset: $0, element: before[$0], associatedWith: nil) }
    steps += changes.insertions.map { .insert(offset: $0, element: after[$0], associatedWith: nil) }
    for (from, to) in changes.moves + changes.updates {
      steps.append(.remove(offset: from, element: before[from], associatedWith: to))
      steps.append(.insert(offset: to, element: after[to], associatedWith: from))
    }
    guard let difference = CollectionDifference(steps) else {
      preconditionFailure("Each index is removed once and inserted once.")
    }
    delegate.controller(controller, didChangeContentWith: difference)
    return takesDifferences
  }

  // MARK: Callbacks

  private func sendSections(
    _ changes: ResultsChanges, from old: ResultsList, to new: ResultsList,
    delegate: any NSFetchedResultsControllerDelegate,
    controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    for number in changes.deletedSections {
      let info = sectionInfo(number, of: old).emptied
      delegate.controller(controller, didChange: info, atSectionIndex: number, for: .delete)
    }
    for number in changes.insertedSections {
      let info = sectionInfo(number, of: new)
      delegate.controller(controller, didChange: info, atSectionIndex: number, for: .insert)
    }
  }

  private func sendObjects(
    _ changes: ResultsChanges, from old: ResultsList, to new: ResultsList,
    delegate: any NSFetchedResultsControllerDelegate,
    controller: NSFetchedResultsController<any NSFetchRequestResult>
  ) {
    func send(_ object: NSObject, _ type: NSFetchedResultsChangeType, from: Int? = nil, to: Int? = nil) {
      delegate.controller(
        controller, didChange: object, at: from.map(old.indexPath), for: type, newIndexPath: to.map(new.indexPath))
    }
    for rank in changes.deletions { send(old.objects[rank], .delete, from: rank) }
    for rank in changes.insertions { send(new.objects[rank], .insert, to: rank) }
    for move in changes.moves { send(new.objects[move.new], .move, from: move.old, to: move.new) }
    for update in changes.updates { send(new.objects[update.new], .update, from: update.old, to: update.new) }
  }
}

extension ResultsList {
  fileprivate var ids: [NSManagedObjectID] { objects.compactMap { ($0 as? NSManagedObject)?.objectID } }
}
