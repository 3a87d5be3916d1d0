import Foundation

/// Inserting, deleting and finding objects.
extension NSManagedObjectContext {
  // MARK: Insertion

  /// Gives `object` a temporary ID and makes it pending here. Called by the initialisers of `NSManagedObject`.
  public func insert(_ object: NSManagedObject) {
    precondition(
      object.managedObjectContext == nil, "The object \(object.objectID) already belongs to a context.")
    let segment = insertions.openSegment(for: object.entity)
    let row = segment.batch.count
    segment.batch.appendRow()
    segment.isValidated = false
    object.identity = segment.objectID(row: row)
    object.managedObjectContext = self
    object.state = [.inserted, .unpacked]
    segment.keep(object, row: row)
    registry.insert(object, as: object.identity.key)
    event.noteInsertion(segment, rows: row..<(row + 1))
    scheduleProcessing()
    object.awakeFromInsert()
  }

  /// Inserts all objects of `batch` at once. Everything that can be seen or done is as if they had been inserted one
  /// by one (values nil where the batch has none); objects are made only when somebody asks.
  ///
  /// - Returns: The objects' IDs in the order of the batch, temporary until a save reaches the store.
  @discardableResult
  public func insert(_ batch: ObjectBatch) -> ObjectIDCollection {
    guard batch.count > 0 else { return ObjectIDCollection() }
    let segment = PendingSegment(batch: batch, range: TemporaryIDRange(count: batch.count))
    insertions.append(segment)
    event.noteInsertion(segment, rows: 0..<batch.count)
    scheduleProcessing()
    if batch.entity.objectClass.lifecycleHooks.contains(.awakeFromInsert) {
      for row in 0..<batch.count { handle(in: segment, row: row).awakeFromInsert() }
    }
    return ObjectIDCollection([segment.rows])
  }

  /// The object for a pending row, made now if nobody asked before.
  func handle(in segment: PendingSegment, row: Int) -> NSManagedObject {
    if let known = segment.handles[row] { return known }
    let id = segment.objectID(row: row)
    let object = makeObject(id)
    object.values = segment.batch.values(row: row)
    object.state = .inserted
    segment.keep(object, row: row)
    registry.insert(object, as: id.key)
    return object
  }

  /// An object of the class that the model names, in this context, with nothing loaded.
  func makeObject(_ id: NSManagedObjectID) -> NSManagedObject {
    let object = id.entity.objectClass.init(entity: id.entity, insertInto: nil)
    object.identity = id
    object.managedObjectContext = self
    return object
  }

  // MARK: Changes

  func noteChange(of object: NSManagedObject) {
    if object.isInserted {
      object.state.insert(.unpacked)
      guard let (segment, row) = insertions.locate(object.identity) else { return }
      segment.isValidated = false
      // An insertion that is still to be announced carries the change with it.
      if event.hasInsertion(segment, row: row) { return }
    } else if !object.isDeleted {
      object.state.insert(.updated)
      updates[object.identity.key] = object
    }
    event.updates[object.identity.key] = object
    scheduleProcessing()
  }

  /// Marks `object` for deletion at the next save; one that was never saved is forgotten at once.
  public func delete(_ object: NSManagedObject) {
    precondition(
      object.managedObjectContext === self,
      "An object can only be deleted in its own context; ask this one for object(with: objectID).")
    guard !object.isDeleted else { return }
    object.prepareForDeletion()
    let key = object.identity.key
    if object.isInserted, let (segment, row) = insertions.locate(object.identity) {
      segment.remove(row: row)
      object.state = .deleted
      registry.remove(key)
      event.deletions[key] = object
      object.managedObjectContext = nil
    } else {
      // The version of the row is part of the deletion, so a fault is loaded first.
      if object.isFault { object.fireFault() }
      updates[key] = nil
      object.state.remove(.updated)
      object.state.insert(.deleted)
      deletions[key] = object
      event.deletions[key] = object
    }
    event.updates[key] = nil
    scheduleProcessing()
  }

  // MARK: Lookup

