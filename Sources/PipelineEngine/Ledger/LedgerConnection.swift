import ManagedObjectModel
import PersistentStores
import PostgreSQLStore

/// A connection to the tables of a store's ledger, without the objects of the store.
struct LedgerConnection {
  let dialect: ParticipantDialect
  let isOfServer: Bool
  /// The rows that a statement returns; `?` stands for each of the values.
  let rows: (_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]]
  /// Runs statements in one transaction; an error takes them back.
  let transaction: (_ body: () throws -> Void) throws -> Void
  /// Throws if the store was changed while it was read.
  let checkUnchanged: () throws -> Void
  let close: () -> Void

  /// Reads a store.
  ///
  /// - Parameter isWritten: Whether the store is written afterwards, so that it is checked as a store that a program
  ///   writes to.
  static func reading(
    _ store: StoreLocation, isWritten: Bool = false, timeoutSeconds: Double = StoreOptions.timeoutSecondsDefault
  ) throws -> LedgerConnection {
    guard let path = store.path else { return try server(store, isReadOnly: true, timeoutSeconds: timeoutSeconds) }
    let opened =
      try isWritten
      ? OpenedDatabase.openBeforeWriting(path, timeoutSeconds: timeoutSeconds) : OpenedDatabase.openForReading(path)
    return LedgerConnection(
      dialect: .sqlite, isOfServer: false, rows: { try opened.connection.rows($0, $1) }, transaction: { try $0() },
      checkUnchanged: { try opened.checkUnchanged() }, close: { withExtendedLifetime(opened) {} })
  }

  static func writing(_ store: StoreLocation, timeoutSeconds: Double) throws -> LedgerConnection {
    guard let path = store.path else { return try server(store, isReadOnly: false, timeoutSeconds: timeoutSeconds) }
    let connection = try OpenedDatabase.openForWriting(path, timeoutSeconds: timeoutSeconds)
    return LedgerConnection(
      dialect: .sqlite, isOfServer: false, rows: { try connection.rows($0, $1) },
      transaction: { try connection.transaction($0) },
      checkUnchanged: {}, close: { connection.close() })
  }

  private static func server(
    _ store: StoreLocation, isReadOnly: Bool, timeoutSeconds: Double
  ) throws -> LedgerConnection {
    let server = try ServerStatements(at: try store.url(), isReadOnly: isReadOnly, timeoutSeconds: timeoutSeconds)
    return LedgerConnection(
      dialect: .postgreSQL, isOfServer: true, rows: { try server.rows($0, $1) },
      transaction: { try server.transaction($0) },
      checkUnchanged: {}, close: { server.close() })
  }

  /// The rows of a statement without values, in the form that save participants receive.
  func plainRows(_ sql: String) throws -> [[Any?]] { try rows(sql, []).map { $0.map(\.plain) } }

  func count(_ table: String) throws -> Int {
    guard case .integer(let count)? = try rows("SELECT count(*) FROM \(table)", []).first?.first else { return 0 }
    return Int(count)
  }

  func layout(of tables: LedgerTables) throws -> LedgerLayout? { try tables.layout(dialect, plainRows) }
}
