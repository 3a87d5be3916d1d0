import Foundation

/// A store in one SQLite file with the layout of Apple's framework, or in a private database in memory.
// Unchecked: the connection is used under the coordinator's lock only.
final class SQLiteStore: NSPersistentStore, @unchecked Sendable {
  let schema: SQLSchema
  private var connectionKept: SQLiteConnection
  /// What is read instead while a context reads in its query generation.
  var snapshot: SQLiteConnection?
  /// The snapshots that are open: they keep the log from being written back whole.
  var snapshots = SnapshotList()
  /// These and the readers of walks: what they see may have files that newer rows have let go of.
  var readers = SnapshotList()
  /// How often metadata was set, and how often it had been when it was last written and last committed: a save
  /// participant may set it after its transaction has written it.
  var metadataEdition = 0
  var metadataEditionWritten = 0
  var metadataEditionSaved = 0
  /// Whether `metadataKept` differs from what the file has.
  var hasUnsavedMetadata: Bool { metadataEdition != metadataEditionSaved }
  private(set) var isClosed = false
  /// By entity name; made at the first insertion of each.
  var batchSources: [String: BatchSource] = [:]
  /// How rows are read by their keys, made when first needed, and those that were read last.
  var rowPlans: [RowPlanName: SelectPlan] = [:]
  var recentRows = RecentRows()
  /// By Z_ENT: the entities, each with what the IDs of its objects share.
  let idSpaces: [Int: PermanentIDSpace]
  /// Which values may lie in files of their own, and the files that a transaction has let go of.
  let externalSlots: ExternalSlots
  let droppedFiles = DroppedFiles()
  private var checkpointer: WALCheckpointer?
  /// The copy that is read where the file itself can't be read without a trace.
  private var privateCopy: PrivateCopy?
  /// How a second connection for reading is opened.
  private(set) var readerMode: SQLiteConnection.Mode

  init(
    opened: OpenedDatabase, url: URL?, type: String, model: NSManagedObjectModel, configuration: String?,
    options: [AnyHashable: Any]?, schema: SQLSchema, uuid: String, metadata: StoreMetadata
  ) {
    self.schema = schema
    connectionKept = opened.connection
    privateCopy = opened.privateCopy
    readerMode = opened.readerMode
    checkpointer =
      opened.isReadOnly || url == nil ? nil : WALCheckpointer(watching: opened.connection, path: opened.path)
    let byName = model.entitiesByName
    let roots = schema.entities.map { ($0.name, UInt64($0.rootNumber)) }
    let identity = StoreIdentity(
      uuid: uuid, rootEntityNumbers: Dictionary(roots, uniquingKeysWith: { first, _ in first }))
    idSpaces = Dictionary(
      schema.entities.compactMap { entity in
        byName[entity.name].map { (entity.number, PermanentIDSpace(identity, $0)) }
      },
      uniquingKeysWith: { first, _ in first })
    externalSlots = ExternalSlots(idSpaces.mapValues(\.entity))
    super.init(
      type: type, url: url, configurationName: configuration, options: options, isReadOnly: opened.isReadOnly,
      identity: identity, metadata: metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 })
  }

  /// The connection, while the store is open.
  func connection() throws -> SQLiteConnection {
    guard !isClosed else {
      throw NSError.coreData(
        .operation, "The store \(url?.path ?? identifier) was removed from its coordinator; add it again.")
    }
    return snapshot ?? connectionKept
  }

  func keeps(_ entity: NSEntityDescription) -> Bool { schema.entity(named: entity.name ?? "") != nil }

  /// Goes on with another file of the same store.
  func move(to url: URL, _ opened: OpenedDatabase) {
    disconnect()
    connectionKept = opened.connection
    privateCopy = opened.privateCopy
    readerMode = opened.readerMode
    checkpointer = opened.isReadOnly ? nil : WALCheckpointer(watching: opened.connection, path: opened.path)
    self.url = url
  }

  /// Where a second connection finds the database; nil for one in memory.
  var readingPath: String? { privateCopy?.path ?? url?.path }

  func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
    guard let found = schema.entity(named: entity.name ?? "") else {
      throw NSError.coreData(
        .coreData,
        "The store \(url?.lastPathComponent ?? "") does not keep the entity \(entity.name ?? ""); check the "
          + "configuration it was added with.")
    }
    return found
  }

  /// Runs `body` on the connection; what SQLite says becomes an error of Core Data's.
  func access<Result>(
    _ what: String, _ code: NSError.CoreDataCode = .sqlite, _ body: (SQLiteConnection) throws -> Result
  ) throws -> Result {
    do {
      return try body(try connection())
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, code, "\(what) \(place) failed")
    }
  }

  // MARK: Durability

  /// Moves everything committed from the -wal into the file, and waits for the disk.
  func checkpoint() throws {
    guard !isReadOnly, url != nil else { return }
    checkpointer?.waitUntilIdle()
    try access("Writing the log into") { connection in
      // FULL waits for readers, as long as the store's timeout, and syncs both files with synchronous NORMAL too. For
      // a generation that is pinned in this process it would wait in vain.
      let mode = snapshots.isEmpty ? "FULL" : "PASSIVE"
      let outcome = try connection.rows("PRAGMA wal_checkpoint(\(mode))").first ?? []
      // Where a reader outlasts the wait, the log keeps what is committed: then it is the log that must be on the disk.
      if outcome.count != 3 || outcome[0] != .integer(0) || outcome[1] != outcome[2] { try syncLog() }
    }
  }

  private func syncLog() throws {
    guard let url, let log = FileHandle(forReadingAtPath: url.path + "-wal") else { return }
    try log.synchronize()
    try log.close()
  }

  /// Called after each commit: keeps the -wal from growing without bound.
  func didCommit() throws {
    try checkpointer?.didCommit(try connection())
  }

  func close() {
    guard !isClosed else { return }
    removeDroppedFiles()
    isClosed = true
    disconnect()
  }

  private func disconnect() {
    checkpointer?.stop()
    // Closing the last connection writes the log into the file and removes it.
    connectionKept.close()
    batchSources = [:]
    rowPlans = [:]
    recentRows = RecentRows()
  }

  deinit { close() }
}
