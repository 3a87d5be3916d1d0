import Foundation

extension NSManagedObjectContext {
  /// Walks over everything that `request` finds in batches of packed values, in one read snapshot and with the
  /// memory of one batch: for walks over millions of objects.
  ///
  /// A batch is of one entity: where subentities are found too, it ends where an object of another one begins.
  ///
  /// Unsaved changes of this context and its ancestors count as in `fetch`; where there are any that the request
  /// could see, the whole result is gathered first, which takes the memory of all of it. Save before, or set
  /// `includesPendingChanges` to false.
  ///
  /// - Parameters:
  ///   - request: Its result type and batch size do not matter here.
  ///   - keyPaths: Paths over to-one relationships, such as `place.name`, whose values are to come with the batch.
  ///   - attributes: Names of the attributes whose values are wanted; what a batch has in other slots means nothing.
  ///     Nil for all.
  ///   - rowsPerBatch: How many objects `body` is given at a time.
  ///   - body: Takes the values by slot and the objects' IDs; returns false to end the walk.
  /// - Throws: `NSError` as `fetch` does, and what `body` throws.
  public func walk<ResultType>(
    _ request: NSFetchRequest<ResultType>, keyPaths: [String] = [], attributes: Set<String>? = nil,
    rowsPerBatch: Int = 5000, _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    checkQueue()
    processPendingChanges()
    let query = try walkQuery(request, keyPaths, attributes, rowsPerBatch)
    if query.includesPendingChanges, chainHasChanges(touching: query) {
      try walkGathered(try rows(query), rowsPerBatch, body)
      return
    }
    try walk(query, rowsPerBatch, body)
  }

  /// As `walk`, over what the store has under keys greater than `key`: unsaved changes don't count, for new objects
  /// have no key yet.
  package func walk<ResultType>(
    _ request: NSFetchRequest<ResultType>, keyPaths: [String] = [], attributes: Set<String>? = nil,
    keysAbove key: Int64, rowsPerBatch: Int = 5000, _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    var query = try walkQuery(request, keyPaths, attributes, rowsPerBatch)
    query.keyAbove = key
    try walk(query, rowsPerBatch, body)
  }

  /// What comes with a batch is in the order of `keyPaths`: what only the order needs comes behind.
  private func walkQuery<ResultType>(
    _ request: NSFetchRequest<ResultType>, _ keyPaths: [String], _ attributes: Set<String>?, _ rowsPerBatch: Int
  ) throws -> FetchQuery {
    precondition(rowsPerBatch > 0, "A batch holds at least one object.")
    var query = try request.query(model: model)
    if let attributes { query.values = .attributes(attributes) }
    let sortPaths = query.keyPaths
    query.keyPaths = []
    for (index, keyPath) in keyPaths.enumerated() {
      let path = keyPath.split(separator: ".").map(String.init)
      precondition(path.count > 1, "\(keyPath) is no path over relationships; attributes come by slot.")
      try query.addKeyPath(path)
      // One that is named twice comes twice.
      if query.keyPaths.count <= index { query.keyPaths.append(path) }
    }
    for path in sortPaths { try query.addKeyPath(path) }
    return query
  }

  private func walk(
    _ query: FetchQuery, _ rowsPerBatch: Int, _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    // Of an abstract entity there are no objects; its batches are of the entities found.
    guard let entity = query.entity.withDescendants.first(where: { !$0.isAbstract }) else { return }
    let cursor = try storeReading().cursor(query, rowsPerBatch: rowsPerBatch)
    // One, or as many as a body that hands them to another thread has there at a time: a batch that nobody has any more
    // is filled again, so that its memory need not be made anew.
    var batches: [ObjectBatch] = []
    var numbers = RowNumbers()
    while true {
      let number = batches.indices.first { batches[$0].isUnshared() } ?? batches.count
      if number == batches.count {
        batches.append(ObjectBatch(entity: entity, rowCapacity: query.spansSubentities ? 0 : rowsPerBatch))
      }
      guard try cursor.next(into: &batches[number], numbers: &numbers) else { return }
      guard try body(batches[number], cursor.ids(numbers.keys, of: batches[number].entity)) else { return }
    }
  }

  private func walkGathered(
    _ rows: [FetchedRow], _ rowsPerBatch: Int,
    _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    var start = 0
    while start < rows.count {
      // A batch is of one entity; where subentities are mixed, it ends with the run of one.
      let entity = rows[start].id.entity
      let part = rows[start..<min(start + rowsPerBatch, rows.count)].prefix { $0.id.entity === entity }
      var batch = ObjectBatch(entity: entity, rowCapacity: part.count)
      for row in part {
        batch.appendRow()
        batch.setValues(row.values, row: batch.count - 1)
        batch.appendExtras(row.extras)
      }
      guard try body(batch, ObjectIDCollection(part.map(\.id))) else { return }
      start += part.count
    }
  }
}
