import Foundation

/// The objects that relationships lead to.
extension NSManagedObjectContext {
  /// The IDs at the other end of `relationship` for each of `ids`, as the level below has them. Contexts cannot change
  /// relationships; the only change that a context in between may have made is to delete an object.
  func relatedIDs(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws
    -> [[NSManagedObjectID]]
  {
    let ids = ids.map(\.resolved)
    guard let parent else { return try storeReading().related(relationship, of: ids) }
    return try parent.performAndWait {
      let found = try parent.relatedIDs(relationship, of: ids)
      guard !parent.graph.deletions.isEmpty else { return found }
      return found.map { $0.filter { parent.graph.deletions[$0.key] == nil } }
    }
  }

  /// Loads the objects that the relationships on each of `keyPaths` lead to, with one read for each step.
  ///
  /// (Apple documentation: relationshipKeyPathsForPrefetching.)
  ///
  /// - Throws: `NSError` 134060 for a name that is not a relationship of `entity` or of one of its subentities.
  func prefetch(_ keyPaths: [String], of objects: [NSManagedObject], _ entity: NSEntityDescription) throws {
    for keyPath in keyPaths {
      let names = keyPath.split(separator: ".").map(String.init)
      try Self.check(names, of: entity)
      var ends = objects
      for name in names { ends = try prefetch(name, of: ends) }
    }
  }

  private static func check(_ names: [String], of entity: NSEntityDescription) throws {
    var places = [entity]
    for name in names {
      let found = places.flatMap(\.withDescendants).compactMap { $0.relationshipsByName[name]?.destinationEntity }
      guard !found.isEmpty else { throw EntityPredicateSchema.unknown(names, in: entity) }
      places = found
    }
  }

  private func prefetch(_ name: String, of objects: [NSManagedObject]) throws -> [NSManagedObject] {
    var ends: [NSManagedObject] = []
    // Subentities may inherit the relationship, or only some may have it.
    let groups = Dictionary(grouping: objects) { $0.entity.relationshipsByName[name].map(ObjectIdentifier.init) }
    for group in groups.values {
      guard let relationship = group[0].entity.relationshipsByName[name], !relationship.isTransient else { continue }
      let related = try relatedIDs(relationship, of: group.map(\.objectID))
      for (object, ids) in zip(group, related) {
        let found = ids.map(self.object(with:))
        object.keepRelated(ids, relationship.name, ahead: found)
        ends += found
      }
    }
    var seen: Set<ObjectIdentifier> = []
    let single = ends.filter { seen.insert(ObjectIdentifier($0)).inserted }
    loadTogether(single)
    return single
  }
}
