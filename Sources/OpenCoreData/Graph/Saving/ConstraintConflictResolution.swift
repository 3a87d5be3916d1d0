/// How the policies resolve conflicts between objects whose values must be unique.
///
/// Between an object of the store and inserted ones the store's object remains, so that its ID stays valid. The
/// inserted ones are deleted; if the context wins, the store's object first takes the values of the last of them. What was
/// linked with an inserted one is linked with the object that remains: the delete rules of a duplicate would take it along.
extension NSConstraintConflict {
  func resolve(_ type: NSMergePolicyType) {
    let contextWins = type == .mergeByPropertyObjectTrumpMergePolicyType || type == .overwriteMergePolicyType
    // A saved object that was changed to the values in question is treated as the store's object if the other objects
    // are new.
    let saved = databaseObject ?? conflictingObjects.first { !$0.isInserted }
    let others = conflictingObjects.filter { $0 !== saved && $0.managedObjectContext != nil }
    guard let saved else { return keepOne(of: others, last: contextWins) }
    let inserted = others.filter(\.isInserted)
    if contextWins, let winner = inserted.last { saved.takeValues(of: winner, all: type == .overwriteMergePolicyType) }
    for object in inserted {
      saved.takeLinks(of: object, alsoToOne: contextWins)
      object.managedObjectContext?.delete(object)
    }
    for object in others where !object.isInserted && object.managedObjectContext != nil {
      if contextWins { saved.managedObjectContext?.delete(saved) } else { takeBack(object, type) }
    }
  }

  private func keepOne(of objects: [NSManagedObject], last: Bool) {
    let kept = last ? objects.last : objects.first
    for object in objects where object !== kept {
      kept?.takeLinks(of: object, alsoToOne: false)
      object.managedObjectContext?.delete(object)
    }
  }

  /// The store wins over a change of another saved object: the values of the constraint are restored, or all of them.
  private func takeBack(_ object: NSManagedObject, _ type: NSMergePolicyType) {
    guard let committed = object.snapshot else { return }
    for (slot, attribute) in object.entity.attributeSlots.enumerated()
    where type == .rollbackMergePolicyType || constraint.contains(attribute.name) {
      object.setStoredValue(committed[slot], at: slot)
    }
  }
}

extension NSManagedObject {
  /// Takes over the links of `other`, an inserted object that is deleted as a duplicate of this one.
  fileprivate func takeLinks(of other: NSManagedObject, alsoToOne: Bool) {
    for name in other.pending?.names ?? [] {
      guard let relationship = other.entity.relationshipsByName[name] else { continue }
      let linked = other.related(relationship).filter { $0 !== self }
      if relationship.isToMany {
        for object in linked {
          other.removeRelated(object, relationship)
          addRelated(object, relationship)
        }
      } else {
        other.setRelated(nil, relationship)
        if alsoToOne { setRelated(linked.first, relationship) }
      }
    }
  }

  /// Takes the values that were set in `other`, an inserted object: those that differ from a new object's, or all.
  fileprivate func takeValues(of other: NSManagedObject, all: Bool) {
    let untouched = other.entity.layout.defaultValues
    for (slot, attribute) in other.entity.attributeSlots.enumerated() {
      guard let own = entity.slot(named: attribute.name), all || other.values[slot] != untouched[slot],
        storedValue(at: own) != other.values[slot]
      else { continue }
      setStoredValue(other.values[slot], at: own)
    }
  }
}
