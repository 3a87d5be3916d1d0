import Foundation
import ManagedObjectModel
import PersistentStores

/// Batch requests, each in one transaction.
extension PostgreSQLStore {
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
