import ManagedObjectModel
import PersistentStores

/// Cascades over rows that no context has objects for. The rows are read together, and stay packed on their way to the
/// store, through all contexts; the values of very many stay in the store until they are asked for.
///
/// A row gets an object where something needs one: the context has it already, another object leads to it or it to
/// another object that stays, its class has methods to be called, its entity has the rule deny, or an undo manager
/// records the deletion.
extension NSManagedObjectContext {
  /// What a round of delete rules has found.
  struct CascadedRows {
    /// The rows that need no objects.
    fileprivate(set) var segments: [DeletedSegment] = []
    /// The objects that packed rows lead to, by the relationship that leads to them.
    fileprivate(set) var ends: [(relationship: NSRelationshipDescription, objects: [NSManagedObject])] = []
  }

  /// Reads a relationship of those of `objects` for which that was not done yet, and packs the rows that need no object.
  /// The objects of the others are kept by their owners.
  func packRows(
    _ relationship: NSRelationshipDescription, of objects: [NSManagedObject], _ cascaded: inout CascadedRows
  ) throws {
    guard mayPack(relationship) else { return }
    let owners = objects.filter {
      !$0.isInserted && !$0.state.contains(.inaccessible) && !$0.isCommittedKnown(relationship)
        && !$0.hasPendingChange(relationship)
    }
    // What can't be read together, such as a value whose file is missing, is read one by one.
    guard !owners.isEmpty,
      let found = (try? relatedRows(relationship, of: owners.map(\.objectID), toDelete: true)) ?? nil
    else { return }
    graph.adoptPermanentIDs()
    var related = RelatedLists()
    let segments = try found.compactMap { try pack($0, reachedBy: relationship, &related) }
    related.end()
    for owner in owners {
      owner.keepRelated(ahead: owner.storedKey.map { related.objects(of: $0.key) } ?? [], relationship.name)
    }
    try packChain(after: segments, reachedBy: relationship, &cascaded)
  }

  private func mayPack(_ relationship: NSRelationshipDescription) -> Bool {
    graph.undo == nil && relationship.deleteRule == .cascadeDeleteRule && relationship.isToMany
      && !relationship.isTransient && relationship.inverseRelationship?.isToMany == false
  }

  /// - Returns: The packed rows; nil if all rows have objects.
  private func pack(
    _ rows: RelatedRows, reachedBy relationship: NSRelationshipDescription, _ related: inout RelatedLists
  ) throws -> DeletedSegment? {
    guard graph.mayDelete(rows.space.entity) else {
      try rows.rows.load()
      take(rows, &related, mayKnowSome: true)
      return nil
    }
    var packed = DeletedRows(rows.rows, keys: rows.numbers.keys, versions: rows.numbers.versions)
    if graph.packedDeletions.mayHave(rows.space.key(0)) {
      for (row, key) in packed.keys.array.enumerated() where graph.packedDeletions.locate(rows.space.key(key)) != nil {
        // It was reached another way.
        packed.remove(row: row)
      }
    }
    let single = try rowsNeedingObjects(packed, reachedBy: relationship)
    for row in single { packed.remove(row: row) }
    if !single.isEmpty {
      try rows.rows.load()
      take(rows, &related, mayKnowSome: true, only: single)
    }
    return packed.liveCount == 0 ? nil : DeletedSegment(packed, in: self)
  }

  /// Ascending.
  private func rowsNeedingObjects(_ packed: DeletedRows, reachedBy relationship: NSRelationshipDescription) throws
    -> [Int]
  {
    var rest = Array(packed.liveRows)
    var found: [Int] = []
    func remove(where isNeeded: (_ index: Int, _ row: Int) -> Bool) {
      let parts = Dictionary(grouping: rest.enumerated(), by: { isNeeded($0.offset, $0.element) })
      found += parts[true]?.map(\.element) ?? []
      rest = parts[false]?.map(\.element) ?? []
    }
    if !graph.registry.hasNone(like: packed.rows.space.key(0)) {
      let keys = packed.keys.array
      remove { _, row in graph.registry[packed.rows.space.key(keys[row])] != nil }
    }
    for other in relationshipsToFollow(from: packed.entity, reachedBy: relationship) where !mayPack(other) {
      if rest.isEmpty { break }
      let ends = try relatedIDs(other, of: rest.map(packed.id(row:)))
      if ends.allSatisfy(\.isEmpty) { continue }
      remove { index, _ in !ends[index].isEmpty }
    }
    return found.sorted()
  }

