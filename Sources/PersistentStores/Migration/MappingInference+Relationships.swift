import ManagedObjectModel
import Foundation

extension MappingInference {
  /// The reason why a relationship's links can't be migrated; nil if they can.
  ///
  /// A key can become a join table, as every key is one pair. In the opposite direction all but one of an object's
  /// pairs would be lost.
  func obstacle(
    _ relationship: NSRelationshipDescription, _ entity: NSEntityDescription, formerly old: NSRelationshipDescription
  ) -> String? {
    if !relationship.isToMany, old.isToMany {
      return "It was to-many and is to-one, and an object may lead to several. Keep it, and add another relationship."
    }
    if relationship.hasHiddenKey, !old.isToMany || old.isManyToMany {
      return "It is to-many without an inverse and was not before, and its links can't be turned round. Give it an "
        + "inverse relationship that is to-many."
    }
    guard let destination = relationship.destinationEntity, let former = old.destinationEntity else { return nil }
    for leadTo in former.withDescendants {
      guard let becomes = match.destination(of: leadTo), !becomes.isKindOf(entity: destination) else { continue }
      return "It may lead to '\(leadTo.name ?? "")', which is now '\(becomes.name ?? "")' and no "
        + "'\(destination.name ?? "")'. Keep the destination, or add another relationship."
    }
    guard former.withDescendants.contains(where: { match.destination(of: $0) != nil }) else {
      return "It led to '\(former.name ?? "")', which is removed, and now leads to '\(destination.name ?? "")'. "
        + "Give the new relationship another name."
    }
    return nil
  }
}
