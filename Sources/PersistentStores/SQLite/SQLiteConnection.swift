import ManagedObjectModel
import CSQLite
import Foundation

/// One connection to a SQLite file. It belongs to one thread at a time; its owner ensures that.
package final class SQLiteConnection {
  package enum Mode: Sendable {
    case readWriteCreate
    case readWrite
    /// Reads without touching the -shm: the right mode if a -shm exists (a plain read-only open rewrites it).
    case readOnlySharedMemory
    /// Reads the file alone, without its WAL and without locks.
    case immutable
    /// A private database that SQLite deletes when the connection closes; SQLite spills it to disk if necessary.
    case privateTemporary
  }

  let handle: OpaquePointer
  private let busyTimeoutMilliseconds: Int32
  /// Not 0 in a transaction that `beginWriting()` has begun. SQLite reads it at each commit.
  private let refusesCommits: UnsafeMutablePointer<Int32>
  private var cache: [String: SQLiteStatement] = [:]
  /// Called with the text of each executed statement; tests use it to pin the SQL.
  package var traceHandler: ((String) -> Void)?

  package init(path: String, mode: Mode, busyTimeoutMilliseconds: Int32 = 10_000) throws {
    if mode != .privateTemporary { try StorePath.checkKind(path) }
    var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
    var name = path
    switch mode {
    case .readWriteCreate: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    case .readWrite: flags |= SQLITE_OPEN_READWRITE
    case .readOnlySharedMemory:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = Self.fileURI(path) + "?mode=ro&readonly_shm=1"
    case .immutable:
      flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      name = Self.fileURI(path) + "?mode=ro&immutable=1"
    case .privateTemporary:
      flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      name = ""
    }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(name, &opened, flags, nil)
    guard code == SQLITE_OK, let opened else {
      let error = SQLiteError(opened, code: code, sql: nil, creating: mode == .readWriteCreate ? path : nil)
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    refusesCommits = .allocate(capacity: 1)
    refusesCommits.initialize(to: 0)
    self.busyTimeoutMilliseconds = busyTimeoutMilliseconds
    sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
    // No statement of this library reads a view of the file. One in place of a table could run without an end.
    _ = csqlite_forbid_views(handle)
    csqlite_guard_commits(handle, refusesCommits)
    if StatementLog.level > 0 {
      logStatements(StatementLog(level: StatementLog.level, write: StatementLog.writeToStandardError))
    }
  }

  /// SQLite reports to it without holding it.
  private var statementLog: StatementLog?

  /// Logs each statement from now on, in place of a log that the connection had.
  func logStatements(_ log: StatementLog) {
    log.attach(to: handle)
    statementLog = log
  }

  deinit {
    close()
    refusesCommits.deallocate()
  }

  /// Closes the file; statements may not be run afterwards. If cursors are open, SQLite closes the file after the last
  /// one.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    cache.removeAll()
    // Cursors may outlive the connection, and with it the log.
    if statementLog != nil { _ = sqlite3_trace_v2(handle, 0, nil, nil) }
    csqlite_guard_commits(handle, nil)
    if let versionToKeep, versionSeen != versionToKeep { setKeepsWALOnClose(false) }
    sqlite3_close_v2(handle)
  }
  private var isClosed = false

  /// `path` as a `file:` URI: `?`, `#` and `%` in a file name would otherwise be interpreted.
  private static func fileURI(_ path: String) -> String {
    let unreserved = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "/-._~"))
    return "file:" + (path.addingPercentEncoding(withAllowedCharacters: unreserved) ?? path)
  }

  /// Whether a connection for writing became read-only because of the file's permissions or the disk.
  var mayOnlyRead: Bool { sqlite3_db_readonly(handle, "main") == 1 }

  /// Whether the system could not read the file at the last read that failed. SQLite reports only some of these.
  package var hasReadFailure: Bool { csqlite_read_errno(handle) == EIO }

  /// Makes SQLite open the WAL now, without waiting for locks. A failure recurs at the first statement.
  func openWAL() {
    sqlite3_busy_timeout(handle, 0)
    _ = try? integer("PRAGMA schema_version")
    sqlite3_busy_timeout(handle, busyTimeoutMilliseconds)
  }

  /// Whether closing the last connection to the file leaves the WAL in place.
  func setKeepsWALOnClose(_ keeps: Bool) { _ = csqlite_set_keeps_log(handle, keeps ? 1 : 0) }

  /// Leaves the WAL in place when the last connection to the file is closed, unless a commit follows.
  func keepWALUntilCommit() {
    setKeepsWALOnClose(true)
    versionToKeep = versionSeen
  }
  private var versionToKeep: UInt32?

  /// Ends `keepWALUntilCommit()`.
  func checkpointWALOnClose() {
    guard versionToKeep != nil else { return }
    versionToKeep = nil
    setKeepsWALOnClose(false)
  }

  // MARK: Running statements

  /// Runs every statement in `sql`, without bound values.
  package func execute(_ sql: String) throws {
    traceHandler?(sql)
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteError(handle, code: code, sql: sql) }
  }

  /// The prepared form of `sql`, cached; it is returned reset and without bound values.
  package func statement(_ sql: String) throws -> SQLiteStatement {
    if let known = cache[sql] {
      known.reset()
      return known
    }
    let made = try SQLiteStatement(self, sql)
    // Statements vary with predicates and the lengths of lists: the cache must not grow without bound.
    if cache.count >= Self.cachedStatementsMax { cache.removeAll(keepingCapacity: true) }
    cache[sql] = made
    return made
  }
  static let cachedStatementsMax = 100

  func statement(_ fragment: SQLFragment) throws -> SQLiteStatement {
    let kept = try statement(fragment.text)
    try kept.bind(fragment.bindings)
    return kept
  }

  /// A separate statement for `sql`, for a cursor that stays open while others run.
  package func cursor(_ fragment: SQLFragment) throws -> SQLiteStatement {
    let made = try SQLiteStatement(self, fragment.text)
    try made.bind(fragment.bindings)
    return made
  }

  /// Runs one statement with bound values to completion.
  package func run(_ sql: String, _ bindings: [StoredValue] = []) throws {
    let prepared = try statement(sql)
    defer { prepared.reset() }
    try prepared.bind(bindings)
    while try prepared.step() {}
  }

  /// Runs an UPDATE, whose condition is left out, over the rows of its table with these keys.
  ///
  /// - Parameter keys: Ascending, each once, and not more than one statement takes.
  func change(_ sql: String, rowsWith keys: ArraySlice<Int64>) throws {
    guard ChosenKeys.areDense(keys) else {
      return try run("\(sql) WHERE Z_PK IN (\(SQLFragment.keyMarks(keys.count)))", keys.map(StoredValue.integer))
    }
    let chosen = try chosenKeys ?? ChosenKeys(self)
    chosenKeys = chosen
    try chosen.change(sql, rowsWith: keys, on: self)
  }
  private var chosenKeys: ChosenKeys?

  /// All rows that `sql` yields.
  package func rows(_ sql: String, _ bindings: [StoredValue] = []) throws -> [[StoredValue]] {
    let prepared = try statement(sql)
    defer { prepared.reset() }
    try prepared.bind(bindings)
    var result: [[StoredValue]] = []
    while try prepared.step() { result.append(prepared.row()) }
    return result
  }

  /// The first column of the first row as an integer; nil if there is no row or it is NULL.
  package func integer(_ sql: String, _ bindings: [StoredValue] = []) throws -> Int64? {
    guard case .integer(let value)? = try rows(sql, bindings).first?.first else { return nil }
    return value
  }

  package var changedRowCount: Int { Int(sqlite3_changes64(handle)) }
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// The version of the database that was last read: it changes with each commit of any connection. (SQLite
  /// documentation: SQLITE_FCNTL_DATA_VERSION.)
  var versionSeen: UInt32 {
    var version: UInt32 = 0
    sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  /// Updates `versionSeen` to include the commits of other connections.
  func lookForCommits() throws { _ = try integer("PRAGMA data_version") }

  // MARK: Transactions

  /// Begins a transaction for writing. Until it ends, only `commit()` commits.
  ///
  /// SQLite prepares a statement again whose schema has changed. Without memory for that it can roll the transaction back,
  /// run the statement on its own, and report success: then that statement, and those that follow it, would be committed
  /// without what came before. They fail in place of that. (SQLite's source: sqlite3VdbeHalt, sqlite3_step.)
  func beginWriting() throws {
    // A lost transaction ends with `rollBack()`: a part of it must not become a transaction of its own.
    if refusesCommits.pointee != 0, !isInTransaction { throw SQLiteError.ofLostTransaction }
    try execute("BEGIN IMMEDIATE")
    refusesCommits.pointee = 1
  }

  /// Begins a transaction for writing, unless another connection has one.
  func beginsAtOnce() -> Bool { withoutWaiting { (try? beginWriting()) != nil } }

  /// Commits the transaction. If that fails, the transaction is open as long as it can be tried again.
  func commit() throws {
    guard isInTransaction else { throw SQLiteError.ofLostTransaction }
    refusesCommits.pointee = 0
    do {
      try execute("COMMIT")
    } catch {
      if isInTransaction { refusesCommits.pointee = 1 }
      throw error
    }
  }

  /// Rolls the transaction back. SQLite has done so already after some errors (a full disk among them).
  func rollBack() throws {
    if isInTransaction { try execute("ROLLBACK") }
    refusesCommits.pointee = 0
  }

  /// Runs statements that don't wait for the locks of other connections.
  func withoutWaiting<Result>(_ body: () throws -> Result) rethrows -> Result {
    sqlite3_busy_timeout(handle, 0)
    defer { sqlite3_busy_timeout(handle, busyTimeoutMilliseconds) }
    return try body()
  }

  /// Runs `body`, all of whose statements read the same state of the database.
  package func readTransaction<Result>(_ body: () throws -> Result) throws -> Result {
    guard !isInTransaction else { return try body() }
    try execute("BEGIN")
    // Ends the reading; there is nothing to write.
    defer { try? execute("COMMIT") }
    return try body()
  }

  /// Runs `body` between BEGIN IMMEDIATE and COMMIT; a thrown error rolls everything back. Inside an open transaction
  /// it runs in a savepoint, and a thrown error rolls back the savepoint only.
  package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    let isPart = isInTransaction
    if isPart { try execute("SAVEPOINT part") } else { try beginWriting() }
    do {
      let result = try body()
      if isPart { try execute("RELEASE part") } else { try commit() }
      return result
    } catch {
      if !isPart { try? rollBack() } else if isInTransaction { try? execute("ROLLBACK TO part; RELEASE part") }
      throw error
    }
  }
}
