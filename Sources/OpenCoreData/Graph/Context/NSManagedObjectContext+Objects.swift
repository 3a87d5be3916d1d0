import Foundation

/// Inserting, deleting and finding objects.
extension NSManagedObjectContext {
  // MARK: Insertion

  /// Gives `object` a temporary ID and makes it pending here. Called by the initialisers of `NSManagedObject`. (Apple
  /// documentation: insert(_:).)
  ///
  /// An object that this context was about to delete is kept instead. Any other object of this context stays as it is.
  ///
  /// ```swift
  /// let entry = JournalEntry(entity: entity, insertInto: nil)
  /// entry.location = "Rincon"
  /// context.insert(entry)
  /// print(entry.objectID.isTemporaryID)  // true until a save reaches the store
  /// ```
  public func insert(_ object: NSManagedObject) {
    checkQueue()
    if object.managedObjectContext === self {
      if graph.undelete(object) { scheduleProcessing() }
      return
    }
    precondition(
      object.managedObjectContext == nil, "The object \(object.objectID) already belongs to a context.")
    graph.insert(object, in: self)
    scheduleProcessing()
    object.awakeFromInsert()
  }

  /// Inserts all objects of `batch` at once. The result cannot be distinguished from inserting them one by one (values
  /// are nil if the batch has none); objects are made only on request.
  ///
  /// - Returns: The objects' IDs in the order of the batch, temporary until a save reaches the store.
  @discardableResult
  public func insert(_ batch: ObjectBatch) -> ObjectIDCollection {
    checkQueue()
    guard batch.count > 0 else { return ObjectIDCollection() }
    let segment = PendingSegment(self, batch, range: TemporaryIDRange(count: batch.count, of: batch.entity))
    graph.insert(segment)
    linkRows(of: [segment])
    scheduleProcessing()
    if batch.entity.objectClass.lifecycleHooks.contains(.awakeFromInsert) {
      for object in graph.handles(in: segment) { object.awakeFromInsert() }
    }
    return ObjectIDCollection([segment.rows])
  }

  // MARK: Changes

  func noteChange(of object: NSManagedObject) {
    if graph.noteChange(of: object) { scheduleProcessing() }
  }

  /// Marks `object` for deletion at the next save. An object that was never saved leaves the context immediately.
  /// (Apple documentation: delete(_:).)
  ///
  /// ```swift
  /// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  /// request.predicate = NSPredicate(format: "rating == 0")
  /// for entry in try context.fetch(request) { context.delete(entry) }
  /// try context.save()
  /// ```
  public func delete(_ object: NSManagedObject) {
    checkQueue()
    if object.isDeleted { return object.prepareForDeletion() }
    precondition(
      object.belongs(to: self),
      "An object can only be deleted in its own context; ask this one for object(with: objectID).")
    linkPackedRows()
    object.prepareForDeletion()
    // A deletion needs the version of the row, so a fault is loaded first.
    if object.isFault { fulfillFault(object) }
    // An object that leaves at once has no later moment in which its rules can be carried out.
    if object.isInserted { return withdraw([object]) }
    graph.delete(object)
    scheduleProcessing()
  }

  // MARK: Lookup

