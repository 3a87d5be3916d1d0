import Foundation

extension NSManagedObjectContext {
  /// Walks over the objects that `request` finds, a batch at a time, in one read snapshot: for passes over millions of
  /// objects with the memory of one batch.
  ///
  /// The objects are those that `fetch` would return: this context's own, registered, faults until they are used unless
  /// the request says otherwise, with their values read together. When `body` returns, the context forgets the objects
  /// of a batch that have no other owner; it keeps changed ones.
  ///
  /// Unsaved changes of this context and its ancestors count as in `fetch`. If there are any that the request could see
  /// when the walk begins, the values of the whole result are collected first. Save before the walk, or set
  /// `includesPendingChanges` to false. Changes and saves in `body` do not affect the objects that the walk visits.
  ///
  /// - Parameters:
  ///   - request: Its result type and batch size are ignored.
  ///   - objectsPerBatch: The maximum number of objects in a batch; a batch is smaller where another subentity begins.
  ///   - body: Receives the objects; returns false to end the walk.
  /// - Throws: `NSError` as `fetch` does, and what `body` throws.
  public func walkObjects<Object: NSManagedObject>(
    _ request: NSFetchRequest<Object>, objectsPerBatch: Int = 1000, _ body: ([Object]) throws -> Bool
  ) throws {
    checkQueue()
    precondition(objectsPerBatch > 0, "A batch holds at least one object.")
    processPendingChanges()
    let query = try request.query(model: model)
    if query.includesPendingChanges, chainHasChanges(touching: query) {
      let rows = try rows(query)
      for start in stride(from: 0, to: rows.count, by: objectsPerBatch) {
        let part = Array(rows[start..<min(rows.count, start + objectsPerBatch)])
        guard try visit(part, of: request, query: query, body) else { return }
      }
      return
    }
    let cursor = try storeReading().cursor(query, rowsPerBatch: objectsPerBatch)
    if let store = cursor.store, query.includesValues {
      return try walkPacked(cursor, of: store, for: request, query: query, body)
    }
    let stop = CancellationFlag()
    while case let rows = try cursor.nextRows(stop), !rows.isEmpty {
      guard try visit(rows, of: request, query: query, body) else { return }
    }
  }

  /// Presents rows that were read one by one, as the objects that `fetch` makes of them.
  private func visit<Object: NSManagedObject>(
    _ rows: [FetchedRow], of request: NSFetchRequest<Object>, query: FetchQuery, _ body: ([Object]) throws -> Bool
  ) throws -> Bool {
    let objects = try request.typed(objects(of: request, query, rows))
    try prefetch(objects, for: request, query: query)
    return try body(objects)
  }

  private func prefetch<Object: NSManagedObject>(
    _ objects: [Object], for request: NSFetchRequest<Object>, query: FetchQuery
  ) throws {
    if let keyPaths = request.relationshipKeyPathsForPrefetching { try prefetch(keyPaths, of: objects, query.entity) }
  }

  /// Makes faults of stored rows that the context has no objects for, and holds them until they are released together.
  func registerFaults(_ keys: [Int64], of space: PermanentIDSpace) -> BatchObjects {
    let (entity, type) = (space.entity, space.entity.objectClass)
    let storage = BatchStorage(self, batch: ObjectBatch(entity: entity), ids: .stored(space))
    let faults = BatchObjects(storage)
    graph.adoptPermanentIDs()
    let mayKnowSome = graph.mayKnowObjects
    faults.fill { made in
      for (row, key) in keys.enumerated() {
        guard !mayKnowSome || graph.knownObject(space.key(key)) == nil else {
          made.append(nil)
          continue
        }
        let object = type.walked(of: entity, in: storage, key: key, row: row, version: 0)
        // Its values are not in the batch.
        object.loaded = []
        made.append(object)
      }
    }
    graph.add(faults)
    return faults
  }

  // MARK: Packed rows

  private func walkPacked<Object: NSManagedObject>(
    _ cursor: any RowCursor, of store: StoreIdentity, for request: NSFetchRequest<Object>, query: FetchQuery,
    _ body: ([Object]) throws -> Bool
  ) throws {
    // An abstract entity has no objects; the batches have the entities that are found.
    guard let entity = query.entity.withDescendants.first(where: { !$0.isAbstract }) else { return }
    var batch = ObjectBatch(entity: entity)
    var numbers = RowNumbers(wantsVersions: true)
    while try cursor.next(into: &batch, numbers: &numbers) {
      guard try visit(batch, numbers: numbers, of: store, for: request, query: query, body) else { return }
    }
  }

  private func visit<Object: NSManagedObject>(
    _ batch: ObjectBatch, numbers: RowNumbers, of store: StoreIdentity, for request: NSFetchRequest<Object>,
    query: FetchQuery, _ body: ([Object]) throws -> Bool
  ) throws -> Bool {
    let entity = batch.entity
    guard let type = entity.objectClass as? Object.Type else { throw request.typeMismatch(entity.objectClass) }
    let space = PermanentIDSpace(store, entity)
    let storage = BatchStorage(self, batch: batch, ids: .stored(space))
    let batchObjects = BatchObjects(storage)
    // This scope must have dropped its other references to the objects before it ends.
    defer { graph.release(batchObjects) }
    return try visit(batchObjects, for: request, query: query, body) { made in
      var objects: [Object] = []
      objects.reserveCapacity(batch.count)
      graph.adoptPermanentIDs()
      let (mayKnowSome, hasTransients) = (graph.mayKnowObjects, !entity.layout.transientSlots.isEmpty)
      for (row, key) in numbers.keys.enumerated() {
        if mayKnowSome, graph.knownObject(space.key(key)) != nil {
          let fresh = FetchedRow(
            id: storage.id(key), version: numbers.versions[row], values: batch.values(row: row))
          objects += try request.typed(self.objects(of: request, query, [fresh]))
          made.append(nil)
        } else {
          let object = type.walked(of: entity, in: storage, key: key, row: row, version: numbers.versions[row])
          // Rows have no values of transient attributes.
          if hasTransients {
            object.fill(
              from: FetchedRow(id: storage.id(key), version: numbers.versions[row], values: batch.values(row: row)))
          }
          made.append(object)
          objects.append(object)
        }
      }
      return objects
    }
  }

  private func visit<Object: NSManagedObject>(
    _ batchObjects: BatchObjects, for request: NSFetchRequest<Object>, query: FetchQuery,
    _ body: ([Object]) throws -> Bool,
    makeObjects: (inout [NSManagedObject?]) throws -> [Object]
  ) throws -> Bool {
    let objects = try batchObjects.fill(makeObjects)
    graph.add(batchObjects)
    if !request.returnsObjectsAsFaults {
      for object in objects where object.isFault { object.completeFault() }
    }
    try prefetch(objects, for: request, query: query)
    return try body(objects)
  }
}
