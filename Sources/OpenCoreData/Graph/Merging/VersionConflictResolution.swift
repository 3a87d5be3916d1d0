/// What the policies do with an object whose row was changed or deleted by others.
///
/// Apple's header says what happens to changed rows. Where it is silent, the word "trump" decides: a policy under which
/// the store wins takes the store's deletion, and brings back what the context wanted to delete; one under which the
/// object wins writes the row anew, and deletes.
extension NSMergeConflict {
  func resolve(_ type: NSMergePolicyType) {
    let object = sourceObject
    guard let context = object.managedObjectContext else { return }
    switch (type, persisted) {
    case (.errorMergePolicyType, _): return
    case (.rollbackMergePolicyType, let row?): context.takeOver(row, of: object) { _, _, stored in stored }
    case (.rollbackMergePolicyType, nil), (.mergeByPropertyStoreTrumpMergePolicyType, nil):
      context.forgetDeleted(object)
    case (.mergeByPropertyStoreTrumpMergePolicyType, let row?):
      context.takeOver(row, of: object) { own, base, stored in own != base && stored == base ? own : stored }
    case (.mergeByPropertyObjectTrumpMergePolicyType, let row?) where !object.isDeleted:
      context.takeOver(row, of: object) { own, base, stored in own != base ? own : stored }
    case (.overwriteMergePolicyType, let row?) where !object.isDeleted:
      context.takeOver(row, of: object) { own, _, _ in own }
    case (.mergeByPropertyObjectTrumpMergePolicyType, _), (.overwriteMergePolicyType, _):
      // The deletion stands; a row that is gone is written anew.
      return
    }
  }
}

extension NSManagedObjectContext {
  /// Bases what `object` holds on `row`.
  ///
  /// - Parameter choose: Which of an attribute's values to keep: the object's own, the one that it was based on so far,
  ///   or the store's.
  func takeOver(
    _ row: FetchedRow, of object: NSManagedObject,
    choose: (_ own: StoredValue, _ base: StoredValue, _ stored: StoredValue) -> StoredValue
  ) {
    let key = object.identity.key
    if object.isFault { object.fireFault() }
    let base = object.snapshot ?? object.values
    if deletions.removeValue(forKey: key) != nil { object.state.remove(.deleted) }
    var committed = row.values
    for (slot, attribute) in object.entity.attributeSlots.enumerated() {
      // No store knows a transient value.
      if attribute.isTransient {
        committed[slot] = base[slot]
      } else {
        object.replaceValue(choose(object.valueThere(at: slot), base[slot], row.values[slot]), at: slot)
      }
    }
    object.version = row.version
    object.snapshot = object.values == committed ? nil : committed
    if object.snapshot == nil {
      updates[key] = nil
      object.state.remove(.updated)
    } else {
      updates[key] = object
      object.state.insert(.updated)
    }
    event.updates[key] = nil
    event.deletions[key] = nil
    event.refreshed[key] = object
  }

  /// Lets go of an object whose row others have deleted: nothing is left of it to save.
  func forgetDeleted(_ object: NSManagedObject) {
    let key = object.identity.key
    registry.remove(key)
    retained.remove(object)
    updates[key] = nil
    deletions[key] = nil
    conflictChecks[key] = nil
    event.updates[key] = nil
    event.refreshed[key] = nil
    event.deletions[key] = object
    object.state = object.isFault ? .fault : []
    object.managedObjectContext = nil
    scheduleProcessing()
  }
}
