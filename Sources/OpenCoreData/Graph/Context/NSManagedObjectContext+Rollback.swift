import Foundation

/// Discarding changes.
extension NSManagedObjectContext {
  /// Discards all changes: inserted objects leave the context, other objects get their last committed values back.
  /// (Apple documentation: rollback().)
  ///
  /// ```swift
  /// entry.location = "Rincon"
  /// context.rollback()
  /// print(context.hasChanges)  // false
  /// ```
  public func rollback() {
    checkQueue()
    let restored = updates.inOrder + deletions.inOrder
    validationFailures = []
    // What was not announced yet is not announced at all.
    let unannounced = event
    event = ChangeEvent()
    event.noteWithdrawal(of: insertions.segments, announcedBefore: unannounced)
    let withdrawn = insertions.segments
    for segment in withdrawn {
      segment.handles.forEach { _, object in
        object.state = []
        unregister(object, from: object.identity.key)
      }
    }
    for object in updates.values {
      if let snapshot = object.snapshot { object.values = snapshot }
      object.snapshot = nil
      object.state.subtract([.updated, .recreated])
      event.refreshed[object.identity.key] = object
    }
    for object in deletions.values {
      if object.state.contains(.inaccessible) {
        turnIntoFault(object)
        continue
      }
      object.state.subtract([.deleted, .recreated])
      if let snapshot = object.snapshot { object.values = snapshot }
      object.snapshot = nil
      event.refreshed[object.identity.key] = object
    }
    insertions.removeAll()
    updates = [:]
    deletions = [:]
    for object in restored { object.awake(after: .rollback) }
    processPendingChanges()
    for segment in withdrawn { segment.releaseHandles() }
  }

  /// Forgets every object, changed or not. Objects that the client still holds have no context from then on; their
  /// faults cannot be loaded any more. (Apple documentation: reset().)
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
    let pending = insertions.segments.flatMap(\.handles.objects)
    for object in registry.objects.union(deletions.values).union(pending) {
      object.state = object.isFault ? .fault : []
      object.related = nil
      object.managedObjectContext = nil
    }
    registry.removeAll()
    retained = []
    for segment in insertions.segments { segment.releaseHandles() }
    insertions.removeAll()
    updates = [:]
    deletions = [:]
    conflictChecks = [:]
    unresolvedIDs = UnresolvedIDs()
    advanceQueryGeneration()
    event = ChangeEvent()
    event.invalidatedAll = true
    processPendingChanges()
  }
}
