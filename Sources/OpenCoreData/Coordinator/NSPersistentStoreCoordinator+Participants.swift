import Foundation

/// What save participants and bulk writers ask of a coordinator besides saves of contexts. (Not Apple's.)
extension NSPersistentStoreCoordinator {
  /// Lets the participants write although no object has changed, in a transaction of their own.
  ///
  /// - Throws: As `save()` of a context on the coordinator.
  public func saveParticipants() throws { try save(ChangeSet()) }

  /// The rows that one statement yields on the store's connection, for a participant that reads its own tables
  /// between saves.
  ///
  /// - Parameters:
  ///   - sql: One SQL statement that only reads, with `?` for each value.
  ///   - values: As for `SaveTransaction.execute`.
  /// - Returns: Int64, Double, String, Data or nil for each column.
  /// - Throws: `NSError` 134180 with what SQLite said.
  public func participantRows(_ sql: String, _ values: [Any?] = []) throws -> [[Any?]] {
    try withStore { store in
      try store.participantRows(sql, values.map(StoredValue.init(participantValue:))).map { $0.map(\.plain) }
    }
  }

  /// From now on saves only add to one open transaction, until it is committed or rolled back.
  ///
  /// After a rollback contexts must be reset: they believe that what they saved is in the store.
  package func beginTransaction() throws { try withStore { try $0.beginTransaction() } }

  package func commitTransaction() throws { try withStore { try $0.commitTransaction() } }

  package func rollBackTransaction() throws { try withStore { try $0.rollBackTransaction() } }

  /// The greatest key given out so far for objects of `entity` and its relatives; 0 before the first.
  package func lastKey(of entity: NSEntityDescription) throws -> Int64 {
    try lock.withLock {
      let stores = try requireStores()
      return try (firstWritable(keeping: entity) ?? stores[0]).lastKey(of: entity)
    }
  }

  /// The ID of the object with a key that a store is known to have given it; nil without a store.
  package func objectID(of entity: NSEntityDescription, key: Int64) -> NSManagedObjectID? {
    (firstWritable(keeping: entity) ?? rowStores.first).map {
      NSManagedObjectID(entity: entity, store: $0.identity, key: key)
    }
  }
}
