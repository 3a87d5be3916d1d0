import Foundation

extension NSManagedObjectContext {
  /// Walks over all results of `request` in batches of packed values, in one read snapshot and with the memory of one
  /// batch: for walks over millions of objects. (Not part of Apple's API.)
  ///
  /// A batch has one entity: if the request includes subentities, a batch ends where an object of another entity
  /// begins.
  ///
  /// Unsaved changes of this context and its ancestors count as in `fetch`. If there are any that the request could
  /// see, the whole result is collected first, which takes the memory of the whole result. Save before the walk, or set
  /// `includesPendingChanges` to false.
  ///
  /// ```swift
  /// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  /// var count = 0
  /// try context.walk(request, rowsPerBatch: 10_000) { batch, ids in
  ///   count += batch.count
  ///   return true
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: Its result type and batch size are ignored.
  ///   - keyPaths: Paths over to-one relationships, such as `place.name`, whose values are added to the batch.
  ///   - attributes: Names of the attributes to read; other slots of the batch are undefined. Nil for all.
  ///   - rowsPerBatch: The maximum number of objects in a batch. A batch of a SQLite store also ends where its texts and
  ///     blobs reach 8 MiB.
  ///   - body: Receives the values by slot and the objects' IDs; returns false to end the walk.
  /// - Throws: `NSError` as `fetch` does, and what `body` throws.
  public func walk<ResultType>(
    _ request: NSFetchRequest<ResultType>, keyPaths: [String] = [], attributes: Set<String>? = nil,
    rowsPerBatch: Int = 5000, _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    checkQueue()
    processPendingChanges()
    let query = try walkQuery(request, keyPaths: keyPaths, attributes: attributes, rowsPerBatch: rowsPerBatch)
    if query.includesPendingChanges, chainHasChanges(touching: query) {
      try walkGathered(try rows(query), rowsPerBatch: rowsPerBatch, body)
      return
    }
    try walk(query, rowsPerBatch: rowsPerBatch, body)
  }

  /// As `walk`, over the stored objects with keys greater than `key`. Unsaved changes do not count, because new objects
  /// have no key yet.
  package func walk<ResultType>(
    _ request: NSFetchRequest<ResultType>, keyPaths: [String] = [], attributes: Set<String>? = nil,
    keysAbove key: Int64, rowsPerBatch: Int = 5000, _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    var query = try walkQuery(request, keyPaths: keyPaths, attributes: attributes, rowsPerBatch: rowsPerBatch)
    query.keyAbove = key
    try walk(query, rowsPerBatch: rowsPerBatch, body)
  }

  /// As `walk`, over the stored objects: unsaved changes do not count. A store on a server reads an unsorted request over
  /// `readers` connections at the same time, in one state of its rows; the batches come in the order of the keys.
  package func walk<ResultType>(
    _ request: NSFetchRequest<ResultType>, keyPaths: [String] = [], attributes: Set<String>? = nil, readers: Int,
    rowsPerBatch: Int = 5000, _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    let query = try walkQuery(request, keyPaths: keyPaths, attributes: attributes, rowsPerBatch: rowsPerBatch)
    try walk(query, rowsPerBatch: rowsPerBatch, readers: readers, body)
  }

  /// How the stores find what `walk` returns for the request, as lines of text. Unsaved changes of contexts are compared
  /// in memory in addition.
  ///
  /// - Throws: `NSError` as `fetch` does.
  package func explanation<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> String {
    checkQueue()
    let query = try walkQuery(request, keyPaths: [], attributes: nil, rowsPerBatch: 1)
    return try storeReading().explanations(query).map(\.text).joined(separator: "\n")
  }

  /// The values of `keyPaths` come first, in their order; paths that are needed only for sorting follow.
  private func walkQuery<ResultType>(
    _ request: NSFetchRequest<ResultType>, keyPaths: [String], attributes: Set<String>?, rowsPerBatch: Int
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
      // A path that is named twice is read twice.
      if query.keyPaths.count <= index { query.keyPaths.append(path) }
    }
    for path in sortPaths { try query.addKeyPath(path) }
    return query
  }

  private func walk(
    _ query: FetchQuery, rowsPerBatch: Int, readers: Int = 1,
    _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    // An abstract entity has no objects; the batches have the entities that are found.
    guard let entity = query.entity.withDescendants.first(where: { !$0.isAbstract }) else { return }
    let cursor = try storeReading().cursor(query, rowsPerBatch: rowsPerBatch, readers: readers)
    // Usually one batch; more if `body` passes batches to other threads. A batch without other owners is filled again,
    // so that its memory is reused.
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
    _ rows: [FetchedRow], rowsPerBatch: Int,
    _ body: (ObjectBatch, ObjectIDCollection) throws -> Bool
  ) throws {
    var start = 0
    while start < rows.count {
      // A batch has one entity; if subentities are mixed, it ends where the next entity begins.
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
