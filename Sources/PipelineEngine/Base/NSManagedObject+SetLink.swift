import Foundation
import OpenCoreData

extension NSManagedObject {
  /// Sets a relationship of any kind.
  func setLink(_ name: String, to objects: [NSManagedObject]) {
    guard let relationship = entity.relationshipsByName[name] else { return }
    if !relationship.isToMany {
      setRelatedObject(objects.first, forKey: name)
    } else if relationship.isOrdered {
      setRelatedObjects(NSOrderedSet(array: objects), forKey: name)
    } else {
      setRelatedObjects(NSSet(array: objects), forKey: name)
    }
  }
}
