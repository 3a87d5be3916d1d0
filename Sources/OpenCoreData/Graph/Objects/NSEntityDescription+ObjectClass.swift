extension NSEntityDescription {
  /// The class that the model names for objects of this entity; `NSManagedObject` if the class is not found.
  var objectClass: NSManagedObject.Type { namedClass as? NSManagedObject.Type ?? NSManagedObject.self }
}
