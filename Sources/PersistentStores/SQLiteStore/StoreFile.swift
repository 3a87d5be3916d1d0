import ManagedObjectModel
import CSQLite
import Foundation
import SystemSupport

/// A store's file, handled as a whole and without a coordinator.
struct StoreFile {
  private let url: URL
  private let options: StoreOptions

  init(_ url: URL, _ options: [AnyHashable: Any]?) throws {
    self.url = StorePath.resolved(url)
    self.options = try StoreOptions(options)
  }

  private var exists: Bool { mayExist(url.path) }

  /// The folder in which Apple's framework keeps values that are too large for the database.
  private var supportFolder: URL { LargeValues.supportFolder(of: url) }

  func destroy() throws {
    guard exists else { return }
    try withErrors("destroyed") {
      let connection = try SQLiteConnection(
        path: url.path, mode: .readWrite, busyTimeoutMilliseconds: options.timeoutMilliseconds)
      defer { connection.close() }
      try checkIsStore(connection)
      let folder = try self.folder(connection, for: nil)
      let takeBack = try folder?.announce(nil)
      do {
        try connection.reset()
      } catch {
        takeBack?()
        throw error
      }
      if try connection.checkpointsWholeWAL() { folder?.noteWrittenBack() }
      // If other connections have the file open, it keeps its WAL and they see an empty database.
      _ = try? connection.rows("PRAGMA journal_mode = DELETE")
    }
    if !LargeValues.mayBeShared(url) { try removeSupportFolder() }
  }

  /// - Parameters:
  ///   - folder: The store's; nil if the caller does not have it.
  ///   - check: Called when no other program can write to the store any more; what it throws leaves the store as it is.
  func replace(
    with source: StoreFile, in folder: ExchangeFolder? = nil, after check: () throws -> Void = {}
  ) throws {
    guard source.exists else {
      throw NSError.coreData(.open, "The store to copy was not found at \(source.url.path); check the path.")
    }
    try withErrors("replaced by \(source.url.path)") {
      let opened = try OpenedDatabase.openForReading(source.url.path, options: source.options)
      defer { withExtendedLifetime(opened) {} }
      let uuid = try opened.connection.storeMetadata(at: source.url).uuid
      let connection = try SQLiteConnection(
        path: url.path, mode: .readWriteCreate, busyTimeoutMilliseconds: options.timeoutMilliseconds)
      defer { connection.close() }
      try checkIsStore(connection)
      let folder = try folder ?? self.folder(connection, for: uuid)
      let takeBack = try folder?.announce(uuid)
      do {
        let isWrittenBack = try replaceRowsAndFiles(connection, from: source, opened, after: check)
        if isWrittenBack { folder?.noteWrittenBack() }
      } catch {
        takeBack?()
        throw error
      }
      try opened.checkUnchanged()
    }
  }

  /// The folder whose sign is needed while the file holds a store and the WAL another one, `uuid`, or none; nil if they can't
  /// differ. An unreadable file is not compared with its WAL.
  private func folder(_ connection: SQLiteConnection, for uuid: String?) throws -> ExchangeFolder? {
    guard let own = try? connection.storeMetadata(at: url).uuid, own != uuid else { return nil }
    return try ExchangeFolder(of: url)
  }

  /// Files of new rows come before the rows, and those of old rows go after them.
  ///
  /// - Returns: Whether the WAL is written back.
  private func replaceRowsAndFiles(
    _ connection: SQLiteConnection, from source: StoreFile, _ opened: OpenedDatabase, after check: () throws -> Void
  ) throws -> Bool {
    try LargeValues.checkIsNotShared(url)
    let (own, others) = (ExternalFolder(of: url), ExternalFolder(of: source.url))
    try opened.connection.execute("BEGIN; SELECT 1 FROM Z_METADATA")
    defer { try? opened.connection.execute("COMMIT") }
    let released = Set(try own.names).subtracting(try others.names)
    let marked = own.marked
    let copied = try own.copyFiles(of: others)
    released.forEach(own.mark(released:))
    do {
      try opened.connection.copyEverything(to: connection, after: check)
    } catch {
      copied.forEach(own.remove)
      released.subtracting(marked).forEach(own.unmark)
      throw error
    }
    copied.forEach(own.unmark)
    // While a reader sees the old state, files and marks stay for the next opening.
    let isWrittenBack = (try? connection.checkpointsWholeWAL()) == true
    if isWrittenBack { released.forEach(own.remove) }
    own.removeMarkFolder()
    return isWrittenBack
  }

  /// A wrong path must not destroy another program's database. An unreadable file may be replaced.
  private func checkIsStore(_ connection: SQLiteConnection) throws {
    do {
      if try !connection.hasNoTables() { _ = try connection.storeMetadata(at: url) }
    } catch let error as SQLiteError where error.primaryCode == SQLITE_CORRUPT {}
  }