  /// The relationships whose rules change or delete something when a row of the entity is deleted.
  private func relationshipsToFollow(
    from entity: NSEntityDescription, reachedBy relationship: NSRelationshipDescription
  ) -> [NSRelationshipDescription] {
    let wayBack = relationship.inverseRelationship?.name
    return entity.relationshipsByName.values.sorted { String.byteOrder($0.name, $1.name) }.filter { other in
      guard other.name != wayBack else { return false }
      return switch other.deleteRule {
      case .cascadeDeleteRule: true
      case .nullifyDeleteRule: other.inverseRelationship != nil
      case .denyDeleteRule, .noActionDeleteRule: false
      }
    }
  }

  // MARK: The next rows of a chain

  /// Carries out the rules of packed rows, and of those that they reach: level by level, because a chain may have as
  /// many levels as a store has rows.
  private func packChain(
    after segments: [DeletedSegment], reachedBy relationship: NSRelationshipDescription,
    _ cascaded: inout CascadedRows
  ) throws {
    var waiting = [(segments: segments, relationship: relationship)]
    delete(segments, &cascaded)
    while let (segments, relationship) = waiting.popLast() {
      for group in Dictionary(grouping: segments, by: { ObjectIdentifier($0.entity) }).values {
        for next in relationshipsToFollow(from: group[0].entity, reachedBy: relationship) where mayPack(next) {
          let found = try packNextRows(along: next, from: group.map(\.rows).ids, &cascaded)
          delete(found, &cascaded)
          waiting.append((found, next))
        }
      }
    }
  }

  /// Before other relationships are read, so that no row is packed twice and a circle ends.
  private func delete(_ segments: [DeletedSegment], _ cascaded: inout CascadedRows) {
    for segment in segments { graph.delete(segment) }
    cascaded.segments += segments
  }

  /// - Returns: The packed rows, which are not deleted yet.
  private func packNextRows(
    along relationship: NSRelationshipDescription, from ids: [NSManagedObjectID], _ cascaded: inout CascadedRows
  ) throws -> [DeletedSegment] {
    var objects: [NSManagedObject] = []
    var segments: [DeletedSegment] = []
    if let found = (try? relatedRows(relationship, of: ids, toDelete: true)) ?? nil {
      var related = RelatedLists()
      segments = try found.compactMap { try pack($0, reachedBy: relationship, &related) }
      related.end()
      objects = related.lists.flatMap(\.objects)
    } else {
      objects = try relatedIDs(relationship, of: ids).flatMap { $0.map(object(with:)) }
    }
    let name = relationship.inverseRelationship?.name ?? ""
    // One that was changed leads to another owner, or to none: this one has no object.
    objects.removeAll { !$0.isNotGone || $0.pending?.one[name] != nil }
    try load(objects, leavingOut: MissingValues())
    cascaded.ends.append((relationship, objects))
    return segments
  }
}

extension ObjectGraph {
  /// Whether rows of the entity may be deleted without objects: nothing has to be called or checked for each.
  func mayDelete(_ entity: NSEntityDescription) -> Bool {
    let hooks: LifecycleHooks = [.awakeFromFetch, .willSave, .didSave, .validation, .prepareForDeletion]
    return undo == nil && entity.denyingRelationships.isEmpty && entity.layout.transientSlots.isEmpty
      && entity.objectClass.lifecycleHooks.isDisjoint(with: hooks)
      && !entity.relationshipsByName.values.contains(where: \.isTransient)
  }
}
