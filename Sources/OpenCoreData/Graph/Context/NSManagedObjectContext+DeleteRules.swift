import Foundation

/// Delete rules. (Apple documentation: NSDeleteRule; Core Data Programming Guide, "Relationship Delete Rules".)
///
/// Deleted objects are worked off in rounds: a round reads each relationship of all its objects together, and what it
/// deletes by cascade is the next round. So the number of reads grows with the depth of a cascade, not with its objects,
/// and circles end.
extension NSManagedObjectContext {
  /// Carries out the rules of the objects that were deleted since the last call.
  ///
  /// - Throws: The store's error if the objects at the other ends can't be read. The rules of that round are not
  ///   carried out then; the next call repeats it.
  func propagateDeletions() throws {
    var cascade = Cascade()
    while true {
      let deleted = graph.unpropagated.take().filter { $0.isDeleted && !$0.state.contains(.inaccessible) }
      if deleted.isEmpty { return }
      let ends: [NSManagedObject]
      var packed = CascadedRows()
      do {
        ends = try readEnds(of: deleted, cascade) { try packRows($0, of: $1, &packed) }
      } catch {
        graph.unpropagated.putBack(deleted + graph.unpackDeletions(packed.segments))
        throw error
      }
      for (relationship, objects) in packed.ends { cascade.note(objects, reachedBy: relationship) }
      // The context holds unchanged objects weakly: without an owner they would be read again one by one.
      withExtendedLifetime(ends) {
        deleteTogether(carryOutRules(of: deleted, &cascade) + packed.ends.flatMap(\.objects))
      }
    }
  }

  /// Deletes what a child has deleted. The child has carried out the rules for what this level had when it read the
  /// object; they are carried out again for an object that has changes of its own here, or another version.
  func deleteAsSaved(_ deletions: [RowVersion], _ objects: [NSManagedObject]) {
    var propagated: [NSManagedObject] = []
    graph.expectDeletions(objects.count)
    for (deletion, object) in zip(deletions, objects) {
      guard deletion.carriesOutRules else {
        if !object.isDeleted { takeBackInsertions(of: [object]) }
        continue
      }
      let isAsRead = deletion.version != BaseRow.unknownVersion && object.version == deletion.version
      delete(object)
      if isAsRead, object.unpackedPending == nil { propagated.append(object) }
    }
    if graph.undo == nil { graph.unpropagated.remove(propagated) }
  }

  /// Carries out the rules of inserted objects, which then leave the context.
  func withdraw(_ objects: [NSManagedObject]) {
    var (waiting, seen) = (objects, Set(objects))
    var stored: [NSManagedObject] = []
    while !waiting.isEmpty {
      // A read that fails now fails again for one object, whose name is in the message then.
      let ends = try? readEnds(of: waiting, Cascade())
      var cascade = Cascade()
      let cascaded = withExtendedLifetime(ends) {
        carryOutRules(of: waiting, &cascade).filter { seen.insert($0).inserted }
      }
      for object in waiting where object.isInserted { graph.delete(object) }
      waiting = cascaded.filter(\.isInserted)
      for object in waiting { object.prepareForDeletion() }
      stored += cascaded.filter { !$0.isInserted }
    }
    deleteTogether(stored)
    scheduleProcessing()
  }

  /// Takes insertions back: the objects are deleted and nothing leads to them any more. What they lead to stays, whatever
  /// their rules are.
  func takeBackInsertions(of objects: [NSManagedObject]) {
    for (relationship, group) in Self.relationships(of: objects) {
      // A read that fails now fails again for one object, whose name is in the message then.
      try? readTogether(relationship, of: group)
      let ends = group.flatMap { $0.related(relationship).filter(\.isNotGone) }
      loadTogether(ends)
      for object in group {
        if let inverse = relationship.inverseRelationship {
          for other in object.related(relationship) where other.isNotGone { other.removeLink(to: object, inverse) }
        } else if relationship.deleteRule == .denyDeleteRule {
          object.setRelatedValue(nil, relationship)
        }
      }
    }
    for object in objects { graph.delete(object, carriesOutRules: false) }
    scheduleProcessing()
  }

  /// Reads what a save compares with the rule deny, in one read for each relationship.
  func readDeniedEnds(of objects: [NSManagedObject]) throws {
    for group in Self.groups(of: objects) {
      for relationship in group[0].entity.denyingRelationships { try readTogether(relationship, of: group) }
    }
  }

  // MARK: One round

