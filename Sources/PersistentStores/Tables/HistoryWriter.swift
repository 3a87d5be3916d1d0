import Foundation
import ManagedObjectModel

/// Writes one transaction of the history in the transaction of a save or of a batch request: its row with the first
/// change, and a row for each object.
///
/// As in Apple's stores, insertions come first, then updates, then deletions.
package final class HistoryWriter {
  private let store: any TableStore
  private let rows: any HistoryRows
  /// The key of the transaction; nil before its first change.
  private var transaction: Int64?
  /// How many changes the transaction has.
  private var changeCount = 0
  private var properties: [ObjectIdentifier: TrackedProperties] = [:]
  /// Rows at the other ends of links that a save changes without an object of its own, with the names of the properties.
  private var touched: [TouchedRow: Set<String>] = [:]

  /// The keys of new rows, by table.
  private var newKeys: [String: [ClosedRange<Int64>]] = [:]

  private struct TouchedRow: Hashable {
    let table: String
    let key: Int64
  }

  package init(_ rows: any HistoryRows, of store: any TableStore) {
    (self.rows, self.store) = (rows, store)
  }

  private var connection: any TableStatements { rows.connection }

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
  package func write(_ changes: ChangeSet, inserted: [InsertionResolution], deleted: [RowVersion]) throws {
    for (rows, one) in zip(changes.insertions, inserted) { try insert(rows, one.resolution) }
    var own: Set<TouchedRow> = []
    let links = Dictionary(
      changes.relationships.map { ($0.id.resolved.key, $0.changes.map(\.relationship.name)) },
      uniquingKeysWith: +)
    var updates: [(row: UpdatedRow, names: Set<String>)] = []
    for row in changes.updates {
      let entity = try store.sqlEntity(row.id.entity)
      let touchedRow = TouchedRow(table: entity.tableName, key: try store.key(of: row.id.resolved))
      own.insert(touchedRow)
      if row.isRecreation {
        try add(.insert, row.id.entity, key: touchedRow.key)
        continue
      }
      let attributes = row.id.entity.attributeSlots
      let names = row.changedSlots.map { attributes[$0].name } + (links[row.id.resolved.key] ?? [])
      updates.append((row, Set(names).union(touched[touchedRow] ?? [])))
    }
    for (row, names) in updates { try update(row.id.entity, key: try store.key(of: row.id.resolved), names) }
    for row in deleted {
      own.insert(
        TouchedRow(table: try store.sqlEntity(row.id.entity).tableName, key: try store.key(of: row.id.resolved)))
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
    return number.flatMap { store.idSpaces[Int($0)]?.entity }
  }

  private func insert(_ rows: InsertedRows, _ resolution: TemporaryIDRange.Resolution) throws {
    let table = try store.sqlEntity(rows.batch.entity).tableName
    let obtained = rows.range.keysObtained.filter { rows.removedRows.insertionIndex(ifAbsent: $0.key) != nil }
    let count = Int64(rows.liveCount - obtained.count)
    if count > 0 { try insertions(in: table, keys: resolution.firstKey...(resolution.firstKey + count - 1)) }
    for key in obtained.values.sorted() { try insertions(in: table, keys: key...key) }
  }

  /// Notes the new rows of a table with `keys`, in one statement.
  private func insertions(in table: String, keys: ClosedRange<Int64>) throws {
    newKeys[table, default: []].append(keys)
    let number = try transactionKey()
    let count = try insert(
      SQLFragment("\(HistoryChange.Kind.insert.rawValue), t0.Z_ENT, t0.Z_PK, ?, NULL", [.integer(number)]), of: table,
      SQLFragment(" WHERE t0.Z_PK BETWEEN ? AND ?", [keys.lowerBound, keys.upperBound].map(StoredValue.integer))
    ) { SQLFragment("t0.Z_PK + ?", [.integer($0 - keys.lowerBound)]) }
    note(count, keys: count == 0 ? 0 : keys.count)
  }

  private static let names = ["Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]

  /// Makes a change of each row of a table that a condition finds, in the order of their keys.
  ///
  /// - Parameters:
  ///   - values: Those of all columns but the first.
  ///   - tombstones: How many values are preserved.
  ///   - key: The key of a row's change, if changes get their keys here; its parameter is the first one.
  /// - Returns: The number of changes.
  private func insert(
    _ values: SQLFragment, of table: String, _ condition: SQLFragment, tombstones: Int = 0,
    key: (_ first: Int64) -> SQLFragment
  ) throws -> Int {
    let first = try rows.nextChangeKey()
    let names = (first == nil ? [] : ["Z_PK"]) + Self.names + (0..<tombstones).map { "ZTOMBSTONE\($0)" }
    let statement =
      SQLFragment("INSERT INTO ACHANGE(\(names.joined(separator: ", "))) SELECT ")
      + (first.map { key($0) + SQLFragment(", ") } ?? SQLFragment(""))
      + SQLFragment("\(HistoryTables.Entity.change.rawValue), ") + values + SQLFragment(" FROM \(table) t0") + condition
      + SQLFragment(" ORDER BY t0.Z_PK")
    return try connection.change(statement.text, statement.bindings)
  }

  private func note(_ count: Int, keys: Int) {
    changeCount += count
    rows.noteChangeKeys(keys)
  }

  private func update(_ entity: NSEntityDescription, key: Int64, _ names: Set<String>) throws {
    try add(.update, entity, key: key, columns: tracked(entity).bits(of: names))
  }

  private func delete(_ row: RowVersion) throws {
    let slots = PreservedAttributes(row.id.entity).slots
    let values = slots.map { slot in
      let value = row.base.values.indices.contains(slot) ? row.base.values[slot] : .null
      return rows.tombstone(value, row.id.entity.attributeSlots[slot])
    }
    try add(.delete, row.id.entity, key: try store.key(of: row.id.resolved), tombstone: values)
  }

  private func tracked(_ entity: NSEntityDescription) -> TrackedProperties {
    if let known = properties[ObjectIdentifier(entity)] { return known }
    let made = TrackedProperties(entity)
    properties[ObjectIdentifier(entity)] = made
    return made
  }

  private func add(
    _ kind: HistoryChange.Kind, _ entity: NSEntityDescription, key row: Int64, columns: StoredValue = .null,
    tombstone: [StoredValue] = []
  ) throws {
    let key = try rows.nextChangeKey()
    let names = (key == nil ? [] : ["Z_PK"]) + Self.names + tombstone.indices.map { "ZTOMBSTONE\($0)" }
    let values =
      [key.map(StoredValue.integer)].compactMap(\.self) + [
        .integer(Int64(HistoryTables.Entity.change.rawValue)), .integer(Int64(kind.rawValue)),
        .integer(Int64(try store.sqlEntity(entity).number)), .integer(row), .integer(try transactionKey()),
        columns,
      ] + tombstone
    let marks = values.map { _ in "?" }.joined(separator: ", ")
    try connection.run("INSERT INTO ACHANGE(\(names.joined(separator: ", "))) VALUES(\(marks))", values)
    note(1, keys: 1)
  }

  // MARK: Batch requests

  /// The rows that a statement is about to delete, or to update.
  ///
  /// - Parameters:
  ///   - names: The properties that an update changes; nil for a deletion.
  ///   - condition: The text after the table's name, in which the table is `t0`.
  package func noteRows(
    of entity: NSEntityDescription, changing names: Set<String>?, where condition: SQLFragment
  ) throws {
    let table = try store.sqlEntity(entity).tableName
    let family = store.idSpaces.filter { $0.value.entity.rootEntity === entity.rootEntity }
    for (number, space) in family.sorted(by: { $0.key < $1.key }) {
      let preserved = names == nil ? PreservedAttributes(space.entity).slots : []
      let stored = try store.sqlEntity(space.entity).attributeColumns
      let tombstone = preserved.map { slot in
        stored[slot].map { rows.tombstone(of: "t0.\($0.name)", space.entity.attributeSlots[slot]) } ?? "NULL"
      }
      let columns = names.map { tracked(space.entity).bits(of: $0) } ?? .null
      let kind = names == nil ? HistoryChange.Kind.delete : .update
      let values = SQLFragment(
        "\(kind.rawValue), t0.Z_ENT, t0.Z_PK, ?, \(columns.isNull ? "NULL" : "?")"
          + tombstone.map { ", \($0)" }.joined(),
        [.integer(try transactionKey())] + (columns.isNull ? [] : [columns]))
      let count = try insert(
        values, of: table,
        SQLFragment(" WHERE t0.Z_ENT = \(number) AND t0.Z_PK IN (SELECT t0.Z_PK FROM \(table) t0") + condition
          + SQLFragment(")"), tombstones: tombstone.count
      ) { SQLFragment("? + row_number() OVER (ORDER BY t0.Z_PK)", [.integer($0 - 1)]) }
      note(count, keys: count)
    }
  }

  /// - Parameters:
  ///   - keys: Those of the new rows; a row that was left out has none.
  ///   - overwritten: Objects that got all attributes of a new row, which has the same unique values.
  package func note(inserted keys: ClosedRange<Int64>, in entity: SQLEntity, overwritten: [NSManagedObjectID]) throws {
    try insertions(in: entity.tableName, keys: keys)
    for id in overwritten {
      let names = id.entity.attributeSlots.filter { !$0.isTransient }.map(\.name)
      try update(id.entity, key: try store.key(of: id.resolved), Set(names))
    }
  }

  // MARK: The transaction

  private func transactionKey() throws -> Int64 {
    if let transaction { return transaction }
    let key = try rows.beginTransaction()
    transaction = key
    return key
  }

  /// Ends the transaction. One that changed nothing leaves no row.
  package func finish() throws {
    if let transaction { try rows.endTransaction(transaction, isUsed: changeCount > 0) }
  }
}
