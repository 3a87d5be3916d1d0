import Foundation
import Locking

/// Stands between contexts and stores. (Apple documentation: NSPersistentStoreCoordinator.)
// Unchecked: everything that can change is guarded by `lock`.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  public let managedObjectModel: NSManagedObjectModel
  public var name: String?
  /// The contexts that merge what is saved here.
  let mergers = AutomaticMerging()

  /// Held while something is written, so that saves come one after the other. Recursive: a save participant can ask the
  /// coordinator something. Reading does not take it.
  let lock = NSRecursiveLock()
  /// In the order they were added.
  private let storesKept = Locked<[NSPersistentStore]>([])
  private(set) var participants: [any SaveParticipant] = []

  /// A coordinator for stores of `model`, which can't be changed from now on.
  public init(managedObjectModel model: NSManagedObjectModel) {
    model.freeze()
    ModelsInUse.add(model)
    managedObjectModel = model
  }

  // MARK: Stores

  public var persistentStores: [NSPersistentStore] { stores }

  /// In the order they were added. Changed under `lock` only.
  var stores: [NSPersistentStore] {
    get { storesKept.withLock { $0 } }
    set { storesKept.withLock { $0 = newValue } }
  }

  /// Opens or creates a store.
  ///
  /// - Parameters:
  ///   - storeType: `NSSQLiteStoreType` or `NSInMemoryStoreType`.
  ///   - configuration: The model configuration whose entities the store holds; nil for all.
  ///   - storeURL: The file; nil for an in-memory store.
  ///   - options: `NSReadOnlyPersistentStoreOption`, `NSSQLitePragmasOption`, `NSPersistentStoreTimeoutOption`,
  ///     `NSSQLiteAnalyzeOption`, `NSSQLiteManualVacuumOption`, `NSIgnorePersistentStoreVersioningOption`.
  /// - Throws: `NSError` 134000, 134080 (also for a store that is here already), 134090, 134100 or 134180.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    guard [NSSQLiteStoreType, NSInMemoryStoreType].contains(storeType) else {
      throw NSError.coreData(
        .invalidStoreType, "There is no store type \"\(storeType)\"; use NSSQLiteStoreType or NSInMemoryStoreType.")
    }
    // Nothing can be kept there: what Apple's developers mean by it is a SQLite store in memory.
    let file = storeType == NSInMemoryStoreType || storeURL?.path == "/dev/null" ? nil : storeURL
    guard file != nil || storeType == NSInMemoryStoreType || storeURL != nil else {
      throw NSError.coreData(.open, "A SQLite store needs the URL of its file; or use NSInMemoryStoreType.")
    }
    let store = try lock.withLock {
      try checkIsNew(file, nil)
      let rows = try SQLiteStore.open(
        file, type: storeType, model: managedObjectModel, configuration: configuration, options: options)
      return NSPersistentStore(rows, configurationName: configuration, options: options)
    }
    try enter(store)
    return store
  }

  /// Adds a store that another component has opened. The coordinator closes it, also if this throws.
  ///
  /// - Throws: `NSError` 134080 where the coordinator has a store with the same file or UUID.
  @discardableResult
  package func addPersistentStore(
    _ rowStore: any RowStore, configurationName configuration: String? = nil, options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    let store = NSPersistentStore(rowStore, configurationName: configuration, options: options)
    try enter(store)
    return store
  }

  /// Takes an open store up, and tells observers.
  private func enter(_ store: NSPersistentStore) throws {
    let change = [NSAddedPersistentStoresKey: [store]]
    do {
      try lock.withLock { try checkIsNew(store.url, store.identifier) }
      post(.NSPersistentStoreCoordinatorStoresWillChange, change)
      try lock.withLock {
        // Another thread may have added it while observers were told.
        try checkIsNew(store.url, store.identifier)
        store.persistentStoreCoordinator = self
        stores.append(store)
      }
    } catch {
      store.rowStore.close()
      throw error
    }
    post(.NSPersistentStoreCoordinatorStoresDidChange, change)
  }

  /// IDs name a store by its UUID, so a store and a copy of its file can't both be here.
  private func checkIsNew(_ url: URL?, _ uuid: String?) throws {
    let twin = stores.first { ($0.url != nil && $0.url?.isSameFile(as: url) == true) || $0.identifier == uuid }
    guard let twin else { return }
    throw NSError.coreData(
      .open,
      "Can't add the same store twice: the coordinator has \(twin.place), with the UUID \(twin.identifier). Use that "
        + "one, or give a copy another UUID with migratePersistentStore.")
  }

  /// Apple's newer spelling.
  @discardableResult
  open func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  /// Closes a store. Objects that came from it become inaccessible: their faults read as deleted, and changes to them
  /// can't be saved.
  ///
  /// - Throws: `NSError` 134070 for a store that is not of this coordinator.
  open func remove(_ store: NSPersistentStore) throws {
    guard lock.withLock({ stores.contains { $0 === store } }) else {
      throw NSError.coreData(
        .operation, "The store \(store.place) is not of this coordinator; it may have been removed before.")
    }
    let change = [NSRemovedPersistentStoresKey: [store]]
    post(.NSPersistentStoreCoordinatorWillRemoveStore, change)
    post(.NSPersistentStoreCoordinatorStoresWillChange, change)
    lock.withLock {
      for closing in stores where closing === store { closing.rowStore.close() }
      stores.removeAll { $0 === store }
      store.persistentStoreCoordinator = nil
    }
    post(.NSPersistentStoreCoordinatorStoresDidChange, change)
  }

  open func persistentStore(for url: URL) -> NSPersistentStore? {
    stores.first { $0.url?.isSameFile(as: url) == true }
  }

  /// The ID that a URI of `uriRepresentation()` stands for; nil unless one of the stores is meant.
  open func managedObjectID(forURIRepresentation uri: URL) -> NSManagedObjectID? {
    let parts = uri.pathComponents.filter { $0 != "/" }
    guard uri.scheme == "x-coredata", parts.count == 2, parts[1].hasPrefix("p"),
      parts[1].dropFirst().utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let key = Int64(parts[1].dropFirst()), let entity = managedObjectModel.entitiesByName[parts[0]],
      let store = stores.first(where: { $0.identifier.lowercased() == uri.host?.lowercased() })
    else { return nil }
    return NSManagedObjectID(entity: entity, store: store.identity, key: key)
  }

  // MARK: Save participants

  /// From now on `participant` writes into the transaction of every save.
  public func addSaveParticipant(_ participant: any SaveParticipant) {
    lock.withLock { participants.append(participant) }
  }

  public func removeSaveParticipant(_ participant: any SaveParticipant) {
    lock.withLock { participants.removeAll { $0 === participant } }
  }

  // MARK: For contexts and clients

  /// Writes all that was committed into the store files themselves and waits until the disk has it.
  public func checkpoint() throws { try lock.withLock { for store in stores { try store.rowStore.checkpoint() } } }

  /// The store that is meant where none is named: the first one that can be written.
  func withStore<Result>(_ body: (any RowStore) throws -> Result) throws -> Result {
    try lock.withLock {
      let stores = try requireStores()
      return try body(stores.first { !$0.isReadOnly } ?? stores[0])
    }
  }

  deinit { for store in stores { store.rowStore.close() } }
}
