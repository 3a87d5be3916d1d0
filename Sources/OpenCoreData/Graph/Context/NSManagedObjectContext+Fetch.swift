import Foundation

extension NSFetchRequest {
  /// Casts `results` to the type that the request promises.
  func typed<Found>(_ results: [Found]) throws -> [ResultType] {
    // One cast for all: it checks each result, and allocates nothing for results of the right type.
    if let typed = results as? [ResultType] { return typed }
    throw typeMismatch(results.first { !($0 is ResultType) }.map { type(of: $0) as Any.Type } ?? Any.self)
  }

  /// The error for results of a type that the request does not promise.
  func typeMismatch(_ type: Any.Type) -> NSError {
    .coreData(
      .coreData,
      "The fetch of \(entityName ?? "") yields \(type), and the request promises "
        + "\(ResultType.self). Check its resultType, and the class that the model names for the entity.")
  }

  /// `query` reduced to the values that the results need.
  func rowQuery(_ query: FetchQuery) -> FetchQuery {
    var query = query
    // With a batch size all IDs are read now, and rows when a fault of the batch fires.
    if fetchBatchSize > 0 || resultType == .managedObjectIDResultType { query.includesValues = false }
    return query
  }
}

extension NSManagedObjectContext {
  // MARK: Public

  /// The objects (IDs, dictionaries, the count) that `request` asks for. (Apple documentation: fetch(_:).)
  ///
  /// Unsaved changes of this context and its ancestors count unless the request excludes them. Posts no notification.
  ///
  /// ```swift
  /// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  /// request.predicate = NSPredicate(format: "rating >= %d", 4)
  /// request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
  /// request.fetchLimit = 10
  /// for entry in try context.fetch(request) { print(entry.location ?? "") }
  /// ```
  ///
  /// - Throws: `NSError` for a request that does not match the model or whose results are not of its type, or the
  ///   store's error.
  public func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    checkQueue()
    return try results(of: request)
  }

  /// The number of objects that `request` would find, subject to its limit and offset; of dictionaries, if it asks for
  /// these. Loads no objects. (Apple documentation: count(for:).)
  ///
  /// ```swift
  /// let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
  /// request.predicate = NSPredicate(format: "location == %@", "Rincon")
  /// let sessions = try context.count(for: request)
  /// ```
  ///
  /// - Throws: `NSError` as `fetch` does.
  public func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    checkQueue()
    processPendingChanges()
    if request.hasBlock { return try objectsMatchingBlock(of: request).count }
    var query = try request.query(model: model)
    query.includesValues = false
    if request.resultType == .dictionaryResultType {
      query.includesPendingChanges = false
      let shape = try request.dictionaryShape(query)
      if shape.joinsRows { return try storeReading().dictionaryCount(query, shape) }
    }
    if !query.includesPendingChanges || !chainHasChanges(touching: query) {
      return try storeReading().count(query)
    }
    return try rows(query).count
  }

  private func results<ResultType>(of request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    processPendingChanges()
    if request.hasBlock { return try request.typed(try resultsMatchingBlock(of: request)) }
    let query = try request.query(model: model)
    switch request.resultType {
    case .countResultType: return try request.typed([NSNumber(value: try count(for: request))])
    case .dictionaryResultType:
      // Dictionaries show only what is in the store. (Apple documentation: includesPendingChanges.)
      let shape = try request.dictionaryShape(query)
      let stores = try storeReading()
      let rows = try stores.dictionaryRows(query, shape)
      let ids = try stores.linkedIDs(rows, shape)
      return try request.typed(rows.map { $0.dictionary(shape, ids) })
    default:
      let query = request.rowQuery(query)
      return try results(of: request, query, try rows(query))
    }
  }

  /// The IDs or objects that `request` promises, from the rows that this context returns for its `rowQuery`.
  func results<ResultType>(
    of request: NSFetchRequest<ResultType>, _ query: FetchQuery, _ rows: [FetchedRow]
  ) throws -> [ResultType] {
    if request.resultType == .managedObjectIDResultType { return try request.typed(rows.map(\.id)) }
    let objects = objects(of: request, query, rows)
    if let keyPaths = request.relationshipKeyPathsForPrefetching { try prefetch(keyPaths, of: objects, query.entity) }
    return try request.typed(objects)
  }

  func objects<ResultType>(
    of request: NSFetchRequest<ResultType>, _ query: FetchQuery, _ rows: [FetchedRow]
  ) -> [NSManagedObject] {
    let hasValues = query.values == .all
    // Asking the request costs as much as finding the object.
    let (batchSize, refreshes) = (request.fetchBatchSize, request.shouldRefreshRefetchedObjects)
    let returnsFaults = request.returnsObjectsAsFaults
    // An empty context has no objects to find. (It may get some from the class of an object that is loaded.)
    let areNew = returnsFaults && !graph.hasChanges && !graph.mayKnowObjects
    var group: FaultGroup?
    return rows.enumerated().map { index, row in
      if batchSize > 0, index.isMultiple(of: batchSize) {
        let end = min(rows.count, index + batchSize)
        group = FaultGroup(rows[index..<end].map(\.id))
      }
      let object = areNew ? addFault(row.id) : object(ofRow: row.id)
      let isRefreshed = refreshes && !object.hasChanges
      if isRefreshed {
        object.forgetRelated()
        object.auxiliaryIfPresent?.fetched = [:]
      }
      if hasValues {
        if object.isFault || isRefreshed { object.fill(from: row) }
        if object.isFault, !returnsFaults { return realized(object, row) }
      } else {
        if isRefreshed { graph.turnIntoFault(object) }
        if object.isFault { object.faultGroup = group }
      }
      return object
    }
  }

  func requireCoordinator() throws -> NSPersistentStoreCoordinator {
    guard let coordinator = persistentStoreCoordinator else {
      throw NSError.coreData(.coreData, "The context has no coordinator; set one, or a parent that has one.")
    }
    return coordinator
  }

  // MARK: Rows through the chain

  /// The source of rows at the bottom of a chain: the coordinator, or rows that were read from it earlier.
  typealias RowSource = (FetchQuery) throws -> [FetchedRow]

  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    let stores = try storeReading()
    return try rows(query, from: { query in try stores.rows(query) })
  }

  /// The rows that this context returns for `query`: those of the level below, with its own changes applied.
  func rows(_ query: FetchQuery, from source: RowSource) throws -> [FetchedRow] {
    if query.includesPendingChanges { linkPackedRows() }
    guard query.includesPendingChanges, hasChanges(touching: query) else { return try rowsBelow(query, source) }
    let linked = try rowsBelow(linkedTo: changedObjects(linkedFrom: query), query)
    let stored = try rowsBelow(
      query.widened(by: graph.updates.count + graph.deletedCount + linked.count), source)
    // Called after the read: IDs that became permanent since have another key in the tables below.
    graph.adoptPermanentIDs()
    var result = try overlay(stored, linked: linked, query)
    for segment in graph.insertions.segments where query.covers(segment.batch.entity) {
      let filter = try QueryFilter(query, segment.batch.entity)
      // New rows without an object have no related objects.
      let noExtras = Array(repeating: StoredValue.null, count: query.keyPaths.count)
      let mayBeLinked = !segment.batch.entity.relationshipsByName.isEmpty
      for row in segment.liveRows {
        let id = segment.objectID(row: row)
        if mayBeLinked, let object = segment.handles[row], object.pending != nil {
          guard try query.matches(object), query.affectedStores == nil || query.includes(id) else { continue }
          result.append(try query.row(object, id: id))
          continue
        }
        guard try filter.accepts(NewRow(segment: segment, row: row, id: id)),
          query.affectedStores == nil || query.includes(id)
        else { continue }
        result.append(
          FetchedRow(id: id, version: BaseRow.unknownVersion, values: segment.values(row: row), extras: noExtras))
      }
    }
    if !query.sortKeys.isEmpty { try query.sort(&result) }
    let rest = result.dropFirst(query.offset)
    return Array(query.limit > 0 ? rest.prefix(query.limit) : rest)
  }

  /// The query that the bottom of the chain receives when this context is asked for `query`.
  func bottomQuery(_ query: FetchQuery) -> FetchQuery {
    let changes = query.includesPendingChanges && hasChanges(touching: query)
    let below = changes ? query.widened(by: graph.updates.count + graph.deletedCount) : query
    guard let parent else { return below }
    return parent.performAndWait { parent.bottomQuery(below) }
  }

  /// `rows` without those deleted here, and with the values changed here; includes rows that match only because of
  /// changes.
  ///
  /// - Parameter linked: The rows that may match, or not match, because of other objects that are changed here.
  private func overlay(_ rows: [FetchedRow], linked: [FetchedRow], _ query: FetchQuery) throws -> [FetchedRow] {
    var seen: Set<ObjectKey> = []
    let linkedKeys = Set(linked.map(\.id.key))
    let unlinked = linked.isEmpty ? rows : rows.filter { !linkedKeys.contains($0.id.key) }
    var result = try (unlinked + linked).compactMap { row -> FetchedRow? in
      let (key, resolved) = (row.id.key, row.id.resolved.key)
      if graph.hasDeleted(row.id) { return nil }
      if linkedKeys.contains(key), graph.updates[key] == nil, graph.updates[resolved] == nil {
        return try query.matches(object(ofRow: row.id)) ? row : nil
      }
      guard let object = graph.updates[key] ?? graph.updates[resolved] else { return row }
      seen.insert(object.key)
      return try query.matches(object) ? query.row(object, id: row.id) : nil
    }
    let late = try graph.updates.inOrder.filter { object in
      try query.covers(object.entity) && query.includes(object.objectID) && !seen.contains(object.key)
        && query.matches(object)
    }
    guard !late.isEmpty || !linked.isEmpty else { return result }
    result += try late.map { try query.row($0, id: $0.objectID) }
    try query.sort(&result)
    return result
  }

  private func rowsBelow(_ query: FetchQuery, _ source: RowSource) throws -> [FetchedRow] {
    guard let parent else { return try source(query) }
    return try parent.performAndWait { try parent.rows(query, from: source) }
  }

  private func hasChanges(touching query: FetchQuery) -> Bool {
    graph.insertions.segments.contains { $0.liveCount > 0 && query.covers($0.batch.entity) }
      || graph.updates.values.contains { query.covers($0.entity) }
      || graph.deletions.values.contains { query.covers($0.entity) }
      || graph.packedDeletions.rows.contains { query.covers($0.entity) } || !changedObjects(linkedFrom: query).isEmpty
  }

  /// Whether this context or one of its ancestors has changes that `query` could see.
  func chainHasChanges(touching query: FetchQuery) -> Bool {
    linkPackedRows()
    if hasChanges(touching: query) { return true }
    guard let parent else { return false }
    return parent.performAndWait { parent.chainHasChanges(touching: query) }
  }

  // MARK: Single rows

  /// The row that the level below has for `id`; nil if it has none.
  func rowBelow(for id: NSManagedObjectID, leavingOut missing: MissingValues? = nil) throws -> FetchedRow? {
    try rowsBelow(for: [id], leavingOut: missing)[0]
  }

  /// - Parameter missing: What to note values in whose files are missing, instead of throwing for them.
  func rowsBelow(for ids: [NSManagedObjectID], leavingOut missing: MissingValues? = nil) throws -> [FetchedRow?] {
    let rows: [FetchedRow?]
    if let parent {
      rows = try parent.performAndWait { try parent.rows(for: ids, leavingOut: missing) }
    } else {
      rows = try storeReading().rows(for: ids.map(\.resolved), leavingOut: missing)
    }
    // A row of another entity has other attributes: it is not the row of the ID, although it has its key.
    return zip(ids, rows).map { id, row in row?.id.entity === id.entity ? row : nil }
  }

  /// The row that this context has for each of `ids`.
  func rows(for ids: [NSManagedObjectID], leavingOut missing: MissingValues? = nil) throws -> [FetchedRow?] {
    var result: [FetchedRow?] = Array(repeating: nil, count: ids.count)
    var absent: [Int] = []
    for (index, id) in ids.enumerated() {
      if let object = registeredObject(for: id), object.entity === id.entity, !object.isFault {
        if !object.isDeleted {
          result[index] = FetchedRow(
            id: object.objectID, version: object.versionForChildren, values: object.values, leftOut: object.leftOut)
        }
      } else {
        absent.append(index)
      }
    }
    guard !absent.isEmpty else { return result }
    for (index, row) in zip(absent, try rowsBelow(for: absent.map { ids[$0] }, leavingOut: missing)) {
      result[index] = row
    }
    return result
  }
}

/// A new row without an object, which has no related objects.
private struct NewRow: QueriedObject {
  let segment: PendingSegment
  let row: Int
  let id: NSManagedObjectID

  var queriedEntity: NSEntityDescription { segment.batch.entity }

  func value(ofSlot slot: Int) throws -> StoredValue { segment.value(row: row, slot: slot) }

  func value(at path: AttributePath) throws -> StoredValue {
    guard path.relationships.isEmpty else { return .null }
    switch path.end {
    case .attribute(_, let slot): return segment.value(row: row, slot: slot)
    case .object: return id.comparisonValue
    case .entityName: return queriedEntity.name.map { .text($0) } ?? .null
    }
  }

  func elements(_ path: ElementPath) throws -> [NewRow] { [] }
}
