import Foundation

extension NSFetchRequest {
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
    query.predicateSource = try predicate?.predicateNode()
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

extension NSFetchRequest {
  /// - Throws: `NSError` 134060 for properties that the entity does not store, or that cannot be combined with a
  ///   grouping.
  func dictionaryShape(_ query: FetchQuery) throws -> DictionaryShape {
    let entity = query.entity
    var shape = DictionaryShape(
      columns: try propertiesToFetch.map { try $0.map { try Self.column(of: $0, in: entity) } }
        ?? entity.attributeSlots.filter { !$0.isTransient }.map { .attribute($0, path: [$0.name]) })
    guard !shape.columns.isEmpty else {
      throw NSError.coreData(.coreData, "propertiesToFetch is empty. Name an attribute, or leave it nil for all.")
    }
    shape.isDistinct = returnsDistinctResults
    shape.groupNames = try (propertiesToGroupBy ?? []).map { try Self.column(of: $0, in: entity).name }
    shape.havingSource = try havingPredicate?.predicateNode()
    shape.having = try shape.havingSource?.bound(to: EntityPredicateSchema(entity: entity))
    try checkGroups(shape, query)
    return shape
  }

  private static func column(of property: Any, in entity: NSEntityDescription) throws -> DictionaryShape.Column {
    guard let name = (property as? NSPropertyDescription)?.name ?? property as? String else {
      throw NSError.coreData(
        .coreData, "\(property) is no property: give the name of an attribute, or its NSAttributeDescription.")
    }
    if name == "objectID" { return .objectID }
    let path = name.split(separator: ".").map(String.init)
    guard case .attribute(let attribute, _) = try AttributePath(path, of: entity).end else {
      throw NSError.coreData(
        .coreData,
        "\(name) is an object, which a dictionary has no value of. Fetch an attribute of it, or its objectID.")
    }
    guard !attribute.isTransient else {
      throw NSError.coreData(
        .coreData, "The attribute \(name) is transient: the store has no values of it. Fetch objects instead.")
    }
    return .attribute(attribute, path: path)
  }

  /// A group has a single value only for the attributes that it is grouped by.
  private func checkGroups(_ shape: DictionaryShape, _ query: FetchQuery) throws {
    guard !shape.groupNames.isEmpty else {
      guard shape.having == nil else {
        throw NSError.coreData(.coreData, "havingPredicate chooses among groups: set propertiesToGroupBy too.")
      }
      return
    }
    let used = shape.columns.map(\.name) + query.sortKeys.map(\.name) + (shape.having?.keys.map(\.name) ?? [])
    if let other = used.first(where: { !shape.groupNames.contains($0) }) {
      throw NSError.coreData(
        .coreData,
        "\(other) is not among propertiesToGroupBy (\(shape.groupNames.joined(separator: ", "))): a group has no "
          + "single value of it. Add it there, or leave it out of what is fetched, sorted by and required.")
    }
  }
}
