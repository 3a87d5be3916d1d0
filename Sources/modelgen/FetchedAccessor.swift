import ManagedObjectModel

/// The property of one fetched property, with the type that Xcode gives it.
struct FetchedAccessor {
  var property: NSFetchedPropertyDescription

  /// The declaration, indented by two spaces.
  var source: String {
    let destination = property.template.flatMap { property.entity.model?.entitiesByName[$0.entityName] }
    return """
        \(destination?.access ?? "public ")var \(SwiftName.escaped(property.name)): \
      [\(destination?.objectType ?? "NSManagedObject")] {
          fetchedObjects(forKey: \(SwiftName.literal(property.name)))
        }
      """
  }
}
