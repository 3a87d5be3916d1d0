import ManagedObjectModel
import CSQLite
import Foundation

extension SQLiteStore {
  package func beginSave(of changes: ChangeSet) throws -> any SaveWriter {
    try SQLiteSaveWriter(self, changes)
  }

  /// Writes changes in the open transaction.
  ///
  /// - Returns: The keys of the inserted rows, for use after the commit.
  func write(_ changes: ChangeSet, _ connection: SQLiteConnection) throws -> [InsertionResolution] {
    // A unique value may move from a deleted object to a changed or new one in the same save.
    var faults = SaveFaults()
    let history = try historyWriter(connection)
    let deleted = try present(changes, connection)
    try check(changes.checks, on: connection, faults: &faults)
    try delete(changes.deletions, on: connection, faults: &faults)
    try delete(changes.deletedRows, on: connection, faults: &faults)
    try update(changes.updates, on: connection, faults: &faults)
    let resolutions = try insert(changes, on: connection, history: history, faults: &faults)
    if let failure = faults.failure { throw failure }
    try writeRelationships(changes, inserted: resolutions, connection, history: history)
    try history?.write(changes, inserted: resolutions, deleted: deleted)
    if hasUnsavedMetadata { try metadataState.write { try connection.write($0) } }
    return resolutions
  }

  private func writeRelationships(
    _ changes: ChangeSet, inserted: [InsertionResolution], _ connection: SQLiteConnection, history: HistoryWriter?
  ) throws {
    let deleted = try deletedKeys(changes)
    guard !changes.relationships.isEmpty || !deleted.isEmpty else { return }
    let writer = RelationshipWriter(self, connection, inserted: inserted, history: history)
    try writer.write(changes)
    try writer.forget(deleted)
    for keys in deleted {
      let references = try RowReferences(to: keys.entity, in: self)
      if !references.isEmpty { try references.check(keys, connection) }
    }
  }

  package var takesPackedLinks: Bool { true }

  /// Whether a save only reads this store: it has just rows that must be unchanged since they were read.
  func takesWithoutWriting(_ changes: ChangeSet) -> Bool { changes.isEmpty && !hasUnsavedMetadata }

  // MARK: Insertions

  private func insert(
    _ changes: ChangeSet, on connection: SQLiteConnection, history: HistoryWriter?, faults: inout SaveFaults
  ) throws -> [InsertionResolution] {
    let insertions = changes.insertions
    var keys = KeySequences(connection)
    var search = UniquenessSearch(self, connection)
    // All keys first: a row may lead to one that is written after it.
    let numberings = try insertions.map { rows in
      let obtained = rows.range.keysObtained
      let taken = obtained.keys.count { rows.removedRows.insertionIndex(ifAbsent: $0) != nil }
      return BatchSource.Numbering(
        firstKey: try keys.take(rows.liveCount - taken, of: try sqlEntity(rows.batch.entity)),
        removedRows: rows.removedRows, keysObtained: obtained)
    }
    let resolutions = zip(insertions, numberings).map { rows, numbering in
      InsertionResolution(
        range: rows.range,
        resolution: TemporaryIDRange.Resolution(
          store: identity, firstKey: numbering.firstKey, removedRows: rows.removedRows),
        rowCount: rows.liveCount)
    }
    var links = PackedLinkWriter(self, connection, of: changes, inserted: resolutions, history: history)
    for (index, rows) in insertions.enumerated() {
      let (entity, numbering) = (try sqlEntity(rows.batch.entity), numberings[index])
      rows.sharedIDs.prepare(rows, expecting: resolutions[index].resolution)
      search.noteWritten(rows, numbering)
      var insertion = try BatchInsertion(
        rows, numbering, links: try links.columns(of: rows, entity), entity: entity, store: self,
        connection: connection)
      try insertion.run { row, error in
        let id = rows.objectID(row: row)
        faults.refuse(id, error, obstacle: try search.obstacle(to: id, rows.batch.values(row: row), ownKey: nil))
      }
    }
    if faults.failure == nil { try links.changeOtherEnds() }
    try keys.store()
    return resolutions
  }

  func batchSource(
    for batch: ObjectBatch, _ entity: SQLEntity, _ connection: SQLiteConnection
  ) throws -> BatchSource {
    if let known = batchSources[entity.name] { return known }
    let made = try BatchSource(
      connection: connection, entityName: entity.name, slotCount: batch.slotCount,
      linkColumnCount: LinkColumns.countMax(of: entity))
    batchSources[entity.name] = made
    return made
  }

