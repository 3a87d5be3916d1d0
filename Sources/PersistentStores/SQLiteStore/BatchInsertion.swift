import ManagedObjectModel

/// Writes the rows of one batch. After a refused row it continues to find all refused rows; the caller then rolls back.
struct BatchInsertion {
  private let rows: InsertedRows
  private let links: LinkColumns
  private let source: BatchSource
  private let connection: SQLiteConnection
  /// Takes the keys from the batch and checks each for uniqueness.
  private let statement: SQLiteStatement
  /// Lets SQLite assign each key as the previous key plus 1, which saves a fifth of a row's time. Nil for few rows, for
  /// keys that are not consecutive, and if a trigger would see rows before they have their keys.
  private let autoKeyStatement: SQLiteStatement?
  private static let autoKeyRowsMin = 256
  /// The next rows to write.
  private var numbering: BatchSource.Numbering

  init(
    _ rows: InsertedRows, _ numbering: BatchSource.Numbering, links: LinkColumns, entity: SQLEntity,
    store: SQLiteStore, connection: SQLiteConnection
  ) throws {
    self.rows = rows
    self.links = links
    self.numbering = numbering
    self.connection = connection
    source = try store.batchSource(for: rows.batch, entity, connection)
    statement = try connection.statement(store.insertText(entity, source, links: links.names))
    let usesAutoKeys =
      try rows.batch.count >= Self.autoKeyRowsMin && numbering.keysObtained.isEmpty
      && !store.computedTables.contains(entity.tableName) && !Self.hasTriggers(entity, connection)
    autoKeyStatement =
      usesAutoKeys
      ? try connection.statement(store.insertText(entity, source, links: links.names, givesKeys: false)) : nil
  }

  private static func hasTriggers(_ entity: SQLEntity, _ connection: SQLiteConnection) throws -> Bool {
    try connection.integer(
      "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE LIMIT 1",
      [.text(entity.tableName)]) != nil
  }

  /// - Throws: `SQLiteError` for errors that are not caused by a row.
  mutating func run(refused: (_ row: Int, _ error: SQLiteError) throws -> Void) throws {
    let end = rows.batch.count
    var (next, autoKey) = (0, SQLiteStatement?.none)
    while next < end {
      // For automatic keys, the first row is written separately and sets the start.
      let showsOne = autoKeyStatement != nil && autoKey == nil
      numbering.rows = next..<(showsOne ? rows.liveRows(from: next).first.map { $0 + 1 } ?? end : end)
      do {
        try source.insert(rows.batch, numbering, links: links.values, with: autoKey ?? statement)
        autoKey = autoKeyStatement
      } catch let error as SQLiteError where error.isConstraint && connection.isInTransaction {
        guard let fault = try findFault() else { throw error }
        try refused(fault, error)
        // A refused row keeps its key, so that the rows after it have the same keys as without the refusal.
        numbering.rows = fault..<(fault + 1)
        autoKey = nil
      }
      numbering.firstKey += Int64(numbering.sequentialCount)
      next = numbering.rows.upperBound
    }
  }

  /// The row at which the last statement failed, with the rows before it written.
  ///
  /// The failed statement rolled back its rows, so they are inserted again. If the table has triggers, SQLite
  /// materialises all rows before it writes the first, and the cursor position is not meaningful: then rows are
  /// inserted one by one.
  private mutating func findFault() throws -> Int? {
    let range = numbering.rows
    let last = source.lastRow
    let steps = range.contains(last) ? [range.lowerBound..<last] : range.map { $0..<($0 + 1) }
    for step in steps {
      numbering.rows = step
      do {
        try source.insert(rows.batch, numbering, links: links.values, with: statement)
      } catch let error as SQLiteError where error.isConstraint && connection.isInTransaction {
        return step.lowerBound
      }
      numbering.firstKey += Int64(numbering.sequentialCount)
    }
    return range.contains(last) ? last : nil
  }
}
