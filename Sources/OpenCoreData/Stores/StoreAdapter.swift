import Foundation
import Synchronization

/// What stands between the coordinator and a store of a client's own class: it turns queries and change sets into calls
/// of that class.
///
/// The client's class is written for one queue. The adapter therefore calls it under a lock, whatever thread reads or
/// saves.
// Unchecked: `lock` guards everything that changes; `details` has a lock of its own.
class StoreAdapter: ClassStoreAdapter, @unchecked Sendable {
  /// Held during every call of the client's store. Recursive: the store may read an object that it was given, which asks
  /// the store for its values.
  private let lock = NSRecursiveLock()
  let identity: StoreIdentity
  let references: ReferenceTable
  let details = StoreDetails()
  private weak let store: NSPersistentStore?
  /// Names of the entities of the store's configuration; nil for all.
  private let entityNames: Set<String>?
  private let writes = Atomic<Int64>(0)
  private var isClosed = false
  /// The context whose objects the store is given during the call that is going on.
  private var scratch: NSManagedObjectContext?

  /// - Parameter store: Nil where a store is not made yet.
  init(_ store: NSPersistentStore?) {
    self.store = store
    let model = store?.persistentStoreCoordinator?.managedObjectModel
    references = ReferenceTable()
    let entities = model?.entities ?? []
    let roots = Set(entities.compactMap(\.rootEntity.name)).sorted()
    let numbers = Dictionary(
      roots.enumerated().map { ($1, UInt64($0 + 1)) }, uniquingKeysWith: { first, _ in first })
    let byName = entities.compactMap { entity in
      entity.name.flatMap { name in numbers[entity.rootEntity.name ?? ""].map { (name, $0) } }
    }
    identity = StoreIdentity(
      uuid: "", rootEntityNumbers: Dictionary(byName, uniquingKeysWith: { first, _ in first }), references: references)
    entityNames = store.flatMap { model?.entities(forConfigurationName: $0.configurationName) }.map {
      Set($0.compactMap(\.name))
    }
  }

  // MARK: The store

  var type: String { store?.type ?? details.type }
  var url: URL? { store.map(\.url) ?? details.url }
  var isReadOnly: Bool { store?.isReadOnly ?? details.isReadOnly }
  var isTransactional: Bool { false }

  func keeps(_ entity: NSEntityDescription) -> Bool { entityNames?.contains(entity.name ?? "") ?? true }

  /// The client's store as its class; the caller holds the lock.
  func client<Store: NSPersistentStore>(_ type: Store.Type = Store.self) throws -> Store {
    guard !isClosed, let store = store as? Store else {
      throw NSError.coreData(
        .operation, "The store \(details.url?.path ?? identity.uuid) was removed from its coordinator; add it again.")
    }
    return store
  }

  /// Runs `body` while no other thread is in the store.
  func alone<Result>(_ body: () throws -> Result) rethrows -> Result { try lock.withLock(body) }

  /// Runs `body` alone, with a context in which to make objects for the store.
  ///
  /// The context is not shared and lives for the length of the call: the contexts of the client stay on their
  /// queues.
  ///
  /// - Parameter isFresh: True gives a new context even within another call.
  func withScratch<Result>(
    isFresh: Bool = false, _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    try alone {
      if let scratch, !isFresh { return try body(scratch) }
      let store = try client(NSPersistentStore.self)
      let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
      context.persistentStoreCoordinator = store.persistentStoreCoordinator
      let outer = scratch
      scratch = context
      defer { scratch = outer }
      return try body(context)
    }
  }

  // MARK: Reading

  /// A reader of the rows; overridden.
  func makeReader() throws -> any RowReader { throw unsupported("reads") }

  func read<Result>(_ snapshot: (any StoreSnapshot)?, _ body: (any RowReader) throws -> Result) throws -> Result {
    try alone { try body(try makeReader()) }
  }

  /// The rows are all read at once: a store of a client's own has no cursors.
  func cursor(_ query: FetchQuery, rowsPerBatch: Int, in snapshot: (any StoreSnapshot)?) throws -> any RowCursor {
    GatheredCursor(try read(nil) { try $0.rows(query) }, of: identity, rowsPerBatch: rowsPerBatch)
  }

