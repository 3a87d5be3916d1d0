import Foundation
import ManagedObjectModel
import PersistentStores

/// Writes the changes of a save in the open transaction of a connection.
final class ChangeWriter {
  private let store: PostgreSQLStore
  private let connection: PostgreSQLConnection
  /// Whether rows that must be unchanged are kept from other writers until the end of the transaction.
  private let locksRows: Bool
  /// Whether others may have changed the same relationships, where a save changes only relationships of a row.
  private let sharesLinks: Bool
  private var faults = SaveFaults()
  /// The rows of this save by table and key, to name an object that has taken a unique value.
  private var inserted: [(rows: InsertedRows, keys: [(row: Int, key: Int64)])] = []

  init(_ store: PostgreSQLStore, _ connection: PostgreSQLConnection, locksRows: Bool, sharesLinks: Bool) {
    self.store = store
    self.connection = connection
    (self.locksRows, self.sharesLinks) = (locksRows, sharesLinks)
  }

  /// - Returns: The keys of the inserted rows, for use after the commit.
  func write(_ changes: ChangeSet) throws -> [InsertionResolution] {
    let history = store.historyWriter(connection)
    let present = history == nil ? [] : try present(changes.singleDeletions)
    // A unique value may move from a deleted object to a changed or new one in the same save.
    try check(changes.checks)
    try delete(changes)
    try update(changes.updates)
    let resolutions = try insert(changes, history)
    if let failure = faults.failure { throw failure }
    try writeRelationships(changes, resolutions, history: history)
    try history?.write(changes, inserted: resolutions, deleted: present)
    if store.hasUnsavedMetadata {
      try store.metadataState.write { metadata in
        try connection.send("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(try metadata.propertyList())])
      }
    }
    return resolutions
  }

  /// Those of `deletions` whose rows are there. Another program may have deleted the others, and noted it.
  private func present(_ deletions: [RowVersion]) throws -> [RowVersion] {
    let byTable = try Dictionary(grouping: deletions) { try store.sqlEntity($0.id.entity).tableName }
    var found: [String: Set<Int64>] = [:]
    for (table, rows) in byTable {
      let condition = RowPlan.condition("Z_PK", try rows.map { try key(of: $0.id) })
      let result = try connection.query(
        "SELECT Z_PK FROM \(table) WHERE \(condition.text) ORDER BY Z_PK FOR UPDATE", condition.bindings)
      found[table] = Set((0..<result.rowCount).map { result.integer($0, 0) })
    }
    return try deletions.filter { row in
      try found[store.sqlEntity(row.id.entity).tableName]?.contains(key(of: row.id)) ?? false
    }
  }

  private func writeRelationships(
    _ changes: ChangeSet, _ resolutions: [InsertionResolution], history: HistoryWriter?
  ) throws {
    let deleted = try store.deletedKeys(changes)
    if !changes.relationships.isEmpty || !deleted.isEmpty {
      let writer = RelationshipWriter(store, connection, inserted: resolutions, history: history)
      try writer.write(changes)
      try writer.forget(deleted)
      for keys in deleted {
        let references = try RowReferences(to: keys.entity, in: store)
        if !references.isEmpty { try references.check(keys, connection) }
      }
    }
    if !changes.isEmpty { try store.checkReferences(connection) }
  }

  // MARK: Checks and deletions

  /// Objects without changes whose rows must be unchanged since they were read (`detectConflicts(for:)`).
  private func check(_ checks: [RowVersion]) throws {
    for row in checks {
      let table = try store.sqlEntity(row.id.entity).tableName
      let version = try connection.integer(
        "SELECT Z_OPT FROM \(table) WHERE Z_PK = ?\(locksRows ? " FOR SHARE" : "")", [.integer(try key(of: row.id))])
      if version != row.version { try conflict(row.id, "its row was changed or deleted by another context") }
    }
  }

  private func conflict(_ id: NSManagedObjectID, _ message: String) throws {
    faults.conflict(id, message: message, row: try store.currentRow(id))
  }

  private func delete(_ changes: ChangeSet) throws {
    var groups: [(table: String, version: Int64, keys: [Int64], ids: [NSManagedObjectID])] = []
    var places: [String: Int] = [:]
    for row in changes.deletions {
      let table = try store.sqlEntity(row.id.entity).tableName
      let place = places["\(table) \(row.version)"] ?? groups.count
      if place == groups.count {
        places["\(table) \(row.version)"] = place
        groups.append((table, row.version, [], []))
      }
      groups[place].keys.append(try key(of: row.id))
      groups[place].ids.append(row.id)
    }
    for group in groups { try delete(group.keys, of: group.table, group.version) { group.ids[$0] } }
    for rows in changes.deletedRows where rows.liveCount > 0 {
      guard rows.store === store.identity else { throw store.isForeign(rows.id(row: 0)) }
      let table = try store.sqlEntity(rows.entity).tableName
      for (version, live) in Dictionary(grouping: rows.liveRows, by: { rows.versions[$0] }).sorted(by: {
        $0.key < $1.key
      }) {
        try delete(live.map { rows.keys[$0] }, of: table, version) { rows.id(row: live[$0]) }
      }
    }
  }

  /// Deletes rows that have one version. A row that is gone already is what was requested.
  private func delete(
    _ keys: [Int64], of table: String, _ version: Int64, id: (_ index: Int) -> NSManagedObjectID
  ) throws {
    let condition = RowPlan.condition("Z_PK", keys)
    let count = try connection.change(
      "DELETE FROM \(table) WHERE \(condition.text) AND Z_OPT = ?", condition.bindings + [.integer(version)])
    guard count < Set(keys).count else { return }
    let left = Set(
      try connection.rows("SELECT Z_PK FROM \(table) WHERE \(condition.text)", condition.bindings).compactMap(\.first))
    for (index, key) in keys.enumerated() where left.contains(.integer(key)) {
      try conflict(id(index), "its row was changed by another context")
    }
  }

  // MARK: Updates

  private static let updatesAtOnce = 500

  /// Rows may exchange unique values. The index is never broken in between: a row that the index refuses gives its own
  /// unique values up, and is written when all others have been.
  private func update(_ updates: [UpdatedRow]) throws {
    // All writers lock rows in one order, so that two do not wait for each other.
    let places = try updates.map { (try store.sqlEntity($0.id.entity).tableName, try key(of: $0.id)) }
    let updates = zip(places, updates).sorted { $0.0 < $1.0 }.map(\.1)
    var waiting: [UpdatedRow] = []
    for start in stride(from: 0, to: updates.count, by: Self.updatesAtOnce) {
      waiting += try updateTogether(updates[start..<min(updates.count, start + Self.updatesAtOnce)])
    }
    for row in waiting { try giveUpUniqueValues(row) }
    for row in waiting {
      guard let error = try updateOne(row) else { continue }
      faults.refuse(
        row.id, message: error.message, isUniqueness: true,
        obstacle: try obstacle(to: row.id, row.values, ownKey: try key(of: row.id)))
    }
  }

  /// Sends the statements of many rows at once. If one meets something unexpected, they are repeated one by one.
  ///
  /// - Returns: The rows that a unique index refuses.
  private func updateTogether(_ rows: ArraySlice<UpdatedRow>) throws -> [UpdatedRow] {
    guard !rows.contains(where: \.isRecreation) else { return try updateOneByOne(rows) }
    let faultsBefore = faults
    let statements = try rows.compactMap(statement(for:))
    guard statements.count == rows.count else {
      faults = faultsBefore
      return try updateOneByOne(rows)
    }
    try connection.send("SAVEPOINT ocd_rows")
    do {
      let counts = try connection.changes(statements)
      if counts.allSatisfy({ $0 == 1 }) {
        try connection.send("RELEASE ocd_rows")
        return []
      }
    } catch let error as PostgreSQLError where error.isUniqueness {}
    try connection.send("ROLLBACK TO ocd_rows")
    try connection.send("RELEASE ocd_rows")
    return try updateOneByOne(rows)
  }

  private func updateOneByOne(_ rows: ArraySlice<UpdatedRow>) throws -> [UpdatedRow] {
    try rows.filter { try updateOne($0) != nil }
  }

  /// - Returns: The error of a unique index that refuses the row; nothing was written then.
  private func updateOne(_ row: UpdatedRow) throws -> PostgreSQLError? {
    guard let statement = try statement(for: row) else { return nil }
    if row.isRecreation, let stored = try store.currentRow(row.id) {
      faults.conflict(row.id, message: "its row was deleted and inserted again by another context", row: stored)
      return nil
    }
    try connection.send("SAVEPOINT ocd_row")
    do {
      let count = try connection.change(statement.sql, statement.values)
      try connection.send("RELEASE ocd_row")
      if count == 0 { try conflict(row.id, "its row was changed or deleted by another context") }
      return nil
    } catch let error as PostgreSQLError where error.isUniqueness {
      try connection.send("ROLLBACK TO ocd_row")
      try connection.send("RELEASE ocd_row")
      return error
    }
  }

  /// The unique values that are changed become NULL, which equals no other. The row is written afterwards.
  private func giveUpUniqueValues(_ row: UpdatedRow) throws {
    guard !row.isRecreation else { return }
    let entity = try store.sqlEntity(row.id.entity)
    guard let assignments = row.assignmentsOfNull(in: entity) else { return }
    try connection.send(
      "UPDATE \(entity.tableName) SET \(assignments) WHERE Z_PK = ? AND Z_OPT = ?",
      [.integer(try key(of: row.id)), .integer(row.version)])
  }

  /// Nil for a row with a value that its column can't hold, which is refused.
  private func statement(for row: UpdatedRow) throws -> (sql: String, values: [StoredValue])? {
    let entity = try store.sqlEntity(row.id.entity)
    let key = try key(of: row.id)
    let columns = EntityColumns(row.id.entity, entity)
    let written = row.isRecreation ? columns.columns : row.changedSlots.compactMap(columns.column(ofSlot:))
    for column in written {
      if let problem = column.type.problem(with: row.values[column.slot]) {
        let name = row.id.entity.attributeSlots[column.slot].name
        faults.refuse(row.id, message: "\(name): \(problem)", isUniqueness: false, obstacle: .other)
        return nil
      }
    }
    let values = written.map { $0.parameter(row.values[$0.slot]) }
    if row.isRecreation {
      let names = ["Z_PK", "Z_ENT", "Z_OPT"] + written.map(\.name)
      let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
      return (
        "INSERT INTO \(entity.tableName) (\(names.joined(separator: ", "))) VALUES (\(marks))",
        [.integer(key), .integer(Int64(entity.number)), .integer(1)] + values
      )
    }
    let sets = written.map { "\($0.name) = ?" } + ["Z_OPT = Z_OPT + 1"]
    let update = "UPDATE \(entity.tableName) SET \(sets.joined(separator: ", ")) WHERE Z_PK = ?"
    if sharesLinks, written.isEmpty { return (update, [.integer(key)]) }
    return ("\(update) AND Z_OPT = ?", values + [.integer(key), .integer(row.version)])
  }

  // MARK: Insertions

  private func insert(_ changes: ChangeSet, _ history: HistoryWriter?) throws -> [InsertionResolution] {
    // All keys first: a row may lead to one that is written after it.
    let resolutions = try changes.insertions.map { rows in
      let taken = rows.range.keysObtained.keys.count { rows.removedRows.insertionIndex(ifAbsent: $0) != nil }
      let table = try store.sqlEntity(rows.batch.entity).tableName
      let count = rows.liveCount - taken
      let first = count == 0 ? 0 : try store.keys.take(count, of: table, connection)
      return InsertionResolution(
        range: rows.range,
        resolution: TemporaryIDRange.Resolution(
          store: store.identity, firstKey: first, removedRows: rows.removedRows),
        rowCount: rows.liveCount)
    }
    var links = PackedLinkWriter(store, connection, of: changes, inserted: resolutions, history: history)
    for (rows, resolution) in zip(changes.insertions, resolutions) {
      let entity = try store.sqlEntity(rows.batch.entity)
      let keys = Self.keys(of: rows, resolution.resolution)
      inserted.append((rows, keys))
      let copy = RowCopy(
        batch: rows.batch, entity: entity, columns: EntityColumns(rows.batch.entity, entity),
        links: try links.columns(of: rows, entity), rows: keys)
      try write(copy, of: rows)
    }
    if faults.failure == nil { try links.changeOtherEnds() }
    return resolutions
  }

  private static func keys(
    of rows: InsertedRows, _ resolution: TemporaryIDRange.Resolution
  ) -> [(row: Int, key: Int64)] {
    let obtained = rows.range.keysObtained
    var next = resolution.firstKey
    if obtained.isEmpty, rows.liveCount == rows.batch.count {
      return (0..<rows.batch.count).map { ($0, next + Int64($0)) }
    }
    return rows.liveRows(from: 0).map { row in
      // Most have none, and a look into an empty table costs more than this.
      if !obtained.isEmpty, let key = obtained[row] { return (row, key) }
      defer { next += 1 }
      return (row, next)
    }
  }

  private func write(_ copy: RowCopy, of rows: InsertedRows) throws {
    guard !copy.rows.isEmpty else { return }
    var refused: Set<Int> = []
    do {
      try copy.copy(connection, savepoint: "ocd_rows") { row, problem in
        refused.insert(row)
        faults.refuse(rows.objectID(row: row), message: problem, isUniqueness: false, obstacle: .other)
      }
      return try connection.send("RELEASE ocd_rows")
    } catch let error as PostgreSQLError where error.isUniqueness {}
    try connection.send("ROLLBACK TO ocd_rows")
    try connection.send("RELEASE ocd_rows")
    let obtained = rows.range.keysObtained
    try store.checkKeys(copy.rows.filter { obtained[$0.row] == nil }.map(\.key), of: copy.entity.tableName, connection)
    // One by one, so that the failure names all rows whose values are taken.
    var copy = copy
    copy.rows.removeAll { refused.contains($0.row) }
    let statements = copy.insertions
    for start in stride(from: 0, to: statements.count, by: Self.updatesAtOnce) {
      let part = start..<min(statements.count, start + Self.updatesAtOnce)
      let counts = try connection.changes(Array(statements[part]))
      for (index, count) in zip(part, counts) where count == 0 {
        let (row, key) = copy.rows[index]
        let id = rows.objectID(row: row)
        faults.refuse(
          id, message: "another object has values that must be unique", isUniqueness: true,
          obstacle: try obstacle(to: id, rows.batch.values(row: row), ownKey: key))
      }
    }
  }

  // MARK: Uniqueness

  /// The object whose values conflict with a refused object.
  private func obstacle(
    to id: NSManagedObjectID, _ values: [StoredValue], ownKey: Int64
  ) throws -> SaveFailure.Obstacle {
    for entity in id.entity.ancestry {
      for constraint in entity.uniquenessConstraintNames {
        if let row = try conflictingRow(of: id.entity, under: constraint, values: values, ownKey: ownKey) {
          return .taken(constraint: constraint, by: row)
        }
      }
    }
    return .other
  }

  private func conflictingRow(
    of entity: NSEntityDescription, under constraint: [String], values: [StoredValue], ownKey: Int64
  ) throws -> FetchedRow? {
    let kept = try store.sqlEntity(entity)
    let columns = EntityColumns(entity, kept)
    var (conditions, bindings): ([String], [StoredValue]) = (["Z_PK <> ?"], [.integer(ownKey)])
    for name in constraint {
      // Two nulls are not equal in a uniqueness constraint.
      guard let slot = entity.slot(named: name), let column = columns.column(ofSlot: slot) else { return nil }
      let value = column.parameter(values[slot])
      guard !value.isNull else { return nil }
      conditions.append("\(column.name) = ?")
      bindings.append(value)
    }
    guard
      let key = try connection.integer(
        "SELECT Z_PK FROM \(kept.tableName) WHERE \(conditions.joined(separator: " AND ")) ORDER BY Z_PK LIMIT 1",
        bindings)
    else { return nil }
    for (rows, keys) in inserted where rows.batch.entity.rootEntity === entity.rootEntity {
      guard let row = keys.first(where: { $0.key == key })?.row else { continue }
      return FetchedRow(id: rows.objectID(row: row), version: 0, values: rows.batch.values(row: row))
    }
    return try store.currentRow(NSManagedObjectID(entity: entity.rootEntity, store: store.identity, key: key))
  }

  private func key(of id: NSManagedObjectID) throws -> Int64 { try store.key(of: id) }
}

extension PostgreSQLStore {
  /// The row of `id` as the open transaction sees it.
  func currentRow(_ id: NSManagedObjectID) throws -> FetchedRow? { try writingReader().rows(for: [id])[0] }

  /// Checks the foreign keys of what the transaction has written.
  func checkReferences(_ connection: PostgreSQLConnection) throws {
    try connection.send("SET CONSTRAINTS ALL IMMEDIATE")
    try connection.send("SET CONSTRAINTS ALL DEFERRED")
  }
}
