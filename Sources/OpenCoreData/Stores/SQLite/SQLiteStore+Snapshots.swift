import Foundation

extension SQLiteStore {
  /// A connection of its own for reading.
  func newReader(_ path: String) throws -> SQLiteConnection {
    let reader = try SQLiteConnection(path: path, mode: readerMode)
    if readerMode == .readWrite { try reader.execute("PRAGMA query_only = ON") }
    try reader.registerPredicateFunctions()
    try registerExternalData(reader)
    readers.add(reader)
    return reader
  }

  /// Whether readers keep what they see while others write: only with a log.
  func keepsGenerations() throws -> Bool {
    guard readingPath != nil else { return false }
    return try access("Reading") { try $0.rows("PRAGMA journal_mode").first?.first == .text("wal") }
  }

  /// What is committed now, for as long as the connection is held; nil for a store that can't keep it.
  func openSnapshot() throws -> SQLiteConnection? {
    guard try keepsGenerations(), let path = readingPath else { return nil }
    return try access("Pinning a generation of") { _ in
      let reader = try newReader(path)
      try reader.execute("BEGIN")
      // A transaction sees what is there when it first reads.
      _ = try reader.integer("SELECT count(*) FROM sqlite_master")
      snapshots.add(reader)
      return reader
    }
  }
}

/// The connections with snapshots of a store that somebody holds.
struct SnapshotList {
  private struct Entry { weak var connection: SQLiteConnection? }
  private var entries: [Entry] = []

  var isEmpty: Bool { !entries.contains { $0.connection != nil } }

  mutating func add(_ connection: SQLiteConnection) {
    entries.removeAll { $0.connection == nil }
    entries.append(Entry(connection: connection))
  }
}
