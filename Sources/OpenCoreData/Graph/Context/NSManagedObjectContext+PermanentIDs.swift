import Foundation

/// Giving and adopting permanent IDs.
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
    for object in temporary where !object.isInserted { rekey(object) }
  }

  /// Registers objects under the permanent IDs that a save closer to the store has given them.
  func adoptPermanentIDs() {
    for id in unresolvedIDs.takeResolved() {
      if let object = registry[id.key] { rekey(object) }
    }
  }

  func addUnresolved(_ rows: some Sequence<Int>, _ range: TemporaryIDRange) {
    unresolvedIDs.add(rows, of: range) { registry[$0.key] != nil }
  }

  func rekey(_ object: NSManagedObject) {
    let (old, new) = (object.identity, object.identity.resolved)
    guard old.key != new.key else { return }
    object.auxiliary.permanentID = new
    registry.remove(old.key)
    registry.insert(object, as: new.key)
    if let pending = updates.removeValue(forKey: old.key) { updates[new.key] = pending }
    if let pending = deletions.removeValue(forKey: old.key) { deletions[new.key] = pending }
    event.rekey(old.key, new.key)
  }
}
