/// The objects of a context and their unsaved changes: the one owner of both.
///
/// Who an object is, whether it is pending, and what is to be announced are several tables. Each transition of an object
/// is one method here, which changes all tables that it concerns, and the object. (docs/invariants.md, "States of an
/// object".) It belongs to its context's queue. Methods other than initialisers do not call clients' code unless they say
/// so. It is a class so that a client's `deinit`, which may run while one table is changed, can ask for another.
final class ObjectGraph {
  /// Objects that are not pending insertions, by ID.
  let registry = ObjectRegistry()
  /// Every registered object, if `retainsUnchanged` is true.
  private var retained: Set<NSManagedObject> = []
  let packedLinks: PackedLinkState
  let packedFaults = PackedFaultState()
  private(set) var insertions: PendingInsertions
  private(set) var updates: [ObjectKey: NSManagedObject] = [:]
  private(set) var deletions: [ObjectKey: NSManagedObject] = [:]
  /// Rows that are deleted without objects.
  let packedDeletions = PackedDeletions()
  /// Deleted objects whose delete rules were not carried out yet.
  var unpropagated = UnpropagatedDeletions()
  /// Deleted objects whose delete rules are not to be carried out.
  private(set) var takenBack: Set<ObjectIdentifier> = []
  /// Unchanged objects whose versions a save checks (`detectConflicts(for:)`).
  private(set) var conflictChecks: [ObjectKey: NSManagedObject] = [:]
  /// IDs of objects that are not pending here and may still get their permanent IDs.
  private(set) var unresolvedIDs = UnresolvedIDs()
  /// What changed since the last ObjectsDidChange.
  var event = ChangeEvent()
  /// The last object of its insertions that was noted. Unchecked: the number is read or replaced as a whole.
  @exclusivity(unchecked) var lastInserted: ObjectIdentifier?
  /// The event that observers are being notified of.
  var announced: ChangeEvent?
  var eventClock = EventClock()
  /// Grows when cached related objects may be out of date.
  private(set) var relationshipEpoch: UInt64 = 0
  /// Notes what an undo has to take back; nil unless the context has an undo manager.
  var undo: UndoRecorder?

  /// Whether unchanged objects are kept alive too.
  var retainsUnchanged = false {
    didSet { retained = retainsUnchanged ? registry.objects : [] }
  }

  init(_ packedLinks: PackedLinkState = PackedLinkState()) {
    (self.packedLinks, insertions) = (packedLinks, PendingInsertions(packedLinks))
  }

  // MARK: Registration

  /// Registers a new object, a fault.
  func add(_ object: NSManagedObject) {
    register(object)
    if case .temporary(let range, let row) = object.identity.reference { addUnresolved([row], range) }
  }

  /// So many objects are about to be registered.
  func expectObjects(_ count: Int) { registry.reserve(count) }
  /// Registers a new object of a stored row.
  func add(_ object: NSManagedObject, as key: ObjectKey) {
    registry.insert(object, as: key)
    if retainsUnchanged { retained.insert(object) }
  }

  /// Registers the objects of a batch together, until `release(_:)`.
  func add(_ objects: BatchObjects) { registry.add(objects) }
  /// Releases the objects of a batch: those with other owners are registered one by one.
  func release(_ objects: BatchObjects) {
    var waiting: [Int] = []
    for (row, object) in registry.end(objects, keepingAll: retainsUnchanged) {
      if case .temporary = objects.storage.ids {
        let id = object.identity
        if id.isTemporaryID { waiting.append(row) } else { object.setPermanentID(id) }
      }
      register(object)
    }
    if case .temporary(let range) = objects.storage.ids { addUnresolved(waiting, range) }
  }

  private func register(_ object: NSManagedObject) { add(object, as: object.key) }

  /// Removes an object that is registered under `key`, or not registered; it has no context from then on.
  private func unregister(_ object: NSManagedObject, from key: ObjectKey, asDeleted: Bool = false) {
    if let slot = registry.remove(key), slot == object.unheldSlot { object.unheldSlot = -1 }
    if retainsUnchanged { retained.remove(object) }
    object.leaveContext(asDeleted: asDeleted)
  }

  // MARK: Permanent IDs

