import ManagedObjectModel
import CSQLite
import Foundation
import Locking

/// A connection to a store's file, with the way in which it was opened.
package struct OpenedDatabase {
  package let connection: SQLiteConnection
  package let path: String
  let isReadOnly: Bool
  /// How to open further reading connections.
  let readerMode: SQLiteConnection.Mode
  var privateCopy: PrivateCopy?

  static func open(_ url: URL?, options: StoreOptions) throws -> OpenedDatabase {
    guard let url else {
      return OpenedDatabase(
        connection: try SQLiteConnection(path: "", mode: .privateTemporary), path: "", isReadOnly: false,
        readerMode: .readWrite)
    }
    if options.isReadOnly { return try openForReading(url.path, options: options) }
    let connection = try connectForWriting(url.path, mode: .readWriteCreate, options)
    return OpenedDatabase(connection: connection, path: url.path, isReadOnly: false, readerMode: .readWrite)
  }

  /// Opens for writing after the files were checked: SQLite would checkpoint a foreign WAL into the file.
  static func connectForWriting(
    _ path: String, mode: SQLiteConnection.Mode, _ options: StoreOptions
  ) throws -> SQLiteConnection {
    let check = try checkForWriting(path)
    let connection = try SQLiteConnection(
      path: path, mode: mode, busyTimeoutMilliseconds: options.timeoutMilliseconds)
    do {
      // SQLite falls back to reading. A later save would fail and leave a WAL that can't be written to either.
      if connection.mayOnlyRead {
        throw SQLiteError(code: SQLITE_READONLY, message: "the file may not be written to", sql: nil)
      }
      if let check {
        connection.setKeepsWALOnClose(true)
        probing.withLock { _ in connection.openWAL() }
        try check.checkStore(connection)
        connection.setKeepsWALOnClose(false)
      }
      return connection
    } catch {
      connection.close()
      throw error
    }
  }

  /// Checks the files before SQLite recovers the WAL; nil for a store that is to be created, also for an empty file.
  static func checkForWriting(_ path: String) throws -> StoreFileCheck? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    try StoreFileCheck.checkReadable(path)
    return try probing.withLock { _ in
      let probe = try SQLiteConnection(path: path, mode: .readOnlySharedMemory)
      defer { probe.close() }
      return try probe.beginningOfFile().size == 0 ? nil : StoreFileCheck(probe, path)
    }
  }
  /// Connections of one process share the WAL index in the mode in which the first of them opened it, so a writing
  /// connection must not join while a probe has it read-only. Other code must not open a file outside SQLite while it
  /// is read or copied: closing it releases all locks that the process holds on the file.
  private static let probing = Locked<Void>(())

  /// Opens for a reader of foreign tables in the way a context's store is opened for reading. Keep the value while the
  /// connection is in use.
  package static func openForReading(_ path: String) throws -> OpenedDatabase {
    try openForReading(path, options: try StoreOptions(nil))
  }

  /// Opens without changing a byte of the file, its -wal, its -shm or its journal.
  ///
  /// With a -shm SQLite can be configured not to change it, and without a WAL there is none. Without a -shm but with a
  /// -wal, SQLite would have to create one, so a private copy is read; the same applies if a journal must be rolled
  /// back. A file in WAL mode that has neither is read by an ordinary connection, which creates both files and removes
  /// them again, so that other programs may continue to write; if the folder isn't writable, again a copy is read.
  static func openForReading(_ path: String, options: StoreOptions) throws -> OpenedDatabase {
    try StoreFileCheck.checkReadable(path)
    return try probing.withLock { _ in try openChecked(path, options) }
  }

  private static func openChecked(_ path: String, _ options: StoreOptions) throws -> OpenedDatabase {
    let timeout = options.timeoutMilliseconds
    let direct = try SQLiteConnection(path: path, mode: .readOnlySharedMemory, busyTimeoutMilliseconds: timeout)
    do {
      let check = try StoreFileCheck(direct, path)
      let files = FileManager.default
      let hasIndex = files.fileExists(atPath: path + "-shm")
      // If the WAL contains only a header, SQLite can't know whether a writer is about to restart it, and waits for one
      // until the timeout.
      let waitsInVain = check.wal?.isHeaderOnly == true && !check.isWALInUse
      if check.wal == nil ? !check.header.usesWAL : hasIndex && !waitsInVain {
        if try mayRead(direct) {
          try check.checkStore(direct)
          return OpenedDatabase(
            connection: direct, path: path, isReadOnly: true, readerMode: .readOnlySharedMemory)
        }
      }
      direct.close()
      let canLeaveNoTrace =
        check.wal == nil && !hasIndex && check.header.usesWAL && files.isWritableFile(atPath: path)
        && files.isWritableFile(atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path)
      if canLeaveNoTrace {
        let connection = try reader(path, timeout)
        return OpenedDatabase(connection: connection, path: path, isReadOnly: true, readerMode: .readWrite)
      }
      let copy = try PrivateCopy(of: path)
      let connection = try reader(copy.path, timeout)
      try check.checkStore(connection)
      return OpenedDatabase(
        connection: connection, path: copy.path, isReadOnly: true, readerMode: .readWrite, privateCopy: copy)
    } catch {
      direct.close()
      throw error
    }
  }

  private static func reader(_ path: String, _ timeout: Int32) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: path, mode: .readWrite, busyTimeoutMilliseconds: timeout)
    try connection.execute("PRAGMA query_only = ON")
    return connection
  }

  /// Whether a connection that must not change anything can read: not if a journal must be rolled back first, if it
  /// can't access the WAL index, or if the index changes whenever it reads.
  private static func mayRead(_ connection: SQLiteConnection) throws -> Bool {
    do {
      _ = try connection.integer("SELECT count(*) FROM sqlite_master")
      return true
    } catch let error as SQLiteError
      where [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PROTOCOL].contains(error.primaryCode)
    {
      return false
    }
  }
}
