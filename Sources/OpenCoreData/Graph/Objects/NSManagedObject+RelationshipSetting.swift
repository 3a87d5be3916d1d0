import Foundation

/// Changes of relationships. Both ends of a pair change at once, and an object that can have one owner only leaves the
/// former one. (Apple documentation: Core Data Programming Guide, "Creating Managed Object Relationships".)
///
/// A to-many end records additions and removals, and is not read for them.
extension NSManagedObject {
  // MARK: Whole values

  /// Sets a to-one relationship.
  func setRelated(_ new: NSManagedObject?, _ relationship: NSRelationshipDescription) {
    if let new, linkNew(to: new, relationship) { return }
    let old = relatedObject(relationship)
    guard old !== new else { return }
    if let new { check(new, relationship) }
    // Before the other end leads elsewhere: what both ends had is read without that.
    undoRecorder?.willChange(relationship, of: self)
    if let inverse = relationship.inverseRelationship {
      old?.unlink(self, inverse)
      new?.link(self, inverse)
    }
    record(new, relationship)
  }

  /// Links a new object that leads to nothing yet with the owner of an unordered list, or with an object that does not
  /// know of it. This does what the general way does, with one look at the context.
  ///
  /// - Returns: False if more has to be looked at. Nothing was done then.
  private func linkNew(to owner: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
    guard state.contains(.inserted), relationship.leadsDirectly(to: owner.entity), sharesContext(with: owner),
      auxiliaryIfPresent?.observation == nil, owner.auxiliaryIfPresent?.observation == nil,
      let context = managedObjectContext, context.graph.undo == nil
    else { return false }
    checkQueue()
    if context.repeatLink(of: self, to: owner, relationship) { return true }
    guard auxiliaryIfPresent?.pending.one[relationship.name] == nil else { return false }
    guard let inverse = relationship.inverseRelationship else {
      return context.deferLink(of: self, to: owner, relationship, nil)
    }
    guard inverse.isToMany, !inverse.isOrdered else { return false }
    if owner.state.contains(.fault) {
      owner.fireFault()
      if owner.state.contains(.inaccessible) { return false }
    }
    if context.deferLink(of: self, to: owner, relationship, inverse) { return true }
    context.linkPackedRows()
    guard auxiliaryIfPresent?.pending.one[relationship.name] == nil else { return false }
    owner.rememberValues(context)
    owner.auxiliary.pending.many.change(inverse.name) { members in
      if members.hasRemoved(self) { members.keep(self) } else { members.add(self) }
    }
    context.noteChange(of: owner)
    rememberValues(context)
    auxiliary.pending.one.updateValue(owner, forKey: relationship.name)
    context.noteChange(of: self)
    return true
  }

  /// The object at the other end of a to-one relationship, deleted or not.
  private func relatedObject(_ relationship: NSRelationshipDescription) -> NSManagedObject? {
    if let object = pending?.one[relationship.name] { return object }
    // The level below does not have a new object.
    return isInserted ? nil : related(relationship).first
  }

  /// Gives a to-many relationship these objects, in this order if it is ordered.
  func setRelated(_ new: [NSManagedObject], _ relationship: NSRelationshipDescription) {
    let old = related(relationship).filter(\.isThere)
    let (before, after) = (Set(old), Set(new))
    for object in new { check(object, relationship) }
    for object in old where !after.contains(object) { removeRelated(object, relationship) }
    for object in new where !before.contains(object) { addRelated(object, relationship) }
    if relationship.isOrdered { arrange(new, relationship) }
  }

  /// Sets the order of the objects that an ordered relationship has.
  func arrange(_ objects: [NSManagedObject], _ relationship: NSRelationshipDescription) {
    guard related(relationship) != objects else { return }
    undoRecorder?.willChange(relationship, of: self)
    change(relationship) { $0.setOrder(objects) }
  }

  /// Brings objects that were added into this order, behind the others. Does not read the relationship.
  func reorderAdded(_ objects: [NSManagedObject], _ relationship: NSRelationshipDescription) {
    guard let members = pending?.many[relationship.name], objects.count > 1 else { return }
    let reordered = objects.filter(members.hasAdded)
    guard members.addedInOrder.suffix(reordered.count) != reordered[...] else { return }
    undoRecorder?.willChange(relationship, of: self)
    change(relationship) { $0.reorder(objects) }
  }

  // MARK: Members

  /// Adds an object to a to-many relationship, at the end of an ordered one; does nothing if it is known to be there.
  func addRelated(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    check(object, relationship)
    guard let inverse = relationship.inverseRelationship else { return noteAddition(object, relationship) }
    if inverse.isToMany {
      guard mayLack(object, relationship) else { return }
      noteAddition(object, relationship)
      if object !== self || inverse !== relationship { object.noteAddition(self, inverse) }
      return
    }
    let former = object.related(inverse).first
    guard former !== self else { return takeBackAddition(object, relationship) }
    former?.noteRemoval(object, relationship)
    object.record(self, inverse)
    noteAddition(object, relationship)
  }

  /// Removes an object from a to-many relationship; does nothing if it is known not to be there.
  func removeRelated(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    guard let inverse = relationship.inverseRelationship else { return noteRemoval(object, relationship) }
    if inverse.isToMany {
      guard mayHave(object, relationship) else { return }
      noteRemoval(object, relationship)
      if object !== self || inverse !== relationship { object.noteRemoval(self, inverse) }
      return
    }
    guard object.related(inverse).first === self else { return }
    // The list first: what it has is read without the objects that lead elsewhere.
    noteRemoval(object, relationship)
    object.record(nil, inverse)
  }

