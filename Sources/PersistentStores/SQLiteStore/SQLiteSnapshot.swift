import Foundation
import ManagedObjectModel

/// A read transaction that stays open: it sees the commits up to its start.
// Unchecked: the reader is used under `lock` only.
final class SQLiteSnapshot: StoreSnapshot, @unchecked Sendable {
  private let reader: SQLiteReader
  private let store: SQLiteStore
  /// Without locks the snapshot of a file ends when another program writes to it.
  private let source: (any CheckedSource)?
  private let lock = NSRecursiveLock()
  /// Whether it stays readable whatever other programs do.
  var isStable: Bool { source == nil }

  init(_ reader: SQLiteReader, _ store: SQLiteStore, source: (any CheckedSource)?) throws {
    self.source = source
    self.reader = reader
    self.store = store
    try reader.connection.execute("BEGIN")
    // A transaction sees the state at its first read.
    _ = try reader.connection.integer("SELECT count(*) FROM sqlite_master")
  }

  func read<Result>(_ body: (SQLiteReader) throws -> Result) throws -> Result {
    try lock.withLock {
      guard let source else { return try body(reader) }
      return try source.checking { try body(reader) }
    }
  }

  func cursor(_ query: FetchQuery, rowsPerBatch: Int) throws -> any RowCursor {
    try lock.withLock {
      try store.reportingErrors {
        CheckedCursor.over(
          try reader.cursor(query, rowsPerBatch: rowsPerBatch, ownsSnapshot: false, lock: lock), source)
      }
    }
  }
}
