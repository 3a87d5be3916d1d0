import OpenCoreData

/// Links to deleted objects that no delete rule removes: the object does not know of a relationship without an inverse.
enum RemainingLinks {
  /// Refuses deletions that the store would refuse for that reason. Called on the queue of the context, whose pending
  /// changes have been processed.
  ///
  /// - Throws: ``JournalError`` with the object that leads to a deleted one.
  static func check(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws {
    let deleted = Array(context.deletedObjects)
    for relationship in relationships(of: model) {
      guard let owner = relationship.entity.name, let destination = relationship.destinationEntity else { continue }
      let ends = deleted.filter { $0.entity.isKindOf(entity: destination) }.map(\.objectID)
      if ends.isEmpty { continue }
      let request = NSFetchRequest<NSManagedObject>(entityName: owner)
      request.predicate = NSPredicate(format: "%K IN %@", relationship.name, ends)
      request.fetchLimit = 1
      guard let leading = try context.fetch(request).first else { continue }
      let (from, to) = (leading.objectID, leading.objectIDs(forRelationshipNamed: relationship.name).first)
      throw JournalError(
        .invalidEntry, exitCode: .dataError,
        "nothing was deleted: \(words(from)) leads to \(to.map(words) ?? destination.name ?? "") over "
          + "'\(relationship.name)', which has no inverse, so that no delete rule clears it; first clear it, or lead it "
          + "elsewhere")
    }
  }

  private static func words(_ id: NSManagedObjectID) -> String {
    "\(id.entity.name ?? "")\(id.storeKey.map { " \($0)" } ?? "")"
  }

  /// To-one relationships without an inverse, each of the entity that declares it. The key of a to-many one is in the rows
  /// that it leads to.
  private static func relationships(of model: NSManagedObjectModel) -> [NSRelationshipDescription] {
    model.entities.flatMap { entity in
      entity.relationshipsByName.values.filter {
        $0.entity === entity && !$0.isToMany && !$0.isTransient && $0.inverseRelationship == nil
      }
      .sorted { $0.name < $1.name }
    }
  }
}
