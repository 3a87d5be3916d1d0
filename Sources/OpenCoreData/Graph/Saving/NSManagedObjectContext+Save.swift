import Foundation

extension NSManagedObjectContext {
  /// Commits the changes one level up: to the parent context, or through the coordinator to the store. (Apple
  /// documentation: save().)
  ///
  /// Without changes it only posts the notifications of a save. If it throws, the changes are still pending.
  ///
  /// ```swift
  /// do {
  ///   try context.save()
  /// } catch let error as NSError {
  ///   let failed = error.userInfo[OCDFailedObjectIDsErrorKey] as? [NSManagedObjectID] ?? []
  ///   for id in failed { context.delete(context.object(with: id)) }
  /// }
  /// ```
  ///
  /// - Throws: `NSError`: a validation code (1550–1690, several as 1560), 133020 or 133021 for conflicts, 1340xx for
  ///   the store. `OCDFailedObjectIDsErrorKey` names the objects at fault if the store knows them.
  public func save() throws {
    checkQueue()
    try endLinks()
    processPendingChanges()
    post(.NSManagedObjectContextWillSave)
    guard hasChanges else {
      try saveMetadata()
      return announceEmptySave()
    }
    try prepareForSave()
    var (saved, notifications) = gatherChanges()
    // The save is tried again after the merge policy has resolved a conflict; other contexts may write in between.
    for attempt in 1... {
      do {
        try commit(saved.changes)
        break
      } catch let failure as SaveFailure {
        guard attempt < Self.saveAttemptsMax else { throw saveError(for: failure) }
        try resolve(failure)
        try propagateAllDeletions()
        try checkForSave(updatesToo: true)
        (saved, notifications) = gatherChanges()
      }
    }
    advanceQueryGeneration()
    let inserted = finishSave(saved)
    notifications.post(inserted)
    // Observers of the parent, such as a results controller, have the changes when the child's save returns.
    parent?.performAndWait { parent?.processPendingChanges() }
    announceSave(saved.changes)
    for rows in inserted { graph.release(rows) }
    if parent == nil { for rows in saved.changes.insertions { rows.sharedIDs.release(rows) } }
  }
  private static let saveAttemptsMax = 1000

  /// Notifies contexts that merge automatically: those on the same coordinator (`adopt` notifies those on a parent),
  /// and children.
  private func announceSave(_ changes: ChangeSet) {
    if parent == nil { persistentStoreCoordinator?.mergers.announce(SavedIDs(changes), from: self) }
    announce(changes, from: self)
  }

  /// Notifies the children that merge automatically, except `saver`.
  private func announce(_ changes: ChangeSet, from saver: NSManagedObjectContext) {
    mergers.announce(changesForChildren(changes), from: saver)
  }

  private func changesForChildren(_ changes: ChangeSet) -> SavedIDs {
    var saved = SavedIDs(changes)
    // Saved objects are in memory, so nothing is read; an error would only leave the children with older values.
    let updated = (try? rows(for: saved.updated)) ?? []
    saved.rows = SavedRows(updated: updated.compactMap { $0 }, inserted: changes.insertions)
    return saved
  }

  private func announceEmptySave() {
    gatherChanges().notifications.post([])
  }

  private func gatherChanges() -> (saved: PendingChanges, notifications: SaveNotifications) {
    let saved = pendingChanges()
    return (saved, SaveNotifications(self, saved.changes))
  }

  private func commit(_ changes: ChangeSet) throws {
    try checkReadFailures()
    if let parent {
      let mayBeReset = readFailure != nil
      return try parent.performAndWait {
        guard mayBeReset else { return try parent.adopt(changes, from: self) }
        try parent.throwingReadFailures { try parent.adopt(changes, from: self) }
      }
    }
    guard let coordinator = persistentStoreCoordinator else {
      throw NSError.coreData(
        .coreData, "The context has neither a parent nor a coordinator to save to; set one of them.")
    }
    try coordinator.save(changes, for: changeOrigin)
  }

  // MARK: Before

  private func prepareForSave() throws {
    callWillSave()
    try propagateAllDeletions()
    try checkForSave(updatesToo: true)
    for segment in graph.insertions.segments { segment.isValidated = true }
  }

  /// Carries out the delete rules and announces the changes, until observers delete nothing more.
  private func propagateAllDeletions() throws {
    repeat {
      try propagateDeletions()
      processPendingChanges()
    } while !graph.unpropagated.isEmpty
  }

