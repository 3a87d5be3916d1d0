import Foundation
import Locking
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
  package var location: String { address.shown }
  package var dialect: ParticipantDialect { .postgreSQL }

  let address: PostgreSQLAddress
  let settings: ServerOptions
  let metadataState: MetadataState
  private let pool: ConnectionPool
  private let make: @Sendable () throws -> PostgreSQLConnection

  /// Guards the writing connection. Recursive: a save participant can read through the coordinator.
  let writerLock = NSRecursiveLock()
  private var writer: PostgreSQLReader?
  private var isClosed = false
  /// The keys of new rows.
  var keys = KeyBlocks()
  private var keysBeforeTransaction = KeyBlocks()
  /// Whether a transaction is open between saves. Readers then must see what it has written.
  private let hasOpenTransaction = Atomic(false)
  private let writes = Atomic<Int64>(0)

  init(
    _ opened: OpenedServer, schema: SQLSchema, model: NSManagedObjectModel, uuid: String, metadata: StoreMetadata
  ) {
    address = opened.address
    settings = opened.settings
    make = opened.make
    url = URL(string: opened.address.shown)
    isReadOnly = opened.settings.isReadOnly
    self.schema = schema
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
    metadataState = MetadataState(metadata.dictionary.merging([NSStoreUUIDKey: uuid]) { $1 })
    pool = ConnectionPool(idleMax: opened.settings.readersMax, opened.make)
    writer = PostgreSQLReader(opened.connection, of: self)
  }

  package func keeps(_ entity: NSEntityDescription) -> Bool { schema.entity(named: entity.name ?? "") != nil }

  // MARK: The writing connection

  private var wasClosed: NSError {
    .coreData(.operation, "The store \(location) was removed from its coordinator; add it again.")
  }

  /// The reader on the writing connection, which is opened again if it was lost. Use it under `writerLock` only.
  func writingReader() throws -> PostgreSQLReader {
    guard !isClosed else { throw wasClosed }
    if let writer, writer.connection.isAlive || hasOpenTransaction.load(ordering: .acquiring) { return writer }
    let made = PostgreSQLReader(try make(), of: self)
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
      let keysBefore = keys
      try begin(connection, isPart: isPart)
      do {
        let result = try body(connection)
        try commit(connection, isPart: isPart)
        return result
      } catch {
        keys.goBack(to: keysBefore)
        rollBack(connection, isPart: isPart)
        throw error
      }
    }
  }

  func begin(_ connection: PostgreSQLConnection, isPart: Bool) throws {
    if isPart { return try connection.send("SAVEPOINT ocd_save") }
    try connection.send("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    try connection.send("SET LOCAL lock_timeout = \(settings.timeoutMilliseconds)")
  }

  func commit(_ connection: PostgreSQLConnection, isPart: Bool) throws {
    if !isPart { return try connection.commit() }
    _ = try connection.query("RELEASE ocd_save")
  }

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
      return try reading(try writingReader(), body)
    }
    guard !hasOpenTransaction.load(ordering: .acquiring) else {
      return try writerLock.withLock { try reading(try writingReader(), body) }
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

  /// A connection of its own with a transaction that only reads.
  private func separateReader() throws -> PostgreSQLReader {
    guard let connection = try pool.take(forReading: false) else { throw wasClosed }
    try connection.send(Self.readingBegin)
    return PostgreSQLReader(connection, of: self)
  }

  private var endOfReader: (PostgreSQLConnection) -> Void {
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

  package func makeSnapshot() throws -> (any StoreSnapshot)? {
    try reportingErrors { try ServerSnapshot(try separateReader(), end: endOfReader) }
  }

  package var writeCount: Int64 { writes.load(ordering: .acquiring) }
  func noteWrite() { writes.add(1, ordering: .acquiringAndReleasing) }

  package func participantRows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] {
    try access("Reading") { connection in
      try ServerParticipantStatements(connection: connection).rows(sql, values)
    }
  }

  /// The rows that a statement returns in the state of a snapshot of this store.
  package func rows(
    _ sql: String, _ values: [StoredValue], in snapshot: (any StoreSnapshot)?
  ) throws -> [[StoredValue]] {
    guard let snapshot = snapshot as? ServerSnapshot else { return try participantRows(sql, values) }
    return try snapshot.rows(sql, values)
  }

  /// The names of the tables with the rows of objects.
  package var rowTables: [String] { Set(schema.entities.map(\.tableName)).sorted() }

  package func lastKey(of entity: NSEntityDescription) throws -> Int64 {
    let table = try sqlEntity(entity).tableName
    return try access("Reading") { connection in
      max(try connection.integer("SELECT max(Z_PK) FROM \(table)", []) ?? 0, keys.lastTaken(of: table) ?? 0)
    }
  }

  // MARK: Transactions around several saves

  package func beginTransaction() throws {
    try access("Writing to") { connection in
      try begin(connection, isPart: false)
      try connection.finish()
      keysBeforeTransaction = keys
    }
    hasOpenTransaction.store(true, ordering: .releasing)
  }

  package func commitTransaction() throws {
    try access("Writing to", code: .save) { connection in
      do {
        try commit(connection, isPart: false)
      } catch let error as PostgreSQLError where error.isOfCommit {
        // It has ended in any case. The keys of what it may have written are not given again.
        keysBeforeTransaction = keys
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
      keys.goBack(to: keysBeforeTransaction)
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
