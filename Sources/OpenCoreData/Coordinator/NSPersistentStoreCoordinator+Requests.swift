/// What requests ask of stores besides rows.
extension NSPersistentStoreCoordinator {
  /// Runs `body` on each store that `affected` names (nil: on all) and that keeps `entity`, under the lock.
  func eachStore<Result>(
    _ affected: [StoreIdentity]?, keeping entity: NSEntityDescription, _ body: (SQLiteStore) throws -> Result
  ) throws -> [Result] {
    try lock.withLock {
      let asked = try requireStores().filter { store in
        store.keeps(entity) && affected?.contains { $0 === store.identity } ?? true
      }
      return try asked.map(body)
    }
  }

  func dictionaryRows(
    _ query: FetchQuery, _ shape: DictionaryShape, _ stop: StopSign = StopSign()
  ) throws -> [DictionaryRow] {
    try lock.withLock {
      let isAlone = stores.count == 1
      let several = DictionaryMerge(query, shape)
      let parts = try eachStore(query.affectedStores, keeping: query.entity) { store in
        try store.connection().stopping(at: stop) {
          try store.dictionaryRows(isAlone ? query : several.partQuery, isAlone ? shape : several.partShape)
        }
      }
      return isAlone ? parts.flatMap { $0 } : several.merge(parts)
    }
  }

  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int {
    try lock.withLock {
      guard stores.count == 1 else { return try dictionaryRows(query, shape).count }
      return try eachStore(query.affectedStores, keeping: query.entity) { try $0.dictionaryCount(query, shape) }
        .reduce(0, +)
    }
  }

  /// Runs `body` on a cursor over the rows of `query`: beside the lock where the cursor has a snapshot of its own, else
  /// under it, so that nothing is written while it stands open.
  func withCursor<Result>(
    _ query: FetchQuery, _ generation: QueryGeneration?, rowsPerBatch: Int,
    _ body: (any RowCursor) throws -> Result
  ) throws -> Result {
    let (opened, result) = try lock.withLock { () -> (any RowCursor, Result?) in
      let opened = try reading(generation) { try cursor(query, rowsPerBatch: rowsPerBatch) }
      return (opened, opened.ownsSnapshot ? nil : try body(opened))
    }
    return try result ?? body(opened)
  }

  /// How many rows the stores' own connections have changed: stands still as long as nothing is saved here.
  func changeCount() throws -> Int64 {
    try lock.withLock {
      try requireStores().reduce(0) { $0 + (try $1.access("Reading") { $0.changedRowCountTotal }) }
    }
  }
}
