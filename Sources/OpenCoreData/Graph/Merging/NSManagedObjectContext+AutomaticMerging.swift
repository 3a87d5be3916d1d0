extension NSManagedObjectContext: MergingContext {
  func mergeLater(_ changes: SavedIDs) {
    // The thread of the parent may wait for this queue, so that nothing can be read: delete rules are carried out later.
    queue.async { [weak self] in self?.merge(changes, carryingOutRules: false) }
  }
}