  /// The object with `objectID` if this context has it; never reads anything.
  public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    adoptPermanentIDs()
    let id = objectID.resolved
    if let known = registry[id.key] { return known }
    if let (segment, row) = insertions.locate(objectID) { return handle(in: segment, row: row) }
    return nil
  }

  /// The object with `objectID`: a fault if this context does not have it yet; never reads anything.
  public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    if let known = registeredObject(for: objectID) { return known }
    let object = makeObject(objectID.resolved)
    object.values = []
    object.state = .fault
    register(object)
    return object
  }

  /// The object with `objectID`, loaded.
  ///
  /// - Throws: `NSError` 133000 when no object has this ID (any more), or what reading the store said.
  public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    if let known = registeredObject(for: objectID), !known.isFault {
      if known.isDeleted { throw Self.notFound(objectID) }
      return known
    }
    guard let row = try rowBelow(for: objectID) else { throw Self.notFound(objectID) }
    return realized(object(with: objectID), row)
  }

  static func notFound(_ id: NSManagedObjectID) -> NSError {
    .coreData(
      .objectNotFound, "No object has the ID \(id). It was deleted, or it is of another store.")
  }

  func register(_ object: NSManagedObject) {
    registry.insert(object, as: object.identity.key)
    if retainsRegisteredObjects { retained.insert(object) }
  }

  // MARK: Faults

  /// Loads a fault's values; the faults of its group that still wait come along.
  func fulfillFault(_ object: NSManagedObject) {
    do {
      if !object.values.isEmpty {
        wake(object)
      } else if let group = object.faultGroup {
        let waiting = group.members.compactMap { registry[$0.key] }.filter { $0.isFault && $0.values.isEmpty }
        for (member, row) in zip(waiting, try rowsBelow(for: waiting.map(\.identity))) {
          member.faultGroup = nil
          if let row { prime(member, row) }
        }
        object.values.isEmpty ? markInaccessible(object) : wake(object)
      } else if let row = try rowBelow(for: object.identity) {
        _ = realized(object, row)
      } else {
        markInaccessible(object)
      }
    } catch {
      preconditionFailure("The values of \(object.identity) can't be read: \(error.localizedDescription)")
    }
  }

  private func markInaccessible(_ object: NSManagedObject) {
    precondition(shouldDeleteInaccessibleFaults, "No row is left for \(object.identity); it was deleted.")
    object.values = Array(repeating: .null, count: object.entity.attributeSlots.count)
    object.state = .deleted
    object.faultGroup = nil
    deletions[object.identity.key] = object
  }

  /// Gives a fault its values without ending its being one.
  func prime(_ object: NSManagedObject, _ row: FetchedRow) {
    object.values = row.values
    object.version = row.version
  }

  func realized(_ object: NSManagedObject, _ row: FetchedRow) -> NSManagedObject {
    guard object.isFault else { return object }
    prime(object, row)
    wake(object)
    return object
  }

  private func wake(_ object: NSManagedObject) {
    object.state.remove(.fault)
    object.faultGroup = nil
    object.awakeFromFetch()
  }

  /// Turns `object` back to what the level below has. With `mergeChanges` its own changes are applied again.
  public func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    guard !object.isInserted, !object.isDeleted else { return }
    let changed = mergeChanges ? object.changedSlots.map { ($0, object.values[$0]) } : []
    turnIntoFault(object)
    for (slot, value) in changed { object.setStoredValue(value, at: slot) }
    event.refreshed[object.identity.key] = object
    scheduleProcessing()
  }

  /// Refreshes every object, keeping the changes of those that have some.
  public func refreshAllObjects() {
    for object in registry.objects { refresh(object, mergeChanges: true) }
  }

  func turnIntoFault(_ object: NSManagedObject) {
    object.willTurnIntoFault()
    object.values = []
    object.snapshot = nil
    object.state = .fault
    object.version = 0
    updates[object.identity.key] = nil
    object.didTurnIntoFault()
  }

  // MARK: Permanent IDs

  /// Gives `objects` that have none permanent IDs now; they stay inserted until they are saved.
  ///
  /// - Throws: `NSError` 134030 and the like when the store can't hand out keys.
  public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    let temporary = objects.filter { $0.objectID.isTemporaryID }
    guard !temporary.isEmpty else { return }
    guard let coordinator = persistentStoreCoordinator else {
      throw NSError.coreData(.coreData, "The context has no coordinator; set one, or a parent that has one.")
    }
    try coordinator.obtainPermanentIDs(for: temporary.map(\.identity))
    for object in temporary { rekey(object) }
  }

  /// Takes over the permanent IDs of saved objects, once a save further down has given them.
  func adoptPermanentIDs() {
    guard !awaitingPermanentIDs.isEmpty else { return }
    awaitingPermanentIDs.removeAll { range, rows, entity in
      var isDone = true
      for row in rows {
        let id = NSManagedObjectID(entity: entity, range: range, row: row)
        guard let object = registry[id.key] else { continue }
        if range.permanent(row: row) == nil { isDone = false } else { rekey(object) }
      }
      return isDone
    }
  }

  func rekey(_ object: NSManagedObject) {
    let (old, new) = (object.identity, object.identity.resolved)
    guard old.key != new.key else { return }
    object.identity = new
    registry.remove(old.key)
    registry.insert(object, as: new.key)
    if let pending = updates.removeValue(forKey: old.key) { updates[new.key] = pending }
    if let pending = deletions.removeValue(forKey: old.key) { deletions[new.key] = pending }
  }
}
