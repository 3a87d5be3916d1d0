import Foundation

/// Setting relationships by key, and the accessors that generated classes use.
extension NSManagedObject {
  // MARK: Generated accessors

  /// Sets a to-one relationship and its other end.
  public final func setRelatedObject(_ object: NSManagedObject?, forKey key: String) {
    let relationship = relationship(key)
    if relationship.isToMany { return setRelatedValue(object, relationship) }
    checkQueue()
    setRelated(object, relationship)
  }

  /// Sets the objects of an unordered to-many relationship, and their other ends.
  public final func setRelatedObjects(_ objects: NSSet?, forKey key: String) {
    setRelatedValue(objects, relationship(key))
  }

  /// Sets the objects of an ordered relationship, and their other ends.
  public final func setRelatedObjects(_ objects: NSOrderedSet?, forKey key: String) {
    setRelatedValue(objects, relationship(key))
  }

  /// Sets the objects of an unordered to-many relationship, and their other ends. Generated accessors call it where the
  /// model asks for a `Set`.
  public final func setRelatedObjects<Object: NSManagedObject>(_ objects: Set<Object>?, forKey key: String) {
    let relationship = toMany(key)
    checkQueue()
    setRelated(Array(objects ?? []), relationship)
  }

  /// Adds objects to a to-many relationship, at the end of an ordered one. Does not read the relationship.
  public final func addRelatedObjects(_ objects: [NSManagedObject], forKey key: String) {
    let relationship = toMany(key)
    for object in objects { addRelated(object, relationship) }
  }

  /// Removes objects from a to-many relationship.
  public final func removeRelatedObjects(_ objects: [NSManagedObject], forKey key: String) {
    let relationship = toMany(key)
    for object in objects { removeRelated(object, relationship) }
  }

  /// Adds the objects to a to-many relationship. Generated `addTo…(_:)` methods call it.
  public final func addRelatedObjects<Object: NSManagedObject>(_ objects: Set<Object>, forKey key: String) {
    addRelatedObjects(Array(objects), forKey: key)
  }
  /// Removes the objects from a to-many relationship. Generated `removeFrom…(_:)` methods call it.
  public final func removeRelatedObjects<Object: NSManagedObject>(_ objects: Set<Object>, forKey key: String) {
    removeRelatedObjects(Array(objects), forKey: key)
  }
  /// Adds the objects to a to-many relationship. Generated `addTo…(_:)` methods call it.
  public final func addRelatedObjects(_ objects: NSSet, forKey key: String) { add(objects, key) }
  /// Adds the objects to an ordered relationship, at its end and in their order. Generated `addTo…(_:)` methods call
  /// it.
  public final func addRelatedObjects(_ objects: NSOrderedSet, forKey key: String) { add(objects, key) }
  /// Removes the objects from a to-many relationship. Generated `removeFrom…(_:)` methods call it.
  public final func removeRelatedObjects(_ objects: NSSet, forKey key: String) { remove(objects, key) }
  /// Removes the objects from an ordered relationship. Generated `removeFrom…(_:)` methods call it.
  public final func removeRelatedObjects(_ objects: NSOrderedSet, forKey key: String) { remove(objects, key) }

  private func add(_ objects: Any, _ key: String) {
    addRelatedObjects(relatedObjects(in: objects, toMany(key)), forKey: key)
  }

  private func remove(_ objects: Any, _ key: String) {
    removeRelatedObjects(relatedObjects(in: objects, toMany(key)), forKey: key)
  }

  // MARK: Mutable proxies

  /// The objects of an unordered to-many relationship as a set whose changes change the relationship. (Apple
  /// documentation: mutableSetValue(forKey:).)
  public func mutableSetValue(forKey key: String) -> NSMutableSet {
    checkQueue()
    return RelationshipSet(self, toMany(key))
  }

