import Foundation

/// A resolved key path of an entity to the elements of a to-many relationship: to-one relationships, then the to-many
/// one.
package struct ElementPath: Sendable {
  package let relationships: [NSRelationshipDescription]
  /// The entity of the elements.
  package let destination: NSEntityDescription

  /// The part of a key path up to its first to-many relationship; nil if it has none.
  package init?(_ keyPath: [String], of entity: NSEntityDescription) {
    var relationships: [NSRelationshipDescription] = []
    var entity = entity
    for name in keyPath {
      guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity,
        !relationship.isTransient
      else { return nil }
      relationships.append(relationship)
      entity = destination
      if relationship.isToMany {
        self.relationships = relationships
        self.destination = destination
        return
      }
    }
    return nil
  }
}
