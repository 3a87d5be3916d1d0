import Foundation

/// A key path of an entity, looked up: to-one relationships, then an attribute, or the object that they lead to.
package struct AttributePath: Sendable {
  package enum End: Sendable {
    case attribute(NSAttributeDescription, slot: Int)
    /// The object itself: the path ends in a relationship, or in `SELF`.
    case object(NSEntityDescription)
  }

  /// Why a path leads nowhere.
  package enum Problem: Error, Sendable {
    /// Nothing of that name can be followed from the entity, or stands at the end.
    case unknown(String, NSEntityDescription)
    case leadsToMany(NSRelationshipDescription)
  }

  package let relationships: [NSRelationshipDescription]
  package let end: End

  /// - Throws: `NSError` 134060 that names what on the path is no to-one relationship, or at its end no property.
  package init(_ keyPath: [String], of entity: NSEntityDescription) throws {
    do {
      try self.init(following: keyPath, of: entity)
    } catch Problem.leadsToMany(let relationship) {
      throw Self.leadsToMany(relationship, keyPath, entity)
    } catch {
      throw EntityPredicateSchema.unknown(keyPath, in: entity)
    }
  }

  package init(following keyPath: [String], of entity: NSEntityDescription) throws(Problem) {
    var (relationships, place) = ([NSRelationshipDescription](), entity)
    for (index, name) in keyPath.enumerated() {
      let isLast = index == keyPath.count - 1
      if isLast, let slot = place.slot(named: name) {
        self.relationships = relationships
        end = .attribute(place.attributeSlots[slot], slot: slot)
        return
      }
      if isLast, Self.selfNames.contains(name) { break }
      guard let relationship = place.relationshipsByName[name], let destination = relationship.destinationEntity,
        !relationship.isTransient
      else { throw .unknown(name, place) }
      guard !relationship.isToMany else { throw .leadsToMany(relationship) }
      relationships.append(relationship)
      place = destination
    }
    self.relationships = relationships
    end = .object(place)
  }

  /// What a predicate calls the object that it is about.
  static let selfNames: Set<String> = ["SELF", "self", "objectID"]

  private static func leadsToMany(
    _ relationship: NSRelationshipDescription, _ keyPath: [String], _ entity: NSEntityDescription
  ) -> NSError {
    .coreData(
      .coreData,
      "The key path \(keyPath.joined(separator: ".")) of \(entity.name ?? "") leads through \(relationship.name), which "
        + "is a to-many relationship and has no single value. Fetch \(relationship.destinationEntity?.name ?? "") "
        + "instead, by the inverse relationship.")
  }
}
