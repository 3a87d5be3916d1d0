import Foundation

/// Delete rules. (Apple documentation: NSDeleteRule; Core Data Programming Guide, "Relationship Delete Rules".)
///
/// Deleted objects are worked off in rounds: a round reads each relationship of all its objects together, and what it
/// deletes by cascade is the next round. So the number of reads grows with the depth of a cascade, not with its objects,
/// and circles end.
extension NSManagedObjectContext {
  /// Carries out the rules of the objects that were deleted since the last call.
  func propagateDeletions() {
    while true {
      let deleted = graph.takeUnpropagated().filter { $0.isDeleted && !$0.state.contains(.inaccessible) }
      if deleted.isEmpty { return }
      deleteTogether(carryOutRules(of: deleted))
    }
  }

  /// Carries out the rules of inserted objects, which then leave the context.
  func withdraw(_ objects: [NSManagedObject]) {
    var (waiting, seen) = (objects, Set(objects))
    var stored: [NSManagedObject] = []
    while !waiting.isEmpty {
      let cascaded = carryOutRules(of: waiting).filter { seen.insert($0).inserted }
      for object in waiting where object.isInserted { graph.delete(object) }
      waiting = cascaded.filter(\.isInserted)
      for object in waiting { object.prepareForDeletion() }
      stored += cascaded.filter { !$0.isInserted }
    }
    deleteTogether(stored)
    scheduleProcessing()
  }

  /// - Returns: The objects that are to be deleted by cascade.
  private func carryOutRules(of objects: [NSManagedObject]) -> [NSManagedObject] {
    var cascaded: [NSManagedObject] = []
    for group in Dictionary(grouping: objects, by: { ObjectIdentifier($0.entity) }).values {
      let relationships = group[0].entity.relationshipsByName.values.sorted { String.byteOrder($0.name, $1.name) }
      for relationship in relationships {
        // A read that fails now fails again below, with the object's name.
        try? readTogether(relationship, of: group)
        // The context holds unchanged objects weakly: without an owner they would be read again one by one.
        withExtendedLifetime(readTogetherRows(of: group, relationship)) {
          for object in group { cascaded += carryOut(relationship, of: object) }
        }
      }
    }
    return cascaded
  }

  private func carryOut(_ relationship: NSRelationshipDescription, of object: NSManagedObject) -> [NSManagedObject] {
    let related = object.related(relationship).filter { $0.isThere && $0 !== object }
    switch relationship.deleteRule {
    case .cascadeDeleteRule: return related
    case .nullifyDeleteRule: break
    case .denyDeleteRule, .noActionDeleteRule:
      // A stored object waits for the save, which may be denied. Nothing can lead to one that was never saved.
      if !object.isInserted { return [] }
    }
    if let inverse = relationship.inverseRelationship { for other in related { other.dissolve(object, inverse) } }
    return []
  }

  /// The objects at the other end are about to be changed or deleted, for which their rows are needed.
  ///
  /// - Returns: The objects at the other end.
  private func readTogetherRows(
    of objects: [NSManagedObject], _ relationship: NSRelationshipDescription
  ) -> [NSManagedObject] {
    guard relationship.inverseRelationship != nil || relationship.deleteRule == .cascadeDeleteRule else { return [] }
    let others = objects.flatMap { $0.related(relationship).filter(\.isThere) }
    loadTogether(others)
    if let inverse = relationship.inverseRelationship, !inverse.isToMany { try? readTogether(inverse, of: others) }
    return others
  }

  private func deleteTogether(_ objects: [NSManagedObject]) {
    loadTogether(objects)
    for object in objects where object.managedObjectContext === self && !object.isDeleted {
      // It may have been inserted.
      delete(object)
    }
  }
}
