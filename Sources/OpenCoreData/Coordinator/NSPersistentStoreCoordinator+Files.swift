import Foundation

/// What is done with the files of stores. (Apple documentation: NSPersistentStoreCoordinator.)
extension NSPersistentStoreCoordinator {
  public func url(for store: NSPersistentStore) -> URL? { store.url }

  /// Goes on with another file of the same store: one that was moved or copied, with the same UUID.
  ///
  /// - Returns: False, with nothing changed, where no such store is at `url`, or for a store in memory.
  @discardableResult
  public func setURL(_ url: URL, for store: NSPersistentStore) -> Bool {
    lock.withLock {
      guard let known = stores.first(where: { $0 === store })?.rowStore as? SQLiteStore else { return false }
      return (try? known.move(to: url)) != nil
    }
  }

  /// Empties the store at `url`: no process that has it open may lose its file, so an empty one stays. Its folder of
  /// external data goes. A store of this coordinator is removed from it first; where there is no file, nothing is done.
  ///
  /// - Throws: `NSError` 134000 for an unknown type; 134080 for a database that is no store; 134090 while another
  ///   program writes to it, or what SQLite said. The store then is as it was.
  public func destroyPersistentStore(
    at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
  ) throws {
    if storeType == NSInMemoryStoreType { return }
    try Self.checkHasFile(storeType)
    if let open = persistentStore(for: url) { try remove(open) }
    try StoreFile(url, options).destroy()
  }

  /// Puts a copy of one store in the place of another, in one transaction: readers see the one or the other. What is
  /// in the source's log counts.
  ///
  /// - Parameters:
  ///   - destinationURL: A store, or where there is none yet; it must not be open in this coordinator.
  ///   - destinationOptions: As for `addPersistentStore`.
  ///   - sourceURL: The store to copy; it may be open.
  ///   - sourceOptions: As for `addPersistentStore`.
  ///   - storeType: `NSSQLiteStoreType`.
  /// - Throws: `NSError` 134000, 134070 for a destination that is open here, 134080 where one of both is no store,
  ///   134090 while another program writes to the destination. The destination then is as it was.
  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
  ) throws {
    try Self.checkHasFile(storeType)
    if persistentStore(for: destinationURL) != nil {
      throw NSError.coreData(
        .operation,
        "The store \(destinationURL.path) is open in this coordinator and can't be replaced; remove it first.")
    }
    if destinationURL.isSameFile(as: sourceURL) { return }
    try StoreFile(destinationURL, destinationOptions).replace(with: StoreFile(sourceURL, sourceOptions))
  }

  /// Copies a store to another place or type, and uses the copy from now on. Objects of the copy have other IDs: its
  /// UUID is new. The old file is left as it is.
  ///
  /// - Parameters:
  ///   - store: A store of this coordinator.
  ///   - url: Where there is no store yet; of no matter for one in memory.
  ///   - options: As for `addPersistentStore`.
  ///   - storeType: `NSSQLiteStoreType` or `NSInMemoryStoreType`.
  /// - Returns: The new store, in the place of the old one.
  /// - Throws: `NSError` as `addPersistentStore`; 134070 where the store is not of this coordinator, or something is
  ///   at `url`. The coordinator then is as it was.
  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
  ) throws -> NSPersistentStore {
    // Before the copy is made: what observers save now must be in it.
    if persistentStores.contains(where: { $0 === store }) {
      post(.NSPersistentStoreCoordinatorWillRemoveStore, [NSRemovedPersistentStoresKey: [store]])
      post(.NSPersistentStoreCoordinatorStoresWillChange, [NSUUIDChangedPersistentStoresKey: [store]])
    }
    let new = try lock.withLock {
      guard let place = stores.firstIndex(where: { $0 === store }) else {
        throw NSError.coreData(.operation, "The store \(store.location) is not of this coordinator; add it first.")
      }
      let old = stores[place]
      guard let rows = old.rowStore as? SQLiteStore else { throw Self.cannotCopy(old) }
      let new = NSPersistentStore(
        try rows.copy(to: url, type: storeType, model: managedObjectModel, options: options),
        configurationName: old.configurationName, options: options)
      new.persistentStoreCoordinator = self
      stores[place] = new
      old.persistentStoreCoordinator = nil
      rows.close()
      return new
    }
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSUUIDChangedPersistentStoresKey: [store, new]])
    return new
  }
}

extension NSPersistentStoreCoordinator {
  private static func cannotCopy(_ store: NSPersistentStore) -> NSError {
    .coreData(
      .operation,
      "The store \(store.location) is of the type \(store.type), which can't be copied as a file. Fetch its objects and "
        + "insert them into the other store.")
  }
}

// Apple's newer spellings.
extension NSPersistentStoreCoordinator {
  public func destroyPersistentStore(
    at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
  ) throws {
    try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
  }

  public func replacePersistentStore(
    at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
    withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
    type: NSPersistentStore.StoreType
  ) throws {
    try replacePersistentStore(
      at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
      sourceOptions: sourceOptions, ofType: type.rawValue)
  }

  @discardableResult
  public func migratePersistentStore(
    _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
  ) throws -> NSPersistentStore {
    try migratePersistentStore(store, to: url, options: options, withType: type.rawValue)
  }
}
