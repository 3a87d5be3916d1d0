import Foundation

extension Notification.Name {
  /// Posted before a store is added, removed or given another UUID. User info as of
  /// `NSPersistentStoreCoordinatorStoresDidChange`, without the new store of a migration, which does not exist yet.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// Posted after a coordinator's stores have changed. User info: the stores under `NSAddedPersistentStoresKey` and
  /// `NSRemovedPersistentStoresKey`, the old and the new one under `NSUUIDChangedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// Posted before a store is removed, while it can still be read. User info: the store, under
  /// `NSRemovedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
  /// Posted by a coordinator within a quarter of a second after a store was written to, by this process or another one, if
  /// the store was added with `NSPersistentStoreRemoteChangeNotificationPostOptionKey`. Changes that follow each other
  /// closely are one notification. User info: the store's UUID under `NSStoreUUIDKey`, its URL under
  /// `NSPersistentStoreURLKey`, and the end of its history under `NSPersistentHistoryTokenKey` if it tracks one. It is
  /// posted on a queue of its own.
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

/// The user-info key of the stores that were added: an array of `NSPersistentStore`.
public let NSAddedPersistentStoresKey = "added"
/// The user-info key of the stores that were removed: an array of `NSPersistentStore`.
public let NSRemovedPersistentStoresKey = "removed"
/// The user-info key of a store that another one has replaced: an array of the old and the new `NSPersistentStore`.
public let NSUUIDChangedPersistentStoresKey = "changedUUID"
/// The key of a store's URL in the user info of `NSPersistentStoreRemoteChange`.
public let NSPersistentStoreURLKey = "storeURL"

/// The key of the present end of a store's history in the user info of `NSPersistentStoreRemoteChange`.
public let NSPersistentHistoryTokenKey = "historyToken"

extension NSPersistentStoreCoordinator {
  /// Never called with the lock held: observers may wait for contexts that wait for the lock.
  func post(_ name: Notification.Name, _ stores: [String: [NSPersistentStore]]) {
    NotificationCenter.default.post(name: name, object: self, userInfo: stores)
  }
}