  /// The object with `objectID` if this context has it; never reads the store.
  public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    checkQueue()
    return graph.object(for: objectID)
  }

  /// As `registeredObject(for:)`, for an object that was inserted here and is not saved. Makes no ID.
  func pendingObject(in range: TemporaryIDRange, row: Int) -> NSManagedObject? {
    checkQueue()
    return graph.pendingObject(in: range, row: row)
  }

  /// The object with `objectID`: a fault if this context does not have it yet. Never reads the store, so the object
  /// need not exist. (Apple documentation: object(with:).)
  ///
  /// ```swift
  /// let entry = context.object(with: id) as? JournalEntry
  /// print(entry?.location ?? "")  // loads the fault
  /// ```
  public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
    checkQueue()
    if let known = registeredObject(for: objectID) { return known }
    if graph.packedLinks.arePending, changeNotificationContents == .objectIDs {
      // The save will change the version of an object that packed rows lead to.
      linkPackedRows()
      if let known = registeredObject(for: objectID) { return known }
    }
    return addFault(objectID)
  }

  /// Registers a fault for the ID of an object that this context does not have.
  func addFault(_ objectID: NSManagedObjectID) -> NSManagedObject {
    let object = NSManagedObject.fault(objectID.resolved, in: self)
    graph.add(object)
    return object
  }

  /// The object with the ID of a row that was read. An object of another entity of the hierarchy, whose ID has the same
  /// key, has no row: it leaves the context, and reads as nil if it was a fault.
  func object(ofRow id: NSManagedObjectID) -> NSManagedObject {
    let known = object(with: id)
    guard known.entity !== id.entity else { return known }
    if known.isFault { graph.markInaccessible(known) }
    forgetDeleted(known)
    return object(with: id)
  }

  /// The object with `objectID`, loaded. (Apple documentation: existingObject(with:).)
  ///
  /// ```swift
  /// let entry = try context.existingObject(with: id) as? JournalEntry
  /// entry?.rating = 5
  /// try context.save()
  /// ```
  ///
  /// - Throws: `NSError` 133000 if the object does not exist or no longer exists, or the store's error.
  public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
    checkQueue()
    if let known = registeredObject(for: objectID), !known.isFault {
      if known.isDeleted { throw Self.notFound(objectID) }
      return known
    }
    guard let row = try rowBelow(for: objectID) else { throw Self.notFound(objectID) }
    return realized(object(ofRow: row.id), row)
  }

  static func notFound(_ id: NSManagedObjectID) -> NSError {
    .coreData(
      .objectNotFound, "No object has the ID \(id). It was deleted, or it is of another store.")
  }

  // MARK: Faults

  /// Loads a fault's values together with those of the other unloaded faults of its group.
  ///
  /// Reading a property can't throw (Apple documentation: NSManagedObject, "Faulting"), so an error of the store ends
  /// the process, except within `throwingReadFailures`; a value whose file is missing reads as nil. Callers that can
  /// throw use `load(fault:)`.
  func fulfillFault(_ object: NSManagedObject) {
    if readFailure?.error != nil { return graph.markInaccessible(object) }
    do {
      do {
        try load(fault: object)
      } catch let error as NSError where error.isDueToMissingValue {
        let missing = MissingValues()
        try load(fault: object, leavingOut: missing)
        missing.report()
      }
    } catch {
      guard let readFailure else {
        preconditionFailure("The values of \(object.identity) can't be read: \(error.localizedDescription)")
      }
      readFailure.note(error)
      graph.markInaccessible(object)
    }
  }

  /// - Parameter missing: What to note values in whose files are missing, instead of throwing for them.
  func load(fault object: NSManagedObject, leavingOut missing: MissingValues? = nil) throws {
    // An object of a walk: its row is in the batch.
    if object.loaded == nil { return object.completeFault() }
    if let (segment, row) = graph.insertions.locate(object.identity), graph.handle(in: segment, row: row) === object {
      return
    }
    if !object.hasValues, let group = object.faultGroup ?? graph.packedLinks.keyed?.faults(with: object) {
      try load(group, leavingOut: missing)
    }
    if object.hasValues {
      object.completeFault()
    } else if let row = try rowBelow(for: object.identity, leavingOut: missing) {
      _ = realized(object, row)
    } else {
      markInaccessible(object)
    }
  }

  /// Reads the values of all faults without values among `objects` in one read. If that fails, each fault reads its own
  /// values when it fires.
  func loadTogether(_ objects: [NSManagedObject]) { try? load(objects) }

  /// Reads the values of all faults without values among `objects` in one read.
  func load(_ objects: [NSManagedObject], leavingOut missing: MissingValues? = nil) throws {
    let faults = objects.filter { $0.isFault && !$0.hasValues }
    if !faults.isEmpty { try load(FaultGroup(faults.map(\.identity)), leavingOut: missing) }
  }

  private func load(_ group: FaultGroup, leavingOut missing: MissingValues?) throws {
    let waiting = group.members.compactMap(graph.registeredObject).filter { $0.isFault && !$0.hasValues }
    for (member, row) in zip(waiting, try rowsBelow(for: waiting.map(\.identity), leavingOut: missing)) {
      member.faultGroup = nil
      if let row { member.fill(from: row) }
    }
  }

  func markInaccessible(_ object: NSManagedObject) {
    precondition(
      shouldHandleInaccessibleFault(object, for: object.objectID, triggeredByProperty: nil),
      "No row is left for \(object.identity); it was deleted.")
    graph.markInaccessible(object)
  }

  /// The object, with the values of `row` if it was a fault.
  func realized(_ object: NSManagedObject, _ row: FetchedRow) -> NSManagedObject {
    guard object.isFault else { return object }
    object.fill(from: row)
    object.completeFault()
    return object
  }

  /// Resets `object` to what the level below has. (Apple documentation: refresh(_:mergeChanges:).)
  ///
  /// ```swift
  /// context.refresh(entry, mergeChanges: true)
  /// print(entry.location ?? "")  // read from the store again, unless it was changed here
  /// ```
  ///
  /// - Parameters:
  ///   - object: An object of this context. A deleted object stays as it is.
  ///   - mergeChanges: If true, the object's own changes are applied again, and an inserted object stays as it is; if
  ///     false, they are discarded, also an insertion: the object becomes a fault without a row.
  public func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    checkQueue()
    guard !object.isDeleted else { return }
    pauseUndo()
    defer { resumeUndo() }
    if !mergeChanges { object.removePendingLinks() }
    object.auxiliaryIfPresent?.fetched = [:]
    if object.isInserted {
      guard !mergeChanges else { return }
      graph.withdrawInsertion(of: object)
      return scheduleProcessing()
    }
    let changed = mergeChanges && object.isUpdated ? object.changedSlots.map { ($0, object.values[$0]) } : []
    let pending = mergeChanges ? object.pending : nil
    graph.withdrawUpdate(of: object)
    graph.turnIntoFault(object)
    for (slot, value) in changed where !object.isDeleted { object.setStoredValue(value, at: slot) }
    if let pending {
      if object.isFault { object.fireFault() }
      if !object.isDeleted { object.restorePending(pending) }
    }
    object.awake(after: .refresh)
    graph.noteRefresh(of: object)
    scheduleProcessing()
  }

  /// Refreshes every object, keeping unsaved changes.
  public func refreshAllObjects() {
    checkQueue()
    for object in graph.registry.objects { refresh(object, mergeChanges: true) }
  }
}
