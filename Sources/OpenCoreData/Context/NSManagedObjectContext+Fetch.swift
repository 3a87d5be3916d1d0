import Foundation

/// One row on its way up a chain: who it is and what it holds.
struct FetchedRow: Sendable {
  let id: NSManagedObjectID
  var version: Int64
  /// By slot; empty where only identities were wanted.
  var values: [StoredValue]
}

extension NSManagedObjectContext {
  // MARK: Public

  /// The objects (IDs, dictionaries, the count) that `request` asks for.
  ///
  /// Unsaved changes of this context and its ancestors count unless the request says otherwise. Posts nothing.
  ///
  /// - Throws: `NSError` for a request that does not fit the model or whose results are not of its type, or what
  ///   reading the store said.
  public func fetch<ResultType>(_ request: NSFetchRequest<ResultType>) throws -> [ResultType] {
    checkQueue()
    let results = try results(of: request)
    // One cast for all: it looks at each result, but makes nothing for those that fit.
    if let fitting = results as? [ResultType] { return fitting }
    let misfit = results.first { !($0 is ResultType) }.map { "\(type(of: $0))" } ?? ""
    throw NSError.coreData(
      .coreData,
      "The fetch of \(request.entity?.name ?? request.entityName ?? "") yields \(misfit), and the request promises "
        + "\(ResultType.self). Check its resultType, and the class that the model names for the entity.")
  }

  /// The number of objects that `request` would find, its limit and offset considered.
  public func count<ResultType>(for request: NSFetchRequest<ResultType>) throws -> Int {
    checkQueue()
    processPendingChanges()
    var query = try request.query(model: model)
    query.includesValues = false
    if !query.includesPendingChanges || !chainHasChanges(touching: query) {
      return try requireCoordinator().count(query)
    }
    return try rows(query).count
  }

  private func results<ResultType>(of request: NSFetchRequest<ResultType>) throws -> [Any] {
    processPendingChanges()
    var query = try request.query(model: model)
    switch request.resultType {
    case .managedObjectIDResultType:
      query.includesValues = false
      return try rows(query).map(\.id)
    case .countResultType: return [NSNumber(value: try count(for: request))]
    case .dictionaryResultType:
      // Dictionaries show the store only. (Apple documentation: includesPendingChanges.)
      query.includesPendingChanges = false
      query.includesValues = true
      let names = request.propertiesToFetch?.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
      for name in names ?? [] where query.entity.slot(named: name) == nil {
        throw EntityPredicateSchema.unknown([name], in: query.entity)
      }
      return try rows(query).map { dictionary(of: $0, names: names) }
    default: return try objects(of: request, query)
    }
  }

  private func objects<ResultType>(
    of request: NSFetchRequest<ResultType>, _ query: FetchQuery
  ) throws -> [NSManagedObject] {
    var query = query
    // Batches: all identities are read now, rows when a fault of the batch fires.
    if request.fetchBatchSize > 0 { query.includesValues = false }
    let rows = try rows(query)
    var group: FaultGroup?
    return rows.enumerated().map { index, row in
      if request.fetchBatchSize > 0, index.isMultiple(of: request.fetchBatchSize) {
        let end = min(rows.count, index + request.fetchBatchSize)
        group = FaultGroup(rows[index..<end].map(\.id))
      }
      let object = object(with: row.id)
      if object.isFault, !row.values.isEmpty {
        prime(object, row)
        if !request.returnsObjectsAsFaults { return realized(object, row) }
      } else if object.isFault {
        object.faultGroup = group
      } else if request.shouldRefreshRefetchedObjects, !object.hasChanges, !row.values.isEmpty {
        prime(object, row)
      }
      return object
    }
  }

  private func dictionary(of row: FetchedRow, names: [String]?) -> NSDictionary {
    let result = NSMutableDictionary()
    for (slot, attribute) in row.id.entity.attributeSlots.enumerated()
    where names?.contains(attribute.name) ?? !attribute.isTransient {
      if let value = attribute.foundationValue(from: row.values[slot]) {
        result[NSString(string: attribute.name)] = value
      }
    }
    return result
  }

