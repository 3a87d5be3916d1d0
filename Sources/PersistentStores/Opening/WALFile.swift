import Foundation

/// The WAL of a store, as a file.
package enum WALFile {
  /// Syncs what commits of any program have written to the WAL and is perhaps not yet on the disk. What is in the store's
  /// file itself is: SQLite syncs it before it reuses the WAL. That file must not be opened here: closing it would drop
  /// the locks that SQLite holds on it.
  package static func sync(ofStore path: String) throws(POSIXError) {
    do throws(POSIXError) {
      try DiskSync.sync(StorePath.resolved(path) + "-wal")
    } catch {
      if error.code != .ENOENT { throw error }
    }
  }
}
