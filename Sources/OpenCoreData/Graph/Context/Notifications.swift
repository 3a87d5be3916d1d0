import Foundation
@_spi(SwiftCorelibsFoundation) import FoundationEssentials

extension Notification.Name {
  /// Posted after changes were processed; user info: sets of objects under the NS…ObjectsKey keys.
  public static let NSManagedObjectContextObjectsDidChange = Notification.Name(
    "NSObjectsChangedInManagingContextNotification")
  /// Posted before a save; no user info.
  public static let NSManagedObjectContextWillSave = Notification.Name(
    "NSManagingContextWillSaveChangesNotification")
  /// Posted after a save; user info: inserted, updated and deleted objects.
  public static let NSManagedObjectContextDidSave = Notification.Name(
    "NSManagingContextDidSaveChangesNotification")
  /// Posted after a save; user info: the IDs of inserted, updated and deleted objects.
  public static let NSManagedObjectContextDidSaveObjectIDs = Notification.Name(
    "NSManagedObjectContextDidSaveObjectIDsNotification")
  /// Posted after changes of other contexts were merged; user info: their IDs.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs = Notification.Name(
    "NSManagedObjectContextDidMergeChangesObjectIDsNotification")
}

/// The user-info key of the objects that were inserted: a set of `NSManagedObject`.
public let NSInsertedObjectsKey = "inserted"
/// The user-info key of the objects that were changed: a set of `NSManagedObject`.
public let NSUpdatedObjectsKey = "updated"
/// The user-info key of the objects that were deleted: a set of `NSManagedObject`; also the key of `NSManagedObjectID`s
/// for `mergeChanges(fromRemoteContextSave:into:)`.
public let NSDeletedObjectsKey = "deleted"
/// The user-info key of objects whose values were read again without a change of this context: a set of
/// `NSManagedObject`.
public let NSRefreshedObjectsKey = "refreshed"
/// The user-info key of objects whose values were discarded: a set of `NSManagedObject`.
public let NSInvalidatedObjectsKey = "invalidated"
/// The user-info key that is there after a reset: every object of the context was discarded.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// The user-info key of the IDs of inserted objects: a set of `NSManagedObjectID`.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// The user-info key of the IDs of changed objects: a set of `NSManagedObjectID`.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// The user-info key of the IDs of deleted objects: a set of `NSManagedObjectID`.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// The user-info key of the IDs of refreshed objects: a set of `NSManagedObjectID`.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// The user-info key of the IDs of discarded objects: a set of `NSManagedObjectID`.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"

extension NSManagedObjectContext {
  /// Apple's newer spelling of `Notification.Name.NSManagedObjectContextWillSave`.
  public static var willSaveObjectsNotification: Notification.Name { .NSManagedObjectContextWillSave }
  /// Apple's newer spelling of `Notification.Name.NSManagedObjectContextDidSave`.
  public static var didSaveObjectsNotification: Notification.Name { .NSManagedObjectContextDidSave }
  /// Apple's newer spelling of `Notification.Name.NSManagedObjectContextObjectsDidChange`.
  public static var didChangeObjectsNotification: Notification.Name { .NSManagedObjectContextObjectsDidChange }
  /// Apple's newer spelling of `Notification.Name.NSManagedObjectContextDidSaveObjectIDs`.
  public static var didSaveObjectIDsNotification: Notification.Name { .NSManagedObjectContextDidSaveObjectIDs }
  /// Apple's newer spelling of `Notification.Name.NSManagedObjectContextDidMergeChangesObjectIDs`.
  public static var didMergeChangesObjectIDsNotification: Notification.Name {
    .NSManagedObjectContextDidMergeChangesObjectIDs
  }

  /// The keys of the notifications' user info.
  public enum NotificationKey: String, Sendable {
    /// The key `NSInsertedObjectsKey`.
    case insertedObjects = "inserted"
    /// The key `NSUpdatedObjectsKey`.
    case updatedObjects = "updated"
    /// The key `NSDeletedObjectsKey`.
    case deletedObjects = "deleted"
    /// The key `NSRefreshedObjectsKey`.
    case refreshedObjects = "refreshed"
    /// The key `NSInvalidatedObjectsKey`.
    case invalidatedObjects = "invalidated"
    /// The key `NSInvalidatedAllObjectsKey`.
    case invalidatedAllObjects = "invalidatedAll"
    /// The key `NSInsertedObjectIDsKey`.
    case insertedObjectIDs = "inserted_objectIDs"
    /// The key `NSUpdatedObjectIDsKey`.
    case updatedObjectIDs = "updated_objectIDs"
    /// The key `NSDeletedObjectIDsKey`.
    case deletedObjectIDs = "deleted_objectIDs"
    /// The key `NSRefreshedObjectIDsKey`.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// The key `NSInvalidatedObjectIDsKey`.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }

  func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }

  /// Posts a notification whose user info is made by the first observer that gets it: without observers it is not made.
  func post(_ name: Notification.Name, making userInfo: @escaping () -> [AnyHashable: Any]) {
    ObservedNotification(name, of: self, making: userInfo).post()
  }