  /// Registers objects under the permanent IDs that a save closer to the store has given them.
  func adoptPermanentIDs() {
    for id in unresolvedIDs.takeResolved() {
      if let object = registry[id.key] { rekey(object) }
    }
  }

  /// Registers an object under its permanent ID, if it has one by now.
  func rekey(_ object: NSManagedObject) {
    let (old, new) = (object.identity, object.identity.resolved)
    guard old.key != new.key else { return }
    object.setPermanentID(new)
    registry.remove(old.key)
    registry.insert(object, as: new.key)
    if let pending = updates.removeValue(forKey: old.key) { updates[new.key] = pending }
    if let pending = deletions.removeValue(forKey: old.key) { deletions[new.key] = pending }
    if let checked = conflictChecks.removeValue(forKey: old.key) { conflictChecks[new.key] = checked }
    event.rekey(old.key, new.key)
  }

  private func addUnresolved(_ rows: some Sequence<Int>, _ range: TemporaryIDRange) {
    unresolvedIDs.add(rows, of: range) { registry[$0.key] != nil }
  }

  // MARK: Insertions

  /// Inserts an object without a context as a row of its own.
  func insert(_ object: NSManagedObject, in context: NSManagedObjectContext) {
    let segment = insertions.openSegment(for: object.entity, in: context)
    let row = segment.appendRow()
    object.becomeInserted(in: segment.storage, row: row)
    segment.keep(object, row: row)
    event.noteInsertion(segment, rows: row..<(row + 1))
    undo?.noteInsertion(of: object)
  }

  /// Inserts an object that has left the context: under the ID that it had, unless a save has ended its insertion.
  func insertAgain(_ object: NSManagedObject, in context: NSManagedObjectContext) {
    guard case .temporary(let range, let row) = object.identity.reference,
      let segment = insertions.segment(of: range), segment.storage === object.storage, segment.restore(object, row: row)
    else { return insert(object, in: context) }
    object.becomeInserted(in: segment.storage, row: row)
    event.noteReinsertion(of: object, segment, row: row)
    undo?.noteInsertion(of: object)
  }

  /// Inserts the rows of `segment`. No object is made.
  func insert(_ segment: PendingSegment) {
    insertions.append(segment)
    event.noteInsertion(segment, rows: 0..<segment.batch.count)
    if let undo { for object in handles(in: segment) { undo.noteInsertion(of: object) } }
  }

  /// Takes the packed relationships out of the pending rows.
  func takePackedLinks() -> PendingInsertions.TakenLinks { insertions.takePackedLinks() }

  /// Notes that a new object leads to `owner`, so that both ends are changed later (`PendingInsertions.deferLink`).
  func deferLink(
    of object: NSManagedObject, to owner: NSManagedObject, _ relationship: NSRelationshipDescription, repeats: Bool
  ) -> Bool { insertions.deferLink(of: object, to: owner, relationship, in: eventClock.number, repeats: repeats) }

  /// A fault becomes the object of a pending row with `values`. If it was fired before the row was here, it counted as
  /// deleted.
  func adopt(_ object: NSManagedObject, with values: [StoredValue]) {
    if object.state.contains(.inaccessible) { deletions[object.key] = nil }
    object.becomeInserted(with: values)
  }

  // MARK: Updates

  /// Notes that values of `object` have changed.
  ///
  /// - Returns: Whether there may be something new to announce.
  func noteChange(of object: NSManagedObject) -> Bool {
    // Nothing was announced or packed since. (The fields are read without a copy of the event.)
    let isNew = !object.state.isDisjoint(with: [.unpacked, .fresh])
    if isNew, lastInserted == ObjectIdentifier(object) { return false }
    if object.state.contains(.updated), event.lastUpdated == ObjectIdentifier(object) { return true }
    if object.isInserted {
      guard let (segment, row) = noteChange(ofInserted: object) else { return false }
      if noteIfUnannounced(object, segment, row: row) { return false }
    } else if object.isDeleted {
      return false
    } else {
      object.becomeUpdated()
      updates[object.key] = object
    }
    event.noteUpdate(of: object, object.key)
    return true
  }

