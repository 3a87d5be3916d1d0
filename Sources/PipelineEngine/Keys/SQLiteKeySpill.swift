import Foundation
import OpenCoreData

/// The temporary key database cannot be made, written or read.
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

/// Keys in a private temporary database of SQLite's: it has no name, spills to disk by itself and goes when it is
/// closed, also when the process is killed.
package final class SQLiteKeySpill: KeySpill {
  private let connection: SQLiteConnection

  /// Throws a ``KeySpillError``, as every method does.
  package init() throws {
    connection = try Self.explained { try SQLiteConnection(path: "", mode: .privateTemporary) }
    try Self.explained {
      // Nothing here outlives a crash, so nothing needs a journal or a sync.
      try connection.execute(
        """
        PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA cache_size = -16384;
        CREATE TABLE keys (high INTEGER, low INTEGER, record INTEGER NOT NULL, PRIMARY KEY (high, low)) WITHOUT ROWID;
        """)
    }
  }

  package func insert(_ entries: [(digest: KeyDigest, record: UInt64)]) throws {
    try Self.explained {
      try connection.execute("BEGIN")
      let insert = try connection.statement("INSERT OR IGNORE INTO keys VALUES (?, ?, ?)")
      for entry in entries {
        insert.reset()
        try bind(entry.digest, to: insert)
        try insert.bind(.integer(Int64(bitPattern: entry.record)), at: 3)
        _ = try insert.step()
      }
      insert.reset()
      try connection.execute("COMMIT")
    }
  }

  package func records(of digests: [KeyDigest]) throws -> [KeyDigest: UInt64] {
    try Self.explained {
      var records: [KeyDigest: UInt64] = [:]
      let select = try connection.statement("SELECT record FROM keys WHERE high = ? AND low = ?")
      for digest in digests {
        select.reset()
        try bind(digest, to: select)
        if try select.step() { records[digest] = UInt64(bitPattern: select.integer(0)) }
      }
      select.reset()
      return records
    }
  }

  package func remove(_ digest: KeyDigest) throws {
    try Self.explained {
      let delete = try connection.statement("DELETE FROM keys WHERE high = ? AND low = ?")
      try bind(digest, to: delete)
      _ = try delete.step()
      delete.reset()
    }
  }

  /// The top bit is turned, so that SQLite's signed order is the digests' own and sorted keys go in side by side.
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
  package init(keysInMemoryMax: Int = 500_000) {
    self.init(keysInMemoryMax: keysInMemoryMax) { try SQLiteKeySpill() }
  }
}