  /// Posts ObjectsDidChange for what changed since the last call. Called after `perform` blocks, before saves and
  /// fetches, and on the main queue at the end of its turn.
  public func processPendingChanges() {
    checkQueue()
    processPendingChanges(carryingOutRules: true)
  }

  func processPendingChanges(carryingOutRules carriesOutRules: Bool) {
    // After a failed read the next save repeats it, and throws its error.
    if carriesOutRules, propagatesDeletesAtEndOfEvent { try? propagateDeletions() }
    registerUndo()
    graph.announce { changes in
      post(.NSManagedObjectContextObjectsDidChange) { self.userInfo(for: changes) }
    }
  }

  /// Processes what is pending; what is changed from now on is undone separately.
  func endEvent() {
    processPendingChanges()
    graph.merged = []
    undoManager?.endEvent()
  }

  private func userInfo(for changes: ChangeEvent) -> [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    if let ids = changes.invalidatedAll { info[NSInvalidatedAllObjectsKey] = ids }
    if changeNotificationContents == .objectIDs {
      var inserted = ObjectIDCollection()
      for (segment, rows) in changes.insertions { inserted.append(segment.rows, rows: rows) }
      inserted.append(changes.mergedIDs)
      inserted.append(changes.mergedInsertions.ids)
      info.setUnlessEmpty(inserted, NSInsertedObjectIDsKey)
      info.setUnlessEmpty(changes.updates.ids, NSUpdatedObjectIDsKey)
      var deleted = changes.deletions.ids
      for segment in changes.deletedSegments { deleted.append(segment.rows) }
      for (segment, rows) in changes.withdrawals { deleted.append(segment.rows, rows: rows) }
      info.setUnlessEmpty(deleted, NSDeletedObjectIDsKey)
      info.setUnlessEmpty(changes.refreshed.ids, NSRefreshedObjectIDsKey)
      return info
    }
    info.setUnlessEmpty(insertedObjects(of: changes), NSInsertedObjectsKey)
    info.setUnlessEmpty(Set(changes.updates.values), NSUpdatedObjectsKey)
    var deleted = graph.deletedObjects(of: changes)
    // An announced row has an object, and the segment has kept it.
    for (segment, rows) in changes.withdrawals { deleted.formUnion(rows.compactMap { segment.handles[$0] }) }
    info.setUnlessEmpty(deleted, NSDeletedObjectsKey)
    info.setUnlessEmpty(Set(changes.refreshed.values), NSRefreshedObjectsKey)
    return info
  }

  private func insertedObjects(of changes: ChangeEvent) -> Set<NSManagedObject> {
    var inserted = Set(changes.mergedInsertions.values)
    for (segment, rows) in changes.insertions {
      // All rows of a segment: the same set that the save will announce.
      if rows == 0..<segment.batch.count {
        segment.prepareIDs()
        let all = graph.objects(in: segment)
        if inserted.isEmpty { inserted = all } else { inserted.formUnion(all) }
      } else {
        for row in rows where segment.isLive(row) { inserted.insert(graph.handle(in: segment, row: row)) }
      }
    }
    return inserted
  }

  /// On the main queue code outside any `perform` can change objects: the changes are announced at the end of its turn.
  func scheduleProcessing() {
    guard concurrencyType == .mainQueue, !isProcessingScheduled else { return }
    isProcessingScheduled = true
    queue.async {
      self.isProcessingScheduled = false
      self.endEvent()
    }
  }
}

extension [AnyHashable: Any] {
  mutating func setUnlessEmpty(_ value: some Collection, _ key: String) {
    if !value.isEmpty { self[key] = value }
  }
}

extension [ObjectKey: NSManagedObject] {
  /// By key, and therefore in the order of insertion for objects of one entity.
  var inOrder: [NSManagedObject] {
    if count < 2 { return Array(values) }
    // Numbers are sorted, not objects, which would be retained for each comparison.
    return keys.indices.map { (number: keys[$0].number, index: $0) }.sorted { $0.number < $1.number }
      .map { values[$0.index] }
  }
  var ids: ObjectIDCollection { ObjectIDCollection(values.map(\.objectID)) }
}

/// A notification that makes its user info when the first observer gets it, and never if it has none.
///
/// Sets of all changed objects cost more than the changes themselves: each of them needs an object, and each level of a
/// chain announces its own. A notification center can't be asked for its observers. But Foundation's center keeps a
/// notification as it was posted until it calls an observer: it asks an `NSNotification` for its parts then, in the
/// posting thread, before the first observer's code runs. So observers get what they would get from an ordinary
/// notification.
final class ObservedNotification: NSNotification {
  private let make: () -> [AnyHashable: Any]
  private lazy var made = make()

  init(
    _ name: Notification.Name, of context: NSManagedObjectContext, making userInfo: @escaping () -> [AnyHashable: Any]
  ) {
    make = userInfo
    super.init(name: name, object: context)
  }

  required init?(coder: NSCoder) { nil }

  override var userInfo: [AnyHashable: Any]? { made }

  /// Calls the observers, as `NotificationCenter.post(_:)` does.
  func post() { NotificationCenter.default._post(name.rawValue, subject: object, message: self) }
}
