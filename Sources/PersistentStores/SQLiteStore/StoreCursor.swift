import ManagedObjectModel
import CSQLite
import Foundation

/// Iterates over the rows of a query in batches, in one read snapshot. Suitable for millions of rows: it holds a single
/// batch. It belongs to one thread at a time.
final class StoreCursor: RowCursor {
  private let connection: SQLiteConnection
  private let statement: SQLiteStatement
  private let plan: SelectPlan
  private let rowsPerBatch: Int
  /// A batch ends with the row that brings its texts and blobs to so many bytes.
  private let bytesPerBatch: Int
  /// Whether the cursor has its own connection, and so its own snapshot.
  let ownsSnapshot: Bool
  private var isAtEnd = false
  /// Whether the statement is at a row that is not in a batch yet.
  private var isRowWaiting = false

  /// Guards a connection that the cursor shares.
  private let lock: NSRecursiveLock?

  /// - Parameter isAlone: Whether nothing else runs on the connection as long as the cursor exists: it may use a
  ///   statement that the connection keeps.
  init(
    _ connection: SQLiteConnection, _ plan: SelectPlan, rowsPerBatch: Int, bytesPerBatch: Int = .max,
    ownsSnapshot: Bool, lock: NSRecursiveLock?, isAlone: Bool = false
  ) throws {
    self.lock = lock
    self.connection = connection
    self.plan = plan
    self.rowsPerBatch = rowsPerBatch
    self.bytesPerBatch = bytesPerBatch
    self.ownsSnapshot = ownsSnapshot
    if ownsSnapshot { try connection.execute("BEGIN") }
    statement = try isAlone ? connection.statement(plan.select) : connection.cursor(plan.select)
  }

  deinit {
    lock?.lock()
    defer { lock?.unlock() }
    statement.reset()
    if ownsSnapshot { try? connection.execute("COMMIT") }
  }

  func holdingState<Result>(_ body: () throws -> Result) throws -> Result {
    guard let lock else { return try body() }
    return try lock.withLock(body)
  }

  /// Replaces the contents of `batch` with the next rows. False at the end.
  ///
  /// A batch has one entity. If the query finds several, the batch ends where the entity changes.
  ///
  /// - Parameter numbers: The numbers of the rows, in order.
  func next(into batch: inout ObjectBatch, numbers: inout RowNumbers) throws -> Bool {
    lock?.lock()
    defer { lock?.unlock() }
    do {
      return try plan.uniformColumns == nil
        ? readNextOfOneEntity(into: &batch, &numbers) : readNext(into: &batch, &numbers)
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, message: "Reading further rows of the store failed")
    }
  }

  /// The next rows as single values, at most as many as in a batch; empty at the end.
  ///
  /// - Throws: `NSError` 134180, or `CancellationFlag.error`.
  func nextRows(_ stop: CancellationFlag) throws -> [FetchedRow] {
    lock?.lock()
    defer { lock?.unlock() }
    do {
      return try connection.stopping(at: stop) {
        var rows: [FetchedRow] = []
        while rows.count < rowsPerBatch, try !isAtEnd && advance() { rows.append(try plan.row(of: statement)) }
        return rows
      }
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .sqlite, message: "Reading further rows of the store failed")
    }
  }

  var store: StoreIdentity? { plan.identity }

  func ids(_ keys: [Int64], of entity: NSEntityDescription) -> ObjectIDCollection { plan.ids(keys, of: entity) }

  private func readNext(into batch: inout ObjectBatch, _ numbers: inout RowNumbers) throws -> Bool {
    batch.removeAll()
    numbers.removeAll()
    guard !isAtEnd, let columns = plan.uniformColumns else { return false }
    let kinds = batch.entity.attributeSlots.map(ValueCell.Kind.init)
    let external = plan.uniformEntity.map(plan.externalSlots(ofEntity:)) ?? []
    while try numbers.keys.count < rowsPerBatch && batch.arena.count < bytesPerBatch && advance() {
      try take(&batch, &numbers, columns: columns, kinds: kinds, external: external)
    }
    return !numbers.keys.isEmpty
  }

  private func readNextOfOneEntity(into batch: inout ObjectBatch, _ numbers: inout RowNumbers) throws -> Bool {
    batch.removeAll()
    numbers.removeAll()
    guard try !isAtEnd && (isRowWaiting || advance()) else { return false }
    isRowWaiting = false
    let number = statement.integer(1)
    let (space, columns) = try plan.layout(ofEntity: Int(number), key: statement.integer(0))
    let entity = space.entity
    if batch.entity !== entity { batch = ObjectBatch(entity: entity) }
    let kinds = entity.attributeSlots.map(ValueCell.Kind.init)
    let external = plan.externalSlots(ofEntity: Int(number))
    try take(&batch, &numbers, columns: columns, kinds: kinds, external: external)
    while try numbers.keys.count < rowsPerBatch && batch.arena.count < bytesPerBatch && advance() {
      if statement.integer(1) != number {
        isRowWaiting = true
        break
      }
      try take(&batch, &numbers, columns: columns, kinds: kinds, external: external)
    }
    return true
  }

  private func advance() throws -> Bool {
    isAtEnd = try !statement.step()
    return !isAtEnd
  }

  @inline(__always)
  private func take(
    _ batch: inout ObjectBatch, _ numbers: inout RowNumbers, columns: [Int32?], kinds: [ValueCell.Kind],
    external: [Int]
  ) throws {
    let key = statement.integer(0)
    numbers.append(key: key, version: statement.integer(2))
    if let column = plan.ownerColumn { numbers.append(owner: statement.integer(column)) }
    let entity = batch.entity
    try batch.appendRow { cells, arena in
      for slot in columns.indices {
        cells.append(columns[slot].map { statement.cell($0, kind: kinds[slot], arena: &arena) } ?? .null)
      }
      if !external.isEmpty {
        try plan.resolveExternalValues(external, of: entity, key: key, cells: &cells, arena: &arena)
      }
    }
    for extra in plan.extras {
      batch.appendExtra { statement.cell(extra.column, kind: ValueCell.Kind(extra.attribute), arena: &$0) }
    }
  }
}

extension SQLiteStatement {
  /// A column packed as `kind`; the bytes of a text or blob are appended to `arena`.
  func cell(_ column: Int32, kind: ValueCell.Kind, arena: inout [UInt8]) -> ValueCell {
    // The value is looked up once; the column functions would look it up at each call. Connections do not have mutexes,
    // so any value may be accessed directly (SQLite, "Obtaining SQL Values").
    let value = sqlite3_column_value(pointer, column)
    if sqlite3_value_type(value) == SQLITE_NULL { return .null }
    switch kind {
    case .integer: return ValueCell(integer: sqlite3_value_int64(value))
    case .real: return ValueCell(real: sqlite3_value_double(value))
    case .text:
      return Self.append(sqlite3_value_text(value), count: sqlite3_value_bytes(value), kind: .text, arena: &arena)
    case .blob:
      return Self.append(sqlite3_value_blob(value), count: sqlite3_value_bytes(value), kind: .blob, arena: &arena)
    case .decimal:
      let start = arena.count
      arena += "\(sqlite3_value_double(value))".utf8
      return ValueCell(.decimal, offset: start, length: arena.count - start)
    case .null: return .null
    }
  }

  /// - Parameter bytes: Nil for an empty blob.
  @inline(__always)
  private static func append(
    _ bytes: UnsafeRawPointer?, count: Int32, kind: ValueCell.Kind, arena: inout [UInt8]
  ) -> ValueCell {
    let cell = ValueCell(kind, offset: arena.count, length: Int(count))
    arena.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return cell
  }
}
