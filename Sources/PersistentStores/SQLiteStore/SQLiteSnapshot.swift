import Foundation
import ManagedObjectModel

/// A read transaction that stays open: it sees the commits up to its start.
// Unchecked: the reader is used under `lock` only.
final class SQLiteSnapshot: StoreSnapshot, @unchecked Sendable {
  private let reader: SQLiteReader
  private let store: SQLiteStore
  /// The file, if it is read without locks: then the snapshot ends when another program writes to it.
  private let file: UnlockedFile?
  private let lock = NSRecursiveLock()

  init(_ reader: SQLiteReader, _ store: SQLiteStore, file: UnlockedFile?) throws {
    self.file = file
    self.reader = reader
    self.store = store
    try reader.connection.execute("BEGIN")
    // A transaction sees the state at its first read.
    _ = try reader.connection.integer("SELECT count(*) FROM sqlite_master")
  }

  func read<Result>(_ body: (any RowReader) throws -> Result) throws -> Result {
    try lock.withLock {
      guard let file else { return try body(reader) }
      return try file.checking { try body(reader) }
    }
  }

  func cursor(_ query: FetchQuery, rowsPerBatch: Int) throws -> any RowCursor {
    try lock.withLock {
      try store.reportingErrors {
        UnlockedCursor.over(
          try reader.cursor(query, rowsPerBatch: rowsPerBatch, ownsSnapshot: false, lock: lock), file)
      }
    }
  }
}
