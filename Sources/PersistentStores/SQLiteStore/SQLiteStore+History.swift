import Foundation
import ManagedObjectModel

extension SQLiteStore: HistoryTrackingStore {
  package func dataVersion() -> UInt32? {
    guard writerLock.try() else { return nil }
    defer { writerLock.unlock() }
    guard let connection = try? writingReader().connection, !connection.isInTransaction,
      (try? connection.lookForCommits()) != nil
    else { return nil }
    return connection.versionSeen
  }

  package func lastTransactionNumber() throws -> Int64 {
    try readCommitted { reader in
      try reader.access("Reading the history of") { try reader.connection.lastHistoryKey(of: .transaction) }
    }
  }

  package func history(_ range: HistoryRange, withChanges: Bool) throws -> [HistoryTransaction] {
    try readCommitted { reader in
      try reader.access("Reading the history of") {
        try HistoryReader(reader.connection, idSpaces).transactions(range, withChanges: withChanges)
      }
    }
  }

  package func deleteHistory(before end: HistoryEnd) throws -> Int {
    guard !isReadOnly else { throw readOnlyError }
    let count = try access("Deleting the history of") { connection in
      try checkTransaction(connection)
      return try connection.transaction {
        let first = try firstKept(end, connection)
        let isDeleted = "Z_PK < coalesce(?, \(Int64.max))"
        try connection.run(
          "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION WHERE \(isDeleted))", [first])
        try connection.run("DELETE FROM ATRANSACTION WHERE \(isDeleted)", [first])
        let count = connection.changedRowCount
        // Changes without a transaction can't be read by any request.
        try connection.execute(
          "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IS NULL OR ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)")
        return count
      }
    }
    // The deletion is committed: a failing checkpoint changes nothing about it.
    try? didCommit()
    return count
  }

  /// The number of the first transaction that is kept; null if none is. With a clock that was set back, a later
  /// transaction may have an earlier time: what is kept has no gaps.
  private func firstKept(_ end: HistoryEnd, _ connection: SQLiteConnection) throws -> StoredValue {
    switch end {
    case .number(let number): .integer(number)
    case .seconds(let seconds):
      try connection.integer("SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?", [.real(seconds)])
        .map(StoredValue.integer) ?? .null
    }
  }

  /// Whether a store can be written to with its history, or without one.
  ///
  /// - Throws: `NSError` 134080 for a store that tracks its history and is to be written to without, or in tables that
  ///   lack columns.
  static func checkHistory(
    _ connection: SQLiteConnection, _ settings: StoreOptions, metadata: StoreMetadata, location: String
  ) throws {
    let sign = try HistorySigns(connection: connection).find(metadata)
    if settings.tracksHistory == false, let sign {
      throw NSError.historyRefusal(
        location, "it tracks its history (\(sign)), and changes would be missing there")
    }
    guard settings.tracksHistory == true || sign != nil else { return }
    if let missing = try HistoryTables(connection: connection).missingColumns().first {
      let shows = sign.map { " (\($0))" } ?? ""
      throw NSError.historyRefusal(
        location, "it tracks its history\(shows) in tables of another framework, without \(missing)")
    }
  }

  /// Makes the tables of the history in a store that tracks one and is written to.
  ///
  /// - Returns: Whether the store tracks a history: the option asks for it, or the store shows it.
  static func prepareHistory(
    _ opened: OpenedDatabase, _ settings: StoreOptions, metadata: StoreMetadata, entities: [NSEntityDescription]
  ) throws -> Bool {
    let (connection, tables) = (opened.connection, HistoryTables(connection: opened.connection))
    let signs = HistorySigns(connection: connection)
    if opened.isReadOnly {
      // What can't be read is reported when the history is asked for.
      let sign = try? signs.find(metadata)
      return try (settings.tracksHistory == true || sign != nil) && !tables.columns(of: .transaction).isEmpty
    }
    guard try settings.tracksHistory == true || signs.find(metadata) != nil else { return false }
    if try !tables.isPrepared(for: entities) { try connection.transaction { try tables.prepare(for: entities) } }
    return true
  }

  /// Nil if the store tracks no history.
  ///
  /// - Throws: `NSError` 134030 if another program has begun to track the history since the store was opened.
  func historyWriter(_ connection: SQLiteConnection) throws -> HistoryWriter? {
    guard tracksHistory else {
      guard try connection.lastHistoryKeys() == untrackedHistory else {
        throw NSError.historyHasBegun(location)
      }
      return nil
    }
    return HistoryWriter(SQLiteHistoryRows(connection, origin: origin), of: self)
  }

  /// Those of `deletions` whose rows are there. Another program may have deleted the others, and noted it.
  func present(_ changes: ChangeSet, _ connection: SQLiteConnection) throws -> [RowVersion] {
    guard tracksHistory else { return [] }
    for deleted in changes.deletedRows { try deleted.rows.load() }
    return try changes.singleDeletions.filter { row in
      let table = try sqlEntity(row.id.entity).tableName
      return try connection.integer(
        "SELECT 1 FROM \(table) WHERE Z_PK = ?", [.integer(try key(of: row.id))]) != nil
    }
  }
}

extension SQLiteConnection {
  /// The last keys of the history tables, added up; -1 for a store that has none. Each transaction raises it.
  func lastHistoryKeys() throws -> Int64 {
    try integer("SELECT coalesce(sum(Z_MAX), -1) FROM Z_PRIMARYKEY WHERE Z_ENT BETWEEN 16001 AND 16003") ?? -1
  }
}
