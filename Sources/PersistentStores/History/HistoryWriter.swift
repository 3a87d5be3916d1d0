import Foundation
import ManagedObjectModel

/// Writes one transaction of the history in the transaction of a save or of a batch request: its row with the first
/// change, and a row for each object.
///
/// As in Apple's stores, insertions come first, then updates, then deletions.
final class HistoryWriter {
  private let entities: HistoryEntities
  private let connection: SQLiteConnection
  private let origin: ChangeOrigin
  /// The last key of each entity, read when the first is needed.
  private var lastKeys: [HistoryTables.Entity: Int64] = [:]
  private var transaction: Int64?
  private var properties: [ObjectIdentifier: TrackedProperties] = [:]
  /// Rows at the other ends of links that a save changes without an object of its own, with the names of the properties.
  private var touched: [TouchedRow: Set<String>] = [:]

  /// The keys of new rows, by table.
  private var newKeys: [String: [ClosedRange<Int64>]] = [:]

  private struct TouchedRow: Hashable {
    let table: String
    let key: Int64
  }

  init(_ connection: SQLiteConnection, entities: HistoryEntities, origin: ChangeOrigin) {
    (self.connection, self.entities, self.origin) = (connection, entities, origin)
  }

  // MARK: A save

  /// A row whose property a save changes although it has no change of it.
  func touch(_ property: String, of key: Int64, in table: String) {
    touched[TouchedRow(table: table, key: key), default: []].insert(property)
  }

  /// Called when all rows of a save are written.
  ///
  /// - Parameters:
  ///   - inserted: The keys of the insertions, in their order.
  ///   - deleted: The deletions whose rows were still there.
  func write(_ changes: ChangeSet, inserted: [InsertionResolution], deleted: [RowVersion]) throws {
    for (rows, one) in zip(changes.insertions, inserted) { try insert(rows, one.resolution) }
    var own: Set<TouchedRow> = []
    let links = Dictionary(
      changes.relationships.map { ($0.id.resolved.key, $0.changes.map(\.relationship.name)) },
      uniquingKeysWith: +)
    var updates: [(row: UpdatedRow, names: Set<String>)] = []
    for row in changes.updates {
      let entity = try entities.sqlEntity(row.id.entity)
      let touchedRow = TouchedRow(table: entity.tableName, key: try entities.key(of: row.id))
      own.insert(touchedRow)
      if row.isRecreation {
        try add(.insert, row.id.entity, key: touchedRow.key)
        continue
      }
      let attributes = row.id.entity.attributeSlots
      let names = row.changedSlots.map { attributes[$0].name } + (links[row.id.resolved.key] ?? [])
      updates.append((row, Set(names).union(touched[touchedRow] ?? [])))
    }
    for (row, names) in updates { try update(row.id.entity, key: try entities.key(of: row.id), names) }
    for row in deleted {
      own.insert(TouchedRow(table: try entities.sqlEntity(row.id.entity).tableName, key: try entities.key(of: row.id)))
    }
    let ordered = touched.sorted { ($0.key.table, $0.key.key) < ($1.key.table, $1.key.key) }
    for (row, names) in ordered where !own.contains(row) {
      if newKeys[row.table]?.contains(where: { $0.contains(row.key) }) == true { continue }
      guard let entity = try entity(of: row) else { continue }
      try update(entity, key: row.key, names)
    }
    for row in deleted { try delete(row) }
    try finish()
  }

  private func entity(of row: TouchedRow) throws -> NSEntityDescription? {
    let number = try connection.integer("SELECT Z_ENT FROM \(row.table) WHERE Z_PK = ?", [.integer(row.key)])
    return number.flatMap { entities.idSpaces[Int($0)]?.entity }
  }

  private func insert(_ rows: InsertedRows, _ resolution: TemporaryIDRange.Resolution) throws {
    let table = try entities.sqlEntity(rows.batch.entity).tableName
    let obtained = rows.range.keysObtained.filter { rows.removedRows.insertionIndex(ifAbsent: $0.key) != nil }
    let count = Int64(rows.liveCount - obtained.count)
    if count > 0 { try insertions(in: table, keys: resolution.firstKey...(resolution.firstKey + count - 1)) }
    for key in obtained.values.sorted() { try insertions(in: table, keys: key...key) }
  }

