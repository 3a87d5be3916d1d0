import Foundation
import PersistentStores

/// The temporary key database can't be created, written or read.
package struct KeySpillError: Error, Sendable, CustomStringConvertible {
  package let reason: String

  package var exitCode: ExitCode { .ioError }

  package var description: String {
    """
    the temporary key database failed: \(reason). Free space in the temporary directory, set TMPDIR to one with \
    more room, or raise limits.keysInMemoryMax
    """
  }
}

/// Keys in a private temporary SQLite database: it has no name, spills to disk by itself and disappears when it is
/// closed, even when the process is killed.
package final class SQLiteKeySpill: KeySpill {
  private let connection: SQLiteConnection

  /// Throws a ``KeySpillError``, as every method does.
  package init() throws {
    connection = try Self.explained { try SQLiteConnection(path: "", mode: .privateTemporary) }
    try Self.explained {
      // Nothing here survives a crash, so nothing needs a journal or a sync.
      try connection.execute(
        """
        PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA cache_size = -16384;
        CREATE TABLE keys (high INTEGER, low INTEGER, storeKey INTEGER NOT NULL, valuesDigest INTEGER NOT NULL,
          position REAL NOT NULL, input INTEGER NOT NULL, PRIMARY KEY (high, low)) WITHOUT ROWID;
        """)
    }
  }

  package func set(_ entries: [(digest: KeyDigest, entry: KeyEntry)]) throws {
    try Self.explained {
      try connection.transaction {
        let insert = try connection.statement("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?, ?, ?)")
        for (digest, entry) in entries {
          insert.reset()
          try bind(digest, to: insert)
          try insert.bind(.integer(entry.storeKey), at: 3)
          try insert.bind(.integer(Int64(bitPattern: entry.values)), at: 4)
          try insert.bind(.real(entry.order), at: 5)
          try insert.bind(.integer(Int64(entry.input)), at: 6)
          _ = try insert.step()
        }
        insert.reset()
      }
    }
  }

  package func entries(of digests: [KeyDigest]) throws -> [KeyDigest: KeyEntry] {
    try Self.explained {
      var entries: [KeyDigest: KeyEntry] = [:]
      let select = try connection.statement(
        "SELECT storeKey, valuesDigest, position, input FROM keys WHERE high = ? AND low = ?")
      for digest in digests {
        select.reset()
        try bind(digest, to: select)
        guard try select.step() else { continue }
        entries[digest] = KeyEntry(
          storeKey: select.integer(0), values: UInt64(bitPattern: select.integer(1)), order: select.real(2),
          input: KeyEntry.InputNumber(truncatingIfNeeded: select.integer(3)))
      }
      select.reset()
      return entries
    }
  }

  /// The top bit is flipped, so that SQLite's signed order is that of the digests and sorted keys are inserted in
  /// order.
  private func bind(_ digest: KeyDigest, to statement: SQLiteStatement) throws {
    try statement.bind(.integer(Int64(bitPattern: digest.high ^ 1 << 63)), at: 1)
    try statement.bind(.integer(Int64(bitPattern: digest.low)), at: 2)
  }

  private static func explained<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw KeySpillError(reason: error.message)
    }
  }
}

extension KeyIndex {
  /// An index that spills to a private temporary database.
  package convenience init(keysInMemoryMax: Int, keepsOrders: Bool = false) {
    self.init(keysInMemoryMax: keysInMemoryMax, keepsOrders: keepsOrders) { try SQLiteKeySpill() }
  }
}
