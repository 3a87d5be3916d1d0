import Foundation

/// What bulk writers need from a context. (Not part of Apple's API.)
extension NSManagedObjectContext {
  /// The objects with `ids`. Their values are read together.
  package func objects(withIDs ids: [NSManagedObjectID]) -> [NSManagedObject] {
    let objects = ids.map(object(with:))
    loadTogether(objects)
    return objects
  }

  /// Validates pending insertions by the rules of the model and of the objects' classes, as a save would, without
  /// saving.
  ///
  /// - Throws: A validation error for every object that is invalid.
  package func validateInsertions() throws {
    processPendingChanges()
    try checkForSave(updatesToo: false)
  }
}

extension NSManagedObject {
  /// The number by which the store counts the changes of the object's row, as of its last read or save.
  package var rowVersion: Int64 { version }

  /// The values of the attributes in `slots`, as the store has them.
  package func storedValues(at slots: [Int]) -> [StoredValue] { slots.map(storedValue(at:)) }

  /// The relationships that a save would change, without reading what they lead to.
  package var namesOfChangedRelationships: [String] { changedRelationships.map(\.name) }

  /// Sets the attributes in `slots` to the values of a batch's row where they differ.
  package func setValues(at slots: [Int], of batch: ObjectBatch, row: Int) {
    let changed = slots.filter { storedValue(at: $0) != batch.value(row: row, slot: $0) }
    setStoredValues(at: changed) { batch.value(row: row, slot: $0) }
  }
}