  /// Notes the new rows of a table with `keys`, in one statement.
  private func insertions(in table: String, keys: ClosedRange<Int64>) throws {
    newKeys[table, default: []].append(keys)
    let number = try transactionNumber()
    let offset = try lastKey(of: .change) + 1 - keys.lowerBound
    try connection.run(
      "INSERT INTO ACHANGE(Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) "
        + "SELECT Z_PK + ?, \(HistoryTables.Entity.change.rawValue), \(HistoryChange.Kind.insert.rawValue), Z_ENT, Z_PK, "
        + "? FROM \(table) WHERE Z_PK BETWEEN ? AND ?",
      [offset, number, keys.lowerBound, keys.upperBound].map(StoredValue.integer))
    if connection.changedRowCount > 0 { lastKeys[.change] = offset + keys.upperBound }
  }

  private func update(_ entity: NSEntityDescription, key: Int64, _ names: Set<String>) throws {
    try add(.update, entity, key: key, columns: tracked(entity).bits(of: names))
  }

  private func delete(_ row: RowVersion) throws {
    let preserved = PreservedAttributes(row.id.entity)
    let values = preserved.slots.map { row.base.values.indices.contains($0) ? row.base.values[$0] : .null }
    try add(.delete, row.id.entity, key: try entities.key(of: row.id), tombstone: values)
  }

  private func tracked(_ entity: NSEntityDescription) -> TrackedProperties {
    if let known = properties[ObjectIdentifier(entity)] { return known }
    let made = TrackedProperties(entity)
    properties[ObjectIdentifier(entity)] = made
    return made
  }

  private func add(
    _ kind: HistoryChange.Kind, _ entity: NSEntityDescription, key: Int64, columns: StoredValue = .null,
    tombstone: [StoredValue] = []
  ) throws {
    let names = tombstone.indices.map { ", ZTOMBSTONE\($0)" }.joined()
    let marks = tombstone.map { _ in ", ?" }.joined()
    try connection.run(
      "INSERT INTO ACHANGE(Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(names)) "
        + "VALUES(?, \(HistoryTables.Entity.change.rawValue), ?, ?, ?, ?, ?\(marks))",
      [
        .integer(try nextKey(of: .change)), .integer(Int64(kind.rawValue)),
        .integer(Int64(try entities.sqlEntity(entity).number)), .integer(key), .integer(try transactionNumber()),
        columns,
      ] + tombstone)
  }

  // MARK: Batch requests

  /// The rows that a statement is about to delete, or to update.
  ///
  /// - Parameters:
  ///   - names: The properties that an update changes; nil for a deletion.
  ///   - condition: The text after the table's name, in which the table is `t0`.
  func noteRows(
    of entity: NSEntityDescription, changing names: Set<String>?, where condition: SQLFragment
  ) throws {
    let table = try entities.sqlEntity(entity).tableName
    let family = entities.idSpaces.filter { $0.value.entity.rootEntity === entity.rootEntity }
    for (number, space) in family.sorted(by: { $0.key < $1.key }) {
      let preserved = names == nil ? PreservedAttributes(space.entity) : nil
      let stored = try entities.sqlEntity(space.entity).attributeColumns
      let tombstone = (preserved?.slots ?? []).map { stored[$0].map { "t0.\($0.name)" } ?? "NULL" }
      let columns = names.map { tracked(space.entity).bits(of: $0) } ?? .null
      let kind = names == nil ? HistoryChange.Kind.delete : .update
      let last = try lastKey(of: .change)
      let insertion = SQLFragment(
        "INSERT INTO ACHANGE(Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS"
          + tombstone.indices.map { ", ZTOMBSTONE\($0)" }.joined() + ") "
          + "SELECT ? + row_number() OVER (ORDER BY t0.Z_PK), \(HistoryTables.Entity.change.rawValue), ?, t0.Z_ENT, "
          + "t0.Z_PK, ?, ?" + tombstone.map { ", \($0)" }.joined() + " FROM \(table) t0 "
          + "WHERE t0.Z_ENT = \(number) AND t0.Z_PK IN (SELECT t0.Z_PK FROM \(table) t0",
        [.integer(last), .integer(Int64(kind.rawValue)), .integer(try transactionNumber()), columns])
      let statement = insertion + condition + SQLFragment(")")
      try connection.run(statement.text, statement.bindings)
      lastKeys[.change] = last + Int64(connection.changedRowCount)
    }
  }

