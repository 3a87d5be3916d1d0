import Foundation

/// The source of a context's reads: the newest state of the stores, or the generation that the context is pinned to.
///
/// A single store answers directly; the results of several stores are merged.
struct StoreReading {
  let coordinator: NSPersistentStoreCoordinator
  let generation: QueryGeneration?

  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    let stores = try coordinator.stores(for: query)
    if stores.count == 1 { return try read(stores[0]) { try $0.rows(query) } }
    let part = query.forEachStore
    return try query.merge(try stores.map { try read($0) { try $0.rows(part) } })
  }

  /// How each store that the query asks finds its part of the rows.
  func explanations(_ query: FetchQuery) throws -> [QueryExplanation] {
    let stores = try coordinator.stores(for: query)
    let part = stores.count == 1 ? query : query.forEachStore
    return try stores.map { try read($0) { try $0.explanation(part) } }
  }

  func count(_ query: FetchQuery) throws -> Int {
    let stores = try coordinator.stores(for: query)
    if stores.count == 1 { return try read(stores[0]) { try $0.count(query) } }
    let part = query.forEachStore
    return query.slice(count: try stores.reduce(0) { sum, store in sum + (try read(store) { try $0.count(part) }) })
  }

  /// The rows of `ids`; nil for an ID whose row no longer exists, or whose store is not one of the coordinator's.
  ///
  /// - Parameter missing: What to note values in whose files are missing, instead of throwing for them.
  func rows(for ids: [NSManagedObjectID], leavingOut missing: MissingValues? = nil) throws -> [FetchedRow?] {
    func rows(_ ids: [NSManagedObjectID], of reader: any RowReader) throws -> [FetchedRow?] {
      try missing.map { try reader.rows(for: ids, leavingOut: $0) } ?? reader.rows(for: ids)
    }
    let stores = coordinator.rowStores
    if stores.count == 1 { return try read(stores[0]) { try rows(ids, of: $0) } }
    var result: [FetchedRow?] = Array(repeating: nil, count: ids.count)
    for store in stores {
      let indices = ids.indices.filter { ids[$0].storeIdentity === store.identity }
      guard !indices.isEmpty else { continue }
      let found = try read(store) { try rows(indices.map { ids[$0] }, of: $0) }
      for (index, row) in zip(indices, found) { result[index] = row }
    }
    return result
  }

  /// The objects that `relationship` leads to from each of `ids`; none for IDs that no store here has.
  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]] {
    var result: [[NSManagedObjectID]] = Array(repeating: [], count: ids.count)
    for store in coordinator.rowStores {
      let indices = ids.indices.filter { ids[$0].storeIdentity === store.identity }
      guard !indices.isEmpty else { continue }
      let found = try read(store) { try $0.related(relationship, of: indices.map { ids[$0] }) }
      for (index, related) in zip(indices, found) { result[index] = related }
    }
    return result
  }

  /// The objects at the other end of a to-many relationship with their values; nil if they can't be read together.
  ///
  /// - Parameter toDelete: Whether they are about to be deleted, so that their values may stay in the store.
  func relatedRows(
    _ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID], toDelete: Bool
  ) throws -> [RelatedRows]? {
    let stores = coordinator.rowStores
    guard stores.count == 1 else { return nil }
    let keys = ids.compactMap { $0.storeIdentity === stores[0].identity ? $0.storeKey : nil }
    return try read(stores[0]) {
      try toDelete && generation == nil
        ? $0.relatedRowsToDelete(relationship, of: keys) : $0.relatedRows(relationship, of: keys)
    }
  }

  /// - Parameter readers: How many connections may read a single store, whose rows come by key.
  func cursor(_ query: FetchQuery, rowsPerBatch: Int, readers: Int = 1) throws -> any RowCursor {
    let stores = try coordinator.stores(for: query)
    if stores.count == 1 {
      let snapshot = generation?[stores[0]]
      return try stores[0].cursor(query, rowsPerBatch: rowsPerBatch, readers: readers, in: snapshot)
    }
    let cursors = try stores.map {
      try $0.cursor(query.forEachStore, rowsPerBatch: rowsPerBatch, in: generation?[$0])
    }
    return MergedCursor(cursors, query, rowsPerBatch: rowsPerBatch)
  }

  func dictionaryRows(
    _ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag = CancellationFlag()
  ) throws -> [DictionaryRow] {
    let stores = try coordinator.rowStores(query.affectedStores, keeping: query.entity)
    if coordinator.rowStores.count == 1 {
      return try stores.flatMap { try read($0) { try $0.dictionaryRows(query, shape, stop: stop) } }
    }
    let several = DictionaryMerge(query, shape)
    return several.merge(
      try stores.map { try read($0) { try $0.dictionaryRows(several.partQuery, several.partShape, stop: stop) } })
  }

  /// The IDs of the objects that relationships in results lead to, by the values that stand for them.
  func linkedIDs(_ rows: [DictionaryRow], _ shape: DictionaryShape) throws -> [StoredValue: NSManagedObjectID] {
    var found: [StoredValue: NSManagedObjectID] = [:]
    for (index, column) in shape.columns.enumerated() {
      guard let destination = column.destination else { continue }
      let values = Set(rows.map { $0.values[index] }).subtracting([.null]).filter { found[$0] == nil }
      guard !values.isEmpty else { continue }
      let node = PredicateNode.comparison(
        PredicateComparison(
          left: .selfObject, operation: .isIn,
          right: .constant(.collection(values.map { .object(PredicateObject(LinkedIdentity($0))) }))))
      var query = FetchQuery(entity: destination)
      (query.predicateSource, query.includesValues) = (node, false)
      query.predicate = try node.bound(to: EntityPredicateSchema(entity: destination))
      for row in try self.rows(query) { found[row.id.comparisonValue] = row.id }
    }
    return found
  }

  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int {
    guard coordinator.rowStores.count == 1 else { return try dictionaryRows(query, shape).count }
    return try coordinator.rowStores(query.affectedStores, keeping: query.entity)
      .reduce(0) { sum, store in sum + (try read(store) { try $0.dictionaryCount(query, shape) }) }
  }

  private func read<Result>(_ store: any RowStore, _ body: (any RowReader) throws -> Result) throws -> Result {
    try store.read(generation?[store], body)
  }
}

