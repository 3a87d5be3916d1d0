import Foundation

/// What bulk writers need from a context. (Not part of Apple's API.)
extension NSManagedObjectContext {
  /// The objects with `ids`. Their values are read together.
  package func objects(withIDs ids: [NSManagedObjectID]) -> [NSManagedObject] {
    let objects = ids.map(object(with:))
    loadTogether(objects)
    return objects
  }

  /// As `objects(withIDs:)`, with the error of the store if the values can't be read. An object with a value whose file
  /// is missing is a fault.
  package func loadedObjects(withIDs ids: [NSManagedObjectID]) throws -> [NSManagedObject] {
    let objects = ids.map(object(with:))
    do {
      try load(objects)
    } catch let error as NSError where error.isDueToMissingValue {
      return objects
    }
    return objects
  }

  /// Reads a relationship of `objects` in one read. What can't be read now is read when it is asked for.
  package func read(_ relationship: String, of objects: [NSManagedObject]) {
    guard let found = objects.first?.entity.relationshipsByName[relationship] else { return }
    try? readTogether(found, of: objects)
  }

  /// The IDs at the other end of `relationship` for each of `ids`, in one read and without objects.
  package func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws
    -> [[NSManagedObjectID]]
  {
    try relatedIDs(relationship, of: ids)
  }

  /// The values of stored objects by slot, in one read and without objects; nil for an object that is gone.
  package func storedValues(withIDs ids: [NSManagedObjectID]) throws -> [[StoredValue]?] {
    try rowsBelow(for: ids).map { $0?.values }
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
