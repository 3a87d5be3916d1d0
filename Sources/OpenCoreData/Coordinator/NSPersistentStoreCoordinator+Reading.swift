import Foundation

/// What contexts read. One store answers itself; the answers of several are put together.
extension NSPersistentStoreCoordinator {
  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    try lock.withLock {
      let stores = try stores(for: query)
      if stores.count == 1 { return try stores[0].rows(query) }
      let part = query.forEachStore
      return try query.merge(try stores.map { try $0.rows(part) })
    }
  }

  func count(_ query: FetchQuery) throws -> Int {
    try lock.withLock {
      let stores = try stores(for: query)
      if stores.count == 1 { return try stores[0].count(query) }
      let part = query.forEachStore
      return query.slice(count: try stores.reduce(0) { $0 + (try $1.count(part)) })
    }
  }

  /// The rows of `ids`; nil for one that its store does not have (any more), or whose store is not here.
  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    try lock.withLock {
      if stores.count == 1 { return try stores[0].rows(for: ids) }
      var result: [FetchedRow?] = Array(repeating: nil, count: ids.count)
      for store in stores {
        let places = ids.indices.filter { ids[$0].storeIdentity === store.identity }
        guard !places.isEmpty else { continue }
        for (place, row) in zip(places, try store.rows(for: places.map { ids[$0] })) { result[place] = row }
      }
      return result
    }
  }

  /// What `relationship` leads to from each of `ids`; nothing from those that no store here has.
  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]] {
    try lock.withLock {
      var result: [[NSManagedObjectID]] = Array(repeating: [], count: ids.count)
      for store in stores {
        let places = ids.indices.filter { ids[$0].storeIdentity === store.identity }
        guard !places.isEmpty else { continue }
        let found = try store.related(relationship, of: places.map { ids[$0] })
        for (place, related) in zip(places, found) { result[place] = related }
      }
      return result
    }
  }

  func cursor(_ query: FetchQuery, rowsPerBatch: Int) throws -> any RowCursor {
    try lock.withLock {
      let stores = try stores(for: query)
      if stores.count == 1 { return try stores[0].cursor(query, rowsPerBatch: rowsPerBatch) }
      let cursors = try stores.map { try $0.cursor(query.forEachStore, rowsPerBatch: rowsPerBatch) }
      return SeveralStoresCursor(cursors, query, rowsPerBatch: rowsPerBatch)
    }
  }

  /// The cursor's next rows. A cursor has a connection of its own, except on a store in memory: there the lock is
  /// what keeps the connection to one thread.
  func next(_ cursor: any RowCursor, _ batch: inout ObjectBatch, _ numbers: inout RowNumbers) throws -> Bool {
    guard !cursor.ownsSnapshot else { return try cursor.next(into: &batch, numbers: &numbers) }
    return try lock.withLock { try cursor.next(into: &batch, numbers: &numbers) }
  }

  /// The same as single values; none at the end.
  func nextRows(_ cursor: any RowCursor) throws -> [FetchedRow] {
    guard !cursor.ownsSnapshot else { return try cursor.nextRows(StopSign()) }
    return try lock.withLock { try cursor.nextRows(StopSign()) }
  }

  /// The stores that have to be asked, in the order they were added.
  ///
  /// - Throws: `NSError` 134060 where there is no store, or none keeps the entity.
  func stores(for query: FetchQuery) throws -> [SQLiteStore] {
    let stores = try requireStores()
    if stores.count == 1, query.affectedStores == nil { return stores }
    let keeping = stores.filter { $0.keeps(query.entity) }
    if keeping.isEmpty { throw Self.noStore(keeps: query.entity) }
    // Keys are compared with those of one sequence only: the one that `lastKey(of:)` tells of.
    if query.keyAbove != nil { return [home(of: query.entity) ?? keeping[0]] }
    return keeping.filter { query.asks($0.identity) }
  }

  /// Where new objects of `entity` go: the first store that keeps them and can be written.
  func home(of entity: NSEntityDescription) -> SQLiteStore? {
    lock.withLock { stores.first { !$0.isReadOnly && $0.keeps(entity) } }
  }

  func requireStores() throws -> [SQLiteStore] {
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
}
