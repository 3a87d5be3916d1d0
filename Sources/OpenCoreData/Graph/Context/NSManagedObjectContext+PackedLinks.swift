import ManagedObjectModel
import PersistentStores

/// Packed to-one relationships of inserted rows. They go down to the store as they are, unless something asks for the
/// relationships of the context's objects: then the rows are linked by objects.
extension NSManagedObjectContext {
  /// Links the rows of new segments by objects where that can't wait.
  ///
  /// - Parameter changes: What a child has saved with them; nil for rows that were inserted here.
  func linkRows(of segments: [PendingSegment], _ changes: ChangeSet? = nil) {
    guard graph.insertions.hasPackedLinks else { return }
    let packed = segments.filter { !$0.batch.links.isEmpty }
    guard !packed.isEmpty else { return }
    if changeNotificationContents == .objectIDs, !graph.hasAnyObject, packed.allSatisfy(mayStayPacked) { return }
    let announced = changes.map(AnnouncedEnds.init) ?? AnnouncedEnds()
    if !packed.allSatisfy({ staysPacked($0, announced) }) { linkPackedRows(announcing: segments) }
  }

  /// Whether a save can pass packed relationships on.
  var storeTakesPackedLinks: Bool {
    let stores = persistentStoreCoordinator?.rowStores ?? []
    return stores.count == 1 && stores[0].takesPackedLinks
  }

  private func staysPacked(_ segment: PendingSegment, _ announced: AnnouncedEnds) -> Bool {
    mayStayPacked(segment)
      && segment.batch.links.allSatisfy { link in
        link.targets.allSatisfy { needsNoLink($0, of: link.relationship, announced) }
      }
  }

  /// Whether nothing but the objects at the other ends can need links of objects at once.
  private func mayStayPacked(_ segment: PendingSegment) -> Bool {
    graph.undo == nil && segment.handles.isEmpty && storeTakesPackedLinks
      && segment.batch.links.allSatisfy(\.relationship.leavesOtherEndUnchecked)
  }

  /// Whether nothing has to happen to an object because new rows lead to it.
  private func needsNoLink(
    _ id: NSManagedObjectID, of relationship: NSRelationshipDescription, _ announced: AnnouncedEnds
  ) -> Bool {
    let known = graph.knownObject(for: id)
    if known?.isDeleted == true { return false }
    if relationship.inverseRelationship == nil { return true }
    if known?.auxiliaryIfPresent?.observation != nil { return false }
    return announced.contains(id) || changeNotificationContents == .objectIDs && known == nil
  }

  /// Links all pending rows by objects: what was packed becomes pending changes of both ends.
  ///
  /// - Parameter new: The segments that were inserted just now. The others were announced with what they lead to: that
  ///   they are linked changes nothing that clients see.
  func linkPackedRows(announcing new: [PendingSegment] = []) {
    writeLinksToRead()
    guard graph.insertions.hasPackedLinks else { return }
    let (deferred, packed) = graph.takePackedLinks()
    link(deferred)
    for (segment, links) in packed {
      let isNew = new.contains { $0 === segment }
      for link in links {
        let targets = link.targets.map(object(with:))
        // A change of the other end needs its values.
        loadTogether(targets)
        for row in segment.liveRows {
          guard let target = link.target(row: row).map({ targets[$0] }) else { continue }
          let object = graph.handle(in: segment, row: row)
          if isNew {
            object.setRelated(target, link.relationship)
          } else {
            object.becomeLinked(to: target, link.relationship)
          }
        }
        if isNew || link.relationship.inverseRelationship == nil { continue }
        for target in targets where !target.isInserted && !target.isUpdated { noteChange(of: target) }
      }
    }
  }
}

/// Links of stored rows that a migration has as keys.
extension NSManagedObjectContext {
  /// Writes them before the store is read.
  func writeLinks() throws { try graph.packedLinks.keyed?.write() }
  /// Writes them before others are written.
  func endLinks() throws { try graph.packedLinks.keyed?.close() }

