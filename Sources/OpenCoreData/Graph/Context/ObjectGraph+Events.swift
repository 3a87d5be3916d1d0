import PersistentStores

/// What a context announces.
extension ObjectGraph {
  /// Passes what has changed to `post`, which calls clients' code, and begins the next event.
  func announce(_ post: (ChangeEvent) -> Void) {
    guard !event.isEmpty else { return }
    let changes = event
    beginEvent(ChangeEvent())
    let (before, enclosing) = (eventClock.tick(), announced)
    announced = changes
    post(changes)
    announced = enclosing
    eventClock.endAnnouncement(before)
  }

  func beginEvent(_ new: ChangeEvent) {
    let updated = event.updates.count
    (event, lastInserted) = (new, nil)
    event.expectUpdates(ChangeEvent.expectedCount(after: updated))
  }

  /// Whether the insertion of an object belongs to the present event: it was not announced yet.
  func isUnannounced(_ object: NSManagedObject) -> Bool {
    insertions.locate(object).map { event.hasInsertion($0.segment, row: $0.row) } ?? false
  }

  /// As `isUnannounced(_:)`, and for observers of the announcement too.
  func hasInsertedInEvent(_ object: NSManagedObject) -> Bool {
    guard let (segment, row) = insertions.locate(object) else { return false }
    return event.hasInsertion(segment, row: row) || announced?.hasInsertion(segment, row: row) == true
  }

  /// Notes that a value of an inserted object has changed which was not announced yet.
  ///
  /// - Returns: False for another object. Nothing was noted then.
  func noteChange(ofUnannounced object: NSManagedObject) -> Bool {
    if lastInserted == ObjectIdentifier(object) { return true }
    guard let (segment, row) = insertions.locate(object), noteIfUnannounced(object, segment, row: row) else {
      return false
    }
    segment.isValidated = false
    return true
  }

  /// Notes an object that has changed, if its insertion was not announced yet: the announcement includes the change.
  ///
  /// - Returns: Whether it was noted.
  func noteIfUnannounced(_ object: NSManagedObject, _ segment: PendingSegment, row: Int) -> Bool {
    guard event.hasInsertion(segment, row: row) else { return false }
    lastInserted = ObjectIdentifier(object)
    return true
  }

  /// The object is about to be refreshed: a change that was not announced yet is not announced.
  func withdrawUpdate(of object: NSManagedObject) { event.withdrawUpdate(object.key) }
  func noteRefresh(of object: NSManagedObject) { event.noteRefresh(of: object, object.key) }

  /// Others have inserted the object.
  func noteMerged(_ object: NSManagedObject) { event.noteMerged(object, object.key) }
  /// Others have inserted objects with `ids`, for which no objects were made.
  func noteMerged(_ ids: ObjectIDCollection) { event.noteMerged(ids) }
}
