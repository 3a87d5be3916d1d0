import Foundation
import Locking
import ManagedObjectModel
import Synchronization

/// A store in one SQLite file with the layout of Apple's framework, or in a private database in memory.
///
/// The store has one connection that writes. Readers share it while nobody writes; during a write they use a connection
/// of `ReaderPool`, so that they see the last commit and do not wait.
// Unchecked: the mutable properties are used under `writerLock` only; what readers need is constant or locked.
package final class SQLiteStore: RowStore, @unchecked Sendable {
  package let type: String
  package let isReadOnly: Bool
  package let identity: StoreIdentity
  let configurationName: String?
  let options: [AnyHashable: Any]?
  let schema: SQLSchema
  /// By Z_ENT: the entities, each with what the IDs of its objects share.
  let idSpaces: [Int: PermanentIDSpace]
  /// Which values can lie in files of their own, and the files that a transaction has let go of.
  let externalSlots: ExternalSlots
  let droppedFiles = DroppedFiles()

  package var url: URL? { urlKept.withLock { $0 } }
  private let urlKept: Locked<URL?>

  /// Guards the writing connection. Recursive: a save participant can read through the coordinator.
  let writerLock = NSRecursiveLock()
  private var writer: SQLiteReader?
  private var checkpointer: WALCheckpointer?
  /// The copy that is read where the file itself can't be read without a trace.
  private var privateCopy: PrivateCopy?
  /// By entity name; made at the first insertion of each.
  var batchSources: [String: BatchSource] = [:]
  private let pool: Locked<ReaderPool?>
  private let poolSizeMax: Int
  /// Whether a transaction is open between saves: readers then have to see what it has written.
  private let hasOpenTransaction = Atomic(false)
  private let writes = Atomic<Int64>(0)

  /// Snapshots that are open: they keep the log from being written back whole.
  let snapshots = ConnectionList()
  /// These and the connections of cursors: what they see may have files that newer rows have let go of.
  let readers = ConnectionList()
  let metadataState: MetadataState

  init(
    opened: OpenedDatabase, url: URL?, type: String, model: NSManagedObjectModel, configuration: String?,
    options: [AnyHashable: Any]?, schema: SQLSchema, uuid: String, metadata: StoreMetadata
  ) throws {
    self.type = type
    self.schema = schema
    self.options = options
    isReadOnly = opened.isReadOnly
    configurationName = configuration
    urlKept = Locked(url)
    poolSizeMax = try StoreOptions(options).readersMax
    let byName = model.entitiesByName
    let roots = schema.entities.map { ($0.name, UInt64($0.rootNumber)) }
    let identity = StoreIdentity(
      uuid: uuid, rootEntityNumbers: Dictionary(roots, uniquingKeysWith: { first, _ in first }))
    self.identity = identity
    idSpaces = Dictionary(
      schema.entities.compactMap { entity in
        byName[entity.name].map { (entity.number, PermanentIDSpace(identity, $0)) }
      },
      uniquingKeysWith: { first, _ in first })
    externalSlots = ExternalSlots(idSpaces.mapValues(\.entity))
    metadataState = MetadataState(metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 })
    pool = Locked(nil)
    connect(opened)
  }

  package func keeps(_ entity: NSEntityDescription) -> Bool { schema.entity(named: entity.name ?? "") != nil }

  func sqlEntity(_ entity: NSEntityDescription) throws -> SQLEntity {
    guard let found = schema.entity(named: entity.name ?? "") else {
      throw NSError.coreData(
        .coreData,
        "The store \(url?.lastPathComponent ?? "") does not keep the entity \(entity.name ?? ""); check the "
          + "configuration it was added with.")
    }
    return found
  }

  // MARK: Connections

  private func connect(_ opened: OpenedDatabase) {
    writer = SQLiteReader(opened.connection, of: self)
    privateCopy = opened.privateCopy
    checkpointer =
      opened.isReadOnly || opened.path.isEmpty
      ? nil : WALCheckpointer(watching: opened.connection, path: opened.path)
    guard !opened.path.isEmpty, (try? opened.connection.rows("PRAGMA journal_mode").first?.first) == .text("wal")
    else { return }
    let pool = ReaderPool(path: opened.path, mode: opened.readerMode, sizeMax: poolSizeMax)
    self.pool.withLock { $0 = pool }
  }

  private func disconnect() {
    // Readers first: SQLite writes the log into the file and removes it when the last connection closes.
    pool.withLock { pool in
      pool?.close()
      pool = nil
    }
    checkpointer?.stop()
    writer?.connection.close()
    writer = nil
    batchSources = [:]
  }

  /// The reader on the writing connection, while the store is open. Under `writerLock` only.
  func writingReader() throws -> SQLiteReader {
    guard let writer else {
      throw NSError.coreData(
        .operation, "The store \(url?.path ?? identity.uuid) was removed from its coordinator; add it again.")
    }
    return writer
  }

  /// Runs `body` on the writing connection; an error of SQLite becomes an error of Core Data.
  func access<Result>(
    _ what: String, _ code: NSError.CoreDataCode = .sqlite, _ body: (SQLiteConnection) throws -> Result
  ) throws -> Result {
    try writerLock.withLock {
      let connection = try writingReader().connection
      do {
        return try body(connection)
      } catch let error as SQLiteError {
        throw NSError.sqlite(error, code, "\(what) \(place) failed")
      }
    }
  }

  /// The writing connection, for tests that watch its statements.
  func connection() throws -> SQLiteConnection { try writerLock.withLock { try writingReader().connection } }

  // MARK: Reading

  package func read<Result>(
    _ snapshot: (any StoreSnapshot)?, _ body: (any RowReader) throws -> Result
  ) throws -> Result {
    if let snapshot = snapshot as? SQLiteSnapshot { return try snapshot.read(body) }
    // Nobody writes, or this thread does: its connection has what was read last in its cache.
    if writerLock.try() {
      defer { writerLock.unlock() }
      return try body(try writingReader())
    }
    guard !hasOpenTransaction.load(ordering: .acquiring), let pool = pool.withLock({ $0 }),
      let reader = try pool.take(for: self)
    else { return try writerLock.withLock { try body(try writingReader()) } }
    defer { pool.giveBack(reader) }
    return try body(reader)
  }

  package func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor {
    if let snapshot = snapshot as? SQLiteSnapshot { return try snapshot.cursor(query, rowsPerBatch: rowsPerBatch) }
    let pool = pool.withLock { $0 }
    if let pool, !hasOpenTransaction.load(ordering: .acquiring) {
      return try reportingErrors {
        let reader = SQLiteReader(try pool.newConnection(for: self), of: self)
        return try reader.cursor(query, rowsPerBatch: rowsPerBatch, ownsSnapshot: true, lock: nil)
      }
    }
    // A private database has one connection only, and an open transaction is seen on its own connection alone.
    return try writerLock.withLock {
      try reportingErrors {
        try writingReader().cursor(query, rowsPerBatch: rowsPerBatch, ownsSnapshot: false, lock: writerLock)
      }
    }
  }

  func reportingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, "Reading \(place) failed")
    }
  }

  package func keepsSnapshots() throws -> Bool { pool.withLock { $0 != nil } }

  package func makeSnapshot() throws -> (any StoreSnapshot)? {
    guard let pool = pool.withLock({ $0 }) else { return nil }
    do {
      let connection = try pool.newConnection(for: self)
      snapshots.add(connection)
      return try SQLiteSnapshot(SQLiteReader(connection, of: self), self)
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, "Pinning a generation of \(place) failed")
    }
  }

  /// Whether a reader may still see rows that newer commits have replaced.
  var hasReaders: Bool { !readers.isEmpty || pool.withLock { $0?.isInUse ?? false } }

  // MARK: Transactions around several saves

  package func beginTransaction() throws {
    try access("Writing to") { try $0.execute("BEGIN IMMEDIATE") }
    hasOpenTransaction.store(true, ordering: .releasing)
  }

  package func commitTransaction() throws {
    try access("Writing to") { connection in
      if connection.isInTransaction { try connection.execute("COMMIT") }
    }
    hasOpenTransaction.store(false, ordering: .releasing)
    try didCommit()
  }

  package func rollBackTransaction() throws {
    defer { hasOpenTransaction.store(false, ordering: .releasing) }
    try access("Writing to") { connection in
      // SQLite has already rolled back by itself after some errors (a full disk among them).
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
    }
  }

  package func participantRows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] {
    try access("Reading") { try SQLiteParticipantStatements(connection: $0).rows(sql, values) }
  }

  package func lastKey(of entity: NSEntityDescription) throws -> Int64 {
    let root = try sqlEntity(entity).rootNumber
    return try access("Reading") {
      try $0.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(root))]) ?? 0
    }
  }

  package var writeCount: Int64 { writes.load(ordering: .acquiring) }

  func noteWrite() { writes.add(1, ordering: .acquiringAndReleasing) }

  // MARK: Durability

  /// Moves everything committed from the -wal into the file, and waits for the disk.
  package func checkpoint() throws {
    guard !isReadOnly, url != nil else { return }
    writerLock.withLock { checkpointer?.waitUntilIdle() }
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
    try writerLock.withLock { try checkpointer?.didCommit(try writingReader().connection) }
  }

  /// Goes on with another file of the same store.
  func move(to url: URL, _ opened: OpenedDatabase) {
    writerLock.withLock {
      disconnect()
      urlKept.withLock { $0 = url }
      connect(opened)
    }
  }

  package func close() {
    writerLock.withLock {
      guard writer != nil else { return }
      removeDroppedFiles()
      disconnect()
    }
  }

  deinit { close() }
}
