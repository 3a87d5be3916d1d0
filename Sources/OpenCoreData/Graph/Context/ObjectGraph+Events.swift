import PersistentStores

/// What a context announces.
extension ObjectGraph {
  /// Passes what has changed to `post`, which calls clients' code, and begins the next event.
  func announce(_ post: (ChangeEvent) -> Void) {
    guard !event.isEmpty else { return }
    let changes = event
    event = ChangeEvent()
    let before = eventClock.tick()
    post(changes)
    eventClock.endAnnouncement(before)
  }

  /// The object is about to be refreshed: a change that was not announced yet is not announced.
  func withdrawUpdate(of object: NSManagedObject) { event.withdrawUpdate(object.key) }
  func noteRefresh(of object: NSManagedObject) { event.noteRefresh(of: object, object.key) }

  /// Others have inserted the object.
  func noteMerged(_ object: NSManagedObject) { event.noteMerged(object, object.key) }
  /// Others have inserted objects with `ids`, for which no objects were made.
  func noteMerged(_ ids: ObjectIDCollection) { event.noteMerged(ids) }
}
