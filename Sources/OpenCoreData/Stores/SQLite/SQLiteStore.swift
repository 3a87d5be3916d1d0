import Foundation

/// A store in one SQLite file with the layout of Apple's framework, or in a private database in memory.
// Unchecked: the connection is used under the coordinator's lock only.
final class SQLiteStore: NSPersistentStore, @unchecked Sendable {
  let schema: SQLSchema
  private let connectionKept: SQLiteConnection
  private(set) var isClosed = false
  /// By entity name; made at the first insertion of each.
  var batchSources: [String: BatchSource] = [:]
  let entitiesByNumber: [Int: NSEntityDescription]
  private let checkpointer: WALCheckpointer?
  /// The copy that is read where the file itself can't be read without a trace.
  private let privateCopy: PrivateCopy?

  init(
    opened: OpenedDatabase, url: URL?, type: String, model: NSManagedObjectModel, configuration: String?,
    options: [AnyHashable: Any]?, schema: SQLSchema, uuid: String, metadata: StoreMetadata
  ) {
    self.schema = schema
    connectionKept = opened.connection
    privateCopy = opened.privateCopy
    checkpointer =
      opened.isReadOnly || url == nil ? nil : WALCheckpointer(watching: opened.connection, path: opened.path)
    let byName = model.entitiesByName
    entitiesByNumber = Dictionary(
      schema.entities.compactMap { entity in byName[entity.name].map { (entity.number, $0) } },
      uniquingKeysWith: { first, _ in first })
    let roots = schema.entities.map { ($0.name, UInt64($0.rootNumber)) }
    super.init(
      type: type, url: url, configurationName: configuration, options: options, isReadOnly: opened.isReadOnly,
      identity: StoreIdentity(
        uuid: uuid, rootEntityNumbers: Dictionary(roots, uniquingKeysWith: { first, _ in first })),
      metadata: metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 })
  }

  /// The connection, while the store is open.
  func connection() throws -> SQLiteConnection {
    guard !isClosed else {
      throw NSError.coreData(
        .operation, "The store \(url?.path ?? identifier) was removed from its coordinator; add it again.")
    }
    return connectionKept
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
  func access<Result>(_ what: String, _ body: (SQLiteConnection) throws -> Result) throws -> Result {
    do {
      return try body(try connection())
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, "\(what) \(url?.path ?? "the store in memory") failed")
    }
  }

  // MARK: Durability

  /// Moves everything committed from the -wal into the file, and waits for the disk.
  func checkpoint() throws {
    guard !isReadOnly, url != nil else { return }
    checkpointer?.waitUntilIdle()
    try access("Writing the log into") { connection in
      // FULL waits for readers, as long as the store's timeout, and syncs both files with synchronous NORMAL too.
      let outcome = try connection.rows("PRAGMA wal_checkpoint(FULL)").first?.first
      // Where a reader outlasts the wait, the log keeps what is committed: then it is the log that must be on the disk.
      if outcome != .integer(0) { try syncLog() }
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
    isClosed = true
    checkpointer?.stop()
    // Closing the last connection writes the log into the file and removes it.
    connectionKept.close()
    batchSources = [:]
  }

  deinit { close() }
}
