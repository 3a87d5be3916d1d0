import Foundation

extension NSManagedObject {
  /// The stored form of the value at the end of a path; null if an object on the way is nil.
  func storedValue(at path: AttributePath) -> StoredValue {
    var object = self
    for relationship in path.relationships {
      guard let next = object.relatedIDs(relationship).first, let context = managedObjectContext else { return .null }
      object = context.object(with: next)
    }
    switch path.end {
    case .attribute(let attribute, let slot):
      // An object of a subentity has more slots than the path's entity.
      return object.storedValue(at: path.relationships.isEmpty ? slot : object.slot(attribute.name))
    case .object: return object.objectID.comparisonValue
    }
  }
}
