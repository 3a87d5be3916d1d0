import Foundation

/// What bulk writers ask of a context. (Not part of Apple's API.)
extension NSManagedObjectContext {
  /// The objects with `ids`, their values read together.
  package func objects(withIDs ids: [NSManagedObjectID]) -> [NSManagedObject] {
    let objects = ids.map(object(with:))
    loadTogether(objects)
    return objects
  }

  /// Checks what is inserted here by the rules of the model and of the objects' classes, as a save would, and saves
  /// nothing.
  ///
  /// - Throws: A validation error of every object that is refused.
  package func validateInsertions() throws {
    processPendingChanges()
    try checkForSave(updatesToo: false)
  }
}

extension NSManagedObject {
  /// Gives the attributes in `slots` the values of a batch's row, as far as they have others.
  package func setValues(at slots: [Int], of batch: ObjectBatch, row: Int) {
    let changed = slots.filter { storedValue(at: $0) != batch.value(row: row, slot: $0) }
    setStoredValues(at: changed) { batch.value(row: row, slot: $0) }
  }
}
