extension NSManagedObjectContext: MergingContext {
  func mergeLater(_ changes: SavedIDs) {
    queue.async { [weak self] in self?.merge(changes) }
  }
}
