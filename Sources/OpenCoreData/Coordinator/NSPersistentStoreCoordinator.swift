import Foundation
import SystemSupport

/// Connects contexts with stores. (Apple documentation: NSPersistentStoreCoordinator.)
///
/// Any thread may call it. Reads run in parallel; writes are serialised.
///
/// ```swift
/// let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
/// try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
/// let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
/// context.persistentStoreCoordinator = coordinator
/// ```
// Unchecked: everything that can change is guarded by `lock`, or by a `Locked` of its own.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  /// The model of the coordinator's stores. It can't be changed any more. (Apple documentation: managedObjectModel.)
  public let managedObjectModel: NSManagedObjectModel
  /// For the client's own use.
  public var name: String? {
    get { nameSet.withLock { $0 } }
    set { nameSet.withLock { $0 = newValue } }
  }
  private let nameSet = Locked<String?>(nil)
  /// The contexts that merge what is saved here.
  let mergers = AutomaticMerging()

  /// Held during every write, so that saves are serialised. Recursive, because a save participant may call the
  /// coordinator. Reads do not take it.
  let storesLock = NSRecursiveLock()
  /// In the order they were added.
  private let storesKept = Locked<[NSPersistentStore]>([])
  /// By the stores' identities.
  private let watches = Locked<[ObjectIdentifier: RemoteChangeWatch]>([:])
  private(set) var participants: [any SaveParticipant] = []

  /// Makes a coordinator for stores of `model` and freezes the model.
  public required init(managedObjectModel model: NSManagedObjectModel) {
    model.freeze()
    ModelsInUse.add(model)
    managedObjectModel = model
  }

  /// Makes a coordinator without entities, for what needs no model, such as replacing or destroying a store.
  public convenience override init() { self.init(managedObjectModel: NSManagedObjectModel()) }

  // MARK: Stores

  /// The stores in the order in which they were added. (Apple documentation: persistentStores.)
  public var persistentStores: [NSPersistentStore] { stores }

  /// In the order they were added. Changed under `lock` only.
  var stores: [NSPersistentStore] {
    get { storesKept.withLock { $0 } }
    set { storesKept.withLock { $0 = newValue } }
  }

  /// Opens or creates a store. (Apple documentation: addPersistentStore(ofType:configurationName:at:options:).)
  ///
  /// ```swift
  /// let store = try coordinator.addPersistentStore(
  ///   ofType: NSSQLiteStoreType, configurationName: nil, at: file,
  ///   options: [NSReadOnlyPersistentStoreOption: true])
  /// print(store.identifier)
  /// ```
  ///
  /// - Parameters:
  ///   - storeType: `NSSQLiteStoreType`, `NSInMemoryStoreType`, or a type that a class is registered for.
  ///   - configuration: The model configuration whose entities the store holds; nil for all.
  ///   - storeURL: The file; nil for an in-memory store.
  ///   - options: `NSReadOnlyPersistentStoreOption`, `NSSQLitePragmasOption`, `NSPersistentStoreTimeoutOption`
  ///     (seconds), `NSSQLiteAnalyzeOption`, `NSSQLiteManualVacuumOption`, `NSIgnorePersistentStoreVersioningOption`.
  /// - Throws: `NSError` 134000, 134080 (also for a store that was already added), 134090, 134100 or 134180.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    if let storeClass = StoreClasses.registered(storeType) {
      let store = try storesLock.withLock {
        try checkIsNew(storeURL, nil)
        return try open(storeClass, type: storeType, configuration: configuration, at: storeURL, options: options)
      }
      try enter(store)
      return store
    }
    guard let kind = RowStoreKinds.all[storeType] else {
      throw NSError.coreData(
        .invalidStoreType,
        "The store type \"\(storeType)\" is unknown; use NSSQLiteStoreType or NSInMemoryStoreType, or register a class "
          + "for it with registerStoreClass(_:forStoreType:).")
    }
    let file = try kind.file(for: storeURL)
    let store = try storesLock.withLock {
      try checkIsNew(file, nil)
      if let file, kind.files != nil {
        try migrateIfAsked(file, type: storeType, configuration: configuration, options: options)
      }
      let rows = try kind.open(file, model: managedObjectModel, configuration: configuration, options: options)
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

  /// Adds an open store and notifies observers.
  private func enter(_ store: NSPersistentStore) throws {
    let change = [NSAddedPersistentStoresKey: [store]]
    do {
      try storesLock.withLock { try checkIsNew(store.url, store.identifier) }
      post(.NSPersistentStoreCoordinatorStoresWillChange, change)
      try storesLock.withLock {
        // Another thread may have added it while observers were notified.
        try checkIsNew(store.url, store.identifier)
        store.persistentStoreCoordinator = self
        stores.append(store)
      }
    } catch {
      store.rowStore.close()
      store.persistentStoreCoordinator = nil
      throw error
    }
    store.didAdd(to: self)
    watches.withLock { $0[ObjectIdentifier(store)] = RemoteChangeWatch(store, of: self) }
    post(.NSPersistentStoreCoordinatorStoresDidChange, change)
  }

  /// IDs name a store by its UUID, so a coordinator cannot have both a store and a copy of its file.
  private func checkIsNew(_ url: URL?, _ uuid: String?) throws {
    let duplicate = stores.first { ($0.url != nil && $0.url?.isSameFile(as: url) == true) || $0.identifier == uuid }
    guard let duplicate else { return }
    throw NSError.coreData(
      .open,
      "Can't add the same store twice: the coordinator has \(duplicate.location), with the UUID \(duplicate.identifier). Use that "
        + "one, or give a copy another UUID with migratePersistentStore.")
  }

  /// Apple's newer spelling.
  ///
  /// - Throws: As `addPersistentStore(ofType:configurationName:at:options:)`.
  @discardableResult
  open func addPersistentStore(
    type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try addPersistentStore(
      ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
  }

  /// Closes a store. Its objects become inaccessible: their faults read as deleted, and changes to them cannot be
  /// saved.
  ///
  /// - Throws: `NSError` 134070 for a store that is not one of this coordinator's.
  open func remove(_ store: NSPersistentStore) throws {
    guard storesLock.withLock({ stores.contains { $0 === store } }) else {
      throw NSError.coreData(
        .operation, "The store \(store.location) is not of this coordinator; it may have been removed before.")
    }
    let change = [NSRemovedPersistentStoresKey: [store]]
    post(.NSPersistentStoreCoordinatorWillRemoveStore, change)
    post(.NSPersistentStoreCoordinatorStoresWillChange, change)
    store.willRemove(from: self)
    watches.withLock { $0.removeValue(forKey: ObjectIdentifier(store)) }?.stop()
    storesLock.withLock {
      for closing in stores where closing === store { closing.rowStore.close() }
      stores.removeAll { $0 === store }
      store.persistentStoreCoordinator = nil
    }
    post(.NSPersistentStoreCoordinatorStoresDidChange, change)
  }

  /// The store that is kept at the URL, by whatever path; nil if none of the coordinator's stores is. (Apple
  /// documentation: persistentStore(for:).)
  open func persistentStore(for url: URL) -> NSPersistentStore? {
    stores.first { $0.url?.isSameFile(as: url) == true }
  }

  /// The ID that the text of such a URI stands for; nil as for `managedObjectID(forURIRepresentation:)`.
  public func managedObjectID(for string: String) -> NSManagedObjectID? {
    URL(string: string).flatMap(managedObjectID(forURIRepresentation:))
  }

  /// The ID that a URI of `uriRepresentation()` stands for; nil if it belongs to none of the stores, or names an abstract
  /// entity, which no object has.
  open func managedObjectID(forURIRepresentation uri: URL) -> NSManagedObjectID? {
    // Split before the escapes are resolved: a reference object may have a slash.
    let parts = uri.path(percentEncoded: true).split(separator: "/").compactMap { $0.removingPercentEncoding }
    guard uri.scheme == "x-coredata", parts.count == 2, parts[1].hasPrefix("p"),
      let entity = managedObjectModel.entitiesByName[parts[0]], !entity.isAbstract,
      let store = stores.first(where: { $0.identifier.lowercased() == uri.host?.lowercased() })
    else { return nil }
    let text = String(parts[1].dropFirst())
    if let references = store.identity.references {
      let key = references.key(forURIText: text, of: entity)
      return NSManagedObjectID(entity: entity, store: store.identity, key: key)
    }
    guard text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let key = Int64(text) else {
      return nil
    }
    return NSManagedObjectID(entity: entity, store: store.identity, key: key)
  }

  // MARK: Save participants

  /// From now on `participant` writes into the transaction of every save.
  public func addSaveParticipant(_ participant: any SaveParticipant) {
    storesLock.withLock { participants.append(participant) }
  }

  /// Ends the participation that `addSaveParticipant(_:)` began. A participant that was not added is ignored.
  public func removeSaveParticipant(_ participant: any SaveParticipant) {
    storesLock.withLock { participants.removeAll { $0 === participant } }
  }

  // MARK: For contexts and clients

  /// Writes everything that was committed into the store files themselves and waits until it is on the disk.
  ///
  /// - Throws: `NSError` 134090 for a store that is locked, 134180 with the reason for one that can't be written.
  public func checkpoint() throws {
    try storesLock.withLock { for store in stores { try store.rowStore.checkpoint() } }
  }

  /// Runs `body` on the default store, the first writable one.
  func withStore<Result>(_ body: (any RowStore) throws -> Result) throws -> Result {
    try storesLock.withLock {
      let stores = try requireStores()
      return try body(stores.first { !$0.isReadOnly } ?? stores[0])
    }
  }

  deinit { for store in stores { store.rowStore.close() } }
}
