import Foundation

extension NSFetchRequest {
  /// Whether the predicate, or a part of it, was made from a block.
  var hasBlock: Bool {
    do {
      _ = try predicate?.predicateNode()
      return false
    } catch {
      return (error as NSError).isOfBlock
    }
  }

  /// The request checked against the model.
  ///
  /// - Throws: `NSError` for an unknown entity, or for a predicate or sort key that does not match it.
  func query(model: NSManagedObjectModel?) throws -> FetchQuery {
    guard let found = resolveEntity(model) else {
      throw NSError.unknownEntity(entityName, in: "The fetch request", model: model)
    }
    let schema = EntityPredicateSchema(entity: found)
    var query = FetchQuery(entity: found)
    query.includesSubentities = includesSubentities
    query.predicateSource = try predicate?.predicateNode().withFetchedValues()
    query.predicate = try query.predicateSource?.bound(to: schema)
    query.sortKeys = try (sortDescriptors ?? []).map(SortKey.init)
    for key in query.sortKeys { try query.addKeyPath(key.keyPath) }
    query.limit = fetchLimit
    // More than any store holds, and small enough that sums with it do not overflow.
    query.offset = min(max(0, fetchOffset), 1 << 40)
    query.includesPendingChanges = includesPendingChanges
    query.includesValues = includesPropertyValues
    query.affectedStores = affectedStores?.map(\.identity)
    query.entitiesSavedHere = affectedStores?.entitiesSavedHere ?? []
    return query
  }
}

extension [NSPersistentStore] {
  /// The names of the entities whose new objects are saved in one of these stores.
  fileprivate var entitiesSavedHere: Set<String> {
    guard let coordinator = lazy.compactMap(\.persistentStoreCoordinator).first else { return [] }
    let entities = coordinator.managedObjectModel.entities.filter { entity in
      coordinator.firstWritable(keeping: entity).map { first in contains { $0.rowStore === first } } ?? false
    }
    return Set(entities.compactMap(\.name))
  }
}
