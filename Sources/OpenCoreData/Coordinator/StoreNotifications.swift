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
  /// Never posted (see Deviations). It is declared so that code which observes it compiles.
  public static let NSPersistentStoreRemoteChange = Notification.Name("NSPersistentStoreRemoteChangeNotification")
}

public let NSAddedPersistentStoresKey = "added"
public let NSRemovedPersistentStoresKey = "removed"
public let NSUUIDChangedPersistentStoresKey = "changedUUID"
/// The key of a store's URL in the user info of `NSPersistentStoreRemoteChange`.
public let NSPersistentStoreURLKey = "storeURL"

extension NSPersistentStoreCoordinator {
  /// Never called with the lock held: observers may wait for contexts that wait for the lock.
  func post(_ name: Notification.Name, _ stores: [String: [NSPersistentStore]]) {
    NotificationCenter.default.post(name: name, object: self, userInfo: stores)
  }
}
