import Foundation

/// Metadata of stores: the model's version hashes and the clients' own keys. (Apple documentation:
/// NSPersistentStoreCoordinator, "Working with metadata".)
extension NSPersistentStoreCoordinator {
  /// The metadata of a store, including unsaved changes.
  public func metadata(for store: NSPersistentStore) -> [String: Any] { store.rowStore.metadata }

  /// Replaces the clients' own keys in a store's metadata; type, UUID and version hashes stay as they are.
  ///
  /// The next save of a context on this coordinator writes them, even if no object has changed.
  ///
  /// - Parameters:
  ///   - metadata: Property list values; other values make the save fail with 134060.
  ///   - store: One of this coordinator's stores.
  public func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
    storesLock.withLock { stores.first { $0 === store }?.rowStore.setMetadata(metadata ?? [:]) }
  }

  /// The metadata of the store at `url`. Only reads the file.
  ///
  /// - Throws: `NSError` 134000 for a type without files, 134080, 134090.
  public class func metadataForPersistentStore(
    ofType storeType: String, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    if let storeClass = StoreClasses.registered(storeType) {
      return try storeClass.metadataForPersistentStore(with: url)
    }
    return try RowStoreKinds.files(ofType: storeType).metadata(at: url, options: options)
  }

  /// Replaces the clients' own keys in the metadata of the store at `url`, immediately.
  ///
  /// - Throws: `NSError` 134000 for a type without files, 134060 for a value that a property list cannot hold, 134080,
  ///   134090.
  public class func setMetadata(
    _ metadata: [String: Any]?, forPersistentStoreOfType storeType: String, at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    if let storeClass = StoreClasses.registered(storeType) {
      return try storeClass.setMetadata(metadata, forPersistentStoreAt: url)
    }
    try RowStoreKinds.files(ofType: storeType).setMetadata(metadata ?? [:], at: url, options: options)
  }

  /// Apple's newer spelling of `setMetadata(_:forPersistentStoreOfType:at:options:)`.
  ///
  /// - Throws: What that method throws.
  public class func setMetadata(
    _ metadata: [String: Any]?, type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws {
    try setMetadata(metadata, forPersistentStoreOfType: type.rawValue, at: url, options: options)
  }

  /// Apple's newer spelling.
  ///
  /// - Throws: As `metadataForPersistentStore(ofType:at:options:)`.
  public class func metadataForPersistentStore(
    type: NSPersistentStore.StoreType, at url: URL, options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    try metadataForPersistentStore(ofType: type.rawValue, at: url, options: options)
  }
}
