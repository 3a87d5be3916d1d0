import CSQLite
import Foundation
import SystemSupport
import ManagedObjectModel
import Synchronization

/// A store in one SQLite file with the layout of Apple's framework, or in a private in-memory database.
///
/// The store has one connection that writes. Readers share it while there are no writes. During a write they use a
/// connection of `ReaderPool`, so that they see the last commit and do not wait.
// Unchecked: the mutable properties are used under `writerLock` only; readers use constants and locked values only.
package final class SQLiteStore: CopyableRowStore, SQLRowStore, TableStore, @unchecked Sendable {
  package let type: String
  package let isReadOnly: Bool
  package let identity: StoreIdentity
  let configurationName: String?
  let options: [AnyHashable: Any]?
  package let schema: SQLSchema
  package var keepsValuesInFiles: Bool { true }
  package var nullsFirst: String { "" }
  package var rowLock: String { "" }
  package var dialect: ParticipantDialect { .sqlite }
  /// No other connection writes while a save is in progress.
  package func changeMark(of entities: [NSEntityDescription]) -> ChangeMark {
    ChangeMark(locks: [], query: "PRAGMA data_version")
  }
  /// By Z_ENT: the entities, each with the shared part of its objects' IDs.
  package let idSpaces: [Int: PermanentIDSpace]
  /// Which values can be in external files, and the files that transactions write and release.
  let externalSlots: ExternalSlots
  let externalFiles = ExternalFiles()

  package var url: URL? { urlKept.withLock { $0 } }
  private let urlKept: Locked<URL?>
  /// What the WAL lacked when the store was opened, as a sentence.
  package let loss: String?

  /// Guards the writing connection. Recursive: a save participant can read through the coordinator.
  let writerLock = NSRecursiveLock()
  private var writer: SQLiteReader?
  private var checkpointer: WALCheckpointer?
  let unlocked = Locked(UnlockedState())
  /// By entity name; built at the first insertion of each entity.
  var batchSources: [String: BatchSource] = [:]
  /// On the writing connection; made when it is first needed.
  var linkValues: LinkValues?
  /// The tables on which the writing connection has triggers that compute derived attributes.
  var computedTables: Set<String> = []
  private let pool: Locked<ReaderPool?>
  private let poolSizeMax: Int
  /// Whether a transaction is open between saves. Readers then must see what it has written.
  private let hasOpenTransaction = Atomic(false)
  var mayHaveUncommittedRows: Bool { hasOpenTransaction.load(ordering: .acquiring) }
  /// Of how many rows that a cascade deletes the values are kept in memory. The values of more stay in the store.
  package let deletedRowsKeptMax = Atomic(8192)
  private let writes = Atomic<Int64>(0)

  /// Open snapshots. They prevent a complete checkpoint of the WAL.
  let snapshots = ConnectionList()
  /// These and the connections of cursors: they may see rows whose external files newer rows have released.
  let readers = ConnectionList()
  let metadataState: MetadataState
  package let tracksHistory: Bool
  /// The last keys of the history tables of a store that tracks no history, as they were at the opening.
  let untrackedHistory: Int64
  private(set) var origin = ChangeOrigin()

  init(
    opened: OpenedDatabase, url: URL?, type: String, model: NSManagedObjectModel, configuration: String?,
    options: [AnyHashable: Any]?, schema: SQLSchema, uuid: String, metadata: StoreMetadata, tracksHistory: Bool
  ) throws {
    self.type = type
    self.tracksHistory = tracksHistory
    untrackedHistory = tracksHistory || opened.isReadOnly ? -1 : try opened.connection.lastHistoryKeys()
    self.schema = schema
    self.options = options
    isReadOnly = opened.isReadOnly
    loss = opened.loss
    configurationName = configuration
    urlKept = Locked(url)
    let settings = try StoreOptions(options)
    poolSizeMax = settings.readersMax
    externalFiles.writesFiles = !settings.keepsLargeValues
    (identity, idSpaces) = schema.identities(of: model, uuid: uuid)
    externalSlots = ExternalSlots(idSpaces.mapValues(\.entity))
    metadataState = MetadataState(metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 })
    pool = Locked(nil)
    connect(opened)
  }

  package func willWrite(for origin: ChangeOrigin) { writerLock.withLock { self.origin = origin } }

  // MARK: Connections

  private func connect(_ opened: OpenedDatabase) {
    writer = SQLiteReader(opened.connection, of: self)
    unlocked.withLock { state in (state.file, state.copy) = (opened.unlocked, opened.privateCopy) }
    checkpointer =
      opened.isReadOnly || opened.path.isEmpty
      ? nil : WALCheckpointer(watching: opened.connection, path: opened.path)
    guard
      opened.readerMode == .immutable
        || !opened.path.isEmpty && (try? opened.connection.rows("PRAGMA journal_mode").first?.first) == .text("wal")
    else { return }
    let pool = ReaderPool(path: opened.path, mode: opened.readerMode, sizeMax: poolSizeMax)
    self.pool.withLock { $0 = pool }
  }

  private func disconnect() {
    // Readers first: SQLite checkpoints and removes the WAL when the last connection closes. The pool is closed outside
    // of its lock, because closing waits for readers, and a reader may need the lock.
    let closing = pool.withLock { pool -> ReaderPool? in
      defer { pool = nil }
      return pool
    }
    closing?.close()
    checkpointer?.stop()
    writer?.connection.close()
    writer = nil
    unlocked.withLock { $0.copy = nil }
    batchSources = [:]
    linkValues = nil
  }

  /// The reader on the writing connection while the store is open. Use it under `writerLock` only.
  func writingReader() throws -> SQLiteReader {
    guard let writer else {
      throw NSError.coreData(
        .operation, "The store \(url?.path ?? identity.uuid) was removed from its coordinator; add it again.")
    }
    return writer
  }

  /// Runs `body` on the writing connection and converts SQLite errors to Core Data errors.
  func access<Result>(
    _ what: String, code: NSError.CoreDataCode = .sqlite, _ body: (SQLiteConnection) throws -> Result
  ) throws -> Result {
    try checkingFile {
      try writerLock.withLock {
        let connection = try writingReader().connection
        do {
          return try body(connection)
        } catch let error as SQLiteError {
          throw NSError.sqlite(error, code, message: "\(what) \(location) failed")
        }
      }
    }
  }

  /// The writing connection, for tests that observe its statements.
  func connection() throws -> SQLiteConnection { try writerLock.withLock { try writingReader().connection } }

  // MARK: Reading

  package func read<Result>(
    _ snapshot: (any StoreSnapshot)?, _ body: (any RowReader) throws -> Result
  ) throws -> Result {
    if let snapshot = snapshot as? SQLiteSnapshot { return try snapshot.read(body) }
    return try readingAgain { try read(body) }
  }

  private func read<Result>(_ body: (SQLiteReader) throws -> Result) throws -> Result {
    // No write is in progress, or this thread performs it: the writing connection has recently read pages in its cache.
    if writerLock.try() {
      defer { writerLock.unlock() }
      return try body(try writingReader())
    }
    guard !hasOpenTransaction.load(ordering: .acquiring), let pool = pool.withLock({ $0 }),
      let reader = try pool.take(for: self)
    else { return try writerLock.withLock { try body(try writingReader()) } }
    defer { pool.release(reader) }
    return try body(reader)
  }

  /// Reads what is committed, also while a transaction is open around several saves.
  ///
  /// - Throws: `NSError` 134030 where the store has a single connection, and this transaction is open on it.
  func readCommitted<Result>(_ body: (SQLiteReader) throws -> Result) throws -> Result {
    try readingAgain {
      guard let pool = pool.withLock({ $0 }) else {
        return try writerLock.withLock {
          let reader = try writingReader()
          guard !reader.connection.isInTransaction else { throw openTransaction }
          return try body(reader)
        }
      }
      guard let reader = try pool.take(for: self) else {
        return try reportingErrors { try body(SQLiteReader(try pool.newConnection(for: self), of: self)) }
      }
      defer { pool.release(reader) }
      return try body(reader)
    }
  }

  private var openTransaction: NSError {
    .coreData(
      .save,
      "A transaction around several saves is open in \(location), whose only connection would read what is not committed "
        + "yet. Read again after it.")
  }

  package func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor {
    if let snapshot = snapshot as? SQLiteSnapshot { return try snapshot.cursor(query, rowsPerBatch: rowsPerBatch) }
    let source = try checkedSource()
    let pool = pool.withLock { $0 }
    if let pool, !hasOpenTransaction.load(ordering: .acquiring) {
      return try reportingErrors {
        let reader = SQLiteReader(try pool.newConnection(for: self), of: self)
        let cursor = try reader.cursor(query, rowsPerBatch: rowsPerBatch, ownsSnapshot: true, lock: nil)
        return CheckedCursor.over(cursor, source)
      }
    }
    // A private database has a single connection, and only its own connection sees an open transaction.
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
      throw NSError.sqlite(error, .sqlite, message: "Reading \(location) failed")
    }
  }

  package func makeSnapshot() throws -> (any StoreSnapshot)? {
    let source = try checkedSource()
    guard let pool = pool.withLock({ $0 }) else { return nil }
    do {
      let connection = try pool.newConnection(for: self)
      snapshots.add(connection)
      return try SQLiteSnapshot(SQLiteReader(connection, of: self), self, source: source)
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, message: "Pinning a generation of \(location) failed")
    }
  }

  /// Whether a reader may still see rows that newer commits replaced.
  var hasReaders: Bool { !readers.isEmpty || pool.withLock { $0?.isInUse ?? false } }

  // MARK: Transactions around several saves

  package func beginTransaction() throws {
    try access("Writing to") { try $0.beginWriting() }
    hasOpenTransaction.store(true, ordering: .releasing)
  }

  package func commitTransaction() throws {
    try access("Writing to") { connection in
      guard connection.isInTransaction else {
        externalFiles.discard()
        throw lostTransaction
      }
      try syncExternalFiles()
      try commit(connection)
    }
    hasOpenTransaction.store(false, ordering: .releasing)
    writerLock.withLock { removeReleasedFiles() }
    try didCommit()
  }

  /// Commits the transaction with its external files. A commit that fails ends the transaction too, unless it can be
  /// tried again.
  func commit(_ connection: SQLiteConnection) throws {
    do {
      try connection.commit()
    } catch {
      if !connection.isInTransaction { externalFiles.leaveUncertain() }
      throw error
    }
    externalFiles.keep()
  }

  /// - Throws: `NSError` 134030 if a transaction around several saves is open and SQLite has rolled it back: what follows
  ///   would be saved without what came before.
  func checkTransaction(_ connection: SQLiteConnection) throws {
    if hasOpenTransaction.load(ordering: .acquiring), !connection.isInTransaction { throw lostTransaction }
  }

  private var lostTransaction: NSError {
    .coreData(
      .save,
      "SQLite has rolled back the transaction in \(location) after an error, so that nothing of it is saved. Remove "
        + "the cause of that error, roll back, and repeat the whole transaction.")
  }

  package func rollBackTransaction() throws {
    defer { hasOpenTransaction.store(false, ordering: .releasing) }
    try access("Writing to") { connection in
      try connection.rollBack()
      externalFiles.discard()
    }
  }

  package func participantRows(
    _ sql: String, _ values: [StoredValue], in snapshot: (any StoreSnapshot)?
  ) throws -> [[StoredValue]] {
    guard let snapshot = snapshot as? SQLiteSnapshot else {
      return try access("Reading") { try SQLiteParticipantStatements(connection: $0).rows(sql, values) }
    }
    return try snapshot.read { try SQLiteParticipantStatements(connection: $0.connection).rows(sql, values) }
  }

  package func lastKey(of entity: NSEntityDescription) throws -> Int64 {
    let own = try sqlEntity(entity)
    let last = try access("Reading") {
      try $0.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(own.rootNumber))]) ?? 0
    }
    try NSError.checkKey(last, of: own.name, in: own.tableName)
    // Only a damaged sequence is below 0.
    return max(0, last)
  }

  package var writeCount: Int64 { writes.load(ordering: .acquiring) }

  func noteWrite() { writes.add(1, ordering: .acquiringAndReleasing) }

  // MARK: Durability

  /// Checkpoints everything committed from the -wal into the file and waits for the disk.
  package func checkpoint() throws {
    guard !isReadOnly, url != nil else { return }
    writerLock.withLock { checkpointer?.waitUntilIdle() }
    try access("Writing the WAL into") { connection in
      // FULL waits for readers up to the store's timeout, and syncs both files even with synchronous NORMAL. For a
      // generation that this process pins it would wait in vain.
      let mode = snapshots.isEmpty ? "FULL" : "PASSIVE"
      let outcome = try connection.rows("PRAGMA wal_checkpoint(\(mode))").first ?? []
      // If a reader outlasts the wait, committed pages stay in the WAL: then the WAL must be synced.
      if outcome.count != 3 || outcome[0] != .integer(0) || outcome[1] != outcome[2] { try syncWAL() }
    }
  }

  /// Whether everything committed is in the file and on the disk, and no reader of any process sees an older state: only
  /// then can a checkpoint write all pages back. It waits for no one.
  func isCheckpointed(_ connection: SQLiteConnection) -> Bool {
    checkpointer?.waitUntilIdle()
    return (try? connection.checkpointsWholeWAL()) ?? false
  }

  private func syncWAL() throws {
    guard let url else { return }
    do throws(POSIXError) {
      try WALFile.sync(ofStore: url.path)
    } catch {
      throw SQLiteError(
        code: SQLITE_IOERR, message: "its WAL can't be synced: \(String(cString: strerror(error.code.rawValue)))",
        sql: nil)
    }
  }

  /// Called after each commit: bounds the size of the -wal.
  func didCommit() throws {
    try writerLock.withLock { try checkpointer?.didCommit(try writingReader().connection) }
  }

  /// Continues with another file of the same store.
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
      removeReleasedFiles()
      externalFiles.folder?.removeMarkFolder()
      disconnect()
    }
  }

  deinit { close() }
}