  /// The objects of an ordered relationship as an ordered set whose changes change the relationship. (Apple
  /// documentation: mutableOrderedSetValue(forKey:).)
  public func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    checkQueue()
    let relationship = toMany(key)
    precondition(
      relationship.isOrdered,
      "The relationship \(entity.name ?? "").\(key) is not ordered; use mutableSetValue(forKey:).")
    return RelationshipOrderedSet(self, relationship)
  }

  /// As `mutableSetValue(forKey:)`, of the object at the end of all but the last key.
  public func mutableSetValue(forKeyPath keyPath: String) -> NSMutableSet {
    let (owner, key) = owner(of: keyPath)
    return owner.mutableSetValue(forKey: key)
  }

  /// As `mutableOrderedSetValue(forKey:)`, of the object at the end of all but the last key.
  public func mutableOrderedSetValue(forKeyPath keyPath: String) -> NSMutableOrderedSet {
    let (owner, key) = owner(of: keyPath)
    return owner.mutableOrderedSetValue(forKey: key)
  }

  private func owner(of keyPath: String) -> (object: NSManagedObject, key: String) {
    let keys = keyPath.split(separator: ".").map(String.init)
    let path = keys.dropLast().joined(separator: ".")
    let owner = path.isEmpty ? self : value(forKeyPath: path)
    guard let owner = owner as? NSManagedObject, let key = keys.last else {
      preconditionFailure("No object is at the end of \(path), so \(keyPath) can't be changed.")
    }
    return (owner, key)
  }

  private func toMany(_ key: String) -> NSRelationshipDescription {
    let relationship = relationship(key)
    precondition(relationship.isToMany, "The relationship \(entity.name ?? "").\(key) leads to one object; set it.")
    return relationship
  }

  // MARK: Values of clients

  /// Sets a relationship to a client's value.
  func setRelatedValue(_ value: Any?, _ relationship: NSRelationshipDescription) {
    checkQueue()
    checkCollection(value, relationship)
    let objects = relatedObjects(in: value, relationship)
    if relationship.isToMany { setRelated(objects, relationship) } else { setRelated(objects.first, relationship) }
  }

  /// The objects in a client's value, each once.
  func relatedObjects(in value: Any?, _ relationship: NSRelationshipDescription) -> [NSManagedObject] {
    guard let value, !(value is NSNull) else { return [] }
    if !relationship.isToMany {
      guard let object = value as? NSManagedObject else { refuse(value, relationship) }
      return [object]
    }
    let elements: [Any] =
      switch value {
      case let set as NSOrderedSet: set.array
      case let set as NSSet: set.allObjects
      case let set as Set<NSManagedObject>: Array(set)
      case let list as [Any]: list
      default: refuse(value, relationship)
      }
    var seen: Set<NSManagedObject> = []
    return elements.compactMap { element in
      guard let object = element as? NSManagedObject else { refuse(element, relationship) }
      return seen.insert(object).inserted ? object : nil
    }
  }

  /// Refuses a collection of another kind than the relationship's: a set has no order to keep, and an array may have an
  /// object twice.
  func checkCollection(_ value: Any?, _ relationship: NSRelationshipDescription) {
    guard relationship.isToMany, let value, !(value is NSNull) else { return }
    let isAccepted = relationship.isOrdered ? value is NSOrderedSet : value is NSSet || value is Set<NSManagedObject>
    if !isAccepted { refuse(value, relationship) }
  }

  private func refuse(_ value: Any, _ relationship: NSRelationshipDescription) -> Never {
    let desired = relationship.isToMany ? relationship.isOrdered ? "NSOrderedSet" : "NSSet" : nil
    let kind = relationship.isToMany ? relationship.isOrdered ? "ordered to-many" : "to-many" : "to-one"
    preconditionFailure(
      "Unacceptable type of value for \(kind) relationship: property = "
        + "\"\(relationship.name)\"; desired type = \(desired ?? relationship.destinationEntity?.name ?? ""); given type = "
        + "\(type(of: value)); value = \(value).")
  }
}
