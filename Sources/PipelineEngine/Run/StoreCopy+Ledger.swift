import ManagedObjectModel
import OpenCoreData
import PersistentStores
import PostgreSQLStore

extension StoreCopy {
  /// Copies a store of a server into a new file, with the numbers of its objects' versions and with the ledger, all as they
  /// were at one moment: an import into the copy does what one into the store would do.
  static func copyWithLedger(
    _ store: StoreLocation, to path: String, model: NSManagedObjectModel, _ tables: LedgerTables,
    timeoutSeconds: Double
  ) throws {
    let original = try open(store, model, isReadOnly: true, timeoutSeconds: timeoutSeconds)
    defer { close(original) }
    let copy = try open(StoreLocation(path), model, isReadOnly: false, timeoutSeconds: timeoutSeconds)
    defer { close(copy) }
    guard let server = original.rowStores.first as? PostgreSQLStore, let file = copy.rowStores.first else { return }
    _ = try ObjectCopy(from: server, to: file, model: model).run { snapshot in
      let connection = try OpenedDatabase.openForWriting(path, timeoutSeconds: timeoutSeconds)
      defer { connection.close() }
      try connection.transaction {
        let rows = { (sql: String, values: [StoredValue]) in try server.rows(sql, values, in: snapshot) }
        for table in server.rowTables { try copyVersions(of: table, rows, to: connection) }
        try copyLedger(tables, rows, to: connection)
      }
    }
  }

  private static let rowsAtOnce = 10_000

  private typealias Rows = (String, [StoredValue]) throws -> [[StoredValue]]

  /// Both stores have the same tables and columns.
  private static func copyVersions(of table: String, _ rows: Rows, to connection: SQLiteConnection) throws {
    var last = Int64.min
    while true {
      let found = try rows(
        "SELECT Z_PK, Z_OPT FROM \(table) WHERE Z_PK > ? ORDER BY Z_PK LIMIT \(rowsAtOnce)", [.integer(last)])
      for row in found {
        try connection.run("UPDATE \(table) SET Z_OPT = ? WHERE Z_PK = ? AND Z_OPT <> ?", [row[1], row[0], row[1]])
      }
      guard case .integer(let key)? = found.last?.first, found.count == rowsAtOnce else { return }
      last = key
    }
  }

  private static func copyLedger(_ tables: LedgerTables, _ rows: Rows, to connection: SQLiteConnection) throws {
    let layout = try tables.layout(.postgreSQL) { try rows($0, []).map { $0.map(\.plain) } }
    guard layout != nil else { return }
    for sql in LedgerLayout.statements(for: tables, .sqlite, from: nil) { try connection.execute(sql) }
    try connection.execute("DELETE FROM \(tables.ledger)")
    for table in tables.names {
      // The same statements have made both tables, so that their columns have one order.
      for row in try rows("SELECT * FROM \(table)", []) {
        let marks = Array(repeating: "?", count: row.count).joined(separator: ", ")
        try connection.run("INSERT INTO \(table) VALUES (\(marks))", row)
      }
    }
  }
}
