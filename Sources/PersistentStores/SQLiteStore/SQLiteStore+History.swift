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
    try access("Reading the history of") { try $0.lastHistoryKey(of: .transaction) }
  }

  package func history(_ range: HistoryRange, withChanges: Bool) throws -> [HistoryTransaction] {
    try read(nil) { reader in
      guard let reader = reader as? SQLiteReader else { return [] }
      return try reader.access("Reading the history of") {
        try HistoryReader(reader.connection, idSpaces).transactions(range, withChanges: withChanges)
      }
    }
  }

  package func deleteHistory(before end: HistoryEnd) throws -> Int {
    guard !isReadOnly else { throw readOnlyError }
    let count = try access("Deleting the history of") { connection in
      try checkTransaction(connection)
      return try connection.transaction {
        let (condition, value): (String, StoredValue) =
          switch end {
          case .number(let number): ("Z_PK < ?", .integer(number))
          case .seconds(let seconds): ("ZTIMESTAMP < ?", .real(seconds))
          }
        try connection.run(
          "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION WHERE \(condition))", [value])
        try connection.run("DELETE FROM ATRANSACTION WHERE \(condition)", [value])
        return connection.changedRowCount
      }
    }
    try? didCommit()
    return count
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
      throw historyRefusal(location, "it tracks its history (\(sign)), and changes would be missing there")
    }
    guard settings.tracksHistory == true || sign != nil else { return }
    if let missing = try HistoryTables(connection: connection).missingColumns().first {
      let shows = sign.map { " (\($0))" } ?? ""
      throw historyRefusal(location, "it tracks its history\(shows) in tables of another framework, without \(missing)")
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

  private static func historyRefusal(_ location: String, _ reason: String) -> NSError {
    .coreData(
      .open,
      "The store \(location) can't be written to: \(reason). Open it for reading only, or write to it with the program "
        + "that made it.",
      suggestion: "To read it, add it with NSReadOnlyPersistentStoreOption. To go on with its history, do not set "
        + "NSPersistentHistoryTrackingKey to false.")
  }

  /// Nil if the store tracks no history.
  func historyWriter(_ connection: SQLiteConnection) -> HistoryWriter? {
    guard tracksHistory else { return nil }
    let entities = HistoryEntities(schema: schema, idSpaces: idSpaces, identity: identity)
    return HistoryWriter(connection, entities: entities, origin: origin)
  }

  /// Those of `deletions` whose rows are there. Another program may have deleted the others, and noted it.
  func present(_ deletions: [RowVersion], _ connection: SQLiteConnection) throws -> [RowVersion] {
    guard tracksHistory else { return [] }
    return try deletions.filter { row in
      let table = try sqlEntity(row.id.entity).tableName
      return try connection.integer(
        "SELECT 1 FROM \(table) WHERE Z_PK = ?", [.integer(try key(of: row.id))]) != nil
    }
  }
}
