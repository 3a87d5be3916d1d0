import ManagedObjectModel
import Foundation

/// The connections of a store that cursors and snapshots hold.
// Unchecked: `lock` guards the entries.
final class ConnectionList: @unchecked Sendable {
  private struct Entry { weak var connection: SQLiteConnection? }
  private let lock = NSLock()
  private var entries: [Entry] = []

  var isEmpty: Bool { lock.withLock { !entries.contains { $0.connection != nil } } }

  func add(_ connection: SQLiteConnection) {
    lock.withLock {
      entries.removeAll { $0.connection == nil }
      entries.append(Entry(connection: connection))
    }
  }
}
