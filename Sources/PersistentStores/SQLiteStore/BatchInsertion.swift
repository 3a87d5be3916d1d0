import ManagedObjectModel

/// Writes the rows of one batch, and if a row is refused goes on to find every row that is: the caller rolls back then.
struct BatchInsertion {
  private let rows: InsertedRows
  private let source: BatchSource
  private let connection: SQLiteConnection
  /// Takes the keys from the batch, and looks for each whether it is taken.
  private let statement: SQLiteStatement
  /// Has SQLite count on from the row before, which spares a fifth of a row's time. Nil where there are few rows, where
  /// keys do not follow each other, and where a trigger would see rows before they have their keys.
  private let countingStatement: SQLiteStatement?
  private static let rowsWorthCounting = 256
  /// Which rows are next.
  private var numbering: BatchSource.Numbering

  init(
    _ rows: InsertedRows, _ numbering: BatchSource.Numbering, _ entity: SQLEntity, _ store: SQLiteStore,
    _ connection: SQLiteConnection
  ) throws {
    self.rows = rows
    self.numbering = numbering
    self.connection = connection
    source = try store.batchSource(for: rows.batch, entity, connection)
    statement = try connection.statement(store.insertText(entity, source))
    let countsKeys =
      try rows.batch.count >= Self.rowsWorthCounting && numbering.keysObtained.isEmpty
      && !Self.hasTriggers(entity, connection)
    countingStatement =
      countsKeys ? try connection.statement(store.insertText(entity, source, givesKeys: false)) : nil
  }

  private static func hasTriggers(_ entity: SQLEntity, _ connection: SQLiteConnection) throws -> Bool {
    try connection.integer(
      "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE LIMIT 1",
      [.text(entity.tableName)]) != nil
  }

  /// - Throws: `SQLiteError` for what no row is to blame for.
  mutating func run(refused: (_ row: Int, _ error: SQLiteError) throws -> Void) throws {
    let end = rows.batch.count
    var (next, counting) = (0, SQLiteStatement?.none)
    while next < end {
      // Where SQLite is to count on, one row goes first and says from where.
      let showsOne = countingStatement != nil && counting == nil
      numbering.rows = next..<(showsOne ? rows.liveRows(from: next).first.map { $0 + 1 } ?? end : end)
      do {
        try source.insert(rows.batch, numbering, with: counting ?? statement)
        counting = countingStatement
      } catch let error as SQLiteError where error.isConstraint && connection.isInTransaction {
        guard let fault = try findFault() else { throw error }
        try refused(fault, error)
        // A refused row keeps its key, so that those behind it have the keys that they would have without it.
        numbering.rows = fault..<(fault + 1)
        counting = nil
      }
      numbering.firstKey += Int64(numbering.sequentialCount)
      next = numbering.rows.upperBound
    }
  }

  /// The row at which the last statement failed, the rows before it written.
  ///
  /// The failed statement took back what it had written, so they go in again. Where the table has triggers, SQLite
  /// gathers all rows before it writes the first, and the cursor does not tell: then rows go in one by one.
  private mutating func findFault() throws -> Int? {
    let range = numbering.rows
    let last = source.lastRow
    let steps = range.contains(last) ? [range.lowerBound..<last] : range.map { $0..<($0 + 1) }
    for step in steps {
      numbering.rows = step
      do {
        try source.insert(rows.batch, numbering, with: statement)
      } catch let error as SQLiteError where error.isConstraint && connection.isInTransaction {
        return step.lowerBound
      }
      numbering.firstKey += Int64(numbering.sequentialCount)
    }
    return range.contains(last) ? last : nil
  }
}