  /// - Parameters:
  ///   - links: The columns that relationships fill.
  ///   - givesKeys: Whether rows already have keys; otherwise SQLite continues from the greatest existing key.
  func insertText(
    _ entity: SQLEntity, _ source: BatchSource, links: [String] = [], givesKeys: Bool = true
  ) -> String {
    let stored = entity.writtenColumns.map { slot, column in
      (column: column.name, source: content(of: "s\(slot)", key: "pk", slot: slot, column, entity))
    }
    let columns = (givesKeys ? ["Z_PK"] : []) + ["Z_ENT", "Z_OPT"] + stored.map(\.column) + links
    let values =
      (givesKeys ? ["pk"] : []) + ["\(entity.number)", "1"] + stored.map(\.source) + links.indices.map { "r\($0)" }
    return "INSERT INTO \(entity.tableName)(\(columns.joined(separator: ", "))) "
      + "SELECT \(values.joined(separator: ", ")) FROM \(source.tableName)"
  }

  // MARK: Updates and deletions

  private func update(
    _ updates: [UpdatedRow], on connection: SQLiteConnection, faults: inout SaveFaults
  ) throws {
    let counted = try countVersions(of: updates, on: connection)
    let rest = updates.enumerated().filter { !counted.contains($0.offset) }.map(\.element)
    if !rest.isEmpty { try UpdatedRowWriter(self, connection).write(rest, faults: &faults) }
  }

  /// Objects without changes whose rows must be unchanged since they were read (`detectConflicts(for:)`).
  private func check(
    _ checks: [RowVersion], on connection: SQLiteConnection, faults: inout SaveFaults
  ) throws {
    for row in checks {
      let table = try sqlEntity(row.id.entity).tableName
      let version = try connection.integer(
        "SELECT Z_OPT FROM \(table) WHERE Z_PK = ?", [.integer(try key(of: row.id))])
      guard version != row.version else { continue }
      faults.conflict(row.id, message: "its row was changed or deleted by another context", row: try currentRow(row.id))
    }
  }

  /// The row of `id` as the open transaction sees it.
  func currentRow(_ id: NSManagedObjectID) throws -> FetchedRow? {
    // A conflict can be resolved without a value whose file is missing; the row keeps it.
    try writingReader().rows(for: [id], leavingOut: MissingValues())[0]
  }

  // MARK: Keys before the save

  /// Allocates keys for `ids` now, in a separate transaction.
  package func obtainPermanentIDs(for ids: [NSManagedObjectID]) throws {
    guard !isReadOnly else { throw readOnlyError }
    let obtained = try access("Allocating keys in") { connection in
      try checkTransaction(connection)
      return try connection.transaction {
        var keys = KeySequences(connection)
        var obtained: [(range: TemporaryIDRange, row: Int, key: Int64)] = []
        for id in ids {
          guard case .temporary(let range, let row) = id.reference, range.permanent(row: row) == nil else {
            continue
          }
          obtained.append((range, row, try keys.take(1, of: try sqlEntity(id.entity))))
        }
        try keys.store()
        return obtained
      }
    }
    // Only now: keys of a failed transaction are allocated again.
    for one in obtained { one.range.obtain(one.key, row: one.row, from: identity) }
  }
}

/// The key sequences of `Z_PRIMARYKEY`, read once per transaction and written back at its end. New keys are greater
/// than all existing keys, even if the sequence is behind them.
struct KeySequences {
  private let connection: SQLiteConnection
  private var lastKeys: [Int: Int64] = [:]

  init(_ connection: SQLiteConnection) { self.connection = connection }

  /// The first of `count` keys in a row for objects of `entity`.
  ///
  /// - Throws: `NSError` 134070 if no keys are left: the sequence or the key of a row is damaged.
  mutating func take(_ count: Int, of entity: SQLEntity) throws -> Int64 {
    let root = entity.rootNumber
    let last =
      try lastKeys[root]
      ?? connection.integer(
        "SELECT max(coalesce(Z_MAX, 0), coalesce((SELECT max(Z_PK) FROM \(entity.tableName)), 0)) "
          + "FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(root))]) ?? 0
    if count > 0 { try NSError.checkKey(last, of: entity.name, in: entity.tableName) }
    lastKeys[root] = last + Int64(count)
    return last == .max ? last : last + 1
  }

  func store() throws {
    for (root, last) in lastKeys.sorted(by: { $0.key < $1.key }) {
      try connection.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last), .integer(Int64(root))])
    }
  }
}
