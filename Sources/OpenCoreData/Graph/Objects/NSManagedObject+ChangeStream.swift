import Foundation

/// What happened to an object in one event of its context.
public enum ObjectChange: Sendable, Equatable {
  /// The object was inserted.
  case inserted
  /// These stored properties were changed by the context.
  case updated(keys: Set<String>)
  /// The values were read anew or given back: by a refresh, a merge or a rollback.
  case refreshed
  /// The object was deleted.
  case deleted
}

extension NSManagedObject {
  /// The changes of this object that its context announces from now on, one for each event and kind. The sequence ends
  /// after a deletion, a reset, and the end of the object, which it does not keep alive. An extension of this library
  /// for what key-value observing does on Apple's systems.
  ///
  /// Take it on the context's queue; iterate over it anywhere.
  ///
  /// ```swift
  /// for await change in entry.changes {
  ///   if case .updated(let keys) = change, keys.contains("rating") { print("rated") }
  /// }
  /// ```
  public var changes: AsyncStream<ObjectChange> {
    checkQueue()
    let (stream, continuation) = AsyncStream.makeStream(of: ObjectChange.self)
    guard let context = managedObjectContext else {
      continuation.finish()
      return stream
    }
    // Safe: the notification is posted on the context's queue, and only there the object is used.
    nonisolated(unsafe) weak let object = self
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
    ) { notification in
      guard let object, object.managedObjectContext != nil || object.isDeleted else { return continuation.finish() }
      for change in object.changes(in: notification.userInfo ?? [:]) {
        continuation.yield(change)
        if change == .deleted { continuation.finish() }
      }
    }
    // Safe: a notification centre may be used from any thread.
    nonisolated(unsafe) let token = observer
    continuation.onTermination = { _ in NotificationCenter.default.removeObserver(token) }
    return stream
  }

  private func changes(in info: [AnyHashable: Any]) -> [ObjectChange] {
    func names(_ key: String, _ idsKey: String) -> Bool {
      if let objects = info[key] as? Set<NSManagedObject> { return objects.contains(self) }
      return (info[idsKey] as? ObjectIDCollection)?.contains(objectID) ?? false
    }
    var changes: [ObjectChange] = []
    if names(NSInsertedObjectsKey, NSInsertedObjectIDsKey) { changes.append(.inserted) }
    if names(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey) {
      changes.append(.updated(keys: Set(changedValuesForCurrentEvent().keys)))
    }
    if names(NSRefreshedObjectsKey, NSRefreshedObjectIDsKey) { changes.append(.refreshed) }
    if names(NSDeletedObjectsKey, NSDeletedObjectIDsKey) { changes.append(.deleted) }
    return changes
  }
}
