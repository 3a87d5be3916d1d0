import Foundation

extension Notification.Name {
  /// Before a store is added, removed or given another UUID; user info as of
  /// `NSPersistentStoreCoordinatorStoresDidChange`, without the new store of a migration: it is not made yet.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// After a coordinator's stores have changed; user info: the stores under `NSAddedPersistentStoresKey` and
  /// `NSRemovedPersistentStoresKey`, the old and the new one under `NSUUIDChangedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// Before a store is removed, as long as it can be read; user info: the store, under `NSRemovedPersistentStoresKey`.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "NSPersistentStoreCoordinatorWillRemoveStoreNotification")
  /// Not posted (Deviations): here so that code which listens compiles.
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

public let NSAddedPersistentStoresKey = "added"
public let NSRemovedPersistentStoresKey = "removed"
public let NSUUIDChangedPersistentStoresKey = "changedUUID"

extension NSPersistentStoreCoordinator {
  /// Never called with the lock held: observers may wait for contexts that wait for it.
  func post(_ name: Notification.Name, _ stores: [String: [NSPersistentStore]]) {
    NotificationCenter.default.post(name: name, object: self, userInfo: stores)
  }
}
