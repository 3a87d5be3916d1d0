import Foundation
import ManagedObjectModel

/// Writes the changed rows of a save, one by one.
///
/// Rows may exchange unique values. The index is never broken in between: a row that the index refuses gives its own unique
/// values up, and is written when all others have done so.
struct UpdatedRowWriter {
  private let store: SQLiteStore
  private let connection: SQLiteConnection

  init(_ store: SQLiteStore, _ connection: SQLiteConnection) { (self.store, self.connection) = (store, connection) }

  func write(_ updates: [UpdatedRow], faults: inout SaveFaults) throws {
    let search = UniquenessSearch(store, connection)
    func refuse(_ row: UpdatedRow, _ error: SQLiteError) throws {
      faults.refuse(
        row.id, error, obstacle: try search.obstacle(to: row.id, row.values, ownKey: try store.key(of: row.id)))
    }
    var waiting: [UpdatedRow] = []
    for row in updates {
      guard let error = try write(row, &faults) else { continue }
      if error.isUniqueness { waiting.append(row) } else { try refuse(row, error) }
    }
    for row in waiting { try giveUpUniqueValues(row) }
    for row in waiting {
      if let error = try write(row, &faults) { try refuse(row, error) }
    }
  }

  /// - Returns: The error of a constraint or trigger that refuses the row; nothing was written then.
  private func write(_ row: UpdatedRow, _ faults: inout SaveFaults) throws -> SQLiteError? {
    let entity = try store.sqlEntity(row.id.entity)
    let key = try store.key(of: row.id)
    if row.isRecreation, let stored = try store.currentRow(row.id) {
      faults.conflict(row.id, message: "its row was deleted and inserted again by another context", row: stored)
      return nil
    }
    let files = store.externalFiles.position
    do {
      if row.isRecreation { try insertDeletedRow(row, key: key, of: entity) } else { try update(row, key: key, entity) }
    } catch let error as SQLiteError where error.isConstraint {
      store.externalFiles.discard(from: files)
      return error
    }
    if connection.changedRowCount == 0 {
      faults.conflict(
        row.id, message: "its row was changed or deleted by another context", row: try store.currentRow(row.id))
    }
    return nil
  }

  private func update(_ row: UpdatedRow, key: Int64, _ entity: SQLEntity) throws {
    let stored = row.changedSlots.compactMap { store.assignment(of: row.values[$0], $0, in: entity) }
    let sets = stored.map(\.text) + ["Z_OPT = Z_OPT + 1"]
    try connection.run(
      "UPDATE \(entity.tableName) SET \(sets.joined(separator: ", ")) WHERE Z_PK = ? AND Z_OPT = ?",
      stored.map(\.value) + [.integer(key), .integer(row.version)])
  }

  /// The unique values that are changed become NULL, which equals no other. The row is written afterwards.
  private func giveUpUniqueValues(_ row: UpdatedRow) throws {
    if row.isRecreation { return }
    let entity = try store.sqlEntity(row.id.entity)
    guard let assignments = row.assignmentsOfNull(in: entity) else { return }
    try connection.run(
      "UPDATE \(entity.tableName) SET \(assignments) WHERE Z_PK = ? AND Z_OPT = ?",
      [.integer(try store.key(of: row.id)), .integer(row.version)])
  }

  /// Writes an object whose row another program or context deleted, under its previous key.
  private func insertDeletedRow(_ row: UpdatedRow, key: Int64, of entity: SQLEntity) throws {
    // The first of the bound values is the key. A value that was left out is still in its file, should that come back.
    let stored = entity.writtenColumns.map { slot, column in
      if row.values[slot] == .null, let name = row.base.leftOut[slot] {
        return (column: column.name, mark: "?", value: StoredValue.blob(ExternalData.column(forFile: name)))
      }
      return (column.name, store.content(of: "?", key: "?1", slot: slot, column, entity), row.values[slot])
    }
    let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + stored.map(\.column)
    let marks = (["?", "?", "?"] + stored.map(\.mark)).joined(separator: ", ")
    try connection.run(
      "INSERT INTO \(entity.tableName)(\(columns.joined(separator: ", "))) VALUES(\(marks))",
      [.integer(key), .integer(Int64(entity.number)), .integer(1)] + stored.map(\.value))
  }
}

extension UpdatedRow {
  /// The terms of SET that make the changed values of uniqueness constraints NULL; nil if there are none.
  package func assignmentsOfNull(in entity: SQLEntity) -> String? {
    let unique = Set(id.entity.ancestry.flatMap(\.uniquenessConstraintNames).joined())
    let columns = changedSlots.filter { unique.contains(id.entity.attributeSlots[$0].name) }
      .compactMap { entity.attributeColumns[$0]?.name }
    return columns.isEmpty ? nil : columns.map { "\($0) = NULL" }.joined(separator: ", ")
  }
}