  func requireCoordinator() throws -> NSPersistentStoreCoordinator {
    guard let coordinator = persistentStoreCoordinator else {
      throw NSError.coreData(.coreData, "The context has no coordinator; set one, or a parent that has one.")
    }
    return coordinator
  }

  // MARK: Rows through the chain

  /// The rows that this context shows for `query`: those of the level below, with its own changes laid over them.
  func rows(_ query: FetchQuery) throws -> [FetchedRow] {
    guard query.includesPendingChanges, hasChanges(touching: query) else { return try rowsBelow(query) }
    var below = query
    below.includesValues = true
    below.offset = 0
    if query.limit > 0 {
      // So many of the rows below may turn out deleted or changed here.
      below.limit = query.limit + query.offset + updates.count + deletions.count
    }
    let stored = try rowsBelow(below)
    // After the read: what became permanent since has another key in the tables below.
    adoptPermanentIDs()
    var result = try overlay(stored, query)
    for segment in insertions.segments where query.covers(segment.batch.entity) {
      let filter = try QueryFilter(query, segment.batch.entity)
      for row in segment.liveRows where filter.accepts({ segment.value(row: row, slot: $0) }) {
        result.append(FetchedRow(id: segment.objectID(row: row), version: 0, values: segment.values(row: row)))
      }
    }
    if !query.sortKeys.isEmpty { try query.sort(&result) }
    let rest = result.dropFirst(query.offset)
    return Array(query.limit > 0 ? rest.prefix(query.limit) : rest)
  }

  /// `rows` without what is deleted here and with the values changed here, those that match only now among them.
  private func overlay(_ rows: [FetchedRow], _ query: FetchQuery) throws -> [FetchedRow] {
    var seen: Set<ObjectKey> = []
    var result = try rows.compactMap { row -> FetchedRow? in
      let (key, resolved) = (row.id.key, row.id.resolved.key)
      if deletions[key] != nil || deletions[resolved] != nil { return nil }
      guard let object = updates[key] ?? updates[resolved] else { return row }
      seen.insert(object.identity.key)
      return try query.matches(object)
        ? FetchedRow(id: row.id, version: object.version, values: object.values) : nil
    }
    let late = try updates.inOrder.filter { object in
      try query.covers(object.entity) && !seen.contains(object.identity.key) && query.matches(object)
    }
    guard !late.isEmpty else { return result }
    result += late.map { FetchedRow(id: $0.objectID, version: $0.version, values: $0.values) }
    try query.sort(&result)
    return result
  }

  private func rowsBelow(_ query: FetchQuery) throws -> [FetchedRow] {
    guard let parent else { return try requireCoordinator().rows(query) }
    return try parent.performAndWait { try parent.rows(query) }
  }

  private func hasChanges(touching query: FetchQuery) -> Bool {
    insertions.segments.contains { $0.liveCount > 0 && query.covers($0.batch.entity) }
      || updates.values.contains { query.covers($0.entity) }
      || deletions.values.contains { query.covers($0.entity) }
  }

  /// Whether this context or one it descends from has changes that `query` could see.
  func chainHasChanges(touching query: FetchQuery) -> Bool {
    if hasChanges(touching: query) { return true }
    guard let parent else { return false }
    return parent.performAndWait { parent.chainHasChanges(touching: query) }
  }

  // MARK: Single rows

  /// What the level below has for `id`; nil if nothing.
  func rowBelow(for id: NSManagedObjectID) throws -> FetchedRow? { try rowsBelow(for: [id])[0] }

  func rowsBelow(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    guard let parent else { return try requireCoordinator().rows(for: ids.map(\.resolved)) }
    return try parent.performAndWait { try parent.rows(for: ids) }
  }

  /// What this context shows for each of `ids`.
  private func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?] {
    var result: [FetchedRow?] = Array(repeating: nil, count: ids.count)
    var missing: [Int] = []
    for (index, id) in ids.enumerated() {
      if let object = registeredObject(for: id), !object.isFault {
        if !object.isDeleted {
          result[index] = FetchedRow(id: object.objectID, version: object.version, values: object.values)
        }
      } else {
        missing.append(index)
      }
    }
    guard !missing.isEmpty else { return result }
    for (index, row) in zip(missing, try rowsBelow(for: missing.map { ids[$0] })) { result[index] = row }
    return result
  }
}