  /// `willSave` may change its own object and others; it is called until it causes no new changes.
  private func callWillSave() {
    var called: Set<ObjectIdentifier> = []
    for _ in 0..<1000 {
      let waiting = hookedObjects(.willSave).filter { !called.contains(ObjectIdentifier($0)) }
      guard !waiting.isEmpty else { return }
      for object in waiting {
        called.insert(ObjectIdentifier(object))
        // `willSave` of another object may have deleted it.
        if object.managedObjectContext === self { object.willSave() }
      }
    }
    preconditionFailure("willSave() keeps making new changes; 1000 rounds did not end it.")
  }

  /// Changed objects whose classes have one of `hooks`.
  private func hookedObjects(_ hooks: LifecycleHooks) -> [NSManagedObject] {
    var isHooked = KindTest { !type(of: $0).lifecycleHooks.isDisjoint(with: hooks) }
    var result: [NSManagedObject] = []
    for segment in graph.insertions.segments
    where !segment.batch.entity.objectClass.lifecycleHooks.isDisjoint(with: hooks) {
      result += graph.handles(in: segment)
    }
    result += graph.updates.filter { isHooked.holds($0.value) }.inOrder
    result += graph.deletions.filter { isHooked.holds($0.value) }.inOrder
    return result
  }

  /// The pending changes as values, the updated objects, and those of them that have something to write.
  private typealias PendingChanges = (
    changes: ChangeSet, updated: [NSManagedObject], written: Set<ObjectIdentifier>
  )

  private func pendingChanges() -> PendingChanges {
    var changes = ChangeSet()
    // An object that is written again needs all that is known of it.
    if !LinkPacking.packsDeferred(of: self) || graph.updates.values.contains(where: { $0.state.contains(.recreated) }) {
      linkPackedRows()
    }
    changes.insertions = graph.packInsertions()
    graph.adoptPermanentIDs()
    let updated = graph.updates.inOrder
    var written: Set<ObjectIdentifier> = []
    let packing = LinkPacking(self, &changes.insertions)
    for object in updated {
      let slots = changesToSave(of: object)
      let relationships = relationshipsToSave(of: object, packing)
      // An object that was set back to its committed values has nothing to write, and its version stays.
      guard
        !slots.isEmpty || !relationships.isEmpty || object.state.contains(.recreated) || packing.changes(object)
      else { continue }
      written.insert(ObjectIdentifier(object))
      if !relationships.isEmpty {
        changes.relationships.append(RowRelationships(id: object.objectID, changes: relationships))
      }
      changes.updates.append(
        UpdatedRow(
          id: object.objectID, changedSlots: slots, values: object.values, base: object.baseRow,
          isRecreation: object.state.contains(.recreated)))
    }
    for object in packing.others {
      let relationships = relationshipsToSave(of: object, packing)
      guard !relationships.isEmpty else { continue }
      changes.relationships.append(RowRelationships(id: object.objectID, changes: relationships))
    }
    // Objects whose rows were missing when they were read need no deletion.
    for object in graph.deletions.inOrder where !object.state.contains(.inaccessible) {
      changes.deletions.append(
        RowVersion(
          id: object.objectID, base: object.baseRow,
          carriesOutRules: !graph.takenBack.contains(ObjectIdentifier(object))))
    }
    changes.deletedRows = graph.packedDeletions.rows
    changes.sharedDeletedIDs = graph.packedDeletions.sharedIDs
    for object in graph.conflictChecks.inOrder where !object.hasChanges && !object.isFault {
      changes.checks.append(RowVersion(id: object.objectID, base: object.baseRow))
    }
    return (changes, updated, written)
  }

  /// Slots with a new value for the level below; a store does not have transient attributes.
  private func changesToSave(of object: NSManagedObject) -> [Int] {
    let slots = object.changedSlots
    return parent == nil ? slots.filter { !object.entity.attributeSlots[$0].isTransient } : slots
  }

  private func relationshipsToSave(of object: NSManagedObject, _ packing: LinkPacking) -> [RelationshipChange] {
    let changes =
      object.relationshipChanges(except: packing.includes)
      + (object.state.contains(.recreated) ? object.knownLinks : [])
    return parent == nil ? changes.filter { !$0.relationship.isTransient } : changes
  }

  // MARK: After

