import Foundation

/// The WAL of a store, as a file.
package enum WALFile {
  /// Syncs what commits of any program have written to the WAL and is perhaps not yet on the disk. What is in the store's
  /// file itself is: SQLite syncs it before it reuses the WAL. That file must not be opened here: closing it would drop
  /// the locks that SQLite holds on it.
  package static func sync(ofStore path: String) throws(POSIXError) {
    let name = StorePath.resolved(path) + "-wal"
    var wal: Int32
    repeat { wal = open(name, O_RDONLY | O_CLOEXEC) } while wal < 0 && errno == EINTR
    if wal < 0, errno == ENOENT { return }
    guard wal >= 0 else { throw .last }
    defer { close(wal) }
    // A file system that can't sync is not a failure of it.
    if fsync(wal) != 0, errno != EINVAL { throw .last }
  }
}
