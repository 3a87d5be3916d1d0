import Foundation
import ManagedObjectModel
import PersistentStores

/// The keys that a store gives to new rows.
extension PostgreSQLStore {
  package func lastKey(of entity: NSEntityDescription) throws -> Int64 {
    let table = try sqlEntity(entity).tableName
    return try access("Reading") { connection in
      max(try connection.integer("SELECT max(Z_PK) FROM \(table)", []) ?? 0, keys.lastTaken(of: table) ?? 0)
    }
  }

  /// Called where the server refuses rows because of unique values.
  ///
  /// - Parameter given: The keys of them that this store has given in the transaction. If others use them too, new ones
  ///   have to be taken.
  /// - Throws: `PostgreSQLError` that says so.
  func checkKeys(_ given: [Int64], of table: String, _ connection: PostgreSQLConnection) throws {
    if given.isEmpty { return }
    let condition = RowPlan.condition("Z_PK", given)
    let count = try connection.integer("SELECT count(*) FROM \(table) WHERE \(condition.text)", condition.bindings)
    guard let count, count > 0 else { return }
    keys.forget(table)
    throw PostgreSQLError.ofTakenKeys
  }

  /// Takes keys for `ids` now.
  package func obtainPermanentIDs(for ids: [NSManagedObjectID]) throws {
    guard !isReadOnly else { throw readOnlyError }
    let obtained = try access("Taking keys in", code: .save) { connection in
      try checkTransaction(connection)
      let isPart = connection.isInTransaction
      if !isPart { try connection.send(PostgreSQLConnection.beginWriting) }
      do {
        let obtained = try takeKeys(ids, connection)
        if !isPart { try connection.commit() }
        return obtained
      } catch {
        if !isPart { rollBack(connection, isPart: false) }
        throw error
      }
    }
    for one in obtained { one.range.obtain(one.key, row: one.row, from: identity) }
  }

  private func takeKeys(
    _ ids: [NSManagedObjectID], _ connection: PostgreSQLConnection
  ) throws -> [(range: TemporaryIDRange, row: Int, key: Int64)] {
    var taken: [(range: TemporaryIDRange, row: Int, key: Int64)] = []
    for id in ids {
      guard case .temporary(let range, let row) = id.reference, range.permanent(row: row) == nil else { continue }
      taken.append((range, row, try keys.take(1, of: try sqlEntity(id.entity).tableName, connection)))
    }
    return taken
  }
}
