import Foundation

/// Relationships, read-only: they are faults until they are asked for. (Apple documentation: "Faulting and Uniquing".)
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

  // MARK: Faults

  /// Whether reading the relationship would have to read the store.
  public func hasFault(forRelationshipNamed key: String) -> Bool {
    checkQueue()
    return !isInserted && knownRelated(relationship(key).name) == nil
  }

  /// The IDs of the objects at the other end. Makes no objects.
  public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
    checkQueue()
    return relatedIDs(relationship(key))
  }

  private func relationship(_ key: String) -> NSRelationshipDescription {
    guard let found = entity.relationshipsByName[key] else {
      preconditionFailure("The entity \(entity.name ?? "") has no relationship named \"\(key)\".")
    }
    return found
  }

  // MARK: Values

  /// The value of a relationship as `value(forKey:)` returns it: an object or nil, an NSSet, or an NSOrderedSet.
  func relatedValue(_ relationship: NSRelationshipDescription) -> Any? {
    checkQueue()
    if isFault { fireFault() }
    return value(of: relatedIDs(relationship), relationship)
  }

  /// The value of a relationship that is already loaded; nil for a fault.
  func knownRelatedValue(_ relationship: NSRelationshipDescription) -> Any? {
    checkQueue()
    return knownRelated(relationship.name).flatMap { value(of: $0, relationship) }
  }

  private func value(of ids: [NSManagedObjectID], _ relationship: NSRelationshipDescription) -> Any? {
    // Objects deleted in this context are not included.
    let objects = managedObjectContext.map { ids.map($0.object(with:)).filter { !$0.isDeleted } } ?? []
    if !relationship.isToMany { return objects.first }
    return relationship.isOrdered ? NSOrderedSet(array: objects) : NSSet(array: objects)
  }

  func relatedIDs(_ relationship: NSRelationshipDescription) -> [NSManagedObjectID] {
    do {
      return try loadedIDs(relationship)
    } catch {
      preconditionFailure(
        "The relationship \(relationship.name) of \(objectID) can't be read: \((error as NSError).localizedDescription)"
      )
    }
  }

  /// The IDs of the related objects, read from the store if they are not known yet.
  func loadedIDs(_ relationship: NSRelationshipDescription) throws -> [NSManagedObjectID] {
    if let known = knownRelated(relationship.name) { return known }
    // New objects have no related objects, because relationships cannot be set; transient relationships are not in a
    // store.
    guard let context = managedObjectContext, !isInserted, !relationship.isTransient else { return [] }
    let found = try context.relatedIDs(relationship, of: [objectID])[0]
    keepRelated(found, relationship.name)
    return found
  }

  private func knownRelated(_ name: String) -> [NSManagedObjectID]? {
    guard let related, related.epoch == managedObjectContext?.graph.relationshipEpoch else { return nil }
    return related.ids[name]
  }

  /// - Parameter objects: Objects that were read ahead.
  func keepRelated(_ ids: [NSManagedObjectID], _ name: String, ahead objects: [NSManagedObject] = []) {
    guard let epoch = managedObjectContext?.graph.relationshipEpoch else { return }
    if related?.epoch != epoch { related = RelatedIDs(epoch: epoch) }
    auxiliary.related?.ids[name] = ids
    auxiliary.related?.objectsAhead[name] = objects.isEmpty ? nil : objects
  }

  func refuseToSet(_ relationship: NSRelationshipDescription) -> Never {
    preconditionFailure(
      "The relationship \(entity.name ?? "").\(relationship.name) can't be set: relationships are for reading only. "
        + "Set attributes, and leave links to a program that uses Apple's framework.")
  }
}

/// The related objects that were found for an object.
struct RelatedIDs {
  /// The context's `relationshipEpoch` at the time of the read: saves and merges invalidate earlier ones.
  let epoch: UInt64
  var ids: [String: [NSManagedObjectID]] = [:]
  /// Objects that were read ahead, by relationship. Without this reference their context would forget them at once.
  /// Both ends may hold each other this way, until one is refreshed or the context is reset or freed.
  var objectsAhead: [String: [NSManagedObject]] = [:]
}
