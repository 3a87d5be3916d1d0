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
      try store.access("Reading") { try SaveTransaction($0, ChangeSet()).rows(sql, values) }
    }
  }

  /// From now on saves only add to one open transaction, until it is committed or rolled back.
  ///
  /// After a rollback contexts must be reset: they believe that what they saved is in the store.
  package func beginTransaction() throws {
    try withStore { store in try store.access("Writing to") { try $0.execute("BEGIN IMMEDIATE") } }
  }

  package func commitTransaction() throws {
    try withStore { store in
      try store.access("Writing to") { connection in
        if connection.isInTransaction { try connection.execute("COMMIT") }
      }
      try store.didCommit()
    }
  }

  package func rollBackTransaction() throws {
    try withStore { store in
      try store.access("Writing to") { connection in
        // SQLite has already rolled back by itself after some errors (a full disk among them).
        if connection.isInTransaction { try connection.execute("ROLLBACK") }
      }
    }
  }

  /// The greatest key given out so far for objects of `entity` and its relatives; 0 before the first.
  package func lastKey(of entity: NSEntityDescription) throws -> Int64 {
    try lock.withLock {
      let stores = try requireStores()
      let store = home(of: entity) ?? stores[0]
      let root = try store.sqlEntity(entity).rootNumber
      return try store.access("Reading") {
        try $0.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", [.integer(Int64(root))]) ?? 0
      }
    }
  }

  /// The ID of the object with a key that a store is known to have given it; nil without a store.
  package func objectID(of entity: NSEntityDescription, key: Int64) -> NSManagedObjectID? {
    (home(of: entity) ?? persistentStores.first).map { NSManagedObjectID(entity: entity, store: $0.identity, key: key) }
  }
}

extension NSManagedObjectContext {
  /// The objects with `ids`, their values read together.
  package func objects(withIDs ids: [NSManagedObjectID]) -> [NSManagedObject] {
    let objects = ids.map(object(with:))
    loadTogether(objects)
    return objects
  }

  /// Checks what is inserted here by the rules of the model and of the objects' classes, as a save would, and saves
  /// nothing.
  ///
  /// - Throws: A validation error of every object that is refused.
  package func validateInsertions() throws {
    processPendingChanges()
    try checkForSave(updatesToo: false)
  }
}

extension NSManagedObject {
  /// Gives the attributes in `slots` the values of a batch's row, as far as they have others.
  package func setValues(at slots: [Int], of batch: ObjectBatch, row: Int) {
    let changed = slots.filter { storedValue(at: $0) != batch.value(row: row, slot: $0) }
    setStoredValues(at: changed) { batch.value(row: row, slot: $0) }
  }
}
