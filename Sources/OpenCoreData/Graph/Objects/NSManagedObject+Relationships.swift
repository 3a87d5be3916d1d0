import Foundation

/// Relationships are faults until they are asked for. (Apple documentation: "Faulting and Uniquing".) What a context has
/// changed lies over what the level below has.
extension NSManagedObject {
  // MARK: Generated accessors

  /// The object at the other end of a to-one relationship; nil if there is none.
  public final func relatedObject<Object: NSManagedObject>(forKey key: String) -> Object? {
    if let recorder = entity as? KeyRecordingEntity {
      recorder.note(key)
      return Object(entity: recorder, insertInto: nil)
    }
    return value(forKey: key) as? Object
  }

  /// The objects at the other end of an unordered to-many relationship.
  public final func relatedObjects(forKey key: String) -> NSSet? {
    (entity as? KeyRecordingEntity)?.note(key)
    return value(forKey: key) as? NSSet
  }

  /// The objects at the other end of an ordered relationship.
  public final func relatedObjects(forKey key: String) -> NSOrderedSet? {
    (entity as? KeyRecordingEntity)?.note(key)
    return value(forKey: key) as? NSOrderedSet
  }

  /// The objects at the other end of an unordered to-many relationship, as a set of their class. Generated accessors call
  /// it where the model asks for one. Stops the program if an object is of another class.
  @inlinable
  public final func relatedObjects<Object: NSManagedObject>(forKey key: String) -> Set<Object>? {
    guard let objects = relatedMembers(forKey: key) else { return nil }
    // The compiler makes this for the class of the objects: a cast of an NSSet would look at each object several times.
    // Room for twice as many, and no answer to each insertion: comparing objects that collide, and counting references to
    // the answers, would cost more than the memory.
    var members = Set<Object>(minimumCapacity: objects.count * 2)
    for object in objects {
      guard let member = object as? Object else { Self.refuseMember(object, of: key, as: Object.self) }
      members.update(with: member)
    }
    return members
  }

  /// Nil for an object that stands for all of its entity, to find out what an expression reads.
  @usableFromInline
  final func relatedMembers(forKey key: String) -> [NSManagedObject]? {
    if let recorder = entity as? KeyRecordingEntity {
      recorder.note(key)
      return nil
    }
    let relationship = relationship(key)
    precondition(
      relationship.isToMany && !relationship.isOrdered,
      "The relationship \(entity.name ?? "").\(key) \(relationship.isToMany ? "is ordered" : "leads to one object"), "
        + "so its value is no Set.")
    prepareToReadRelated(relationship)
    let objects = related(relationship)
    return objects.allSatisfy(\.isNotGone) ? objects : objects.filter(\.isNotGone)
  }

  @usableFromInline
  static func refuseMember(_ object: NSManagedObject, of key: String, as type: NSManagedObject.Type) -> Never {
    preconditionFailure(
      "\(object.objectID), to which \(key) leads, is of the class \(Swift.type(of: object)), and the property is a Set of "
        + "\(type). Check the class of the entity \(object.entity.name ?? "") in the model.")
  }

  // MARK: Faults

  /// Whether reading the relationship would have to read the store.
  public func hasFault(forRelationshipNamed key: String) -> Bool {
    checkQueue()
    return !isKnown(relationship(key))
  }