  /// Notes that values of an inserted object have changed, without announcing it.
  @discardableResult
  func noteChange(ofInserted object: NSManagedObject) -> (segment: PendingSegment, row: Int)? {
    if !object.state.contains(.fresh) { object.becomeUnpacked() }
    guard let found = insertions.locate(object) else { return nil }
    found.segment.isValidated = false
    return found
  }

  /// Bases an object, which is not a fault, on `row`. It is updated afterwards if values of its own are left, and not
  /// deleted any more.
  func rebase(
    _ object: NSManagedObject, on row: FetchedRow,
    choose: (_ own: StoredValue, _ base: StoredValue, _ stored: StoredValue) -> StoredValue
  ) {
    let key = object.key
    if deletions.removeValue(forKey: key) != nil { object.becomeUndeleted() }
    object.announceChangeOfAll()
    object.rebase(on: row, choose: choose)
    if object.snapshot == nil, object.pending == nil {
      updates[key] = nil
      object.becomeUnchanged()
    } else {
      updates[key] = object
      object.becomeUpdated()
    }
    event.noteRebase(of: object, key)
  }

  /// An updated object that has its committed values and relationships again is not pending any more.
  func dropUpdateIfUnchanged(_ object: NSManagedObject) {
    guard object.isUpdated, !object.state.contains(.recreated), object.changedSlots.isEmpty,
      !object.hasChangedRelationships
    else { return }
    updates[object.key] = nil
    object.rollBack()
  }

  // MARK: Deletions

  /// So many objects are about to be deleted.
  func expectDeletions(_ count: Int) {
    deletions.reserveCapacity(deletions.count + count)
    event.expectDeletions(count)
  }

  /// Marks an object, which is not a fault, for deletion. One that was never saved leaves the context.
  func delete(_ object: NSManagedObject, carriesOutRules: Bool = true) {
    let key = object.key
    undo?.noteDeletion(of: object)
    if object.isInserted, let (segment, row) = insertions.locate(object.identity) {
      withdraw(object, row, of: segment)
      unregister(object, from: key, asDeleted: true)
    } else {
      if !updates.isEmpty { updates[key] = nil }
      object.becomeDeleted()
      deletions[key] = object
      if carriesOutRules { unpropagated.add(object) } else { takenBack.insert(ObjectIdentifier(object)) }
      event.noteDeletion(of: object, key)
    }
  }

  /// Discards an insertion. The object becomes a fault, and nothing is found when it fires.
  func withdrawInsertion(of object: NSManagedObject) {
    guard let (segment, row) = insertions.locate(object.identity) else { return }
    withdraw(object, row, of: segment)
    object.turnIntoFault { object.becomeFault() }
    register(object)
  }

  private func withdraw(_ object: NSManagedObject, _ row: Int, of segment: PendingSegment) {
    let key = object.key
    // If the insertion was not announced, neither is the deletion.
    if !event.hasInsertion(segment, row: row), !event.withdrawReinsertion(key) { event.noteDeletion(of: object, key) }
    event.withdrawUpdate(key)
    // A later object may be at its address.
    if lastInserted == ObjectIdentifier(object) { lastInserted = nil }
    segment.remove(row: row)
  }

  /// The object of a row that is deleted without one: it becomes one of the deleted objects.
  func unpackDeletion(_ segment: DeletedSegment, row: Int) -> NSManagedObject {
    let object = packedDeletions.takeObject(segment, row: row)
    let key = object.key
    add(object, as: key)
    deletions[key] = object
    event.noteUnpacking(of: object, key, segment)
    // What led to packed rows was not kept.
    invalidateRelated()
    return object
  }

  /// Keeps an object that was to be deleted.
  ///
  /// - Returns: Whether it was.
  func undelete(_ object: NSManagedObject) -> Bool {
    let key = object.key
    // It may be known from a notification only.
    _ = knownObject(key)
    guard deletions.removeValue(forKey: key) != nil else { return false }
    object.becomeUndeleted()
    undo?.noteUndeletion(of: object)
    event.noteUndeletion(of: object, key)
    unpropagated.remove([object])
    takenBack.remove(ObjectIdentifier(object))
    if !object.changedSlots.isEmpty || object.pending != nil { _ = noteChange(of: object) }
    return true
  }

