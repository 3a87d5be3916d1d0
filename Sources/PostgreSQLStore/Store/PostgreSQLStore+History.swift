import Foundation
import ManagedObjectModel
import PersistentStores

extension PostgreSQLStore: HistoryTrackingStore {
  package func willWrite(for origin: ChangeOrigin) { writerLock.withLock { self.origin = origin } }

  /// The number of the last transaction: a small query, which works behind a pooler in transaction mode, where LISTEN
  /// does not. A store that tracks no history has none.
  package func dataVersion() -> UInt32? {
    guard tracksHistory, writerLock.try() else { return nil }
    defer { writerLock.unlock() }
    guard let connection = try? writingReader().connection, !connection.isInTransaction else { return nil }
    return (try? ServerHistoryTables(connection: connection).lastNumber()).map { UInt32(truncatingIfNeeded: $0) }
  }

  package func lastTransactionNumber() throws -> Int64 {
    try readCommitted { try ServerHistoryTables(connection: $0).lastNumber() }
  }

  package func history(_ range: HistoryRange, withChanges: Bool) throws -> [HistoryTransaction] {
    try readCommitted {
      try ServerHistoryReader(connection: $0, idSpaces: idSpaces).transactions(range, withChanges: withChanges)
    }
  }

  package func deleteHistory(before end: HistoryEnd) throws -> Int {
    guard !isReadOnly else { throw readOnlyError }
    return try transaction("Deleting the history of") { connection in
      let first: StoredValue =
        switch end {
        case .number(let number): .integer(number)
        case .seconds(let seconds):
          // What is kept has no gaps, also if a clock was set back.
          .integer(
            try connection.integer("SELECT min(ocd_number) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?", [.real(seconds)])
              ?? .max)
        }
      try connection.send(
        "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION WHERE ocd_number < ?)", [first])
      return try connection.change("DELETE FROM ATRANSACTION WHERE ocd_number < ?", [first])
    }
  }

  /// Nil if the store tracks no history.
  func historyWriter(_ connection: PostgreSQLConnection) -> HistoryWriter? {
    guard tracksHistory else { return nil }
    let rows = ServerHistoryRows(connection, origin) { [unowned self] in pendingHistory.append($0) }
    return HistoryWriter(rows, of: self)
  }

  /// Makes the tables of the history in a store that tracks one and is written to.
  ///
  /// - Returns: Whether the store tracks a history: the option asks for it, or the store has one.
  /// - Throws: `NSError` 134080 for a store that has one and is to be written to without.
  static func prepareHistory(
    _ opened: OpenedServer, _ schema: SQLSchema, of entities: [NSEntityDescription]
  ) throws -> Bool {
    let (connection, tables) = (opened.connection, ServerHistoryTables(connection: opened.connection))
    let (isThere, asked) = (try tables.areThere(), opened.settings.tracksHistory)
    if opened.settings.isReadOnly { return isThere }
    if asked == false, isThere {
      throw NSError.historyRefusal(opened.address.shown, "it tracks its history, and changes would be missing there")
    }
    guard isThere || asked == true else { return false }
    if try tables.isPrepared(entities) { return true }
    try connection.send(PostgreSQLConnection.beginWriting)
    do {
      try connection.send("SET LOCAL lock_timeout = \(opened.settings.timeoutMilliseconds)")
      try tables.prepare(entities, tables: schema.tables.map(\.name))
      try connection.commit()
    } catch {
      _ = try? connection.query("ROLLBACK")
      throw error
    }
    return true
  }
}
