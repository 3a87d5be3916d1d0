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
    if object.managedObjectContext === self { return undelete(object) }
    precondition(
      object.managedObjectContext == nil, "The object \(object.objectID) already belongs to a context.")
    let segment = insertions.openSegment(for: object.entity, in: self)
    let row = segment.batch.count
    segment.batch.appendRow()
    segment.isValidated = false
    object.unpack()
    object.attach(to: segment.storage, id: Int64(row), row: row)
    object.state = [.inserted, .unpacked]
    segment.keep(object, row: row)
    event.noteInsertion(segment, rows: row..<(row + 1))
    scheduleProcessing()
    object.awakeFromInsert()
  }

  private func undelete(_ object: NSManagedObject) {
    let key = object.identity.key
    guard deletions.removeValue(forKey: key) != nil else { return }
    object.state.remove(.deleted)
    if event.deletions.removeValue(forKey: key) == nil { event.refreshed[key] = object }
    if !object.changedSlots.isEmpty { noteChange(of: object) }
    scheduleProcessing()
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
    insertions.append(segment)
    event.noteInsertion(segment, rows: 0..<batch.count)
    scheduleProcessing()
    if batch.entity.objectClass.lifecycleHooks.contains(.awakeFromInsert) {
      for object in handles(in: segment) { object.awakeFromInsert() }
    }
    return ObjectIDCollection([segment.rows])
  }

  /// The object for a pending row, made on the first request.
  func handle(in segment: PendingSegment, row: Int) -> NSManagedObject {
    if let known = segment.handles[row] { return known }
    let object = mayKnowObjects(of: segment.range) ? handleKnown(segment, row) : nil
    let handle =
      object ?? Self.makeHandle(segment.entity.objectClass, of: segment.entity, in: segment.storage, row: row)
    segment.keep(handle, row: row)
    return handle
  }

  /// The objects of all live rows of the segment, in order.
  func handles(in segment: PendingSegment) -> [NSManagedObject] {
    segment.fillHandles(maker(of: segment))
    return segment.liveRows.map { handle(in: segment, row: $0) }
  }

  /// The objects of all live rows of the segment, as a set.
  func objects(in segment: PendingSegment) -> Set<NSManagedObject> { segment.allObjects(maker(of: segment)) }

  /// Makes the objects that are missing. What is the same for all of them is looked up once.
  private func maker(of segment: PendingSegment) -> (Int) -> NSManagedObject {
    let (entity, storage) = (segment.entity, segment.storage)
    let type = entity.objectClass
    if mayKnowObjects(of: segment.range) {
      return { row in self.handleKnown(segment, row) ?? Self.makeHandle(type, of: entity, in: storage, row: row) }
    }
    return { row in Self.makeHandle(type, of: entity, in: storage, row: row) }
  }

  @inline(__always)
  private static func makeHandle(
    _ type: NSManagedObject.Type, of entity: NSEntityDescription, in storage: BatchStorage, row: Int
  ) -> NSManagedObject {
    let object = type.handle(of: entity, in: storage, id: Int64(row), row: row, state: .inserted)
    object.beganWithDefaults = true
    return object
  }

  /// Whether this context may have an object under an ID of `range` that it does not have in a segment.
  private func mayKnowObjects(of range: TemporaryIDRange) -> Bool {
    range.revision > 0 || unresolvedIDs.contains(range)
  }

  /// A fault for the ID may exist from before a child handed the row up; if it was fired, it counted as deleted.
  private func handleKnown(_ segment: PendingSegment, _ row: Int) -> NSManagedObject? {
    guard let object = knownObject(segment.temporaryID(row: row)) else { return nil }
    if object.state.contains(.inaccessible) { deletions[object.identity.key] = nil }
    object.values = segment.batch.values(row: row)
    object.snapshot = segment.batch.entity.layout.defaultValues
    object.state = .inserted
    return object
  }

  /// A fault of the class that the model names, in this context.
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
      // The insertion has not been announced yet, so its announcement includes the change.
      if event.hasInsertion(segment, row: row) { return }
    } else if object.isDeleted {
      return
    } else {
      object.state.insert(.updated)
      updates[object.identity.key] = object
    }
    event.updates[object.identity.key] = object
    scheduleProcessing()
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
    guard !object.isDeleted else { return }
    precondition(
      object.managedObjectContext === self,
      "An object can only be deleted in its own context; ask this one for object(with: objectID).")
    object.prepareForDeletion()
    let key = object.identity.key
    if object.isInserted, let (segment, row) = insertions.locate(object.identity) {
      // If the insertion was not announced, neither is the deletion.
      if !event.hasInsertion(segment, row: row) { event.deletions[key] = object }
      segment.remove(row: row)
      object.state = .deleted
      unregister(object, from: key)
    } else {
      // A deletion needs the version of the row, so a fault is loaded first.
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

  /// The object with `objectID` if this context has it; never reads the store.
  public func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? {
    checkQueue()
    adoptPermanentIDs()
    if let (segment, row) = insertions.locate(objectID) { return handle(in: segment, row: row) }
    return knownObject(objectID)
  }

  /// The object that is registered under `id`, which another thread may have made permanent just now.
  private func knownObject(_ id: NSManagedObjectID) -> NSManagedObject? {
    registry[id.key] ?? registry[id.resolved.key]
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
    let object = makeObject(objectID.resolved)
    object.values = []
    object.state = .fault
    registerNew(object)
    return object
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

  /// Removes an object that is registered under `key`, or not registered; it has no context from then on.
  func unregister(_ object: NSManagedObject, from key: ObjectKey) {
    registry.remove(key)
    retained.remove(object)
    object.managedObjectContext = nil
  }

  private func registerNew(_ object: NSManagedObject) {
    register(object)
    if case .temporary(let range, let row) = object.identity.reference { addUnresolved([row], range) }
  }

  // MARK: Faults

  /// Loads a fault's values together with those of the other unloaded faults of its group.
  ///
  /// Reading a property can't throw (Apple documentation: NSManagedObject, "Faulting"), so an error of the store ends
  /// the process. Callers that can throw use `load(fault:)`.
  func fulfillFault(_ object: NSManagedObject) {
    do {
      try load(fault: object)
    } catch {
      preconditionFailure("The values of \(object.identity) can't be read: \(error.localizedDescription)")
    }
  }

  func load(fault object: NSManagedObject) throws {
    // An object of a walk: its row is in the batch.
    if object.loaded == nil { return completeFault(object) }
    if let (segment, row) = insertions.locate(object.identity), handle(in: segment, row: row) === object { return }
    if !object.hasValues, let group = object.faultGroup { try load(group) }
    if object.hasValues {
      completeFault(object)
    } else if let row = try rowBelow(for: object.identity) {
      _ = realized(object, row)
    } else {
      markInaccessible(object)
    }
  }

  /// Reads the values of all faults without values among `objects` in one read. If that fails, each fault reads its own
  /// values when it fires.
  func loadTogether(_ objects: [NSManagedObject]) {
    let faults = objects.filter { $0.isFault && !$0.hasValues }
    if faults.count > 1 { try? load(FaultGroup(faults.map(\.identity))) }
  }

  private func load(_ group: FaultGroup) throws {
    let waiting = group.members.compactMap(knownObject).filter { $0.isFault && !$0.hasValues }
    for (member, row) in zip(waiting, try rowsBelow(for: waiting.map(\.identity))) {
      member.faultGroup = nil
      if let row { fill(member, from: row) }
    }
  }

  func markInaccessible(_ object: NSManagedObject) {
    precondition(shouldDeleteInaccessibleFaults, "No row is left for \(object.identity); it was deleted.")
    object.values = Array(repeating: .null, count: object.entity.attributeSlots.count)
    object.state = [.deleted, .inaccessible]
    object.faultGroup = nil
    deletions[object.identity.key] = object
  }

  /// Gives a fault its values; it stays a fault.
  func fill(_ object: NSManagedObject, from row: FetchedRow) {
    object.values = row.values
    object.version = row.version
  }

  func realized(_ object: NSManagedObject, _ row: FetchedRow) -> NSManagedObject {
    guard object.isFault else { return object }
    fill(object, from: row)
    completeFault(object)
    return object
  }

  func completeFault(_ object: NSManagedObject) {
    object.state.remove(.fault)
    object.faultGroup = nil
    object.whileAwaking { object.awakeFromFetch() }
  }

  /// Resets `object` to what the level below has. (Apple documentation: refresh(_:mergeChanges:).)
  ///
  /// ```swift
  /// context.refresh(entry, mergeChanges: true)
  /// print(entry.location ?? "")  // read from the store again, unless it was changed here
  /// ```
  ///
  /// - Parameters:
  ///   - object: An object of this context. Inserted and deleted objects stay as they are.
  ///   - mergeChanges: If true, the object's own changes are applied again; if false, they are discarded.
  public func refresh(_ object: NSManagedObject, mergeChanges: Bool) {
    checkQueue()
    guard !object.isInserted, !object.isDeleted else { return }
    let changed = mergeChanges && object.isUpdated ? object.changedSlots.map { ($0, object.values[$0]) } : []
    event.updates[object.identity.key] = nil
    turnIntoFault(object)
    for (slot, value) in changed where !object.isDeleted { object.setStoredValue(value, at: slot) }
    object.awake(after: .refresh)
    event.refreshed[object.identity.key] = object
    scheduleProcessing()
  }

  /// Refreshes every object, keeping unsaved changes.
  public func refreshAllObjects() {
    checkQueue()
    for object in registry.objects { refresh(object, mergeChanges: true) }
  }

  func turnIntoFault(_ object: NSManagedObject) {
    let wasFault = object.isFault
    if !wasFault {
      object.state.insert(.turningIntoFault)
      object.willTurnIntoFault()
    }
    object.values = []
    object.snapshot = nil
    object.auxiliaryIfPresent?.eventSnapshot = nil
    object.auxiliaryIfPresent?.transformedObjects = nil
    object.related = nil
    object.state = .fault
    object.version = 0
    updates[object.identity.key] = nil
    if !wasFault { object.didTurnIntoFault() }
  }
}
