import OpenCoreData

extension NSManagedObjectContext {
  /// The entries that lead to each of these objects over a relationship where an object can belong to one entry only; nil
  /// for an object that none leads to.
  func owners(
    of ids: [NSManagedObjectID], over relationship: NSRelationshipDescription
  ) throws -> [NSManagedObjectID?] {
    if let inverse = relationship.inverseRelationship { return try related(inverse, of: ids).map(\.first) }
    guard let entity = relationship.entity.name, !ids.isEmpty else { return ids.map { _ in nil } }
    // Without an inverse only the entries know where they lead.
    let request = NSFetchRequest<NSManagedObjectID>(entityName: entity)
    request.resultType = .managedObjectIDResultType
    request.predicate = NSPredicate(format: "ANY %K IN %@", relationship.name, ids)
    let entries = try fetch(request)
    var owners: [NSManagedObjectID: NSManagedObjectID] = [:]
    for (entry, objects) in zip(entries, try related(relationship, of: entries)) {
      for object in objects { owners[object] = entry }
    }
    return ids.map { owners[$0] }
  }
}
