import Foundation
import ManagedObjectModel
import PersistentStores

/// Reading over several connections at the same time.
extension PostgreSQLStore {
  package func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, readers: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor {
    // Only the writing connection sees an open transaction.
    let isOneState = snapshot != nil || !hasOpenTransaction.load(ordering: .acquiring)
    guard readers > 1, query.sortKeys.isEmpty, query.offset == 0, isOneState else {
      return try cursor(query, rowsPerBatch: rowsPerBatch, in: snapshot)
    }
    let state = try snapshot as? ServerSnapshot ?? makeServerSnapshot()
    let ranges = KeyRanges(
      of: try sqlEntity(query.entity).tableName, above: query.keyAbove, rowsPerRange: rowsPerBatch)
    let reading = try RangeReading(
      query, ranges, rowsPerBatch: rowsPerBatch, readers: readers, in: state, begin: { try self.reader(of: $0) },
      end: endOfReader)
    return RangeCursor(reading, query, of: identity)
  }

  /// A reader on a connection of its own, in a transaction that sees the snapshot. Give its connection to `endOfReader`.
  private func reader(of snapshot: SharedSnapshot) throws -> PostgreSQLReader {
    let reader = try reportingErrors { try separateReader() }
    do {
      try snapshot.bind(reader.connection)
      return reader
    } catch {
      endOfReader(reader.connection)
      throw (error as? PostgreSQLError)?.ofSharing(location) ?? error
    }
  }
}
