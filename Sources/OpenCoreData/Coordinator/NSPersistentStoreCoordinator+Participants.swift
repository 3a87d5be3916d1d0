import Foundation

/// What save participants and bulk writers need from a coordinator in addition to saves of contexts. (Not part of
/// Apple's API.)
extension NSPersistentStoreCoordinator {
  /// Lets the participants write in a transaction of their own although no object has changed.
  ///
  /// - Throws: As `save()` of a context on the coordinator.
  public func saveParticipants() throws { try save(ChangeSet(), for: ChangeOrigin()) }

  /// The rows that one statement returns on the store's connection, for a participant that reads its own tables between
  /// saves.
  ///
  /// - Parameters:
  ///   - sql: One SQL statement that only reads, with `?` for each value.
  ///   - values: As for `SaveTransaction.execute`.
  /// - Returns: Int64, Double, String, Data or nil for each column.
  /// - Throws: `NSError` 134180 with SQLite's message; 134070 for a store without SQL, which takes no participants.
  public func participantRows(_ sql: String, _ values: [Any?] = []) throws -> [[Any?]] {
    try withSQLStore { store in
      try store.participantRows(sql, values.map(StoredValue.init(participantValue:))).map { $0.map(\.plain) }
    }
  }

  /// How the store writes the tables of save participants.
  package func participantDialect() throws -> ParticipantDialect { try withSQLStore(\.dialect) }

  /// How a save participant finds out whether objects of `entities` have changed since it read them.
  package func changeMark(of entities: [NSEntityDescription]) throws -> ChangeMark {
    try withSQLStore { try $0.changeMark(of: entities) }
  }

  /// The table in which the store has the objects of `entity`, for a save participant that locks rows.
  package func tableName(of entity: NSEntityDescription) throws -> String {
    try withSQLStore { try $0.tableName(of: entity) }
  }

  private func withSQLStore<Result>(_ body: (any SQLRowStore) throws -> Result) throws -> Result {
    try withStore { store in
      guard let store = store as? any SQLRowStore else {
        throw NSError.coreData(
          .operation,
          "The store \(store.location) is of the type \(store.type), which has no tables for save participants. Remove "
            + "the participants, or use SQLite.")
      }
      return try body(store)
    }
  }

  /// From now on saves are added to one open transaction, until it is committed or rolled back.
  ///
  /// Reset the contexts after a rollback: they assume that what they saved is in the store.
  package func beginTransaction() throws { try withStore { try $0.beginTransaction() } }

  package func commitTransaction() throws { try withStore { try $0.commitTransaction() } }

  package func rollBackTransaction() throws { try withStore { try $0.rollBackTransaction() } }

  /// Very many objects of `entity` are about to be inserted: its store leaves out what only makes reading faster, until
  /// `restoreIndexes()`.
  package func deferIndexes(of entity: NSEntityDescription) throws {
    try withStore { try $0.deferIndexes(of: entity) }
  }

  /// Makes what `deferIndexes(of:)` left out, in this process or in one that was killed; does nothing without that.
  package func restoreIndexes() throws { try withStore { try $0.restoreIndexes() } }

  /// What the WALs of the stores lacked when they were opened, as sentences: SQLite goes on without it.
  package var losses: [String] { rowStores.compactMap(\.loss) }

  /// The greatest key allocated so far for objects of `entity` and related entities; 0 before the first.
  package func lastKey(of entity: NSEntityDescription) throws -> Int64 {
    try storesLock.withLock {
      let stores = try requireStores()
      return try (firstWritable(keeping: entity) ?? stores[0]).lastKey(of: entity)
    }
  }

  /// The ID of the object that a store is known to have given `key`; nil without a store.
  package func objectID(of entity: NSEntityDescription, key: Int64) -> NSManagedObjectID? {
    (firstWritable(keeping: entity) ?? rowStores.first).map {
      NSManagedObjectID(entity: entity, store: $0.identity, key: key)
    }
  }
}