/// Which stores a request asks.
extension NSPersistentStoreCoordinator {
  package var rowStores: [any RowStore] { stores.map(\.rowStore) }

  /// The stores that `query` asks, in the order they were added.
  ///
  /// - Throws: `NSError` 134060 if there is no store, or if no store has the entity.
  func stores(for query: FetchQuery) throws -> [any RowStore] {
    let stores = try requireStores()
    if stores.count == 1, query.affectedStores == nil { return stores }
    let keeping = stores.filter { $0.keeps(query.entity) }
    if keeping.isEmpty { throw Self.noStore(keeps: query.entity) }
    // Keys are comparable within one sequence only: the one that `lastKey(of:)` reports.
    if query.keyAbove != nil { return [firstWritable(keeping: query.entity) ?? keeping[0]] }
    return keeping.filter { query.includes($0.identity) }
  }

  /// The stores that `affected` names (nil: all) and that have `entity`.
  func rowStores(_ affected: [StoreIdentity]?, keeping entity: NSEntityDescription) throws -> [any RowStore] {
    try requireStores().filter { store in
      store.keeps(entity) && affected?.contains { $0 === store.identity } ?? true
    }
  }

  /// The store for new objects of `entity`: the first writable one that has the entity.
  func firstWritable(keeping entity: NSEntityDescription) -> (any RowStore)? {
    rowStores.first { !$0.isReadOnly && $0.keeps(entity) }
  }

  func requireStores() throws -> [any RowStore] {
    let stores = rowStores
    if stores.isEmpty {
      throw NSError.coreData(
        .coreData, "The coordinator has no persistent stores. Add one before fetching or saving.")
    }
    return stores
  }

  static func noStore(keeps entity: NSEntityDescription) -> NSError {
    .coreData(
      .coreData,
      "No store of the coordinator keeps the entity \(entity.name ?? ""); check the configurations that they were "
        + "added with.")
  }

  /// Runs `body` on each store that `affected` names (nil: on all) and that has `entity`, while no other code writes.
  func writeToStores<Result>(
    _ affected: [StoreIdentity]?, keeping entity: NSEntityDescription, for origin: ChangeOrigin,
    _ body: (any RowStore) throws -> Result
  ) throws -> [Result] {
    try storesLock.withLock {
      try rowStores(affected, keeping: entity).map { store in
        store.willWrite(for: origin)
        return try body(store)
      }
    }
  }

  /// A number that changes with every write through this coordinator.
  func writeCount() throws -> Int64 { try requireStores().reduce(0) { $0 + $1.writeCount } }
}

/// Stands for an object in a comparison: only its value for comparisons is known.
private final class LinkedIdentity: NSObject, PredicateIdentity {
  let comparisonValue: StoredValue

  init(_ value: StoredValue) { comparisonValue = value }
}
