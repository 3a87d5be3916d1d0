import Foundation

/// What an object has changed in its relationships.
extension NSManagedObject {
  /// The relationships whose change would change the level below, as far as that is known without a read, by name.
  var changedRelationships: [NSRelationshipDescription] { changedRelationships(pending) { _, _ in false } }

  private func changedRelationships(
    _ pending: PendingRelationships?, except isExcluded: (NSRelationshipDescription, NSManagedObject) -> Bool
  ) -> [NSRelationshipDescription] {
    guard let pending else { return [] }
    var relationships = pending.names.compactMap { name in
      entity.layout.relationship(named: name).flatMap { isExcluded($0, self) ? nil : $0 }
    }
    if relationships.count > 1 { relationships.sort { String.byteOrder($0.name, $1.name) } }
    for relationship in relationships where relationship.isToMany { normalizePending(relationship) }
    return relationships.filter(isChanged)
  }

  var hasChangedRelationships: Bool { pending != nil && !changedRelationships.isEmpty }

  private func isChanged(_ relationship: NSRelationshipDescription) -> Bool {
    if let object = auxiliaryIfPresent?.pending.one[relationship.name] {
      guard isCommittedKnown(relationship), let before = try? committedObjects(relationship) else { return true }
      return before.first !== object
    }
    return auxiliaryIfPresent?.pending.many[relationship.name]?.isEmpty == false
  }

  /// Leaves out of the pending additions and removals what changes nothing.
  private func normalizePending(_ relationship: NSRelationshipDescription) {
    guard isCommittedKnown(relationship), let base = try? committedObjects(relationship) else { return }
    auxiliary.pending.many.change(relationship.name) { $0.normalize(base, isOrdered: relationship.isOrdered) }
  }

  /// The changes as the level below receives them: IDs, and none of objects that are deleted.
  ///
  /// - Parameter isIncluded: Whether packed rows say all about a relationship of the object.
  func relationshipChanges(
    except isIncluded: (NSRelationshipDescription, NSManagedObject) -> Bool
  ) -> [RelationshipChange] {
    let relationships = changedRelationships(unpackedPending, except: isIncluded)
    // That has left out what changes nothing.
    let pending = unpackedPending
    return relationships.map { relationship in
      if let object = pending?.one[relationship.name] {
        return RelationshipChange(relationship, .one(object.flatMap { $0.isThere ? $0.objectID : nil }))
      }
      return RelationshipChange(relationship, .many(change(of: relationship, pending?.many[relationship.name])))
    }
  }

  /// Where both ends lead to many, an object that was removed and added again is not removed: the level below would give the
  /// pair a new place at the other end, which has a place of its own.
  private func change(of relationship: NSRelationshipDescription, _ pending: PendingMembers?) -> MemberChange {
    let members = pending ?? PendingMembers()
    let (added, removed) = (ids(members.addedInOrder), members.removed.filter { !$0.isInserted })
    let isOfMany = relationship.inverseRelationship?.isToMany ?? false
    let moved = isOfMany ? removed.filter(members.hasAdded) : []
    // What can't be read now can't be saved either: the save says why.
    guard !moved.isEmpty, let committed = relationship.isOrdered ? (try? committedObjects(relationship)) : [] else {
      return MemberChange(added: added, removed: removed.map(\.objectID), order: members.order.map(ids))
    }
    let order = relationship.isOrdered ? ids(members.applied(to: committed)) : nil
    return MemberChange(added: added, removed: removed.subtracting(moved).map(\.objectID), order: order)
  }

  /// The unchanged to-one relationships that were read, for a row that is written again.
  var knownLinks: [RelationshipChange] {
    entity.storedToOnes.filter { !hasPendingChange($0) && isCommittedKnown($0) }.compactMap { relationship in
      guard let object = try? committedObjects(relationship).first, object.isThere else { return nil }
      return RelationshipChange(relationship, .one(object.objectID))
    }
  }

  private func ids(_ objects: [NSManagedObject]) -> [NSManagedObjectID] {
    objects.filter(\.isThere).map(\.objectID)
  }

  // MARK: Earlier values

  func committedRelationships(_ relationships: [NSRelationshipDescription]) -> [String: Any] {
    var result: [String: Any] = [:]
    for relationship in relationships {
      let objects = (try? committedObjects(relationship)) ?? []
      result[relationship.name] = Self.value(of: objects, relationship) ?? NSNull()
    }
    return result
  }

  /// The relationships changed in the present event, with the values they had at its start.
  var relationshipsBeforeEvent: [String: Any] {
    // The pending changes first: asking for them may make the other.
    guard let pending, let auxiliary = auxiliaryIfPresent else { return [:] }
    var result: [String: Any] = [:]
    for name in pending.names {
      guard let relationship = entity.relationshipsByName[name], !relationship.isTransient,
        let base = try? committedObjects(relationship)
      else { continue }
      var before = base
      if let object = auxiliary.eventPending.one[name] { before = object.map { [$0] } ?? [] }
      if let members = auxiliary.eventPending.many[name] { before = members.applied(to: base) }
      let now = related(relationship)
      guard relationship.isOrdered ? before != now : Set(before) != Set(now) else { continue }
      result[name] = Self.value(of: before, relationship) ?? NSNull()
    }
    return result
  }

