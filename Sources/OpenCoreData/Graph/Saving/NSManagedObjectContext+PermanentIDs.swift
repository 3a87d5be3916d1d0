import Foundation

/// Giving permanent IDs.
extension NSManagedObjectContext {
  /// Gives `objects` with temporary IDs permanent ones now; they stay inserted until they are saved. (Apple
  /// documentation: obtainPermanentIDs(for:).)
  ///
  /// ```swift
  /// let entry = JournalEntry(context: context)
  /// try context.obtainPermanentIDs(for: [entry])
  /// print(entry.objectID.uriRepresentation())  // stays the same after the save
  /// ```
  ///
  /// - Throws: `NSError` 134030 or a related code if the store cannot allocate keys.
  public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    checkQueue()
    for object in objects where object.managedObjectContext !== self {
      throw NSError.coreData(.coreData, "The object \(object.objectID) is not of this context; ask its own for IDs.")
    }
    let temporary = objects.filter { $0.objectID.isTemporaryID }
    guard !temporary.isEmpty else { return }
    guard let coordinator = persistentStoreCoordinator else {
      throw NSError.coreData(.coreData, "The context has no coordinator; set one, or a parent that has one.")
    }
    try coordinator.obtainPermanentIDs(for: temporary)
    // Pending objects are found by their row: they are registered under the new IDs when they are saved.
    for object in temporary where !object.isInserted { graph.rekey(object) }
  }
}

extension NSPersistentStoreCoordinator {
  /// Gives `objects` with temporary IDs permanent ones of the stores that they will be saved in.
  func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    try storesLock.withLock {
      let stores = try requireStores()
      var objectsByStore: [ObjectIdentifier: [NSManagedObject]] = [:]
      for object in objects {
        guard case .temporary(let range, let row) = object.identity.reference else { continue }
        let store = try StoreResolver(stores).store(range.storeChosen(row: row), for: object.entity)
        objectsByStore[ObjectIdentifier(store), default: []].append(object)
      }
      for store in stores {
        guard let objects = objectsByStore[ObjectIdentifier(store)] else { continue }
        if let adapter = store as? any ClassStoreAdapter {
          // A store of a client's own may choose the IDs by the values.
          try adapter.obtainPermanentIDs(
            for: objects.map { FetchedRow(id: $0.identity, version: BaseRow.unknownVersion, values: $0.values) })
        } else {
          try store.obtainPermanentIDs(for: objects.map(\.identity))
        }
      }
    }
  }
}
