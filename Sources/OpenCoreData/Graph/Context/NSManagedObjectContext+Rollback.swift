import Foundation

/// Discarding changes.
extension NSManagedObjectContext {
  /// Discards all changes and what can be undone: inserted objects leave the context, other objects get their last committed values back.
  /// (Apple documentation: rollback().)
  ///
  /// ```swift
  /// entry.location = "Rincon"
  /// context.rollback()
  /// print(context.hasChanges)  // false
  /// ```
  public func rollback() {
    checkQueue()
    validationFailures = []
    undoManager?.removeAllActions()
    let (restored, withdrawn) = graph.rollBack()
    for object in restored { object.awake(after: .rollback) }
    processPendingChanges()
    graph.release(withdrawn)
  }

  /// Forgets every object, changed or not, and what can be undone. Objects that the client still holds are
  /// faults without a context from then on, which read as nil. (Apple documentation: reset().)
  ///
  /// ```swift
  /// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  /// for page in 0..<10 {
  ///   request.fetchOffset = page * 1000
  ///   request.fetchLimit = 1000
  ///   for entry in try context.fetch(request) { print(entry.location ?? "") }
  ///   context.reset()  // frees the objects of the page
  /// }
  /// ```
  public func reset() {
    checkQueue()
    validationFailures = []
    undoManager?.removeAllActions()
    graph.reset()
    advanceQueryGeneration()
    processPendingChanges()
  }
}
