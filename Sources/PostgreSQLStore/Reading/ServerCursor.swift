import Foundation
import ManagedObjectModel
import PersistentStores

/// Walks over the rows of a query in parts, in one state of the store: a cursor of the server in a transaction that only
/// reads. It belongs to one thread at a time.
final class ServerCursor: RowCursor {
  private let reader: PostgreSQLReader
  private let plan: RowPlan
  private let name: String
  private let rowsPerBatch: Int
  /// Guards a connection that the cursor shares; nil for one of its own.
  private let lock: NSRecursiveLock?
  private let end: ((PostgreSQLConnection) -> Void)?
  private var page: RowPages?
  private var isAtEnd = false
  /// How many rows the server reads while the last ones are used; nil for none.
  private var countAhead: Int?
  /// As many as the buffers between server and client hold, so that the server does not wait for the client.
  private static let rowsPerFetchMax = 1000
  /// The rest of a query whose predicate is evaluated in memory.
  private var walk: FilteredRows?
  /// What was read of it and not delivered yet.
  private var filtered: ArraySlice<FetchedRow> = []

  /// - Parameters:
  ///   - lock: Guards the connection, which others use too; nil for a connection of the cursor's own.
  ///   - range: The keys to which rows are restricted; nil for no restriction.
  ///   - end: Called at the end of the walk with a connection of the cursor's own; nil if other walks follow in the same
  ///     transaction.
  init(
    _ reader: PostgreSQLReader, _ query: FetchQuery, name: String, rowsPerBatch: Int, range: KeyRange? = nil,
    lock: NSRecursiveLock?, end: ((PostgreSQLConnection) -> Void)?
  ) throws {
    self.reader = reader
    self.name = name
    self.rowsPerBatch = rowsPerBatch
    self.lock = lock
    self.end = end
    plan = try RowPlan(query, in: reader.store, range: range)
    if plan.isFiltered {
      walk = try reader.filteredRows(plan)
    } else {
      try reader.access("Reading") {
        // The statement sees the rows of this moment.
        _ = try reader.connection.query(
          "DECLARE \(name) NO SCROLL CURSOR FOR " + plan.select.text, plan.select.bindings)
      }
    }
  }

  deinit {
    lock?.lock()
    defer { lock?.unlock() }
    if lock != nil || end == nil, !plan.isFiltered, reader.connection.isInTransaction {
      _ = try? reader.connection.query("CLOSE \(name)")
    }
    end?(reader.connection)
  }

  var store: StoreIdentity? { reader.store.identity }

  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection {
    ObjectIDCollection(entity: entity, store: reader.store.identity, keys: keys)
  }

  func holdingState<Result>(_ body: () throws -> Result) throws -> Result {
    guard let lock else { return try body() }
    return try lock.withLock(body)
  }

  func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    lock?.lock()
    defer { lock?.unlock() }
    if plan.isFiltered { return try takeFiltered(&batch, &numbers) }
    batch.removeAll()
    numbers.removeAll()
    var isComplete = false
    while !isComplete {
      if page?.isAtEnd ?? true {
        page = try fetch(min(rowsPerBatch, Self.rowsPerFetchMax)).map { RowPages(plan, $0, rowsPerBatch: rowsPerBatch) }
      }
      guard page != nil else { break }
      isComplete = try page?.add(to: &batch, numbers: &numbers) ?? true
    }
    return !numbers.keys.isEmpty
  }

  func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow] {
    if stop.isCancelled { throw CancellationFlag.error }
    lock?.lock()
    defer { lock?.unlock() }
    if plan.isFiltered {
      try fillFiltered(stop)
      defer { filtered = filtered.dropFirst(rowsPerBatch) }
      return Array(filtered.prefix(rowsPerBatch))
    }
    guard let result = try fetch(rowsPerBatch) else { return [] }
    return try (0..<result.rowCount).map { try plan.row($0, of: result) }
  }

  /// The next rows; nil at the end. On a connection of its own the cursor tells the server to read those that follow.
  private func fetch(_ count: Int) throws -> PostgreSQLResult? {
    guard !isAtEnd else { return nil }
    return try reader.access("Reading further rows of") {
      let (connection, ahead) = (reader.connection, countAhead)
      countAhead = nil
      let result = try ahead == nil ? connection.query(statement(count)) : connection.answer()
      isAtEnd = result.rowCount < ahead ?? count
      if lock == nil, !isAtEnd {
        try connection.start(statement(count))
        countAhead = count
      }
      return result.rowCount == 0 ? nil : result
    }
  }

  private func statement(_ count: Int) -> String { "FETCH \(count) FROM \(name)" }

  private func fillFiltered(_ stop: CancellationFlag) throws {
    while filtered.count < rowsPerBatch, let part = try walk?.next() {
      if stop.isCancelled { throw CancellationFlag.error }
      filtered += part.map(plan.finished)
    }
  }

  private func takeFiltered(_ batch: inout ObjectBatch, _ numbers: inout RowNumbers) throws -> Bool {
    batch.removeAll()
    numbers.removeAll()
    try fillFiltered(CancellationFlag())
    guard let entity = filtered.first?.id.entity else { return false }
    let run = filtered.prefix(rowsPerBatch).prefix { $0.id.entity === entity }
    filtered = filtered.dropFirst(run.count)
    if batch.entity !== entity { batch = ObjectBatch(entity: entity) }
    for row in run {
      batch.appendRow()
      if !row.values.isEmpty { batch.setValues(row.values, row: batch.count - 1) }
      batch.appendExtras(row.extras)
      numbers.append(key: row.id.storeKey ?? 0, version: row.version)
    }
    return true
  }
}

/// A transaction that only reads and stays open: it sees the commits up to its start.
// Unchecked: the reader is used under `lock` only.
final class ServerSnapshot: StoreSnapshot, @unchecked Sendable {
  private let reader: PostgreSQLReader
  private let lock = NSRecursiveLock()
  private let end: (PostgreSQLConnection) -> Void
  private var cursorCount = 0

  init(_ reader: PostgreSQLReader, end: @escaping (PostgreSQLConnection) -> Void) throws {
    self.reader = reader
    self.end = end
    // A transaction sees the state at its first statement.
    _ = try reader.connection.query("SELECT 1")
  }

  deinit { end(reader.connection) }

  func read<Result>(_ body: (any RowReader) throws -> Result) throws -> Result {
    try lock.withLock { try body(reader) }
  }

  func rows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]] {
    try lock.withLock { try ServerParticipantStatements(connection: reader.connection).rows(sql, values) }
  }

  /// Makes the snapshot visible to other connections, as long as it is retained.
  ///
  /// - Throws: `NSError` with `isOfUnsharedSnapshot` if the server does not do that.
  func share() throws -> SharedSnapshot {
    try lock.withLock {
      do {
        return try SharedSnapshot(exporting: reader.connection)
      } catch let error as PostgreSQLError {
        throw error.ofSharing(reader.store.location)
      }
    }
  }

  /// Runs `body` on the connection of the snapshot.
  func access<Result>(_ body: (PostgreSQLConnection) throws -> Result) throws -> Result {
    try lock.withLock { try reader.access("Reading") { try body(reader.connection) } }
  }

  func cursor(_ query: FetchQuery, rowsPerBatch: Int) throws -> any RowCursor {
    try lock.withLock {
      cursorCount += 1
      return try ServerCursor(
        reader, query, name: "ocd_walk\(cursorCount)", rowsPerBatch: rowsPerBatch, lock: lock,
        end: { [self] _ in withExtendedLifetime(self) {} })
    }
  }
}
