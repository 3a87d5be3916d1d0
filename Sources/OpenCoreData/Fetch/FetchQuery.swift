import Foundation

/// A fetch request in the form that contexts and stores answer: resolved, checked and free to change queues.
struct FetchQuery: Sendable {
  let entity: NSEntityDescription
  var includesSubentities = true
  var predicate: BoundPredicate?
  var sortKeys: [SortKey] = []
  var limit = 0
  var offset = 0
  var includesPendingChanges = true
  var values = FetchedValues.all
  /// What comes with each row beyond its own attributes: key paths over relationships to an attribute.
  var keyPaths: [[String]] = []
  /// The stores to ask; nil for all.
  var affectedStores: [StoreIdentity]?
  /// Names of entities whose new objects go to one of those stores unless another was chosen for them.
  var entitiesAtHome: Set<String> = []
  /// Only objects whose key in the store is greater; nil for all.
  var keyAbove: Int64?

  /// Has a value that rows are sorted by, or shown with, come with each row if it is not one of its own.
  ///
  /// - Throws: `NSError` 134060 for a path that leads to no attribute.
  mutating func addKeyPath(_ keyPath: [String]) throws {
    let path = try AttributePath(keyPath, of: entity)
    guard case .attribute = path.end else {
      throw NSError.coreData(
        .coreData,
        "\(keyPath.joined(separator: ".")) of \(entity.name ?? "") is an object, which has no value to sort by or to "
          + "show. Name an attribute of it.")
    }
    if !path.relationships.isEmpty, !keyPaths.contains(keyPath) { keyPaths.append(keyPath) }
  }

  /// False: only identities are wanted.
  var includesValues: Bool {
    get { values != .none }
    set { values = newValue ? .all : .none }
  }

  var spansSubentities: Bool { includesSubentities && !entity.subentities.isEmpty }

  func covers(_ other: NSEntityDescription) -> Bool {
    other === entity || (includesSubentities && other.isKindOf(entity: entity))
  }

  /// Whether the query is about the store of this identity.
  func asks(_ store: StoreIdentity) -> Bool { affectedStores?.contains { $0 === store } ?? true }

  /// Whether the object with `id` is in a store that the query is about, or will be once it is saved.
  func asks(_ id: NSManagedObjectID) -> Bool {
    switch id.reference {
    case .permanent(let store, _): asks(store)
    case .temporary(let range, let row):
      affectedStores == nil || range.storeChosen(row: row).map(asks) ?? entitiesAtHome.contains(id.entity.name ?? "")
    }
  }

  /// The query for the level below where so many of its objects are changed or deleted above it: of what it finds
  /// that many may drop out, and the rest is put in order once more.
  func widened(by changeCount: Int) -> FetchQuery {
    var below = self
    below.offset = 0
    if limit > 0 {
      // A limit that no number of objects reaches is none.
      let (limit, overflows) = limit.addingReportingOverflow(offset + changeCount)
      below.limit = overflows ? 0 : limit
    }
    let sorting = sortKeys.map(\.name)
    switch values {
    case .all: break
    case .none: if !sorting.isEmpty { below.values = .attributes(Set(sorting)) }
    case .attributes(let names): below.values = .attributes(names.union(sorting))
    }
    return below
  }
}

/// How much of the rows a query wants.
enum FetchedValues: Sendable, Equatable {
  /// Identities.
  case none
  /// The values of the attributes of these names; what a row has in other slots means nothing.
  case attributes(Set<String>)
  case all
}

extension NSFetchRequest {
  /// The request checked against the model.
  ///
  /// - Throws: `NSError` for an unknown entity, or for a predicate or sort key that does not fit it.
  func query(model: NSManagedObjectModel?) throws -> FetchQuery {
    guard let found = entity ?? entityName.flatMap({ model?.entitiesByName[$0] }) else {
      throw NSError.unknownEntity(entityName, "The fetch request", model)
    }
    let schema = EntityPredicateSchema(entity: found)
    var query = FetchQuery(entity: found)
    query.includesSubentities = includesSubentities
    query.predicate = try predicate?.predicateNode().bound(to: schema)
    query.sortKeys = try (sortDescriptors ?? []).map(SortKey.init)
    for key in query.sortKeys { try query.addKeyPath(key.keyPath) }
    query.limit = fetchLimit
    // As much as any store holds: sums with it must not overflow.
    query.offset = min(max(0, fetchOffset), 1 << 40)
    query.includesPendingChanges = includesPendingChanges
    query.includesValues = includesPropertyValues
    query.affectedStores = affectedStores?.map(\.identity)
    query.entitiesAtHome = affectedStores?.entitiesAtHome ?? []
    return query
  }
}

extension [NSPersistentStore] {
  /// The names of the entities whose new objects go to one of these stores.
  fileprivate var entitiesAtHome: Set<String> {
    guard let coordinator = lazy.compactMap(\.persistentStoreCoordinator).first else { return [] }
    let entities = coordinator.managedObjectModel.entities.filter { entity in
      coordinator.home(of: entity).map { home in contains { $0 === home } } ?? false
    }
    return Set(entities.compactMap(\.name))
  }
}

extension NSError {
  /// A request names an entity that the model does not have.
  static func unknownEntity(_ name: String?, _ request: String, _ model: NSManagedObjectModel?) -> NSError {
    .coreData(
      .coreData,
      "\(request) names the entity \"\(name ?? "")\", which the model does not have. "
        + "It has: \((model?.entitiesByName.keys.sorted() ?? []).joined(separator: ", ")).")
  }
}
