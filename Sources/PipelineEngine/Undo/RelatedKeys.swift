import OpenCoreData

/// The objects that an entry leads to over one relationship, as the ledger keeps them: `Spot/12,Spot/31`.
struct RelatedKeys {
  private let parts: [(entity: String, key: Int64)]

  init(_ ids: [NSManagedObjectID]) {
    parts = ids.map { ($0.entity.name ?? "", $0.resolved.storeKey ?? 0) }
  }

  init(_ text: String) {
    parts = text.split(separator: ",").compactMap { part in
      guard let slash = part.firstIndex(of: "/"), let key = Int64(part[part.index(after: slash)...]) else { return nil }
      return (String(part[..<slash]), key)
    }
  }

  var text: String { parts.map { "\($0.entity)/\($0.key)" }.joined(separator: ",") }

  var count: Int { parts.count }

  /// Those of the objects that the store still has.
  func objects(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
    guard let coordinator = context.persistentStoreCoordinator else { return [] }
    let entities = coordinator.managedObjectModel.entitiesByName
    return try parts.compactMap { part in
      guard let entity = entities[part.entity], let id = coordinator.objectID(of: entity, key: part.key) else {
        return nil
      }
      do {
        return try context.existingObject(with: id)
      } catch let error as NSError where error.code == NSManagedObjectReferentialIntegrityError {
        return nil
      }
    }
  }
}
