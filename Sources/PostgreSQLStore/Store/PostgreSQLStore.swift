import Foundation
import SystemSupport
import ManagedObjectModel
import PersistentStores
import Synchronization

/// A store in a database of a PostgreSQL server, in tables with Apple's names.
///
/// One connection writes. Readers share it while nothing is written, and otherwise take one of the pool, so that they
/// see the last commit and do not wait.
// Unchecked: the mutable properties are used under `writerLock` only; readers use constants and locked values only.
package final class PostgreSQLStore: SQLRowStore, TableStore, @unchecked Sendable {
  package let type = NSPostgreSQLStoreType
  /// Without a password.
  package let url: URL?
  package let isReadOnly: Bool
  package let identity: StoreIdentity
  package let schema: SQLSchema
  package let idSpaces: [Int: PermanentIDSpace]
  package var keepsValuesInFiles: Bool { false }
  package var nullsFirst: String { " NULLS FIRST" }
  package var rowLock: String { " FOR UPDATE" }
  package var location: String { address.shown }
  package var dialect: ParticipantDialect { .postgreSQL }

  let address: PostgreSQLAddress
  let settings: ServerOptions
  let metadataState: MetadataState
  package let tracksHistory: Bool
  private let storeNumber: Int64
  private let pool: ConnectionPool
  private let make: @Sendable () throws -> PostgreSQLConnection

  /// Guards the writing connection. Recursive: a save participant can read through the coordinator.
  let writerLock = NSRecursiveLock()
  private var writer: PostgreSQLReader?
  private var isClosed = false
  /// The keys of new rows.
  var keys = KeyBlocks()
  /// Whose changes are written next.
  var origin = ChangeOrigin()
  /// Transactions of the history, whose rows are written with the commit.
  var pendingHistory: [PendingTransaction] = []
  private var marksBeforeTransaction = Marks(keys: KeyBlocks(), historyCount: 0)
  /// Whether a transaction is open between saves. Readers then must see what it has written.
  let hasOpenTransaction = Atomic(false)
  private let writes = Atomic<Int64>(0)

  init(
    _ opened: OpenedServer, schema: SQLSchema, model: NSManagedObjectModel, uuid: String, metadata: StoreMetadata,
    tracksHistory: Bool
  ) throws {
    self.tracksHistory = tracksHistory
    storeNumber = try opened.connection.integer("SELECT \(PostgreSQLConnection.storeNumber)", []) ?? 0
    address = opened.address
    settings = opened.settings
    make = opened.make
    url = URL(string: opened.address.shown)
    isReadOnly = opened.settings.isReadOnly
    self.schema = schema
    (identity, idSpaces) = schema.identities(of: model, uuid: uuid)
    metadataState = MetadataState(metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 })
    pool = ConnectionPool(idleMax: opened.settings.readersMax, opened.make)
    writer = PostgreSQLReader(opened.connection, of: self)
  }

  // MARK: The writing connection

  private var wasClosed: NSError {
    .coreData(.operation, "The store \(location) was removed from its coordinator; add it again.")
  }

  /// The reader on the writing connection, which is opened again if it was lost. Use it under `writerLock` only.
  func writingReader() throws -> PostgreSQLReader {
    guard !isClosed else { throw wasClosed }
    if let writer, writer.connection.isAlive || hasOpenTransaction.load(ordering: .acquiring) { return writer }
    let made = PostgreSQLReader(try make(), of: self)
    // A server that has lost its last commits, after a crash or by a failover, may give the same blocks to others.
    if writer != nil { keys = KeyBlocks() }
    writer = made
    return made
  }

  /// Runs `body` on the writing connection and converts errors of the server to Core Data errors.
  func access<Result>(
    _ what: String, code: NSError.CoreDataCode = .sqlite, _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    try writerLock.withLock {
      do {
        return try body(try writingReader().connection)
      } catch let error as PostgreSQLError {
        throw error.coreDataError(code, "\(what) \(location) failed")
      }
    }
  }

  /// Runs `body` in a transaction that writes, or in a part of the open one; an error takes back what it has written.
  func transaction<Result>(
    _ what: String, code: NSError.CoreDataCode = .save, _ body: (PostgreSQLConnection) throws -> Result
  ) throws -> Result {
    try access(what, code: code) { connection in
      let isPart = connection.isInTransaction
      let marks = marks
      try begin(connection, isPart: isPart)
      do {
        let result = try body(connection)
        try commit(connection, isPart: isPart)
        return result
      } catch {
        // The keys of what may be committed are not given again.
        if (error as? PostgreSQLError)?.lostCommit != .open { goBack(to: marks) }
        rollBack(connection, isPart: isPart)
        throw error
      }
    }
  }

  func begin(_ connection: PostgreSQLConnection, isPart: Bool) throws {
    if isPart { return try connection.send("SAVEPOINT ocd_save") }
    pendingHistory = []
    try connection.send(PostgreSQLConnection.beginWriting)
    try connection.send(PostgreSQLConnection.noticingLostClients)
    try connection.send("SET LOCAL lock_timeout = \(settings.timeoutMilliseconds)")
  }

  /// What a transaction that is rolled back has to restore.
  struct Marks {
    fileprivate let keys: KeyBlocks
    fileprivate let historyCount: Int
  }

  var marks: Marks { Marks(keys: keys, historyCount: pendingHistory.count) }

  func goBack(to marks: Marks) {
    keys.goBack(to: marks.keys)
    pendingHistory = Array(pendingHistory.prefix(marks.historyCount))
  }

  /// Waits for what was sent ahead, and looks whether the tables are still those that were opened.
  ///
  /// - Returns: The transaction's name, for the case that the answer to COMMIT is lost.
  func lookBeforeCommit(_ connection: PostgreSQLConnection) throws -> TransactionName? {
    let look = try connection.lastLook()
    guard look.storeNumber == storeNumber else {
      throw NSError.coreData(
        .save,
        "Another program has migrated the store \(location), or made it anew, since it was opened. Nothing is saved.",
        suggestion: "Remove the store from its coordinator, add it again with the model's new version, and save again.")
    }
    guard look.hasHistory == tracksHistory else { throw NSError.historyHasBegun(location) }
    return look.name
  }

  func commit(_ connection: PostgreSQLConnection, isPart: Bool) throws {
    if !isPart { return try commit(connection, try lookBeforeCommit(connection)) }
    _ = try connection.query("RELEASE ocd_save")
  }

  /// Commits. If the answer is lost, the server says on another connection whether it has committed.
  func commit(_ connection: PostgreSQLConnection, _ name: TransactionName?) throws {
    defer { pendingHistory = [] }
    do {
      for transaction in pendingHistory { try transaction.send(on: connection) }
      try connection.commit()
    } catch var error as PostgreSQLError where error.lostCommit != nil {
      guard let name else { throw error }
      switch outcome(of: name) {
      case .committed: return
      case .rolledBack: error.lostCommit = .rolledBack
      case .inProgress, .unknown: break
      }
      throw error
    }
  }

  /// Asks until the server answers and the transaction has ended, or the store's time is over.
  private func outcome(of name: TransactionName) -> TransactionName.Outcome {
    let end = ContinuousClock.now + .seconds(max(settings.timeoutSeconds, Self.secondsForOutcome))
    var pause = 0.01
    while true {
      if let connection = try? make() {
        defer { connection.close() }
        if let outcome = try? connection.outcome(of: name), outcome != .inProgress { return outcome }
      }
      if ContinuousClock.now >= end { return .unknown }
      Thread.sleep(forTimeInterval: pause)
      pause = min(pause * 2, 0.5)
    }
  }

  /// A server that was restarted needs some seconds to answer.
  private static let secondsForOutcome = 10.0

  func rollBack(_ connection: PostgreSQLConnection, isPart: Bool) {
    try? connection.finish()
    guard connection.isInTransaction else { return }
    if isPart {
      try? connection.send("ROLLBACK TO ocd_save")
      _ = try? connection.query("RELEASE ocd_save")
    } else {
      _ = try? connection.query("ROLLBACK")
    }
  }

  // MARK: Reading

  package func read<Result>(
    _ snapshot: (any StoreSnapshot)?, _ body: (any RowReader) throws -> Result
  ) throws -> Result {
    if let snapshot = snapshot as? ServerSnapshot { return try snapshot.read(body) }
    // No write is in progress, or this thread performs it.
    if writerLock.try() {
      defer { writerLock.unlock() }
      return try reading(try reportingErrors { try writingReader() }, body)
    }
    guard !hasOpenTransaction.load(ordering: .acquiring) else {
      return try writerLock.withLock { try reading(try reportingErrors { try writingReader() }, body) }
    }
    guard let connection = try reportingErrors({ try pool.take(forReading: true) }) else { throw wasClosed }
    defer { pool.put(connection, wasReading: true) }
    return try reading(PostgreSQLReader(connection, of: self), body)
  }

  /// Runs `body` in one state of the rows.
  private func reading<Result>(_ reader: PostgreSQLReader, _ body: (any RowReader) throws -> Result) throws -> Result {
    guard !reader.connection.isInTransaction else { return try body(reader) }
    try reportingErrors { try reader.connection.send(Self.readingBegin) }
    defer { if reader.connection.isInTransaction { _ = try? reader.connection.query("COMMIT") } }
    return try body(reader)
  }

  private static let readingBegin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

  /// Runs `body` in one state of what is committed, also while a transaction of this store is open.
  func readCommitted<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    guard let connection = try reportingErrors({ try pool.take(forReading: true) }) else { throw wasClosed }
    defer { pool.put(connection, wasReading: true) }
    return try reportingErrors {
      try connection.send(Self.readingBegin)
      defer { if connection.isInTransaction { _ = try? connection.query("COMMIT") } }
      return try body(connection)
    }
  }

  /// A connection of its own with a transaction that only reads.
  func separateReader() throws -> PostgreSQLReader {
    guard let connection = try pool.take(forReading: false) else { throw wasClosed }
    try connection.send(Self.readingBegin)
    return PostgreSQLReader(connection, of: self)
  }

  var endOfReader: @Sendable (PostgreSQLConnection) -> Void {
    { [pool] connection in
      _ = try? connection.query("COMMIT")
      pool.put(connection, wasReading: false)
    }
  }

  package func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor {
    if let snapshot = snapshot as? ServerSnapshot { return try snapshot.cursor(query, rowsPerBatch: rowsPerBatch) }
    guard hasOpenTransaction.load(ordering: .acquiring) else {
      return try reportingErrors {
        try ServerCursor(
          try separateReader(), query, name: "ocd_walk", rowsPerBatch: rowsPerBatch, lock: nil, end: endOfReader)
      }
    }
    // Only the writing connection sees an open transaction.
    return try writerLock.withLock {
      cursorCount += 1
      return try ServerCursor(
        try writingReader(), query, name: "ocd_walk\(cursorCount)", rowsPerBatch: rowsPerBatch, lock: writerLock,
        end: { _ in })
    }
  }
  private var cursorCount = 0

  func reportingErrors<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as PostgreSQLError {
      throw error.coreDataError(.sqlite, "Reading \(location) failed")
    }
  }

  package func makeSnapshot() throws -> (any StoreSnapshot)? { try makeServerSnapshot() }

  func makeServerSnapshot() throws -> ServerSnapshot {
    try reportingErrors { try ServerSnapshot(try separateReader(), end: endOfReader) }
  }

  package var writeCount: Int64 { writes.load(ordering: .acquiring) }
  func noteWrite() { writes.add(1, ordering: .acquiringAndReleasing) }

  package func participantRows(
    _ sql: String, _ values: [StoredValue], in snapshot: (any StoreSnapshot)?
  ) throws -> [[StoredValue]] {
    if let snapshot = snapshot as? ServerSnapshot { return try snapshot.rows(sql, values) }
    return try access("Reading") { connection in
      try ServerParticipantStatements(connection: connection).rows(sql, values)
    }
  }

  // MARK: Transactions around several saves

  package func beginTransaction() throws {
    try access("Writing to") { connection in
      try begin(connection, isPart: false)
      try connection.finish()
      marksBeforeTransaction = marks
    }
    hasOpenTransaction.store(true, ordering: .releasing)
  }

  package func commitTransaction() throws {
    try access("Writing to", code: .save) { connection in
      do {
        try commit(connection, isPart: false)
      } catch let error as PostgreSQLError where error.lostCommit == .open {
        // It has ended in any case. The keys of what it may have written are not given again.
        marksBeforeTransaction = marks
        hasOpenTransaction.store(false, ordering: .releasing)
        throw error
      }
    }
    hasOpenTransaction.store(false, ordering: .releasing)
  }

  package func rollBackTransaction() throws {
    defer { hasOpenTransaction.store(false, ordering: .releasing) }
    try access("Writing to") { connection in
      rollBack(connection, isPart: false)
      goBack(to: marksBeforeTransaction)
    }
  }

  /// - Throws: `NSError` 134030 if a transaction around several saves is open and its connection was lost: what follows
  ///   would be saved without what came before.
  func checkTransaction(_ connection: PostgreSQLConnection) throws {
    guard hasOpenTransaction.load(ordering: .acquiring), !connection.isInTransaction else { return }
    throw NSError.coreData(
      .save,
      "The transaction in \(location) has ended after an error, so that nothing of it is saved. Remove the cause of that "
        + "error, roll back, and repeat the whole transaction.")
  }

  // MARK: Metadata and files

  package var metadata: [String: Any] { metadataState.current }
  package var hasUnsavedMetadata: Bool { metadataState.hasUnsavedChanges }
  package func setMetadata(_ metadata: [String: Any]) { metadataState.setCustomKeys(of: metadata) }

  /// The server writes to its disk what it commits.
  package func checkpoint() throws {}

  /// Closes the connections that are not in use. They are opened again when they are needed.
  package func disconnect() {
    writerLock.withLock {
      guard let connection = writer?.connection, !connection.isInTransaction else { return }
      connection.close()
      writer = nil
    }
    pool.closeIdle()
  }

  package func close() {
    writerLock.withLock {
      guard !isClosed else { return }
      isClosed = true
      pool.close()
      writer?.connection.close()
      writer = nil
    }
  }

  deinit { close() }
}
