/// What requests ask of stores besides rows.
extension NSPersistentStoreCoordinator {
  /// Runs `body` on each store that `affected` names (nil: on all) and that keeps `entity`, under the lock.
  func eachStore<Result>(
    _ affected: [StoreIdentity]?, keeping entity: NSEntityDescription, _ body: (SQLiteStore) throws -> Result
  ) throws -> [Result] {
    try withStore { store in
      guard affected?.contains(where: { $0 === store.identity }) ?? true else { return [] }
      return store.schema.entity(named: entity.name ?? "") == nil ? [] : [try body(store)]
    }
  }

  func dictionaryRows(
    _ query: FetchQuery, _ shape: DictionaryShape, _ stop: StopSign = StopSign()
  ) throws -> [DictionaryRow] {
    let parts = try eachStore(query.affectedStores, keeping: query.entity) { store in
      try store.connection().stopping(at: stop) { try store.dictionaryRows(query, shape) }
    }
    return parts.flatMap { $0 }
  }

  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int {
    try eachStore(query.affectedStores, keeping: query.entity) { try $0.dictionaryCount(query, shape) }
      .reduce(0, +)
  }

  /// The cursor's next rows; see `next`.
  func nextRows(_ cursor: StoreCursor, _ stop: StopSign) throws -> [FetchedRow] {
    func read() throws -> [FetchedRow] {
      try cursor.reading { connection in try connection.stopping(at: stop) { try cursor.nextRows() } }
    }
    guard !cursor.ownsSnapshot else { return try read() }
    return try withStore { _ in try read() }
  }

  /// How many rows the store's own connection has changed: stands still as long as nothing is saved here.
  func changeCount() throws -> Int64 {
    try withStore { store in try store.access("Reading") { $0.changedRowCountTotal } }
  }
}