  func makeSnapshot() throws -> (any StoreSnapshot)? { nil }
  var writeCount: Int64 { writes.load(ordering: .acquiring) }
  func noteWrite() { writes.add(1, ordering: .acquiringAndReleasing) }

  func check(_ query: FetchQuery) throws {
    if !keeps(query.entity) { throw NSPersistentStoreCoordinator.noStore(keeps: query.entity) }
  }

  // MARK: Saving

  /// Hands the changes to the client's store, which writes them for good; overridden.
  func write(_ changes: ChangeSet) throws { throw unsupported("saves") }

  func beginSave(of changes: ChangeSet) throws -> any SaveWriter {
    if isReadOnly, !changes.isEmpty || hasUnsavedMetadata { throw readOnlyError }
    return AdapterSaveWriter(self)
  }

  var readOnlyError: NSError {
    .coreData(
      .save, "The store \(location) was opened for reading only.",
      suggestion: "Add it without NSReadOnlyPersistentStoreOption.")
  }

  /// Has the client's store give references to new objects; overridden.
  ///
  /// - Parameter rows: The temporary IDs, and the values that the objects have so far.
  func obtainPermanentIDs(for rows: [FetchedRow]) throws { throw unsupported("new IDs") }

  func obtainPermanentIDs(for ids: [NSManagedObjectID]) throws {
    try obtainPermanentIDs(
      for: ids.map {
        FetchedRow(id: $0, version: BaseRow.unknownVersion, values: $0.entity.attributeSlots.map(\.defaultStoredValue))
      })
  }

  func lastKey(of entity: NSEntityDescription) throws -> Int64 { references.lastKey }

  // MARK: What such stores do not have

  func beginTransaction() throws { throw unsupported("transactions around several saves") }
  func commitTransaction() throws { throw unsupported("transactions around several saves") }
  func rollBackTransaction() throws { throw unsupported("transactions around several saves") }

  func batchDelete(_ query: FetchQuery, wantsIDs: Bool) throws -> BatchOutcome { throw unsupported("batch deletions") }
  func batchDelete(keys: [Int64], of entity: NSEntityDescription, wantsIDs: Bool) throws -> BatchOutcome {
    throw unsupported("batch deletions")
  }
  func batchUpdate(_ query: FetchQuery, values: [Int: BatchValue], wantsIDs: Bool) throws -> BatchOutcome {
    throw unsupported("batch updates")
  }
  func batchInsert(
    _ entity: NSEntityDescription, resolution: UniquenessResolution, wantsIDs: Bool,
    fill: (inout ObjectBatch) throws -> Void
  ) throws -> BatchOutcome { throw unsupported("batch insertions") }

  func unsupported(_ what: String) -> NSError {
    .coreData(.unsupportedRequestType, "The store \(location) is of the type \(type), which does not support \(what).")
  }

  // MARK: Metadata and files

  var metadata: [String: Any] { store?.metadata ?? details.metadata }
  var hasUnsavedMetadata: Bool { details.hasUnsavedMetadata }

  /// Replaces the clients' own keys, through the store's property, which its class may have overridden.
  func setMetadata(_ metadata: [String: Any]) {
    alone {
      guard let store = try? client(NSPersistentStore.self) else { return }
      var new = StoreMetadata(dictionary: store.metadata)
      new.custom = StoreMetadata(dictionary: metadata).custom
      store.metadata = new.dictionary.merging([NSStoreUUIDKey: identity.uuid]) { $1 }
      details.hasUnsavedMetadata = true
    }
  }

  /// Replaces all of the metadata.
  func replaceMetadata(_ metadata: [String: Any]) {
    if let uuid = metadata[NSStoreUUIDKey] as? String { identity.uuid = uuid }
    details.metadata = metadata
    if isOpen { details.hasUnsavedMetadata = true }
  }

  func setIdentifier(_ uuid: String) {
    identity.uuid = uuid
    var metadata = details.metadata
    metadata[NSStoreUUIDKey] = uuid
    replaceMetadata(metadata)
  }

  func checkpoint() throws {}

  private let open = Atomic(false)
  /// Whether the store has been loaded: what is set before needs no saving.
  var isOpen: Bool {
    get { open.load(ordering: .acquiring) }
    set { open.store(newValue, ordering: .releasing) }
  }

  func close() {
    alone {
      willClose()
      isClosed = true
    }
  }

  /// The last moment in which the store can be called.
  func willClose() {}
}
