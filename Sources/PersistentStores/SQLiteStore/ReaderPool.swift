import Foundation
import ManagedObjectModel

/// The connections of a store that read while its writer writes. (SQLite: WAL lets readers and a writer run together.)
// Unchecked: `condition` guards all mutable state.
final class ReaderPool: @unchecked Sendable {
  private let path: String
  private let mode: SQLiteConnection.Mode
  private let sizeMax: Int
  private let condition = NSCondition()
  private var idle: [SQLiteReader] = []
  private var inUseCount = 0
  private var isClosed = false

  /// - Parameters:
  ///   - path: The database file.
  ///   - mode: How a reading connection opens the file.
  ///   - sizeMax: The maximum number of concurrent readers, at least 1. Further ones wait.
  init(path: String, mode: SQLiteConnection.Mode, sizeMax: Int) {
    self.path = path
    self.mode = mode
    self.sizeMax = sizeMax
  }

  /// A reader for the calling thread until `release`; nil once the pool is closed.
  func take(for store: SQLiteStore) throws -> SQLiteReader? {
    let known: SQLiteReader?
    do {
      condition.lock()
      defer { condition.unlock() }
      while inUseCount >= sizeMax, !isClosed { condition.wait() }
      if isClosed { return nil }
      inUseCount += 1
      known = idle.popLast()
    }
    if let known { return known }
    // Opened without the lock, so that other threads need not wait for it. `inUseCount` makes `close` wait.
    do {
      return SQLiteReader(try openConnection(for: store), of: store)
    } catch {
      condition.lock()
      inUseCount -= 1
      condition.broadcast()
      condition.unlock()
      guard let error = error as? SQLiteError else { throw error }
      throw NSError.sqlite(error, .sqlite, message: "Reading \(store.location) failed")
    }
  }

  func release(_ reader: SQLiteReader) {
    condition.lock()
    inUseCount -= 1
    if isClosed { reader.connection.close() } else { idle.append(reader) }
    condition.broadcast()
    condition.unlock()
  }

  /// Waits for the readers in use, then closes all connections.
  func close() {
    condition.lock()
    isClosed = true
    while inUseCount > 0 { condition.wait() }
    for reader in idle { reader.connection.close() }
    idle = []
    condition.broadcast()
    condition.unlock()
  }

  var isInUse: Bool {
    condition.lock()
    defer { condition.unlock() }
    return inUseCount > 0
  }

  /// A separate connection for a cursor or a snapshot, which the store counts among its readers.
  func newConnection(for store: SQLiteStore) throws -> SQLiteConnection {
    let connection = try openConnection(for: store)
    store.readers.add(connection)
    return connection
  }

  private func openConnection(for store: SQLiteStore) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, mode: mode)
    if mode == .readWrite { try connection.execute("PRAGMA query_only = ON") }
    try connection.registerPredicateFunctions()
    try store.registerExternalData(connection)
    return connection
  }
}
