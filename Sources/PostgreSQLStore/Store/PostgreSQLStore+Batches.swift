import Foundation
import ManagedObjectModel
import PersistentStores

/// Batch requests, each in one transaction.
extension PostgreSQLStore {
  /// Each change of a row, by any program, gives it another `xmin`.
  package func changeMark(of entities: [NSEntityDescription]) throws -> ChangeMark {
    let tables = Set(try entities.map { try sqlEntity($0).tableName }).sorted()
    let parts = tables.map { table in
      "SELECT '\(table) ' || count(*) || ' ' || coalesce(sum(hashint8extended(Z_PK, xmin::text::bigint)), 0) AS part "
        + "FROM \(table)"
    }
    return ChangeMark(
      locks: tables.map { "LOCK TABLE \($0) IN SHARE ROW EXCLUSIVE MODE" },
      query: "SELECT hashtextextended(string_agg(part, ' ' ORDER BY part), 0) FROM "
        + "(\(parts.joined(separator: " UNION ALL "))) AS parts")
  }

  package func batchDelete(_ query: FetchQuery, wantsIDs: Bool) throws -> BatchOutcome {
    try batch(wantsIDs: wantsIDs) { try $0.delete(query) }
  }

  package func batchDelete(keys: [Int64], of entity: NSEntityDescription, wantsIDs: Bool) throws -> BatchOutcome {
    try batch(wantsIDs: wantsIDs) { try $0.delete(keys, of: entity) }
  }

  package func batchUpdate(_ query: FetchQuery, values: [Int: BatchValue], wantsIDs: Bool) throws -> BatchOutcome {
    try batch(wantsIDs: wantsIDs) { try $0.update(query, values) }
  }

  package func batchInsert(
    _ entity: NSEntityDescription, resolution: UniquenessResolution, wantsIDs: Bool,
    fill: (inout ObjectBatch) throws -> Void
  ) throws -> BatchOutcome {
    try batch(wantsIDs: wantsIDs) { try $0.insert(entity, resolution: resolution, fill: fill) }
  }

  private func batch(wantsIDs: Bool, _ body: (BatchWriter) throws -> Void) throws -> BatchOutcome {
    guard !isReadOnly else { throw readOnlyError }
    return try writerLock.withLock {
      let reader = try writingReader()
      try checkTransaction(reader.connection)
      let outcome = try transaction("The batch request in") { connection in
        let writer = BatchWriter(self, reader, wantsIDs: wantsIDs)
        try body(writer)
        try writer.finish()
        try checkReferences(connection)
        try connection.finish()
        return writer.outcome
      }
      noteWrite()
      return outcome
    }
  }
}
