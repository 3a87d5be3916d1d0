import ManagedObjectModel
import CSQLite

/// Presents the rows of an `ObjectBatch` to SQLite as a table, so that one `INSERT … SELECT` writes a whole batch.
///
/// The table is eponymous: it needs no CREATE and does not appear in any schema. Its columns are `pk`, one `sN` per
/// slot, and `rN` for what relationships need. It has rows only while `insert` runs; at other times it is empty.
final class BatchSource {
  /// Which rows the table has, and the key of each.
  struct Numbering {
    var firstKey: Int64
    /// Ascending numbers of the excluded rows.
    var removedRows: [Int] = []
    /// Rows whose keys were allocated before the save (`obtainPermanentIDs(for:)`).
    var keysObtained: [Int: Int64] = [:]
    /// The range of the batch's rows that the table has.
    var rows = 0..<Int.max

    /// How many of these rows take a key from the sequence.
    var sequentialCount: Int {
      if removedRows.isEmpty, keysObtained.isEmpty { return rows.count }
      return rows.count { removedRows.insertionIndex(ifAbsent: $0) != nil && keysObtained[$0] == nil }
    }
  }

  let tableName: String
  fileprivate let slotCount: Int
  private let linkColumnCount: Int
  private unowned let connection: SQLiteConnection

  fileprivate var cells: UnsafePointer<ValueCell>?
  fileprivate var arena: UnsafePointer<UInt8>?
  fileprivate var rowCount = 0
  fileprivate var numbering = Numbering(firstKey: 0)
  /// The values of the columns `rN`, column after column; each has one for each row of the batch.
  fileprivate var links: UnsafePointer<Int64>?
  fileprivate var linkColumnsUsed = 0
  fileprivate var batchCount = 0
  /// The value of a column `rN` that is null.
  static let nullKey = LinkColumns.nullKey
  /// The row at which the last statement ended: the failing row if it failed.
  fileprivate(set) var lastRow = 0

  init(connection: SQLiteConnection, entityName: String, slotCount: Int, linkColumnCount: Int) throws {
    self.connection = connection
    self.slotCount = slotCount
    self.linkColumnCount = linkColumnCount
    tableName = "ocd_batch_" + entityName
    // The connection must not outlive this object: the store owns both and closes the connection first.
    let code = sqlite3_create_module_v2(
      connection.handle, tableName, Self.module, Unmanaged.passUnretained(self).toOpaque(), nil)
    guard code == SQLITE_OK else { throw SQLiteError(connection.handle, code: code, sql: nil) }
  }

  /// Runs `statement`, an INSERT that selects from this table, over the rows of `batch` that `numbering` selects.
  ///
  /// - Parameter returned: Called for each row that the statement returns.
  /// - Throws: `SQLiteError`; `lastRow` then is the row that could not be written.
  func insert(
    _ batch: ObjectBatch, _ numbering: Numbering, links: [[Int64]] = [], with statement: SQLiteStatement,
    returned: (SQLiteStatement) throws -> Void = { _ in }
  ) throws {
    // A source is made for the entity whose batches it gets.
    precondition(batch.slotCount == slotCount, "The batch belongs to another entity.")
    self.numbering = numbering
    linkColumnsUsed = links.count
    batchCount = batch.count
    rowCount = min(batch.count, numbering.rows.upperBound)
    defer {
      rowCount = 0
      cells = nil
      arena = nil
      self.links = nil
      linkColumnsUsed = 0
    }
    // A caller has one value for each row.
    precondition(links.allSatisfy { $0.count == batch.count }, "The columns belong to another batch.")
    try links.flatMap(\.self).withUnsafeBufferPointer { links in
      try batch.cells.withUnsafeBufferPointer { cells in
        try batch.arena.withUnsafeBufferPointer { arena in
          self.links = links.baseAddress
          self.cells = cells.baseAddress
          self.arena = arena.baseAddress
          defer { statement.reset() }
          while try statement.step() { try returned(statement) }
        }
      }
    }
  }

  fileprivate var declaration: String {
    "CREATE TABLE x(pk" + (0..<slotCount).map { ", s\($0)" }.joined()
      + (0..<linkColumnCount).map { ", r\($0)" }.joined() + ")"
  }

