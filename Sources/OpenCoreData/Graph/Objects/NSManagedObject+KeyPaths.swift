import Foundation

extension NSManagedObject {
  /// The value at a path's end in the form that stores keep it in; null where the path breaks off before.
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