  /// As `writeLinks()`, for code that can't throw.
  private func writeLinksToRead() {
    do {
      try writeLinks()
    } catch {
      guard let readFailure else {
        preconditionFailure("The links of migrated objects can't be written: \(error.localizedDescription)")
      }
      readFailure.note(error)
    }
  }
}

/// Relationships of new objects that are set one by one.
extension NSManagedObjectContext {
  /// Notes that a new object leads to `owner`, and leaves the pending changes of both ends for later.
  ///
  /// - Parameter inverse: An unordered list; nil if the other end does not know of the object.
  /// - Returns: False if the objects have to be linked at once. They are not linked then.
  func deferLink(
    of object: NSManagedObject, to owner: NSManagedObject, _ relationship: NSRelationshipDescription,
    _ inverse: NSRelationshipDescription?
  ) -> Bool {
    guard object.mayDeferLinks, !relationship.isTransient, inverse?.isTransient != true,
      graph.noteChange(ofUnannounced: object),
      graph.deferLink(of: object, to: owner, relationship, repeats: false)
    else { return false }
    object.becomeWritten()
    if inverse != nil {
      owner.rememberValues(self)
      noteChange(of: owner)
    }
    return true
  }

  /// As `deferLink`, if the object that was linked last leads to `owner` by the relationship, too.
  func repeatLink(
    of object: NSManagedObject, to owner: NSManagedObject, _ relationship: NSRelationshipDescription
  ) -> Bool {
    guard object.mayDeferLinks, graph.noteChange(ofUnannounced: object),
      graph.deferLink(of: object, to: owner, relationship, repeats: true)
    else { return false }
    object.becomeWritten()
    return true
  }

  /// Links what was deferred in earlier events: what there was at the start of the present one includes it.
  func linkDeferredOfEarlierEvents() {
    let deferred = graph.insertions.deferredLinks
    if !deferred.isEmpty, deferred.eventNumber != graph.eventClock.number { linkPackedRows() }
  }

  private func link(_ deferred: DeferredLinks) {
    let isOfEvent = deferred.eventNumber == graph.eventClock.number
    for list in deferred.lists {
      for (row, target) in list.links {
        guard let object = list.segment.handles[Int(row)] else { continue }
        if isOfEvent { object.rememberValues(self) }
        object.becomeLinked(to: list.targets[Int(target)], list.relationship)
      }
    }
  }
}

extension NSManagedObject {
  /// Whether nothing that is pending would have to be looked at for another link.
  fileprivate var mayDeferLinks: Bool { state.contains(.fresh) && unpackedPending == nil }
}

/// The objects at the other end of packed relationships that a child's save changes or inserts itself.
private struct AnnouncedEnds {
  private var updated: Set<ObjectKey> = []
  private var inserted: Set<ObjectIdentifier> = []

  init() {}

  init(_ changes: ChangeSet) {
    updated = Set(changes.updates.map(\.id.key))
    inserted = Set(changes.insertions.map { ObjectIdentifier($0.range) })
  }

  func contains(_ id: NSManagedObjectID) -> Bool {
    if case .temporary(let range, _) = id.reference, inserted.contains(ObjectIdentifier(range)) { return true }
    return updated.contains(id.key) || updated.contains(id.resolved.key)
  }
}

extension ObjectGraph {
  fileprivate var hasAnyObject: Bool {
    !registry.hasNoEntries || insertions.segments.contains { !$0.handles.isEmpty }
  }

  /// The object with `id` if the context has one. Makes none.
  fileprivate func knownObject(for id: NSManagedObjectID) -> NSManagedObject? {
    if let (segment, row) = insertions.locate(id) { return segment.handles[row] }
    return registeredObject(for: id)
  }
}

extension NSRelationshipDescription {
  /// Whether a new object at this end changes nothing at the other end that has to be checked or announced there.
  fileprivate var leavesOtherEndUnchecked: Bool {
    guard let inverse = inverseRelationship else { return true }
    let hooks: LifecycleHooks = [.validation, .willSave, .didSave]
    return inverse.isToMany && inverse.maxCount == 0 && inverse.validationPredicates.isEmpty
      && inverse.entity.withDescendants.allSatisfy { $0.objectClass.lifecycleHooks.isDisjoint(with: hooks) }
  }
}
