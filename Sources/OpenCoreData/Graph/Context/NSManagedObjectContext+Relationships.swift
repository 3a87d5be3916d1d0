import Foundation

/// The objects that relationships lead to.
extension NSManagedObjectContext {
  /// The IDs at the other end of `relationship` for each of `ids`, as the level below has them.
  func relatedIDs(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws
    -> [[NSManagedObjectID]]
  {
    let ids = ids.map(\.resolved)
    guard let parent else {
      if relationship.isTransient {
        return try ids.map { try graph.registeredObject(for: $0)?.committedObjects(relationship).map(\.objectID) ?? [] }
      }
      return try storeReading().related(relationship, of: ids)
    }
    return try parent.performAndWait { try parent.shownIDs(relationship, of: ids) }
  }

  /// As `relatedIDs(_:of:)`, as the store has them now, whatever generation the context is pinned to.
  func storedIDs(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws
    -> [[NSManagedObjectID]]
  {
    try StoreReading(coordinator: requireCoordinator(), generation: nil).related(relationship, of: ids.map(\.resolved))
  }

  /// Whether the store has a row of the object now, whatever generation the context is pinned to.
  func isStored(_ id: NSManagedObjectID) throws -> Bool {
    try StoreReading(coordinator: requireCoordinator(), generation: nil).rows(for: [id.resolved])[0] != nil
  }

  /// As `relatedIDs(_:of:)`, with the changes of this context.
  private func shownIDs(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws
    -> [[NSManagedObjectID]]
  {
    guard graph.hasChanges else { return try relatedIDs(relationship, of: ids) }
    linkPackedRows()
    graph.adoptPermanentIDs()
    var result: [[NSManagedObjectID]] = Array(repeating: [], count: ids.count)
    let owners = ids.map { id -> NSManagedObject? in
      // A pending row without an object leads to nothing.
      if let (segment, row) = graph.insertions.locate(id) { return segment.handles[row] }
      // An object of another entity with the key is one whose row is gone.
      return graph.registeredObject(for: id).flatMap { $0.entity === id.entity ? $0 : nil }
    }
    let read = ids.indices.filter { index in
      graph.insertions.locate(ids[index]) == nil && owners[index]?.isKnown(relationship) != true
    }
    for (index, found) in zip(read, try relatedIDs(relationship, of: read.map { ids[$0] })) {
      owners[index]?.keepRelated(found, relationship.name)
      result[index] = found
    }
    let unread = Set(read)
    for (index, owner) in owners.enumerated() {
      guard let owner, owner.hasPendingChange(relationship) || !unread.contains(index) else { continue }
      result[index] = try owner.loadedIDs(relationship)
    }
    guard graph.hasDeletions else { return result }
    // The levels below may have been saved during the read.
    graph.adoptPermanentIDs()
    return result.map { $0.filter { !graph.hasDeleted($0) } }
  }

  /// Reads a relationship of those of `objects` for which it is not known what the level below has, in one read.
  func readTogether(_ relationship: NSRelationshipDescription, of objects: [NSManagedObject]) throws {
    let unread = objects.filter {
      !$0.isCommittedKnown(relationship) && !$0.state.contains(.inaccessible) && !relationship.isTransient
    }
    guard !unread.isEmpty else { return }
    for (object, ids) in zip(unread, try relatedIDs(relationship, of: unread.map(\.objectID))) {
      object.keepRelated(ids, relationship.name)
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
      for (step, name) in names.enumerated() { ends = try prefetch(name, of: ends, isLast: step == names.count - 1) }
    }
  }

  private static func check(_ names: [String], of entity: NSEntityDescription) throws {
    var entities = [entity]
    for name in names {
      let found = entities.flatMap(\.withDescendants).compactMap { $0.relationshipsByName[name]?.destinationEntity }
      guard !found.isEmpty else { throw EntityPredicateSchema.unknown(names, in: entity) }
      entities = found
    }
  }

  /// - Returns: The objects at the other ends, unless it is the last step of a path and they are loaded.
  private func prefetch(_ name: String, of objects: [NSManagedObject], isLast: Bool) throws -> [NSManagedObject] {
    var ends: [NSManagedObject] = []
    // Subentities may inherit the relationship, or only some may have it.
    var (entity, found) = (NSEntityDescription?.none, ObjectIdentifier?.none)
    let groups = Dictionary(grouping: objects) { object in
      // Most objects have the entity of the one before.
      if object.entity !== entity {
        (entity, found) = (object.entity, object.entity.relationshipsByName[name].map(ObjectIdentifier.init))
      }
      return found
    }
    for group in groups.values {
      guard let relationship = group[0].entity.relationshipsByName[name], !relationship.isTransient else { continue }
      if try readRows(relationship, of: group) {
        if isLast { continue }
        ends += try group.flatMap { try $0.relatedObjects(relationship).filter(\.isNotGone) }
        continue
      }
      let related = try relatedIDs(relationship, of: group.map(\.objectID))
      for (object, ids) in zip(group, related) {
        object.keepRelated(ids, relationship.name, ahead: ids.map(self.object(with:)))
        ends += try object.relatedObjects(relationship).filter(\.isThere)
      }
    }
    var seen: Set<ObjectIdentifier> = []
    let single = ends.filter { seen.insert(ObjectIdentifier($0)).inserted }
    loadTogether(single)
    return single
  }
}