  /// Each relationship of the objects' entities, in an order that does not change from run to run.
  private static func relationships(
    of objects: [NSManagedObject]
  ) -> [(relationship: NSRelationshipDescription, objects: [NSManagedObject])] {
    groups(of: objects).flatMap { group in
      group[0].entity.relationshipsByName.values.sorted { String.byteOrder($0.name, $1.name) }
        .map { (relationship: $0, objects: group) }
    }
  }

  /// The objects of each entity.
  private static func groups(of objects: [NSManagedObject]) -> [[NSManagedObject]] {
    guard let first = objects.first else { return [] }
    if objects.allSatisfy({ $0.entity === first.entity }) { return [objects] }
    return Array(Dictionary(grouping: objects) { ObjectIdentifier($0.entity) }.values)
  }

  /// Reads the relationships that have rules to carry out, and the objects at their other ends: they are about to be
  /// changed or deleted.
  ///
  /// - Parameter pack: Packs what a relationship of objects leads to, where that needs no objects.
  /// - Returns: The objects at the other ends.
  private func readEnds(
    of objects: [NSManagedObject], _ cascade: Cascade,
    pack: (NSRelationshipDescription, [NSManagedObject]) throws -> Void = { _, _ in }
  ) throws -> [NSManagedObject] {
    var ends: [NSManagedObject] = []
    for (relationship, group) in Self.relationships(of: objects) {
      let bound = group.filter { hasWork(relationship, of: $0, cascade) }
      guard !bound.isEmpty else { continue }
      try pack(relationship, bound)
      let unread = bound.filter { !$0.isCommittedKnown(relationship) }
      if try unread.isEmpty || !readRows(relationship, of: unread) { try readTogether(relationship, of: bound) }
      let others = try bound.flatMap { try $0.relatedObjects(relationship).filter(\.isNotGone) }
      if relationship.deleteRule == .cascadeDeleteRule {
        // What is deleted shows no values, and need not say who its only owner is.
        try load(others, leavingOut: MissingValues())
      } else {
        try load(others)
        if let inverse = relationship.inverseRelationship, !inverse.isToMany { try readTogether(inverse, of: others) }
      }
      ends += others
    }
    return ends
  }

  /// Whether deleting `object` changes or deletes what the relationship leads to.
  private func hasWork(
    _ relationship: NSRelationshipDescription, of object: NSManagedObject, _ cascade: Cascade
  ) -> Bool {
    if cascade.leadsBack(relationship, of: object) { return false }
    return switch relationship.deleteRule {
    case .cascadeDeleteRule: true
    case .nullifyDeleteRule: relationship.inverseRelationship != nil
    // A stored object waits for the save, which may be denied. Nothing can lead to one that was never saved.
    case .denyDeleteRule, .noActionDeleteRule: object.isInserted && relationship.inverseRelationship != nil
    }
  }

  /// - Returns: The objects that are to be deleted by cascade.
  private func carryOutRules(of objects: [NSManagedObject], _ cascade: inout Cascade) -> [NSManagedObject] {
    var cascaded: [NSManagedObject] = []
    for (relationship, group) in Self.relationships(of: objects) {
      for object in group where hasWork(relationship, of: object, cascade) {
        let related = object.related(relationship).filter { $0.isNotGone && $0 !== object }
        if relationship.deleteRule == .cascadeDeleteRule {
          cascade.note(related, reachedBy: relationship)
          cascaded += related
        } else if let inverse = relationship.inverseRelationship {
          for other in related { other.removeLink(to: object, inverse) }
        }
      }
    }
    return cascaded
  }

  private func deleteTogether(_ objects: [NSManagedObject]) {
    loadTogether(objects)
    graph.expectDeletions(objects.count)
    for object in objects where object.belongs(to: self) && !object.isDeleted {
      // It may have been inserted.
      delete(object)
    }
  }
}

/// The relationships that lead from objects back to the only owner that has taken them along: there is nothing to do.
private struct Cascade {
  /// By identity: an object's own hash and comparison can't be inlined.
  private var waysBack: [ObjectIdentifier: NSRelationshipDescription] = [:]
  /// Holds them: another object could get the address of one that is freed.
  private var objects: [NSManagedObject] = []

  mutating func note(_ objects: [NSManagedObject], reachedBy relationship: NSRelationshipDescription) {
    let inverse = relationship.inverseRelationship.flatMap { $0.isToMany ? nil : $0 }
    for object in objects { waysBack[ObjectIdentifier(object)] = inverse }
    self.objects += objects
  }

  /// Whether the relationship is such a one, and was not changed since.
  func leadsBack(_ relationship: NSRelationshipDescription, of object: NSManagedObject) -> Bool {
    waysBack[ObjectIdentifier(object)]?.name == relationship.name && !object.hasPendingChange(relationship)
  }
}
