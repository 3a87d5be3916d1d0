import Foundation

/// A resolved key path of an entity: to-one relationships, then an attribute or the object that they lead to.
package struct AttributePath: Sendable {
  package enum End: Sendable {
    case attribute(NSAttributeDescription, slot: Int)
    /// The object itself: the path ends in a relationship, or in `SELF`.
    case object(NSEntityDescription)
    /// The name of the object's entity: the path ends in `entity` or `entity.name`.
    case entityName
  }

  /// The reason why a path cannot be resolved.
  package enum Problem: Error, Sendable {
    /// The entity does not have a property of that name that can be followed, or that can end the path.
    case unknown(String, NSEntityDescription)
    case leadsToMany(NSRelationshipDescription)
  }

  package let relationships: [NSRelationshipDescription]
  package let end: End

  /// - Throws: `NSError` 134060 that names the part of the path that is not a to-one relationship or, at the end, not a
  ///   property.
  package init(_ keyPath: [String], of entity: NSEntityDescription) throws {
    do {
      try self.init(following: keyPath, of: entity)
    } catch Problem.leadsToMany(let relationship) {
      throw Self.leadsToMany(relationship, in: keyPath, of: entity)
    } catch {
      throw EntityPredicateSchema.unknown(keyPath, in: entity)
    }
  }

  package init(following keyPath: [String], of entity: NSEntityDescription) throws(Problem) {
    var relationships: [NSRelationshipDescription] = []
    var entity = entity
    for (index, name) in keyPath.enumerated() {
      let isLast = index == keyPath.count - 1
      if isLast, let slot = entity.slot(named: name) {
        self.relationships = relationships
        end = .attribute(entity.attributeSlots[slot], slot: slot)
        return
      }
      if isLast, Self.selfNames.contains(name) { break }
      if name == "entity", entity.relationshipsByName[name] == nil, [[], ["name"]].contains(keyPath[(index + 1)...]) {
        self.relationships = relationships
        end = .entityName
        return
      }
      guard let relationship = entity.relationshipsByName[name], let destination = relationship.destinationEntity,
        !relationship.isTransient
      else { throw .unknown(name, entity) }
      guard !relationship.isToMany else { throw .leadsToMany(relationship) }
      relationships.append(relationship)
      entity = destination
    }
    self.relationships = relationships
    end = .object(entity)
  }

  /// The name by which predicates refer to the evaluated object.
  static let selfNames: Set<String> = ["SELF", "self", "objectID"]

  private static func leadsToMany(
    _ relationship: NSRelationshipDescription, in keyPath: [String], of entity: NSEntityDescription
  ) -> NSError {
    .coreData(
      .coreData,
      "The key path \(keyPath.joined(separator: ".")) of \(entity.name ?? "") leads through \(relationship.name), which "
        + "is a to-many relationship and has no single value. Fetch \(relationship.destinationEntity?.name ?? "") "
        + "instead, by the inverse relationship.")
  }
}