  /// - Returns: The inserted rows, whose objects are to be released after the save was announced.
  private func finishSave(_ saved: PendingChanges) -> [SavedInsertion] {
    let hooked = hookedObjects(.didSave)
    // `didSave` may ask for objects by their IDs.
    if !hooked.isEmpty, changeNotificationContents == .objects { graph.makeObjectsKnownByID(ofAll: true) }
    graph.keepTransients(of: saved.updated)
    let inserted = graph.finishSave(of: saved.updated, written: saved.written, inStore: parent == nil)
    for object in saved.updated { object.forgetReplacedFiles() }
    if parent != nil { forgetVersions(ofEndsIn: saved.changes.relationships) }
    for object in hooked { object.didSave() }
    return inserted
  }

  /// The parent may count an object at the other end of a saved relationship as changed although nothing has changed
  /// here: an undo puts back what a deletion took out of a list, and the list has another order.
  private func forgetVersions(ofEndsIn rows: [RowRelationships]) {
    for change in rows.lazy.flatMap(\.changes) {
      for id in change.content.ids where !id.isTemporaryID {
        guard let object = registeredObject(for: id), object.hasValues, !object.hasChanges else { continue }
        object.accept(version: BaseRow.unknownVersion)
      }
    }
  }

  /// Adopts what a child saved. The child's value wins if both sides changed an attribute.
  ///
  /// The changes carry the rows they are based on. A row is read again only if the child read it before an ancestor had
  /// saved it.
  ///
  /// - Throws: The error of reading the level below; nothing has been adopted then.
  func adopt(_ changes: ChangeSet, from child: NSManagedObjectContext) throws {
    let split = try splitDeletions(changes.deletedRows)
    let deletions = changes.deletions + split.single
    let bases = changes.updates.map { (id: $0.id, base: $0.base) } + deletions.map { (id: $0.id, base: $0.base) }
    var storages = SharedStorages(self)
    let touched = bases.map { storages.object(with: $0.id, $0.base) }
    let current = try rowsToReread(for: bases, touched)
    try readOwners(of: changes.relationships)
    let segments = changes.insertions.map { inserted in
      let segment = PendingSegment(
        self, inserted.batch, range: inserted.range, removedRows: inserted.removedRows,
        sharedIDs: inserted.sharedIDs)
      // The child validated them against the same model.
      segment.isValidated = true
      return segment
    }
    graph.adopt(segments)
    for (object, known) in zip(touched, bases) { fulfill(object, known.base, current: current) }
    linkRows(of: segments, changes)
    lazy var packedEnds = changes.insertions.packedEnds
    for (update, object) in zip(changes.updates, touched) {
      object.setStoredValues(at: update.changedSlots) { update.values[$0] }
      // Rows that stay packed here lead to it.
      if update.changedSlots.isEmpty, graph.insertions.hasPackedLinks, !object.isFault, !object.isDeleted,
        packedEnds.contains(update.id.resolved.key)
      {
        object.rememberValues(self)
        noteChange(of: object)
      }
    }
    adoptRelationships(changes.relationships)
    deleteAsSaved(deletions, Array(touched.dropFirst(changes.updates.count)))
    if graph.packedDeletions.isEmpty { graph.packedDeletions.sharedIDs = changes.sharedDeletedIDs }
    for segment in split.packed { graph.delete(segment) }
    scheduleProcessing()
    announce(changes, from: child)
  }