  /// SQLite keeps the address of the module, so it is allocated once and never deallocated.
  // Safe: written once, before any connection uses it, and only read afterwards.
  private static nonisolated(unsafe) let module: UnsafePointer<sqlite3_module> = {
    let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    var made = sqlite3_module()
    made.iVersion = 1
    made.xConnect = connectTable
    made.xBestIndex = { _, info in
      info?.pointee.estimatedCost = 1000
      return SQLITE_OK
    }
    made.xDisconnect = { table in
      sqlite3_free(table)
      return SQLITE_OK
    }
    made.xOpen = openCursor
    made.xClose = closeCursor
    made.xFilter = startScan
    made.xNext = { cursor in
      let scan = BatchScan.of(cursor)
      scan.pointee.advance()
      return SQLITE_OK
    }
    made.xEof = { BatchScan.of($0).pointee.isAtEnd ? 1 : 0 }
    made.xColumn = columnValue
    made.xRowid = { cursor, rowid in
      rowid?.pointee = sqlite3_int64(BatchScan.of(cursor).pointee.row)
      return SQLITE_OK
    }
    module.initialize(to: made)
    return UnsafePointer(module)
  }()
}

/// A table as SQLite sees it, followed by our source.
private struct BatchTable {
  var base = sqlite3_vtab()
  var source: Unmanaged<BatchSource>
}

/// A cursor as SQLite sees it, followed by the position of the scan.
private struct BatchScan {
  var base = sqlite3_vtab_cursor()
  var cells: UnsafePointer<ValueCell>?
  var arena: UnsafePointer<UInt8>?
  var links: UnsafePointer<Int64>?
  var linkColumnsUsed = 0
  var batchCount = 0
  var slotCount = 0
  var rowCount = 0
  var row = 0
  var nextKey: Int64 = 0
  var hasExceptions = false
  var removedSeen = 0
  var source: Unmanaged<BatchSource>

