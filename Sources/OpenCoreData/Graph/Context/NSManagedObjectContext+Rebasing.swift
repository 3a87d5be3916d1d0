extension NSManagedObjectContext {
  /// Rebases `object` on `row`.
  ///
  /// - Parameter choose: Which of an attribute's values to keep: the object's own, the previous base value, or the
  ///   store's.
  func takeOver(
    _ row: FetchedRow, of object: NSManagedObject,
    choose: (_ own: StoredValue, _ base: StoredValue, _ stored: StoredValue) -> StoredValue
  ) {
    if object.isFault { object.fireFault() }
    graph.rebase(object, on: row, choose: choose)
  }

  /// Drops an object whose row was deleted elsewhere: it has nothing left to save.
  func forgetDeleted(_ object: NSManagedObject) {
    object.removePendingLinks()
    graph.forgetDeleted(object)
    scheduleProcessing()
  }
}

extension NSManagedObject {
  /// Bases the object's values on `row`.
  func rebase(
    on row: FetchedRow, choose: (_ own: StoredValue, _ base: StoredValue, _ stored: StoredValue) -> StoredValue
  ) {
    let (base, unknown) = (snapshot ?? values, leftOut)
    var committed = row.values
    for (slot, attribute) in entity.attributeSlots.enumerated() {
      // Transient values are not in a store.
      if attribute.isTransient {
        committed[slot] = base[slot]
      } else {
        let own = currentValue(at: slot)
        // A nil that stands for a missing file is not a choice.
        let isUnknown = own == .null && unknown[slot] != nil
        replaceValue(isUnknown ? row.values[slot] : choose(own, base[slot], row.values[slot]), at: slot)
      }
    }
    leftOut = row.leftOut
    related = nil
    auxiliaryIfPresent?.fetched = [:]
    becomeBased(on: committed, version: row.version)
  }
}