  /// The fault has no row any more: it counts as deleted, and a save forgets it.
  func markInaccessible(_ object: NSManagedObject) {
    object.becomeInaccessible()
    deletions[object.key] = object
  }

  /// Drops an object whose row was deleted elsewhere: it has nothing left to save.
  func forgetDeleted(_ object: NSManagedObject) {
    let key = object.key
    updates[key] = nil
    deletions[key] = nil
    conflictChecks[key] = nil
    event.noteLoss(of: object, key)
    unregister(object, from: key)
  }

  // MARK: Refreshing and merging

  /// Makes `object` a fault, and discards its change. Calls the object's methods for that.
  func turnIntoFault(_ object: NSManagedObject) {
    object.turnIntoFault {
      object.becomeFault()
      updates[object.key] = nil
    }
  }

  /// The objects of a merge, registered until the end of the event even if nothing else holds them.
  var merged: [NSManagedObject] = []

  /// Related objects that were found until now may be others.
  func invalidateRelated() { relationshipEpoch += 1 }
  /// The next save checks the version of `object`.
  func checkForConflicts(_ object: NSManagedObject) { conflictChecks[object.key] = object }

  // MARK: The end of all changes

  /// The pending changes were saved, to the store or one level up.
  ///
  /// - Parameters:
  ///   - updated: The updated objects that the save included.
  ///   - written: Those of them whose rows it has changed.
  /// - Returns: The saved rows. Their objects stay registered together until `release(_:)`, because nearly all of them
  ///   are freed after they were announced.
  func finishSave(
    of updated: [NSManagedObject], written: Set<ObjectIdentifier>, inStore: Bool
  ) -> [SavedInsertion] {
    let saved = insertions.segments.map { SavedInsertion($0, inStore: inStore) }
    for rows in saved where !rows.objects.handles.isEmpty { registry.add(rows.objects) }
    for object in updated {
      object.becomeSaved(inStore: inStore, isWritten: written.contains(ObjectIdentifier(object)))
    }
    for (key, object) in deletions { unregister(object, from: key) }
    for segment in packedDeletions.segments { segment.endSave() }
    dropChanges()
    conflictChecks = [:]
    invalidateRelated()
    adoptPermanentIDs()
    return saved
  }

  /// Discards all changes. Calls methods of faults whose rows are gone (`turnIntoFault`).
  ///
  /// - Returns: The objects that are as committed again, and segments to be released once they were announced.
  func rollBack() -> (restored: [NSManagedObject], withdrawn: [PendingSegment]) {
    _ = takePackedLinks()
    unpackDeletions()
    undo?.forget()
    let restored = updates.inOrder + deletions.inOrder
    let withdrawn = insertions.segments
    // What was not announced yet is not announced at all.
    let unannounced = event
    beginEvent(ChangeEvent())
    event.noteWithdrawal(of: withdrawn, announcedBefore: unannounced)
    for segment in withdrawn {
      segment.handles.forEach { _, object in unregister(object, from: object.key) }
    }
    for object in restored {
      if object.state.contains(.inaccessible) {
        turnIntoFault(object)
      } else {
        object.rollBack()
        noteRefresh(of: object)
      }
    }
    dropChanges()
    return (restored, withdrawn)
  }

  /// Forgets every object, changed or not.
  func reset() {
    _ = takePackedLinks()
    unpackDeletions()
    undo?.forget()
    let pending = insertions.segments.flatMap(\.handles.objects)
    let all = registry.objects.union(deletions.values).union(pending)
    beginEvent(.invalidation(of: all.map(\.objectID)))
    for object in all { object.becomeForgotten() }
    registry.removeAll()
    (retained, merged) = ([], [])
    release(insertions.segments)
    dropChanges()
    (conflictChecks, unresolvedIDs) = ([:], UnresolvedIDs())
  }

  private func dropChanges() {
    insertions.removeAll()
    (updates, deletions) = (.init(minimumCapacity: ChangeEvent.expectedCount(after: updates.count)), [:])
    packedDeletions.removeAll()
    (unpropagated, takenBack) = (UnpropagatedDeletions(), [])
  }
}