  /// The IDs of the objects at the other end. Makes no objects unless the relationship was changed.
  public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    checkQueue()
    return reading(relationship(key)) { try loadedIDs($0) }
  }

  func relationship(_ key: String) -> NSRelationshipDescription {
    guard let found = entity.layout.relationship(named: key) else {
      preconditionFailure("The entity \(entity.name ?? "") has no relationship named \"\(key)\".")
    }
    return found
  }

  // MARK: Values

  /// The value of a relationship as `value(forKey:)` returns it: an object or nil, an NSSet, or an NSOrderedSet.
  func relatedValue(_ relationship: NSRelationshipDescription) -> Any? {
    prepareToReadRelated(relationship)
    return value(of: related(relationship), relationship)
  }

  private func prepareToReadRelated(_ relationship: NSRelationshipDescription) {
    checkQueue()
    if WatchedReads.isOn { watchRead(relationship.name) }
    if isFault { fireFaultToRead() }
  }

  /// The value of a relationship that is already loaded; nil for a fault.
  func knownRelatedValue(_ relationship: NSRelationshipDescription) -> Any? {
    checkQueue()
    return isKnown(relationship) ? value(of: related(relationship), relationship) : nil
  }

  func value(of objects: [NSManagedObject], _ relationship: NSRelationshipDescription) -> Any? {
    // Objects deleted in this context are not included.
    let objects = objects.allSatisfy(\.isNotGone) ? objects : objects.filter(\.isNotGone)
    if !relationship.isToMany { return objects.first }
    if relationship.isOrdered { return NSOrderedSet(array: objects) }
    // A class of our own would be faster to make, but Swift's cast to Set reads Foundation's storage. The initialiser for
    // arrays would box each object twice.
    return NSSet(objects: objects.map { $0 as AnyObject }, count: objects.count)
  }

  /// Whether the object can be at the other end of a relationship: it was not deleted, here or elsewhere.
  var isThere: Bool { !state.contains(.deleted) && managedObjectContext != nil || hasNoContextYet }

  /// As `isThere`, of an object whose context is known to exist.
  var isNotGone: Bool { !state.contains(.deleted) && !isUnregistered || hasNoContextYet }

  private var hasNoContextYet: Bool { storage == nil }

  /// The objects at the other end, deleted ones included.
  ///
  /// Reading a property can't throw, so an error of the store ends the process, except within `throwingReadFailures`.
  /// Callers that can throw use `relatedObjects(_:)`.
  func related(_ relationship: NSRelationshipDescription) -> [NSManagedObject] {
    reading(relationship) { try relatedObjects($0) }
  }

  private func reading<Element>(
    _ relationship: NSRelationshipDescription, _ read: (NSRelationshipDescription) throws -> [Element]
  ) -> [Element] {
    do {
      return try read(relationship)
    } catch {
      guard let readFailure = managedObjectContext?.readFailure else {
        preconditionFailure(
          "The relationship \(relationship.name) of \(objectID) can't be read: "
            + (error as NSError).localizedDescription)
      }
      readFailure.note(error)
      return []
    }
  }

  /// The objects at the other end, deleted ones included, read from the level below if they are not known yet.
  func relatedObjects(_ relationship: NSRelationshipDescription) throws -> [NSManagedObject] {
    if let object = pending?.one[relationship.name] { return object.map { [$0] } ?? [] }
    let below = try objectsBelow(relationship)
    return pending?.many[relationship.name]?.applied(to: below) ?? below
  }

  private func objectsBelow(_ relationship: NSRelationshipDescription) throws -> [NSManagedObject] {
    guard let ahead = knownAhead(relationship.name) else { return objects(try idsBelow(relationship)) }
    guard managedObjectContext?.graph.updates.isEmpty == false, let inverse = relationship.inverseRelationship,
      !inverse.isToMany
    else { return ahead }
    return ahead.filter { object in object.pending?.one[inverse.name].map { $0 === self } ?? true }
  }

  /// What the level below has, without the objects that this context has given another owner. Both sides know that,
  /// unless others have moved the object meanwhile.
  private func idsBelow(_ relationship: NSRelationshipDescription) throws -> [NSManagedObjectID] {
    let ids = try committedIDs(relationship)
    guard let inverse = relationship.inverseRelationship, !inverse.isToMany, let context = managedObjectContext,
      !context.graph.updates.isEmpty
    else { return ids }
    context.graph.adoptPermanentIDs()
    return ids.filter { id in
      guard let owner = context.graph.registeredObject(for: id)?.pending?.one[inverse.name] else { return true }
      return owner === self
    }
  }

  /// The IDs of the objects at the other end, read from the level below if they are not known yet.
  func loadedIDs(_ relationship: NSRelationshipDescription) throws -> [NSManagedObjectID] {
    if !hasPendingChange(relationship) { return try idsBelow(relationship) }
    return try relatedObjects(relationship).map(\.objectID)
  }

  // MARK: What the level below has

  func committedObjects(_ relationship: NSRelationshipDescription) throws -> [NSManagedObject] {
    objects(try committedIDs(relationship))
  }

  private func objects(_ ids: [NSManagedObjectID]) -> [NSManagedObject] {
    managedObjectContext.map { ids.map($0.object(with:)) } ?? []
  }

  private func committedIDs(_ relationship: NSRelationshipDescription) throws -> [NSManagedObjectID] {
    if let known = knownCommitted(relationship) { return known }
    // The level below does not have a new object; transient relationships are not in a store.
    guard let context = managedObjectContext, !isInserted, !relationship.isTransient || context.parent != nil else {
      return []
    }
    let found = try context.relatedIDs(relationship, of: [objectID])[0]
    keepRelated(found, relationship.name)
    return found
  }

  /// Whether the related objects are known without a read.
  func isKnown(_ relationship: NSRelationshipDescription) -> Bool {
    pending?.one[relationship.name] != nil || isCommittedKnown(relationship)
  }

  func hasPendingChange(_ relationship: NSRelationshipDescription) -> Bool {
    guard let pending else { return false }
    return pending.one[relationship.name] != nil || pending.many[relationship.name] != nil
  }

  /// Whether it is known what the level below has.
  func isCommittedKnown(_ relationship: NSRelationshipDescription) -> Bool {
    if isInserted || managedObjectContext == nil { return true }
    if relationship.isTransient, keptTransient(relationship) != nil || managedObjectContext?.parent == nil {
      return true
    }
    guard hasCurrentRelated, let related else { return false }
    return related.ids[relationship.name] != nil || related.objectsAhead[relationship.name] != nil
  }

  /// Whether something was found, and no save or merge may have changed it since.
  private var hasCurrentRelated: Bool {
    guard let epoch = auxiliaryIfPresent?.related?.epoch else { return false }
    return epoch == managedObjectContext?.graph.relationshipEpoch
  }

  private func knownCommitted(_ relationship: NSRelationshipDescription) -> [NSManagedObjectID]? {
    if relationship.isTransient, let kept = keptTransient(relationship) { return kept.map(\.objectID) }
    guard hasCurrentRelated, let related else { return nil }
    let name = relationship.name
    if let known = related.ids[name] { return known }
    guard let ids = related.objectsAhead[name]?.map(\.objectID) else { return nil }
    auxiliary.related?.ids[name] = ids
    return ids
  }

  /// Objects that were read ahead, if all of them are still the context's.
  private func knownAhead(_ name: String) -> [NSManagedObject]? {
    guard hasCurrentRelated, let ahead = auxiliaryIfPresent?.related?.objectsAhead[name],
      !ahead.contains(where: \.isUnregistered)
    else { return nil }
    return ahead
  }

  /// Whether the level below has the object in the relationship; nil if that is not known without a read.
  func isCommitted(_ object: NSManagedObject, _ relationship: NSRelationshipDescription) -> Bool? {
    // Nothing that was saved leads to a new object.
    if isInserted || object.isInserted || managedObjectContext == nil { return false }
    guard let ids = knownCommitted(relationship) else { return nil }
    // What a transient relationship leads to changes without a read.
    let mayKeep = !relationship.isTransient
    if mayKeep, let keys = related?.keys[relationship.name] { return keys.contains(object.objectID.key) }
    let keys = Set(ids.map(\.resolved.key))
    // A save further below may give others their permanent IDs.
    if mayKeep, !ids.contains(where: \.resolved.isTemporaryID) { auxiliary.related?.keys[relationship.name] = keys }
    return keys.contains(object.objectID.key)
  }

  /// - Parameter objects: Objects that were read ahead.
  func keepRelated(_ ids: [NSManagedObjectID], _ name: String, ahead objects: [NSManagedObject] = []) {
    keepRelated(name, ids, ahead: objects)
  }

  /// Keeps objects that were read with their values. Their IDs are made when they are asked for.
  func keepRelated(ahead objects: [NSManagedObject], _ name: String) {
    keepRelated(name, objects.isEmpty ? [] : nil, ahead: objects)
  }

  private func keepRelated(_ name: String, _ ids: [NSManagedObjectID]?, ahead objects: [NSManagedObject]) {
    guard let epoch = managedObjectContext?.graph.relationshipEpoch else { return }
    let (auxiliary, ahead) = (auxiliary, objects.isEmpty ? nil : objects)
    guard auxiliary.related?.epoch == epoch else {
      auxiliary.related = RelatedIDs(
        epoch: epoch, ids: NamedValues(name, ids), objectsAhead: NamedValues(name, ahead))
      return
    }
    auxiliary.related?.ids[name] = ids
    auxiliary.related?.keys[name] = nil
    auxiliary.related?.objectsAhead[name] = ahead
  }

  /// Keeps only the IDs of objects that were read ahead: the delete rules read more than a client has asked for.
  func releaseAhead() {
    guard let ahead = related?.objectsAhead, !ahead.isEmpty else { return }
    for (name, objects) in ahead { auxiliary.related?.ids[name] = objects.map(\.objectID) }
    auxiliary.related?.objectsAhead = NamedValues()
  }
}

/// The related objects that were found for an object.
struct RelatedIDs {
  /// The context's `relationshipEpoch` at the time of the read: saves and merges invalidate earlier ones.
  let epoch: UInt64
  /// Those of `objectsAhead` are added when they are asked for.
  var ids = NamedValues<[NSManagedObjectID]>()
  /// The keys of `ids`, once membership was asked for.
  var keys = NamedValues<Set<ObjectKey>>()
  /// Objects that were read ahead, by relationship. Without this reference their context would forget them at once.
  /// Both ends may hold each other this way, until one is refreshed or the context is reset or freed.
  var objectsAhead = NamedValues<[NSManagedObject]>()
}
