import Foundation

/// Merging what other contexts have saved.
extension NSManagedObjectContext {
  /// Merges the changes of an NSManagedObjectContextDidSave or DidSaveObjectIDs notification: updated objects that this
  /// context has are refreshed and keep their unsaved changes, inserted ones are registered as faults, deleted ones
  /// leave the context. Call it on this context's queue.
  ///
  /// Notifications of this context itself, of its descendants, and of contexts on another coordinator are ignored: what
  /// a child has saved is already here, and has yet to be saved from here. So are notifications of children of a
  /// context that this one does not read from: what they have saved is not in the store yet. (Apple documentation:
  /// mergeChanges(fromContextDidSave:).)
  public func mergeChanges(fromContextDidSave notification: Notification) {
    checkQueue()
    if let source = notification.object as? NSManagedObjectContext {
      guard source !== self, !source.descends(from: self),
        source.persistentStoreCoordinator === persistentStoreCoordinator,
        source.parent.map(descends) ?? true
      else { return }
    }
    merge(savedIDs(notification.userInfo ?? [:]))
  }

  /// Merges changes that another process or coordinator made.
  ///
  /// - Parameters:
  ///   - changeNotificationData: Collections of `NSManagedObjectID` or `URL` (of `uriRepresentation()`) under the keys
  ///     of a save's notification. IDs of another coordinator stand for the same objects of this coordinator's store.
  ///   - contexts: Each merges on its own queue, parents before their children.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    for context in contexts.sorted(by: { $0.ancestorCount < $1.ancestorCount }) {
      context.performAndWait { context.merge(context.savedIDs(changeNotificationData)) }
    }
  }

  private func descends(from context: NSManagedObjectContext) -> Bool {
    parent.map { $0 === context || $0.descends(from: context) } ?? false
  }

  private var ancestorCount: Int { parent.map { $0.ancestorCount + 1 } ?? 0 }

  // MARK: Contents of a notification

  private func savedIDs(_ info: [AnyHashable: Any]) -> SavedIDs {
    var saved = SavedIDs()
    saved.inserted = ObjectIDCollection(ids(info, NSInsertedObjectsKey, NSInsertedObjectIDsKey))
    saved.updated = ids(info, NSUpdatedObjectsKey, NSUpdatedObjectIDsKey)
    saved.refreshed =
      ids(info, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey)
      + ids(info, NSInvalidatedObjectsKey, NSInvalidatedObjectIDsKey)
    saved.deleted = ids(info, NSDeletedObjectsKey, NSDeletedObjectIDsKey)
    saved.invalidatesAll = info[NSInvalidatedAllObjectsKey] != nil
    return saved
  }

  private func ids(_ info: [AnyHashable: Any], _ keys: String...) -> [NSManagedObjectID] {
    let values = keys.compactMap { info[$0] }.flatMap { value -> [Any] in
      switch value {
      case let ids as ObjectIDCollection: Array(ids)
      case let objects as Set<NSManagedObject>: Array(objects)
      case let ids as Set<NSManagedObjectID>: Array(ids)
      case let urls as Set<URL>: Array(urls)
      case let list as [Any]: list
      case let set as NSSet: set.allObjects
      default: []
      }
    }
    return values.compactMap(ownID)
  }

  /// The ID that `value` stands for in the stores of this context; nil if it belongs to none of them.
  private func ownID(_ value: Any) -> NSManagedObjectID? {
    let id: NSManagedObjectID
    switch value {
    case let object as NSManagedObject: id = object.idForOtherQueues
    case let known as NSManagedObjectID: id = known.resolved
    case let url as URL: return persistentStoreCoordinator?.managedObjectID(forURIRepresentation: url)
    default: return nil
    }
    guard case .permanent(let store, _) = id.reference, let coordinator = persistentStoreCoordinator else { return id }
    if coordinator.persistentStores.contains(where: { $0.identity === store }) { return id }
    return coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation())
  }

  // MARK: Merging

  /// Merges `saved` and announces the merge.
  ///
  /// - Parameter carriesOutRules: Whether the delete rules of pending deletions are carried out first, for which objects
  ///   may be read. The end of the next event, and a save, carry out those that were left.
  func merge(_ saved: SavedIDs, carryingOutRules carriesOutRules: Bool = true) {
    linkPackedRows()
    guard !saved.isEmpty else { return }
    processPendingChanges(carryingOutRules: carriesOutRules)
    pauseUndo()
    advanceQueryGeneration()
    graph.invalidateRelated()
    if saved.invalidatesAll { refreshAllObjects() }
    mergeInsertions(saved.inserted, saved.rows)
    mergeUpdates(saved.updated + saved.refreshed, saved.rows)
    for id in saved.deleted {
      if let object = registeredObject(for: id), !object.isInserted { forgetDeleted(object) }
    }
    // What observers change now can be undone.
    resumeUndo()
    processPendingChanges(carryingOutRules: carriesOutRules)
    postDidMerge(saved)
  }

  /// Makes objects for the inserted rows: faults that are loaded together when one of them fires. If the context
  /// announces only IDs, no object is needed and none is made.
  private func mergeInsertions(_ ids: ObjectIDCollection, _ rows: SavedRows?) {
    guard changeNotificationContents == .objects else {
      graph.noteMerged(ids)
      return
    }
    let objects = ids.map(object(with:))
    graph.merged = objects
    let group = FaultGroup(objects.map(\.identity))
    var known: [NSManagedObjectID] = []
    for object in objects {
      if !object.isFault {
        known.append(object.identity)
        continue
      }
      object.faultGroup = group
      graph.noteMerged(object)
    }
    mergeUpdates(known, rows)
  }

  private func mergeUpdates(_ ids: [NSManagedObjectID], _ rows: SavedRows?) {
    let known = ids.compactMap(registeredObject(for:)).filter { !$0.isInserted }
    let objects = known.filter { !$0.isDeleted }
    let changed = objects.filter(\.isUpdated)
    // A rollback shows their values again. Those of a fault are read when it fires.
    let deleted = known.filter { $0.isDeleted && !$0.isFault && !$0.state.contains(.inaccessible) }
    let fresh = freshRows(of: changed + deleted, rows)
    for (object, row) in zip(changed, fresh) {
      if let row { rebase(object, on: row) } else if rows == nil { refresh(object, mergeChanges: true) }
    }
    for case (let object, let row?) in zip(deleted, fresh.dropFirst(changed.count)) {
      // Changes made before the deletion stay too.
      object.rebase(on: row) { own, base, stored in own != base ? own : stored }
    }
    let unchanged = objects.filter { !$0.isUpdated }
    let group = FaultGroup(unchanged.map(\.identity))
    for object in unchanged {
      refresh(object, mergeChanges: true)
      object.faultGroup = group
    }
  }

  /// The rows to which the context's changes are applied: those that were handed over, or else the level below is asked
  /// for all of them in one read.
  private func freshRows(of objects: [NSManagedObject], _ rows: SavedRows?) -> [FetchedRow?] {
    let ids = objects.map(\.identity)
    if let rows { return ids.map { rows[$0] } }
    return ids.isEmpty ? [] : (try? rowsBelow(for: ids)) ?? []
  }

  /// Applies an object's own changes to the values of `row`.
  private func rebase(_ object: NSManagedObject, on row: FetchedRow) {
    takeOver(row, of: object) { own, base, stored in own != base ? own : stored }
    object.awake(after: .refresh)
    scheduleProcessing()
  }

  private func postDidMerge(_ saved: SavedIDs) {
    post(.NSManagedObjectContextDidMergeChangesObjectIDs) { self.mergedIDs(saved) }
  }

  private func mergedIDs(_ saved: SavedIDs) -> [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    let merged = [
      (saved.inserted, NSInsertedObjectIDsKey), (ObjectIDCollection(saved.updated), NSUpdatedObjectIDsKey),
      (ObjectIDCollection(saved.deleted), NSDeletedObjectIDsKey),
      (ObjectIDCollection(saved.refreshed), NSRefreshedObjectIDsKey),
    ]
    for (ids, key) in merged where !ids.isEmpty {
      info[key] = changeNotificationContents == .objectIDs ? ids : Set(ids)
    }
    if saved.invalidatesAll { info[NSInvalidatedAllObjectsKey] = [NSManagedObjectID]() }
    return info
  }
}
