extension NSManagedObjectContext {
  /// Merges from the context's present source, and no longer from the previous one.
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
