import Foundation

/// Between entities and the classes of their objects.
extension NSEntityDescription {
  /// The class that the model names for objects of this entity, `NSManagedObject` where it can't be found.
  var objectClass: NSManagedObject.Type { layout.objectClass ?? NSManagedObject.self }
}

extension NSManagedObjectModel {
  /// The entity whose objects are of class `type`, or of the nearest superclass of it.
  func entity(ofClass type: NSManagedObject.Type) -> NSEntityDescription? {
    entities.first { !$0.isAbstract && $0.objectClass == type }
  }
}
