import Foundation

/// Stands between contexts and stores. (Apple documentation: NSPersistentStoreCoordinator.)
// Unchecked: everything that can change is guarded by `lock`.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  public let managedObjectModel: NSManagedObjectModel
  public var name: String?
  /// The contexts that merge what is saved here.
  let mergers = AutomaticMerging()

  /// Recursive: a save participant may ask the coordinator something.
  private let lock = NSRecursiveLock()
  private var stores: [SQLiteStore] = []
  private var participants: [any SaveParticipant] = []

  /// A coordinator for stores of `model`, which can't be changed from now on.
  public init(managedObjectModel model: NSManagedObjectModel) {
    model.freeze()
    managedObjectModel = model
  }

  // MARK: Stores

  public var persistentStores: [NSPersistentStore] { lock.withLock { stores } }

  /// Opens or creates a store.
  ///
  /// - Parameters:
  ///   - storeType: `NSSQLiteStoreType` or `NSInMemoryStoreType`.
  ///   - configuration: The model configuration whose entities the store holds; nil for all.
  ///   - storeURL: The file; nil for an in-memory store.
  ///   - options: `NSReadOnlyPersistentStoreOption`, `NSSQLitePragmasOption`, `NSPersistentStoreTimeoutOption`.
  /// - Throws: `NSError` 134000, 134080, 134090, 134100 or 134180.
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
    return try lock.withLock {
      guard stores.isEmpty else {
        throw NSError.coreData(
          .operation,
          "The coordinator has a store already, \(stores[0].url?.path ?? "one in memory"), and uses one only. "
            + "Remove it first, or make another coordinator.")
      }
      let store = try SQLiteStore.open(
        file, type: storeType, model: managedObjectModel, configuration: configuration, options: options)
      store.persistentStoreCoordinator = self
      stores.append(store)
      return store
    }
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

  /// Closes a store. Objects that came from it can't be loaded any more.
  open func remove(_ store: NSPersistentStore) throws {
    lock.withLock {
      for closing in stores where closing === store { closing.close() }
      stores.removeAll { $0 === store }
      store.persistentStoreCoordinator = nil
    }
  }

  open func persistentStore(for url: URL) -> NSPersistentStore? {
    lock.withLock { stores.first { $0.url?.standardizedFileURL == url.standardizedFileURL } }
  }

  open func url(for store: NSPersistentStore) -> URL? { store.url }
  open func metadata(for store: NSPersistentStore) -> [String: Any] { lock.withLock { store.metadata } }

  /// The ID that a URI of `uriRepresentation()` stands for; nil unless one of the stores is meant.
  open func managedObjectID(forURIRepresentation uri: URL) -> NSManagedObjectID? {
    let parts = uri.pathComponents.filter { $0 != "/" }
    guard uri.scheme == "x-coredata", parts.count == 2, parts[1].hasPrefix("p"),
      parts[1].dropFirst().utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
      let key = Int64(parts[1].dropFirst()), let entity = managedObjectModel.entitiesByName[parts[0]],
      let store = lock.withLock({ stores.first { $0.identifier.lowercased() == uri.host?.lowercased() } })
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

  // MARK: For contexts

  func save(_ changes: ChangeSet) throws {
    try lock.withLock {
      guard let store = stores.first else { throw Self.noStore }
      try store.save(changes, participants)
    }
  }

  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    try lock.withLock { try requireStore().rows(query) }
  }

  func count(_ query: FetchQuery) throws -> Int { try lock.withLock { try requireStore().count(query) } }

  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    try lock.withLock { try requireStore().rows(for: ids) }
  }

  func obtainPermanentIDs(for ids: [NSManagedObjectID]) throws {
    try lock.withLock { try requireStore().obtainPermanentIDs(for: ids) }
  }

  func cursor(_ query: FetchQuery, rowsPerBatch: Int) throws -> StoreCursor {
    try lock.withLock { try requireStore().cursor(query, rowsPerBatch: rowsPerBatch) }
  }

  /// The cursor's next rows. A cursor has a connection of its own, except on a store in memory: there the lock is
  /// what keeps the connection to one thread.
  func next(_ cursor: StoreCursor, _ batch: inout ObjectBatch, _ keys: inout [Int64]) throws -> Bool {
    guard !cursor.ownsSnapshot else { return try cursor.next(into: &batch, keys: &keys) }
    return try lock.withLock { try cursor.next(into: &batch, keys: &keys) }
  }

  /// Writes all that was committed into the store files themselves and waits until the disk has it.
  public func checkpoint() throws { try lock.withLock { for store in stores { try store.checkpoint() } } }

  func withStore<Result>(_ body: (SQLiteStore) throws -> Result) throws -> Result {
    try lock.withLock { try body(try requireStore()) }
  }

  private func requireStore() throws -> SQLiteStore {
    guard let store = stores.first else { throw Self.noStore }
    return store
  }

  private static var noStore: NSError {
    .coreData(.coreData, "The coordinator has no persistent stores. Add one before fetching or saving.")
  }

  deinit { for store in stores { store.close() } }
}
