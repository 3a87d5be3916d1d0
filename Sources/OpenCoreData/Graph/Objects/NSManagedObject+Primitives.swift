import Foundation

/// The parts of hand-written accessors: announce, use the primitive value, announce.
extension NSManagedObject {
  /// Call it before a primitive value is read: loads a fault, and reads the relationship of that name. With nil it only
  /// loads a fault.
  public func willAccessValue(forKey key: String?) {
    checkQueue()
    if isFault { fireFaultToRead() }
    if let relationship = key.flatMap(entity.layout.relationship(named:)) { _ = related(relationship) }
  }

  /// Call it after a primitive value was read.
  public func didAccessValue(forKey key: String?) { checkQueue() }

  /// Call it before a primitive value is set: loads a fault and remembers the previous value.
  public func willChangeValue(forKey key: String) {
    checkQueue()
    guard isObserved(key) else { return }
    if isFault { fireFault() }
    if !state.contains(.awaking) { rememberValues(managedObjectContext) }
  }

  /// Call it after a primitive value was set: the object now counts as changed.
  public func didChangeValue(forKey key: String) {
    checkQueue()
    if isObserved(key), !state.contains(.awaking) { managedObjectContext?.noteChange(of: self) }
  }

  /// As `willChangeValue(forKey:)`, for an accessor that changes a to-many relationship.
  ///
  /// - Parameters:
  ///   - key: The relationship.
  ///   - mutation: What is done with the objects.
  ///   - objects: The objects that are added, removed or kept.
  public func willChangeValue(
    forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
  ) { willChangeValue(forKey: key) }

  /// As `didChangeValue(forKey:)`, after such a change.
  ///
  /// - Parameters:
  ///   - key: The relationship.
  ///   - mutation: What was done with the objects.
  ///   - objects: The objects that were added, removed or kept.
  public func didChangeValue(
    forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
  ) { didChangeValue(forKey: key) }

  private func isObserved(_ key: String) -> Bool {
    entity.propertiesByName[key] != nil || !Self.contextShouldIgnoreUnmodeledPropertyChanges
  }

  /// As `value(forKey:)`, without firing a fault and without calling overrides. A relationship that was not read is nil;
  /// `willAccessValue(forKey:)` reads it.
  public func primitiveValue(forKey key: String) -> Any? {
    if let relationship = entity.relationshipsByName[key] { return knownRelatedValue(relationship) }
    if let property = fetchedProperty(key) { return knownFetchedObjects(property) }
    let slot = slot(key)
    checkQueue(slot: slot)
    return hasValues ? object(of: currentValue(at: slot), slot) : nil
  }

  /// Sets a value without recording a change: between `willChangeValue(forKey:)` and `didChangeValue(forKey:)`, or for
  /// a value that is saved only if something else changes. A relationship is set as by `setValue(_:forKey:)`, at both
  /// ends.
  public func setPrimitiveValue(_ value: Any?, forKey key: String) {
    if let relationship = entity.relationshipsByName[key] { return setRelatedValue(value, relationship) }
    if let property = fetchedProperty(key) { refuseToSet(property) }
    let slot = slot(key)
    checkQueue(slot: slot)
    if isFault { fireFault() }
    let stored = stored(value, slot)
    if state.contains(.awaking) {
      setAwaking(stored, at: slot)
    } else {
      if snapshot == nil { snapshot = values }
      replaceValue(stored, at: slot)
    }
    keepObject(value, of: stored, slot)
    if isInserted { managedObjectContext?.graph.noteChange(ofInserted: self) }
  }

  /// Values set in an `awake` method become part of the committed values.
  func setAwaking(_ value: StoredValue, at slot: Int) {
    replaceValue(value, at: slot)
    if state.contains(.awaking) { snapshot?[slot] = value }
  }

  // MARK: Transformables

  /// The value of `slot` for a client: the same object each time until another value is set.
  func object(of stored: StoredValue, _ slot: Int) -> Any? {
    let attribute = entity.attributeSlots[slot]
    guard attribute.attributeType == .transformableAttributeType, !stored.isNull else {
      return attribute.foundationValue(from: stored)
    }
    if let kept = auxiliaryIfPresent?.transformedObjects?[slot], kept.stored == stored { return kept.object }
    let object = attribute.foundationValue(from: stored)
    keepObject(object, of: stored, slot)
    return object
  }

  func keepObject(_ object: Any?, of stored: StoredValue, _ slot: Int) {
    guard let object, entity.attributeSlots[slot].attributeType == .transformableAttributeType else { return }
    auxiliary.transformedObjects = auxiliary.transformedObjects ?? [:]
    auxiliary.transformedObjects?[slot] = TransformedObject(stored: stored, object: object)
  }
}

/// The object that a transformable's bytes stand for.
struct TransformedObject {
  /// The values of an object are replaced in many ways; the cached object is used only if it stands for the present
  /// value.
  let stored: StoredValue
  let object: Any
}

/// What a change of a set does with objects. (Apple documentation: NSKeyValueSetMutationKind; Foundation does not have it
/// here.)
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// They are added.
  case union = 1
  /// They are removed.
  case minus
  /// All others are removed.
  case intersect
  /// They take the place of all others.
  case set
}
