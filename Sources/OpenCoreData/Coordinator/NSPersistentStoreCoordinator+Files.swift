import Foundation

/// Operations on the files of stores. (Apple documentation: NSPersistentStoreCoordinator.)
extension NSPersistentStoreCoordinator {
  /// Where the store is kept; nil for one without a file.
  public func url(for store: NSPersistentStore) -> URL? { store.url }

  /// Continues with another file of the same store: one that was moved or copied and has the same UUID.
  ///
  /// - Returns: False, with nothing changed, if `url` has no such store, or if the store is in memory.
  @discardableResult
  public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    storesLock.withLock {
      guard let known = stores.first(where: { $0 === store })?.rowStore as? any CopyableRowStore else {
        return false
      }
      return (try? known.move(to: url)) != nil
    }
  }

  /// Empties the store at `url` and removes its folder of external data. The file itself stays, because another process
  /// may have it open. A store of this coordinator is removed from it first. Does nothing if there is no file.
  ///
  /// - Throws: `NSError` 134000 for an unknown type; 134080 for a database that is not a store; 134090 while another
  ///   program writes to it, or SQLite's error. The store is then unchanged.
  public func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    if let kind = RowStoreKinds.all[storeType], kind.files == nil { return }
    let files = try RowStoreKinds.files(ofType: storeType)
    if let open = persistentStore(for: url) { try remove(open) }
    try files.destroy(at: url, options: options)
  }

  /// Replaces one store by a copy of another, in one transaction: readers see either the old or the new one. The copy
  /// includes what is in the source's write-ahead log.
  ///
  /// - Parameters:
  ///   - destinationURL: An existing store, or the path of a new one. It must not be open in this coordinator.
  ///   - destinationOptions: As for `addPersistentStore`.
  ///   - sourceURL: The store to copy; it may be open.
  ///   - sourceOptions: As for `addPersistentStore`.
  ///   - storeType: `NSSQLiteStoreType`.
  /// - Throws: `NSError` 134000, 134070 for a destination that is open here, 134080 if one of the two is not a store,
  ///   134090 while another program writes to the destination. The destination is then unchanged.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    let files = try RowStoreKinds.files(ofType: storeType)
    if persistentStore(for: destinationURL) != nil {
      throw NSError.coreData(
        .operation,
        "The store \(destinationURL.path) is open in this coordinator and can't be replaced; remove it first.")
    }
    if destinationURL.isSameFile(as: sourceURL) { return }
    try files.replace(
      at: destinationURL, options: destinationOptions, with: sourceURL, sourceOptions: sourceOptions)
  }

  /// Copies a store to another location or type, and uses the copy from now on. Objects of the copy have other IDs,
  /// because its UUID is new. The old file is left as it is.
  ///
  /// - Parameters:
  ///   - store: A store of this coordinator.
  ///   - url: A location without a store; ignored for a store in memory.
  ///   - options: As for `addPersistentStore`.
  ///   - storeType: `NSSQLiteStoreType` or `NSInMemoryStoreType`.
  /// - Returns: The new store, which takes the old one's position in `persistentStores`.
  /// - Throws: `NSError` as `addPersistentStore`; 134070 if the store is not one of this coordinator's, or if `url` is
  ///   in use. The coordinator is then unchanged.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
  ) throws -> NSPersistentStore {
    // Posted before the copy is made, so that the copy includes what observers save now.
    if persistentStores.contains(where: { $0 === store }) {
      post(.NSPersistentStoreCoordinatorWillRemoveStore, [NSRemovedPersistentStoresKey: [store]])
      post(.NSPersistentStoreCoordinatorStoresWillChange, [NSUUIDChangedPersistentStoresKey: [store]])
    }
    let new = try storesLock.withLock {
      guard let index = stores.firstIndex(where: { $0 === store }) else {
        throw NSError.coreData(.operation, "The store \(store.location) is not of this coordinator; add it first.")
      }
      let old = stores[index]
      guard let rows = old.rowStore as? any CopyableRowStore else { throw Self.cannotCopy(old) }
      let new = NSPersistentStore(
        try rows.copy(to: url, type: storeType, model: managedObjectModel, options: options),
        configurationName: old.configurationName, options: options)
      new.persistentStoreCoordinator = self
      stores[index] = new
      old.persistentStoreCoordinator = nil
      rows.close()
      return new
    }
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSUUIDChangedPersistentStoresKey: [store, new]])
    return new
  }
}

extension NSPersistentStoreCoordinator {
  /// Does nothing: a migration is complete when `addPersistentStore` returns, with
  /// `NSPersistentStoreDeferredLightweightMigrationOptionKey` too. (Apple documentation:
  /// finishDeferredLightweightMigration().)
  ///
  /// - Throws: No error.
  public func finishDeferredLightweightMigration() throws {}

  /// Does nothing, as `finishDeferredLightweightMigration()`.
  ///
  /// - Throws: No error.
  public func finishDeferredLightweightMigrationTask() throws {}

  private static func cannotCopy(_ store: NSPersistentStore) -> NSError {
    .coreData(
      .operation,
      "The store \(store.location) is of the type \(store.type), which can't be copied as a file. Fetch its objects and "
        + "insert them into the other store.")
  }
}

// Apple's newer spellings.
extension NSPersistentStoreCoordinator {
  /// Apple's newer spelling of `destroyPersistentStore(at:ofType:options:)`.
  ///
  /// - Parameters:
  ///   - url: The store's file.
  ///   - type: The type of the store.
  ///   - options: The options with which it was added.
  /// - Throws: What that method throws.
  public func destroyPersistentStore(
    at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
  }

  /// Apple's newer spelling of
  /// `replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)`.
  ///
  /// - Parameters:
  ///   - destinationURL: The file that is replaced or made.
  ///   - destinationOptions: The options with which it is added.
  ///   - sourceURL: The file that is copied.
  ///   - sourceOptions: The options with which it is read.
  ///   - type: The type of both stores.
  /// - Throws: What that method throws.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: type.rawValue)
  }

  /// Apple's newer spelling of `migratePersistentStore(_:to:options:withType:)`.
  ///
  /// - Parameters:
  ///   - store: A store of this coordinator, which the new one replaces.
  ///   - url: Where the new store is made.
  ///   - options: The options of the new store.
  ///   - type: The type of the new store.
  /// - Returns: The new store.
  /// - Throws: What that method throws.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: url, options: options, withType: type.rawValue)
  }
}
