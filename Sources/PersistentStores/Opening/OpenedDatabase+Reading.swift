import CSQLite
import Foundation
import SystemSupport
import ManagedObjectModel

extension OpenedDatabase {
  /// Opens for a reader of foreign tables in the way a context's store is opened for reading. Keep the value while the
  /// connection is in use.
  ///
  /// - Parameters:
  ///   - readsDamagedWAL: Whether a damaged WAL is read up to its first wrong frame instead of being refused.
  ///   - timeoutSeconds: How long to wait for a program that has locked the file.
  package static func openForReading(
    _ path: String, readsDamagedWAL: Bool = false, timeoutSeconds: Double = StoreOptions.timeoutSecondsDefault
  ) throws -> OpenedDatabase {
    let options = [
      StoreOptions.readsDamagedWALKey: NSNumber(value: readsDamagedWAL),
      NSPersistentStoreTimeoutOption: NSNumber(value: timeoutSeconds),
    ]
    return try openForReading(path, options: try StoreOptions(options))
  }

  /// Opens to see what a connection for writing will see.
  package static func openBeforeWriting(
    _ path: String, timeoutSeconds: Double = StoreOptions.timeoutSecondsDefault
  ) throws -> OpenedDatabase {
    let options = [
      StoreOptions.readsBeforeWritingKey: NSNumber(value: true),
      NSPersistentStoreTimeoutOption: NSNumber(value: timeoutSeconds),
    ]
    return try openForReading(path, options: try StoreOptions(options))
  }

  /// Copies a store that can be opened.
  ///
  /// - Parameters:
  ///   - isWritten: Whether the copy is written to, so that it is checked as a store that a program writes to.
  ///   - timeoutSeconds: How long to wait for a program that has locked the file.
  /// - Returns: The copy, which has no other user, and what the WAL lacks.
  package static func copy(
    _ path: String, isWritten: Bool, timeoutSeconds: Double = StoreOptions.timeoutSecondsDefault
  ) throws -> (copy: PrivateCopy, loss: String?) {
    if try isUnmade(path) { return (try PrivateCopy(of: StorePath.resolved(path)), nil) }
    let opened =
      try isWritten
      ? openBeforeWriting(path, timeoutSeconds: timeoutSeconds) : openForReading(path, timeoutSeconds: timeoutSeconds)
    opened.connection.close()
    let path = StorePath.resolved(path)
    if let copy = opened.privateCopy {
      PrivateCopy.forget(path)
      return (copy, opened.loss)
    }
    return (try probing.withLock { _ in try PrivateCopy(of: path) }, opened.loss)
  }

  /// Whether a connection for writing will make a store of the file.
  package static func hasNoTables(_ path: String, timeoutSeconds: Double) throws -> Bool {
    if try isUnmade(path) { return true }
    let opened = try openBeforeWriting(path, timeoutSeconds: timeoutSeconds)
    defer { withExtendedLifetime(opened) {} }
    return try opened.connection.hasNoTables()
  }

  /// Whether there is a file that is still to be made.
  private static func isUnmade(_ path: String) throws -> Bool {
    try StorePath.checkKind(path)
    let path = StorePath.resolved(path)
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    if status.st_size == 0 { return true }
    guard mayExist(path + "-journal"), access(path, R_OK) == 0 else { return false }
    return try probing.withLock { _ in
      let probe = try SQLiteConnection(path: path, mode: .readOnlySharedMemory)
      defer { probe.close() }
      return try probe.isUnmade(at: path)
    }
  }

  /// Opens without changing a byte of the file, its -wal, its -shm or its journal, and without creating one of them.
  ///
  /// With a -shm SQLite can be configured not to change it, and a file that uses journals has none. A file in WAL mode
  /// whose WAL has no frames is read alone and without locks if no program has it open. A -wal without a -shm, for
  /// which SQLite would have to create one, is read from a private copy, and so is a file whose journal must be rolled
  /// back.
  static func openForReading(_ path: String, options: StoreOptions) throws -> OpenedDatabase {
    let path = StorePath.resolved(path)
    if options.readingPurpose == .readingBeforeWriting { try StoreFileCheck.checkHasOneName(path) }
    let end = ContinuousClock.now + .milliseconds(Int(options.timeoutMilliseconds))
    while true {
      try StoreFileCheck.checkReadable(path)
      if let opened = try probing.withLock({ _ in try openChecked(path, options) }) { return opened }
      // A program that opens or closes the file holds its locks for a moment, and has a WAL before or after that.
      guard ContinuousClock.now < end else {
        throw SQLiteError(code: SQLITE_BUSY, message: "another program has locked the file", sql: nil)
      }
      usleep(10_000)
    }
  }

  /// Nil if another program holds locks on the file that can't be respected.
  private static func openChecked(_ path: String, _ options: StoreOptions) throws -> OpenedDatabase? {
    let timeout = options.timeoutMilliseconds
    let direct = try SQLiteConnection(path: path, mode: .readOnlySharedMemory, busyTimeoutMilliseconds: timeout)
    do {
      let check = try StoreFileCheck(direct, path, for: options.readingPurpose)
      if check.mayBeReadAlone {
        direct.close()
        var opened = try openUnlocked(path)
        opened?.loss = check.loss
        return opened
      }
      // If the WAL contains only a header, SQLite can't know whether a writer is about to restart it, and waits for one
      // until the timeout.
      let waitsInVain = check.wal?.isHeaderOnly == true && !check.isWALInUse
      let hasIndex = mayExist(path + "-shm")
      if check.wal == nil ? !check.header.usesWAL : hasIndex && !waitsInVain, try mayRead(direct) {
        try check.checkStore(direct)
        return OpenedDatabase(
          connection: direct, path: path, isReadOnly: true, readerMode: .readOnlySharedMemory,
          loss: check.loss)
      }
      direct.close()
      let copy = try PrivateCopy.current(of: path)
      let connection = try SQLiteConnection(path: copy.path, mode: .readWrite, busyTimeoutMilliseconds: timeout)
      try connection.execute("PRAGMA query_only = ON")
      try check.checkStore(connection)
      return OpenedDatabase(
        connection: connection, path: copy.path, isReadOnly: true, readerMode: .readWrite, privateCopy: copy,
        loss: check.loss)
    } catch {
      direct.close()
      throw error
    }
  }

  private static func openUnlocked(_ path: String) throws -> OpenedDatabase? {
    let file = try UnlockedFile(path)
    // A program may have opened it since the check.
    guard !UnlockedFile.isLocked(path), WALHeader(path: path + "-wal")?.hasFrames != true else { return nil }
    let connection = try SQLiteConnection(path: path, mode: .immutable)
    return OpenedDatabase(
      connection: connection, path: path, isReadOnly: true, readerMode: .immutable, unlocked: file)
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

extension StoreFileCheck {
  /// Whether the file by itself is the store, and no program is known to have it open: every connection that uses the
  /// WAL has the index in use, except one that excludes all others by a lock on the file.
  fileprivate var mayBeReadAlone: Bool {
    header.usesWAL && !isWALInUse && wal?.hasFrames != true
      && !mayExist(path + "-journal")
  }
}

extension StoreOptions {
  fileprivate var readingPurpose: StoreFileCheck.Purpose {
    readsDamagedWAL ? .readingDamagedWAL : readsBeforeWriting ? .readingBeforeWriting : .reading
  }
}