  /// - Parameters:
  ///   - keys: Those of the new rows; a row that was left out has none.
  ///   - overwritten: Objects that got all attributes of a new row, which has the same unique values.
  func note(inserted keys: ClosedRange<Int64>, in entity: SQLEntity, overwritten: [NSManagedObjectID]) throws {
    try insertions(in: entity.tableName, keys: keys)
    for id in overwritten {
      let names = id.entity.attributeSlots.filter { !$0.isTransient }.map(\.name)
      try update(id.entity, key: try entities.key(of: id), Set(names))
    }
  }

  // MARK: The transaction's row

  private func transactionNumber() throws -> Int64 {
    if let transaction { return transaction }
    let number = try nextKey(of: .transaction)
    transaction = number
    let process = ProcessInfo.processInfo.processName
    let names = [origin.author, Bundle.main.bundleIdentifier ?? process, origin.contextName, process]
    try connection.run(
      "INSERT INTO ATRANSACTION(Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZTIMESTAMP) "
        + "VALUES(?, \(HistoryTables.Entity.transaction.rawValue), ?, ?, ?, ?, ?)",
      [.integer(number)] + (try names.map(key(of:))) + [.real(Date().timeIntervalSinceReferenceDate)])
    return number
  }

  /// The key of a text, which the table of texts has once.
  private func key(of text: String?) throws -> StoredValue {
    guard let text else { return .null }
    let find = "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?"
    if let known = try connection.integer(find, [.text(text)]) { return .integer(known) }
    let key = StoredValue.integer(try nextKey(of: .string))
    try connection.run(
      "INSERT INTO ATRANSACTIONSTRING(Z_PK, Z_ENT, ZNAME) VALUES(?, \(HistoryTables.Entity.string.rawValue), ?)",
      [key, .text(text)])
    return key
  }

  private func nextKey(of entity: HistoryTables.Entity) throws -> Int64 {
    let key = try lastKey(of: entity) + 1
    lastKeys[entity] = key
    return key
  }

  private func lastKey(of entity: HistoryTables.Entity) throws -> Int64 {
    if let known = lastKeys[entity] { return known }
    let last = try connection.lastHistoryKey(of: entity)
    lastKeys[entity] = last
    return last
  }

  /// Keeps the key sequences. A transaction that changed nothing leaves no row.
  func finish() throws {
    guard let transaction else { return }
    let isUsed = try connection.integer(
      "SELECT 1 FROM ACHANGE WHERE ZTRANSACTIONID = ? LIMIT 1", [.integer(transaction)])
    if isUsed == nil {
      try connection.run("DELETE FROM ATRANSACTION WHERE Z_PK = ?", [.integer(transaction)])
      lastKeys[.transaction] = transaction - 1
    }
    for (entity, last) in lastKeys {
      try connection.run(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", [.integer(last), .integer(Int64(entity.rawValue))])
    }
  }
}

extension SQLiteConnection {
  /// The last key of a history table, also if its row is deleted; 0 before the first.
  func lastHistoryKey(of entity: HistoryTables.Entity) throws -> Int64 {
    try integer(
      "SELECT max(coalesce((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?), 0), "
        + "coalesce((SELECT max(Z_PK) FROM \(entity.table)), 0))", [.integer(Int64(entity.rawValue))]) ?? 0
  }
}