  private static func value(of objects: [NSManagedObject], _ relationship: NSRelationshipDescription) -> Any? {
    if !relationship.isToMany { return objects.first }
    return relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
  }

  // MARK: Other states of the row

  /// Takes over pending changes that a refresh has dropped.
  func restorePending(_ changes: PendingRelationships) {
    auxiliary.pending = changes
    managedObjectContext?.noteChange(of: self)
  }

  /// Others have deleted the object, or its changes are discarded: pending changes that lead to it are taken back.
  func removePendingLinks() {
    guard let pending else { return }
    for name in pending.names {
      guard let inverse = entity.relationshipsByName[name]?.inverseRelationship else { continue }
      let others = (pending.one[name] ?? nil).map { [$0] } ?? pending.many[name]?.addedInOrder ?? []
      for other in others { other.removeLink(to: self, inverse) }
    }
  }

  /// Gives to-one relationships that the store has changed too what the store has.
  func takeBackRivalLinks() {
    guard let pending, !isDeleted else { return }
    for name in pending.one.keys {
      guard let relationship = entity.relationshipsByName[name], !relationship.isTransient,
        let base = try? committedObjects(relationship).map(\.objectID), let stored = storedObject(relationship),
        base.first != stored
      else { continue }
      setRelated(stored.flatMap { managedObjectContext?.object(with: $0) }, relationship)
    }
  }

  /// Gives relationships what the store has. A link that one of the objects has changed is taken back at both ends.
  static func takeBackRelationships(of objects: [NSManagedObject]) {
    var links: [(object: NSManagedObject, name: String)] = []
    var lists: [(object: NSManagedObject, relationship: NSRelationshipDescription, change: PendingMembers)] = []
    // Whatever is taken back changes what is pending at the other end, which may be in conflict too.
    for object in objects where !object.isDeleted {
      guard let pending = object.pending else { continue }
      links += pending.one.keys.map { (object, $0) }
      for (name, change) in pending.many {
        guard let relationship = object.entity.relationshipsByName[name] else { continue }
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
          links += (change.addedInOrder + change.removed).map { ($0, inverse.name) }
        } else {
          lists.append((object, relationship, change))
        }
      }
    }
    for (object, name) in links where object.isThere {
      guard let relationship = object.entity.relationshipsByName[name], !relationship.isTransient,
        let stored = object.storedObject(relationship)
      else { continue }
      object.setRelated(stored.flatMap { object.managedObjectContext?.object(with: $0) }, relationship)
    }
    for (object, relationship, change) in lists {
      for member in change.addedInOrder { object.removeRelated(member, relationship) }
      for member in change.removed where member.isThere { object.addRelated(member, relationship) }
    }
    for object in objects where !object.isDeleted { object.dropPending() }
  }

  /// The to-one relationships of objects that the context has read and not changed.
  static func readLinks(of objects: [NSManagedObject]) -> [ReadLink] {
    objects.filter { !$0.isDeleted }.flatMap { object in
      object.entity.storedToOnes.filter { !object.hasPendingChange($0) && object.isCommittedKnown($0) }
        .compactMap { relationship in
          (try? object.committedObjects(relationship)).map { ReadLink(owner: object, relationship, end: $0.first) }
        }
    }
  }

  /// Gives relationships what they had, where the store has something else.
  static func putBack(_ links: [ReadLink]) {
    for link in links where link.owner.isThere && link.end?.isThere != false {
      let (owner, relationship, end) = (link.owner, link.relationship, link.end)
      let stored = owner.storedObject(relationship)
      if !owner.hasPendingChange(relationship), stored == .some(end?.objectID) { continue }
      // Others have changed the rows at the other ends. These are not in conflict: what else they have is not to change.
      var ends = [stored ?? nil, end?.objectID]
      if let end, let inverse = relationship.inverseRelationship, !inverse.isToMany {
        ends.append(end.storedObject(inverse) ?? nil)
      }
      for object in ends.compactMap({ $0 }).compactMap({ owner.managedObjectContext?.registeredObject(for: $0) })
      where !object.hasChanges { owner.managedObjectContext?.refresh(object, mergeChanges: true) }
      // One that others have deleted is not written again.
      if let end, !end.isInserted, (try? owner.managedObjectContext?.isStored(end.objectID)) != true { continue }
      owner.setRelated(end, relationship)
    }
  }

  /// What a to-one relationship leads to in the store: none for an object that is not there; nil if it can't be read.
  private func storedObject(_ relationship: NSRelationshipDescription) -> NSManagedObjectID?? {
    if isInserted { return .some(nil) }
    return (try? managedObjectContext?.storedIDs(relationship, of: [objectID])[0]).map(\.first)
  }
}

/// What a to-one relationship leads to that a context has read.
struct ReadLink {
  let owner: NSManagedObject
  let relationship: NSRelationshipDescription
  let end: NSManagedObject?

  init(owner: NSManagedObject, _ relationship: NSRelationshipDescription, end: NSManagedObject?) {
    (self.owner, self.relationship, self.end) = (owner, relationship, end)
  }
}

extension NSEntityDescription {
  /// The relationships whose keys are in the rows of the entity.
  var storedToOnes: [NSRelationshipDescription] {
    relationshipsByName.values.filter { !$0.isToMany && !$0.isTransient }
  }
}