  static func of(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<BatchScan> {
    // SQLite passes exactly the pointer that xOpen returned.
    // swift-format-ignore: NeverForceUnwrap
    UnsafeMutableRawPointer(cursor!).assumingMemoryBound(to: BatchScan.self)
  }

  var isAtEnd: Bool { row >= rowCount }

  @inline(__always)
  mutating func advance() {
    if !hasExceptions {
      row &+= 1
      nextKey &+= 1
    } else {
      let numbering = source.takeUnretainedValue().numbering
      if numbering.keysObtained[row] == nil { nextKey += 1 }
      row += 1
      skipRemoved(numbering)
    }
  }

  mutating func skipRemoved(_ numbering: BatchSource.Numbering) {
    while removedSeen < numbering.removedRows.count, numbering.removedRows[removedSeen] == row {
      row += 1
      removedSeen += 1
    }
  }

  var key: Int64 {
    guard hasExceptions else { return nextKey }
    return source.takeUnretainedValue().numbering.keysObtained[row] ?? nextKey
  }
}

private func connectTable(
  _ database: OpaquePointer?, _ client: UnsafeMutableRawPointer?, _ argumentCount: Int32,
  _ arguments: UnsafePointer<UnsafePointer<CChar>?>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
  _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  guard let client, let memory = sqlite3_malloc(Int32(MemoryLayout<BatchTable>.size)) else {
    return SQLITE_NOMEM
  }
  let source = Unmanaged<BatchSource>.fromOpaque(client)
  let code = sqlite3_declare_vtab(database, source.takeUnretainedValue().declaration)
  guard code == SQLITE_OK else {
    sqlite3_free(memory)
    return code
  }
  _ = csqlite_vtab_config_directonly(database)
  memory.bindMemory(to: BatchTable.self, capacity: 1).initialize(to: BatchTable(source: source))
  result?.pointee = memory.assumingMemoryBound(to: sqlite3_vtab.self)
  return SQLITE_OK
}

private func openCursor(
  _ table: UnsafeMutablePointer<sqlite3_vtab>?,
  _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab_cursor>?>?
) -> Int32 {
  guard let table, let memory = sqlite3_malloc(Int32(MemoryLayout<BatchScan>.size)) else {
    return SQLITE_NOMEM
  }
  let source = UnsafeMutableRawPointer(table).assumingMemoryBound(to: BatchTable.self).pointee.source
  memory.bindMemory(to: BatchScan.self, capacity: 1).initialize(to: BatchScan(source: source))
  result?.pointee = memory.assumingMemoryBound(to: sqlite3_vtab_cursor.self)
  return SQLITE_OK
}

private func closeCursor(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
  let scan = BatchScan.of(cursor)
  scan.pointee.source.takeUnretainedValue().lastRow = scan.pointee.row
  sqlite3_free(scan)
  return SQLITE_OK
}

private func startScan(
  _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ plan: Int32, _ planText: UnsafePointer<CChar>?,
  _ argumentCount: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  let scan = BatchScan.of(cursor)
  let source = scan.pointee.source.takeUnretainedValue()
  scan.pointee.cells = source.cells
  scan.pointee.arena = source.arena
  scan.pointee.links = source.links
  scan.pointee.linkColumnsUsed = source.linkColumnsUsed
  scan.pointee.batchCount = source.batchCount
  scan.pointee.slotCount = source.slotCount
  scan.pointee.rowCount = source.rowCount
  scan.pointee.row = source.numbering.rows.lowerBound
  scan.pointee.removedSeen = source.numbering.removedRows.count { $0 < source.numbering.rows.lowerBound }
  scan.pointee.nextKey = source.numbering.firstKey
  scan.pointee.hasExceptions =
    !source.numbering.removedRows.isEmpty || !source.numbering.keysObtained.isEmpty
  if scan.pointee.hasExceptions { scan.pointee.skipRemoved(source.numbering) }
  return SQLITE_OK
}

private func columnValue(
  _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ context: OpaquePointer?, _ column: Int32
) -> Int32 {
  let scan = BatchScan.of(cursor)
  let slot = Int(column) &- 1
  // One comparison for values, which are nearly all: the key has the greatest number without a sign.
  guard UInt(bitPattern: slot) < UInt(bitPattern: scan.pointee.slotCount) else {
    return scan.pointee.setKeyResult(column: slot, to: context)
  }
  guard let cells = scan.pointee.cells else { return SQLITE_MISUSE }
  let cell = cells + (scan.pointee.row &* scan.pointee.slotCount &+ slot)
  // Texts and blobs are passed without a copy: the batch outlives the statement, which copies them to the page.
  switch cell.pointee.kind {
  case .null: break
  case .integer: sqlite3_result_int64(context, cell.pointee.integer)
  case .real: sqlite3_result_double(context, cell.pointee.real)
  case .text: sqlite3_result_text(context, scan.pointee.text(cell.pointee), Int32(cell.pointee.length), nil)
  case .blob: sqlite3_result_blob(context, scan.pointee.text(cell.pointee), Int32(cell.pointee.length), nil)
  case .decimal: sqlite3_result_double(context, scan.pointee.decimal(cell.pointee))
  }
  return SQLITE_OK
}

extension BatchScan {
  /// The row's own key for column -1, or one that a relationship needs.
  fileprivate func setKeyResult(column: Int, to context: OpaquePointer?) -> Int32 {
    guard column >= 0 else {
      sqlite3_result_int64(context, key)
      return SQLITE_OK
    }
    let link = column &- slotCount
    guard link < linkColumnsUsed, let links else { return SQLITE_OK }
    let value = links[link &* batchCount &+ row]
    if value != BatchSource.nullKey { sqlite3_result_int64(context, value) }
    return SQLITE_OK
  }

  /// The address of the bytes of `cell`. Never nil: SQLite would treat a nil pointer as NULL.
  @inline(__always)
  fileprivate func text(_ cell: ValueCell) -> UnsafePointer<CChar>? {
    if let arena {
      return UnsafeRawPointer(arena + cell.offset).assumingMemoryBound(to: CChar.self)
    }
    return UnsafeRawPointer(cells)?.assumingMemoryBound(to: CChar.self)
  }

  fileprivate func decimal(_ cell: ValueCell) -> Double {
    let bytes = UnsafeBufferPointer(start: arena.map { $0 + cell.offset }, count: cell.length)
    return Double(String(decoding: bytes, as: UTF8.self)) ?? .nan
  }
}
