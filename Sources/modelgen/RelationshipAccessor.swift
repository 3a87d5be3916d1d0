import ManagedObjectModel

/// The property of one relationship, with the types that Xcode gives it. Relationships are read-only.
struct RelationshipAccessor {
  var relationship: NSRelationshipDescription

  /// The declaration, indented by two spaces.
  var source: String {
    let call = relationship.isToMany ? "relatedObjects" : "relatedObject"
    return """
        \(access)var \(SwiftName.escaped(relationship.name)): \(swiftType)? {
          \(call)(forKey: \(SwiftName.literal(relationship.name)))
        }
      """
  }

  /// Whether the property's type comes from Foundation.
  var isOfFoundation: Bool { relationship.isToMany }

  /// A handwritten class may be internal, and a public property can't have an internal type.
  private var access: String {
    let isGenerated = relationship.destinationEntity.map { $0.generatesClass || $0.ownClassName == nil } ?? true
    return relationship.isToMany || isGenerated ? "public " : ""
  }

  private var swiftType: String {
    guard !relationship.isToMany else { return relationship.isOrdered ? "NSOrderedSet" : "NSSet" }
    guard let destination = relationship.destinationEntity else { return "NSManagedObject" }
    return SwiftName.escaped(destination.ownClassName ?? destination.superclassName)
  }
}
