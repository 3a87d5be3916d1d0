import ManagedObjectModel
import CSQLite
import Foundation
import SystemSupport

/// A connection to a store's file, with the way in which it was opened.
package struct OpenedDatabase {
  package let connection: SQLiteConnection
  /// The file that the connection reads, without symbolic links.
  package let path: String
  let isReadOnly: Bool
  /// How to open further reading connections.
  let readerMode: SQLiteConnection.Mode
  var privateCopy: PrivateCopy?
  /// The file, if it is read without locks.
  var unlocked: UnlockedFile?
  /// What the WAL lacks that SQLite goes on without, as a sentence.
  package var loss: String?

  /// Call it after the last read, before the result is used.
  ///
  /// - Throws: `NSError` 134090 if another program has written to the file meanwhile, and the result may be wrong.
  package func checkUnchanged() throws { try unlocked?.check() }

  static func open(_ url: URL?, options: StoreOptions) throws -> OpenedDatabase {
    guard let url else {
      return OpenedDatabase(
        connection: try SQLiteConnection(path: "", mode: .privateTemporary), path: "", isReadOnly: false,
        readerMode: .readWrite)
    }
    if options.isReadOnly { return try openForReading(url.path, options: options) }
    let path = StorePath.resolved(url.path)
    let (connection, loss) = try connectForWriting(path, mode: .readWriteCreate, options)
    return OpenedDatabase(
      connection: connection, path: path, isReadOnly: false, readerMode: .readWrite, loss: loss)
  }

  /// Opens for a writer of foreign tables in the way a context's store is opened for writing.
  package static func openForWriting(_ path: String, timeoutSeconds: Double) throws -> SQLiteConnection {
    let options = try StoreOptions([NSPersistentStoreTimeoutOption: NSNumber(value: timeoutSeconds)])
    return try connectForWriting(path, mode: .readWrite, options).connection
  }

  /// Opens for writing after the files were checked: SQLite would checkpoint a foreign WAL into the file.
  ///
  /// If there is a WAL already, closing the connection checkpoints it only after a commit or `checkpointWALOnClose()`:
  /// a store that is refused keeps its WAL as it is.
  ///
  /// - Returns: The connection, and what the WAL lacks.
  static func connectForWriting(
    _ path: String, mode: SQLiteConnection.Mode, _ options: StoreOptions
  ) throws -> (connection: SQLiteConnection, loss: String?) {
    let path = StorePath.resolved(path)
    let check = try checkForWriting(path)
    let connection = try SQLiteConnection(
      path: path, mode: mode, busyTimeoutMilliseconds: options.timeoutMilliseconds)
    do {
      // SQLite falls back to reading. A later save would fail and leave a WAL that can't be written to either.
      if connection.mayOnlyRead {
        if access(path, W_OK) == 0 || ![EACCES, EPERM, EROFS].contains(errno) {
          throw SQLiteError(
            code: SQLITE_IOERR,
            message: "disk I/O error: it can't be opened for writing, though its permissions allow that", sql: nil)
        }
        throw SQLiteError(code: SQLITE_READONLY, message: "the file may not be written to", sql: nil)
      }
      if let check {
        connection.setKeepsWALOnClose(true)
        probing.withLock { _ in connection.openWAL() }
        try check.checkStore(connection)
        if check.wal == nil { connection.setKeepsWALOnClose(false) } else { connection.keepWALUntilCommit() }
      }
      return (connection, check?.loss)
    } catch {
      connection.close()
      throw error
    }
  }

  /// Checks the files before SQLite recovers the WAL; nil for a store that is to be made, also for an empty file.
  static func checkForWriting(_ path: String) throws -> StoreFileCheck? {
    guard try StorePath.exists(path) else { return nil }
    try StoreFileCheck.checkReadable(path)
    try StoreFileCheck.checkHasOneName(path)
    return try probing.withLock { _ in
      let probe = try SQLiteConnection(path: path, mode: .readOnlySharedMemory)
      defer { probe.close() }
      return try probe.isUnmade(at: path) ? nil : StoreFileCheck(probe, path, for: .writing)
    }
  }

  /// Connections of one process share the WAL index in the mode in which the first of them opened it, so a writing
  /// connection must not join while a probe has it read-only. Other code must not open a file outside SQLite while it
  /// is read or copied: closing it releases all locks that the process holds on the file.
  static let probing = Locked<Void>(())
}