  private func removeSupportFolder() throws {
    guard mayExist(supportFolder.path) else { return }
    try FileManager.default.removeItem(at: supportFolder)
  }

  private func withErrors(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as SQLiteError {
      throw NSError.sqlite(error, .open, message: "The store \(url.path) can't be \(what)")
    }
  }
}

extension SQLiteConnection {
  /// Empties the database in one transaction, with the same locks as every other connection.
  fileprivate func reset() throws {
    csqlite_set_reset(handle, 1)
    defer { csqlite_set_reset(handle, 0) }
    try execute("VACUUM")
  }

  /// Writes the WAL back into the file as far as readers permit. Otherwise a file that other programs keep open could be
  /// one store by itself and another with its WAL.
  ///
  /// - Returns: Whether all of it was written back.
  @discardableResult
  func checkpointsWholeWAL() throws -> Bool {
    let outcome = try rows("PRAGMA wal_checkpoint(PASSIVE)").first ?? []
    return outcome.count == 3 && outcome[0] == .integer(0) && outcome[1] == outcome[2]
  }

  /// Writes the WAL back and empties it, unless a reader or writer would have to be waited for.
  func emptiesWAL() -> Bool {
    withoutWaiting {
      let outcome = try? rows("PRAGMA wal_checkpoint(TRUNCATE)").first
      return outcome?.first == .integer(0)
    }
  }

  /// Replaces the contents of `destination` with everything that is committed here, in one transaction.
  ///
  /// - Parameter check: Called when the destination is locked for this; what it throws leaves the destination as it is.
  func copyEverything(to destination: SQLiteConnection, after check: () throws -> Void = {}) throws {
    // A WAL requires a fixed page size.
    if try rows("PRAGMA page_size") != destination.rows("PRAGMA page_size") {
      _ = try destination.rows("PRAGMA journal_mode = DELETE")
    }
    guard let backup = sqlite3_backup_init(destination.handle, "main", handle, "main") else {
      throw SQLiteError(destination.handle, code: sqlite3_errcode(destination.handle), sql: nil)
    }
    // The first page is copied under the lock that all pages are. A store has more than one.
    var outcome = sqlite3_backup_step(backup, 1)
    if outcome == SQLITE_OK {
      do {
        try check()
      } catch {
        sqlite3_backup_finish(backup)
        throw error
      }
      outcome = sqlite3_backup_step(backup, -1)
    }
    let end = sqlite3_backup_finish(backup)
    guard outcome == SQLITE_DONE, end == SQLITE_OK else {
      throw SQLiteError(code: outcome == SQLITE_DONE ? end : outcome, message: Self.message(outcome), sql: nil)
    }
  }

  private static func message(_ code: Int32) -> String { String(cString: sqlite3_errstr(code)) }
}

extension SQLiteStore {
  package func copy(
    to url: URL, type: String, model: NSManagedObjectModel, options: [AnyHashable: Any]?
  ) throws -> any RowStore {
    let isNew = !mayExist(url.path)
    do {
      return try SQLiteStore.open(
        type == NSInMemoryStoreType ? nil : url, type: type, model: model, configuration: configurationName,
        options: options, from: self)
    } catch {
      if isNew, type == NSSQLiteStoreType {
        let path = StorePath.resolved(url.path)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        if !LargeValues.mayBeShared(url) { try? FileManager.default.removeItem(at: LargeValues.supportFolder(of: url)) }
      }
      throw error
    }
  }

  /// Fills an empty database with the contents of this store.
  func fill(_ destination: SQLiteConnection, _ url: URL?, type: String) throws {
    guard try destination.hasNoTables() else {
      throw NSError.coreData(
        .operation, "There is something at \(url?.path ?? "") already; choose another location, or destroy it first.")
    }
    try access("Copying") { connection in
      try copyEverything(to: destination, type == NSInMemoryStoreType ? nil : url, from: connection)
    }
    var written = StoreMetadata(dictionary: metadata)
    written.storeType = type
    try destination.write(written, uuid: UUID().uuidString)
  }

  package func move(to url: URL) throws {
    guard self.url != nil, mayExist(url.path) else {
      throw NSError.coreData(.open, "No file of the store \(identity.uuid) was found at \(url.path).")
    }
    let settings = try StoreOptions(options)
    let opened = try OpenedDatabase.open(url, options: settings)
    try opened.connection.registerPredicateFunctions()
    guard try opened.connection.storeMetadata(at: url).uuid == identity.uuid, opened.isReadOnly == isReadOnly
    else {
      throw NSError.coreData(.open, "The store at \(url.path) is not the store \(identity.uuid).")
    }
    try SQLiteStore.prepare(opened, settings, isNew: false, isInMemory: false)
    if !settings.keepsWALUntilCommit { opened.connection.checkpointWALOnClose() }
    try opened.connection.registerDerivationFunctions(of: idSpaces.values.map(\.entity))
    move(to: url, opened)
    try watchExternalData(opened.connection)
    try computeDerivedColumns(opened.connection)
  }
}
