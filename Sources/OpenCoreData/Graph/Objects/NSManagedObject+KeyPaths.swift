import Foundation

extension NSManagedObject {
  /// The stored form of the value at the end of a path; null if an object on the way is nil.
  ///
  /// - Throws: What the store says if an object on the way can't be read.
  func storedValue(at path: AttributePath) throws -> StoredValue {
    var object = self
    for relationship in path.relationships {
      guard let next = try object.loadedIDs(relationship).first, let context = managedObjectContext else {
        return .null
      }
      object = context.object(with: next)
    }
    switch path.end {
    case .attribute(let attribute, let slot):
      try object.load()
      // An object of a subentity has more slots than the path's entity.
      return object.storedValue(at: path.relationships.isEmpty ? slot : object.slot(attribute.name))
    case .object: return object.objectID.comparisonValue
    case .entityName: return object.entity.name.map { .text($0) } ?? .null
    }
  }

  /// The objects at the end of a path that are not deleted; none if an object on the way is nil.
  ///
  /// - Throws: What the store says if an object on the way can't be read.
  func elements(_ path: ElementPath) throws -> [QueriedManagedObject] {
    var objects = [self]
    for relationship in path.relationships {
      guard let object = objects.first, let context = object.managedObjectContext else { return [] }
      objects = try object.loadedIDs(relationship).map(context.object(with:)).filter { !$0.isDeleted }
    }
    return objects.map(QueriedManagedObject.init)
  }

  /// The value at the end of a path for callers that can't throw. Ends the process if an object on the way can't be
  /// read, as reading a property does, except within `throwingReadFailures`.
  func readableValue(at path: AttributePath) -> StoredValue {
    do {
      return try storedValue(at: path)
    } catch {
      guard let readFailure = managedObjectContext?.readFailure else {
        preconditionFailure("The values of \(objectID) can't be read: \((error as NSError).localizedDescription)")
      }
      readFailure.note(error)
      return .null
    }
  }

  /// Fires the fault, if the object is one, with an error where `fireFault` ends the process.
  func load() throws {
    if isFault { try managedObjectContext?.load(fault: self) }
  }
}

/// An object as a query sees it: with its present values.
struct QueriedManagedObject: QueriedObject {
  let object: NSManagedObject

  var queriedEntity: NSEntityDescription { object.entity }

  func value(ofSlot slot: Int) throws -> StoredValue {
    try object.load()
    return object.values[slot]
  }

  func value(at path: AttributePath) throws -> StoredValue { try object.storedValue(at: path) }

  func elements(_ path: ElementPath) throws -> [QueriedManagedObject] { try object.elements(path) }
}