  /// Removes `object` from whatever kind of relationship it is in, at both ends.
  func removeLink(to object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    if relationship.isToMany {
      removeRelated(object, relationship)
    } else if related(relationship).first === object {
      setRelated(nil, relationship)
    }
  }

  // MARK: One end

  /// The other end of a pair now leads to `object`.
  private func link(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    if relationship.isToMany { return noteAddition(object, relationship) }
    undoRecorder?.willChange(relationship, of: self)
    if let former = related(relationship).first, former !== object, let inverse = relationship.inverseRelationship {
      former.record(nil, inverse)
    }
    record(object, relationship)
  }

  private func unlink(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    if relationship.isToMany { noteRemoval(object, relationship) } else { record(nil, relationship) }
  }

  private func noteAddition(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    let isOwner = isOwner(relationship)
    // An object that is there already keeps its place.
    if relationship.isOrdered || undoRecorder != nil, !isOwner { _ = related(relationship) }
    guard isOwner || mayLack(object, relationship) else { return }
    undoRecorder?.willAdd(object, to: relationship, of: self)
    // The only owner of an object that it has removed had it before.
    let mayBeKept =
      !relationship.isOrdered
      && (isOwner || wasRemoved(object, relationship) && isCommitted(object, relationship) == true)
    change(relationship) { members in
      if mayBeKept, members.hasRemoved(object) { members.keep(object) } else { members.add(object) }
    }
  }

  /// The object leads here. A new owner has all its members in its list; one that an undo has brought back has lost it,
  /// and a member that was deleted with it still leads to it.
  private func takeBackAddition(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    guard isInserted, pending?.many[relationship.name]?.hasAdded(object) != true else { return }
    noteAddition(object, relationship)
  }

  private func noteRemoval(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    if undoRecorder != nil, !isOwner(relationship) { _ = related(relationship) }
    guard isOwner(relationship) || mayHave(object, relationship) else { return }
    undoRecorder?.willRemove(object, from: relationship, of: self)
    let wasAdded = pending?.many[relationship.name]?.hasAdded(object) ?? false
    let mayBeBelow =
      isOwner(relationship)
      ? !wasAdded && !object.isInserted && !isInserted : isCommitted(object, relationship) ?? true
    change(relationship) { $0.remove(object, mayBeBelow: mayBeBelow) }
  }

  /// Takes over a to-one relationship of a new row that was packed or deferred, at both ends. A single object at the
  /// other end, which would have a former owner, is neither.
  func becomeLinked(to object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    auxiliary.pending.one.updateValue(object, forKey: relationship.name)
    guard let inverse = relationship.inverseRelationship else { return }
    object.auxiliary.pending.many.change(inverse.name) { $0.add(self) }
  }

  // MARK: What is known without a read

  /// Whether each object at the other end has one owner, so that it says where it is.
  private func isOwner(_ relationship: NSRelationshipDescription) -> Bool {
    relationship.inverseRelationship.map { !$0.isToMany } ?? false
  }

  private func wasRemoved(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
    pending?.many[relationship.name]?.removed.contains(object) ?? false
  }

  private func mayHave(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
    if pending?.many[relationship.name]?.hasAdded(object) == true { return true }
    return !wasRemoved(object, relationship) && isCommitted(object, relationship) ?? true
  }

  private func mayLack(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool {
    if pending?.many[relationship.name]?.hasAdded(object) == true { return false }
    return wasRemoved(object, relationship) || !(isCommitted(object, relationship) ?? false)
  }

  // MARK: Recording

  /// The change is made in place, because a relationship may have a million additions; only the first one of an event
  /// copies them, for the values at its start.
  private func change(_ relationship: NSRelationshipDescription, _ body: (inout PendingMembers) -> Void) {
    recording(relationship) { auxiliary.pending.many.change(relationship.name, body) }
  }

  private func record(_ object: NSManagedObject?, _ relationship: NSRelationshipDescription) {
    undoRecorder?.willChange(relationship, of: self)
    recording(relationship) { auxiliary.pending.one.updateValue(object, forKey: relationship.name) }
  }

  /// What notes changes for an undo; it has to know what a relationship had before, so this is read.
  private var undoRecorder: UndoRecorder? { managedObjectContext?.graph.undo }

  private func recording(_ relationship: NSRelationshipDescription, _ body: () -> Void) {
    checkQueue()
    if state.contains(.fault) { fireFault() }
    let context = managedObjectContext
    context?.linkPackedRows()
    rememberValues(context)
    let observation = auxiliaryIfPresent?.observation
    observation?.willChange(relationship.name, of: self)
    body()
    observation?.didChange(relationship.name, of: self)
    context?.noteChange(of: self)
  }

  // MARK: What can't be set

  /// Whether both objects are certainly of one context: objects share a table of unheld objects only if they share a context.
  private func sharesContext(with object: NSManagedObject) -> Bool {
    guard let storage, let other = object.storage, !isUnregistered, !object.isUnregistered else { return false }
    return storage === other || storage.unheld === other.unheld
  }

  /// Ends the process, as an exception does on Apple's systems, for an object that can't be at the other end.
  private func check(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) {
    checkQueue()
    if relationship.leadsDirectly(to: object.entity), sharesContext(with: object) { return }
    guard let destination = relationship.destinationEntity else { return }
    precondition(
      object.entity.isKindOf(entity: destination),
      "Unacceptable type of value for \(relationship.isToMany ? "to-many" : "to-one") relationship: "
        + "property = \"\(relationship.name)\"; desired type = \(destination.name ?? ""); given type = "
        + "\(object.entity.name ?? ""); value = \(object).")
    precondition(
      object.managedObjectContext === managedObjectContext,
      "Illegal attempt to establish a relationship '\(relationship.name)' between objects in different contexts "
        + "(source = \(self), destination = \(object)).")
  }
}