  /// The rows of those of `objects` that are faults here, where the version that the child's change is based on is not
  /// known.
  private func rowsToReread(
    for bases: [(id: NSManagedObjectID, base: BaseRow)], _ objects: [NSManagedObject]
  ) throws -> [ObjectKey: FetchedRow] {
    let unknown = zip(objects, bases)
      .filter { $0.isFault && !$0.hasValues && $1.base.version == BaseRow.unknownVersion }.map(\.0.identity)
    guard !unknown.isEmpty else { return [:] }
    let rows = try rowsBelow(for: unknown)
    if !shouldDeleteInaccessibleFaults, let index = rows.firstIndex(where: { $0 == nil }) {
      throw Self.notFound(unknown[index])
    }
    return Dictionary(
      zip(unknown, rows).compactMap { id, row in row.map { (id.key, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  /// Gives a fault the row that a child's change builds on, or the current one if the child's version is not known.
  private func fulfill(_ object: NSManagedObject, _ base: BaseRow, current: [ObjectKey: FetchedRow]) {
    guard object.isFault else { return }
    if !object.hasValues {
      if base.version != BaseRow.unknownVersion {
        object.fill(
          from: FetchedRow(
            id: object.identity, version: base.version, values: base.values, leftOut: base.leftOut))
      } else if let row = current[object.key] {
        object.fill(from: row)
      } else {
        return markInaccessible(object)
      }
    }
    object.completeFault()
  }
}

extension ChangeSet {
  /// Whether the save inserts the object, which may have a permanent ID by now.
  fileprivate func inserts(_ id: NSManagedObjectID) -> Bool {
    guard case .temporary(let range, _) = id.reference else { return false }
    return insertions.contains { $0.range === range }
  }
}

/// The notifications of a save. What they announce is collected before the save changes the state of the objects; the
/// objects and IDs themselves are made for observers.
private final class SaveNotifications {
  private let context: NSManagedObjectContext
  private var inserted: [InsertedRows]
  private var updated: [NSManagedObject]
  private var linked: () -> [NSManagedObjectID]
  private var deleted: [NSManagedObject]
  private var deletedSegments: [DeletedSegment]
  private let deletedIDs: [NSManagedObjectID]
  private let deletedRows: [DeletedRows]
  private let sharedDeletedIDs: SharedDeletedIDs

  init(_ context: NSManagedObjectContext, _ changes: ChangeSet) {
    self.context = context
    inserted = changes.insertions
    linked = { changes.packedOtherEnds.filter { !changes.inserts($0) } }
    updated = Array(context.graph.updates.values)
    // The save does not delete objects whose rows were missing, and other contexts may have their rows.
    deleted = context.graph.deletions.values.filter { !$0.state.contains(.inaccessible) }
    deletedSegments = context.graph.packedDeletions.segments
    deletedIDs = changes.deletions.map(\.id)
    if context.changeNotificationContents == .objects { context.graph.makeObjectsKnownByID() }
    (deletedRows, sharedDeletedIDs) = (changes.deletedRows, changes.sharedDeletedIDs)
  }

  /// Afterwards this object holds no others.
  ///
  /// - Parameter saved: The objects of inserted rows. Those that are missing are made if there is an observer.
  func post(_ saved: [SavedInsertion]) {
    let announcesObjects = context.changeNotificationContents == .objects
    context.post(.NSManagedObjectContextDidSave) { announcesObjects ? self.objects(saved) : self.collections }
    (deleted, deletedSegments) = ([], [])
    context.post(.NSManagedObjectContextDidSaveObjectIDs) { announcesObjects ? self.sets : self.collections }
    (inserted, updated, linked) = ([], [], { [] })
  }

  private func objects(_ saved: [SavedInsertion]) -> [AnyHashable: Any] {
    var info: [AnyHashable: Any] = [:]
    info.setUnlessEmpty(context.graph.objects(ofSaved: saved), NSInsertedObjectsKey)
    info.setUnlessEmpty(Set(updated), NSUpdatedObjectsKey)
    info.setUnlessEmpty(context.graph.objects(ofDeleted: deletedSegments, and: deleted), NSDeletedObjectsKey)
    return info
  }

  private var collections: [AnyHashable: Any] {
    var ids: [AnyHashable: Any] = [:]
    ids.setUnlessEmpty(ObjectIDCollection(inserted), NSInsertedObjectIDsKey)
    ids.setUnlessEmpty(ObjectIDCollection(updated.map(\.objectID) + linked()), NSUpdatedObjectIDsKey)
    var gone = ObjectIDCollection(deletedIDs)
    for rows in deletedRows { gone.append(rows) }
    ids.setUnlessEmpty(gone, NSDeletedObjectIDsKey)
    return ids
  }

  private var sets: [AnyHashable: Any] {
    var ids: [AnyHashable: Any] = [:]
    var all = inserted.first.map { $0.sharedIDs.ids(of: $0) } ?? []
    for rows in inserted.dropFirst() { all.formUnion(rows.sharedIDs.ids(of: rows)) }
    ids.setUnlessEmpty(all, NSInsertedObjectIDsKey)
    ids.setUnlessEmpty(Set(updated.map(\.objectID) + linked()), NSUpdatedObjectIDsKey)
    ids.setUnlessEmpty(sharedDeletedIDs.ids(deletedIDs, deletedRows), NSDeletedObjectIDsKey)
    return ids
  }
}
