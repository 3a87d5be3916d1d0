extension NSManagedObjectContext {
  /// Listens where the context now reads from, and no longer where it did before.
  func renewMerging() {
    mergesFrom?.remove(self)
    let source = parent?.mergers ?? persistentStoreCoordinator?.mergers
    mergesFrom = automaticallyMergesChangesFromParent ? source : nil
    mergesFrom?.add(self)
  }
}

extension NSManagedObjectContext: MergingContext {
  func mergeLater(_ changes: SavedIDs) {
    queue.async { [weak self] in self?.merge(changes) }
  }
}
