import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// Writes what an undo needs: which entries an input inserted, and what it overwrote.
struct UndoRecords: Sendable {
  private let tables: LedgerTables
  private let overwrittenMax: Int
  /// The number of entries in the table of overwritten ones; nil until it is counted.
  private var overwrittenCount: Int?
  /// The number of the next record; nil until it is read.
  private var nextOrdinal: Int64?
  /// The input for which nothing more is kept, because it overwrote too many entries.
  private var droppedInput: Int64?

  /// The ordinal of the row that says that the values of an input are not kept.
  static let droppedOrdinal: Int64 = -1

  /// As an integer of 64 bits, whatever the type of a sum is.
  private static let sumOfCounts = "CAST(COALESCE(SUM(count), 0) AS BIGINT)"

  init(_ tables: LedgerTables, overwrittenMax: Int) {
    self.tables = tables
    self.overwrittenMax = overwrittenMax
  }

  mutating func didRollBack() {
    (overwrittenCount, nextOrdinal) = (nil, nil)
    droppedInput = nil
  }

  // MARK: Insertions

  /// Records the primary keys of the entries that the save has inserted.
  ///
  /// If the entity's class inserts other objects while it is saved, it is not known which keys are the entries', and
  /// nothing is recorded.
  /// Related objects that the run creates are of another root entity.
  func noteInsertions(_ page: Ledger.Page, ofInput id: Int64, _ transaction: SaveTransaction) throws {
    let count = page.insertedCount
    guard count > 0, count + page.createdCount == transaction.insertedCount, let rootEntity = page.rootEntity else {
      return
    }
    for keys in transaction.insertedKeys(ofRoot: rootEntity) {
      let (first, last) = (StoredValue.integer(keys.lowerBound), StoredValue.integer(keys.upperBound))
      try transaction.run(
        "UPDATE \(tables.inserted) SET lastKey = ? WHERE inputID = ? AND lastKey = ?",
        [last, .integer(id), .integer(keys.lowerBound - 1)])
      // A new range, where none was extended. The server decides which, so that neither statement waits for an answer.
      try transaction.run(
        "INSERT INTO \(tables.inserted) SELECT ?, ?, ? "
          + "WHERE NOT EXISTS (SELECT 1 FROM \(tables.inserted) WHERE inputID = ? AND lastKey = ?)",
        [.integer(id), first, last, .integer(id), last])
    }
  }

  // MARK: Overwritten values

  /// Records the values of entries from before an update.
  ///
  /// - Parameter ordinal: The number of the record. A shard passes the number of its chunk, which no other chunk has; nil
  ///   takes the next free number.
  mutating func note(
    _ entries: OverwrittenEntries, ofInput id: Int64, ordinal: Int64? = nil, _ transaction: SaveTransaction
  ) throws {
    guard entries.count > 0, droppedInput != id else { return }
    if overwrittenCount == nil {
      let row = try transaction.rows("SELECT \(Self.sumOfCounts) FROM \(tables.overwritten)").first
      overwrittenCount = Int(row?[0] as? Int64 ?? 0)
    }
    let kept = try freeSpace(for: entries.count, ofInput: id, transaction)
    guard kept else { return }
    try transaction.run(
      "INSERT INTO \(tables.overwritten) VALUES (?, ?, ?, ?)",
      [
        .integer(id), .integer(try ordinal ?? takeOrdinal(transaction)), .integer(Int64(entries.count)),
        .blob(entries.encoded),
      ])
    overwrittenCount = (overwrittenCount ?? 0) + entries.count
  }

  /// Records of the saves of all inputs have one order.
  private mutating func takeOrdinal(_ transaction: SaveTransaction) throws -> Int64 {
    var ordinal = nextOrdinal ?? 0
    if nextOrdinal == nil {
      let row = try transaction.rows(
        "SELECT MAX(ordinal) FROM (SELECT MAX(ordinal) AS ordinal FROM \(tables.overwritten) "
          + "UNION ALL SELECT MAX(ordinal) FROM \(tables.linked)) AS ordinals"
      ).first
      ordinal = max(0, (row?[0] as? Int64 ?? -1) + 1)
    }
    nextOrdinal = ordinal + 1
    return ordinal
  }

  // MARK: Links

  /// Records the objects whose versions the save counts up because entries are linked to them.
  ///
  /// - Parameter ordinal: The number of the record; that of the chunk for a shard. Where another save has taken it
  ///   meanwhile, the record has the next free one.
  mutating func note(
    _ linked: LinkedKeys, ofInput id: Int64, ordinal: Int64? = nil, _ transaction: SaveTransaction
  ) throws {
    var ordinal = try ordinal ?? takeOrdinal(transaction)
    for (entity, keys) in linked.keys.sorted(by: { $0.key < $1.key }) {
      while try transaction.change(
        "INSERT INTO \(tables.linked) VALUES (?, ?, ?, ?) ON CONFLICT (ordinal, entity) DO NOTHING",
        [.integer(id), .integer(ordinal), .text(entity), .blob(LinkedKeys.encoded(keys))]) == 0
      {
        nextOrdinal = nil
        ordinal = try takeOrdinal(transaction)
      }
    }
  }

  /// Drops the values of the oldest inputs until `count` more fit.
  ///
  /// - Returns: False if the values of the input itself had to be dropped.
  private mutating func freeSpace(
    for count: Int, ofInput id: Int64, _ transaction: SaveTransaction
  ) throws -> Bool {
    while (overwrittenCount ?? 0) + count > overwrittenMax {
      let oldest = try transaction.rows(
        "SELECT inputID, \(Self.sumOfCounts) FROM \(tables.overwritten) GROUP BY inputID HAVING SUM(count) > 0 "
          + "ORDER BY CASE WHEN inputID = ? THEN 1 ELSE 0 END, inputID LIMIT 1", [id]
      ).first
      let input = oldest?[0] as? Int64 ?? id
      try transaction.execute("DELETE FROM \(tables.overwritten) WHERE inputID = ?", [input])
      try transaction.execute(
        "INSERT INTO \(tables.overwritten) VALUES (?, ?, 0, NULL) ON CONFLICT (inputID, ordinal) DO NOTHING",
        [input, Self.droppedOrdinal])
      overwrittenCount = (overwrittenCount ?? 0) - Int(oldest?[1] as? Int64 ?? 0)
      if input == id {
        droppedInput = id
        return false
      }
    }
    return true
  }
}
