/// The rows of pending insertions, and the objects made for some of them.
extension ObjectGraph {
  var hasChanges: Bool { !insertions.isEmpty || !updates.isEmpty || hasDeletions }
  var hasObjects: Bool { hasChanges || !registry.isEmpty }

  // MARK: Lookup

  /// The object with `id`, pending or registered; nil if the context has none. Makes the object of a pending row.
  func object(for id: NSManagedObjectID) -> NSManagedObject? {
    adoptPermanentIDs()
    // Asking for one in them would copy them.
    if !insertions.segments.isEmpty, let (segment, row) = insertions.locate(id) { return handle(in: segment, row: row) }
    return registeredObject(for: id)
  }

  /// The object of a row of the pending insertions; nil if it is not pending, or has a key already.
  func pendingObject(in range: TemporaryIDRange, row: Int) -> NSManagedObject? {
    guard let segment = insertions.segment(of: range), segment.isLive(row) else { return nil }
    return handle(in: segment, row: row)
  }

  /// The object that is registered under `id`, which another thread may have made permanent just now.
  func registeredObject(for id: NSManagedObjectID) -> NSManagedObject? {
    knownObject(id.key) ?? (id.isTemporaryID ? knownObject(id.resolved.key) : nil)
  }

  /// Whether the object with `id` is deleted here. A row of another entity with the key of one that is gone is not.
  func hasDeleted(_ id: NSManagedObjectID) -> Bool {
    if let object = deletions[id.key] ?? deletions[id.resolved.key] { return object.entity === id.entity }
    return packedDeletions.locate(id.resolved.key).map { $0.segment.entity === id.entity } ?? false
  }

  // MARK: Objects of rows

  /// Inserts what a child has saved. Objects that were looked for too early, and counted as deleted, become objects of
  /// the rows.
  func adopt(_ segments: [PendingSegment]) {
    for segment in segments { insert(segment) }
    for early in deletions.values where early.state.contains(.inaccessible) {
      if let (segment, row) = insertions.locate(early.identity) { _ = handle(in: segment, row: row) }
    }
  }

  /// The object for a pending row, made on the first request.
  func handle(in segment: PendingSegment, row: Int) -> NSManagedObject {
    if let known = segment.handles[row] { return known }
    let object = mayKnowObjects(of: segment.range) ? adoptKnownObject(segment, row) : nil
    let handle = object ?? segment.entity.objectClass.inserted(of: segment.entity, in: segment.storage, row: row)
    segment.keep(handle, row: row)
    return handle
  }

  /// The objects of all live rows of the segment, in order.
  func handles(in segment: PendingSegment) -> [NSManagedObject] {
    segment.fillHandles(maker(of: segment))
    return segment.liveRows.map { handle(in: segment, row: $0) }
  }

  /// The objects of all live rows of the segment, as a set.
  func objects(in segment: PendingSegment) -> Set<NSManagedObject> {
    return segment.allObjects(maker(of: segment))
  }

  /// Makes the objects that are missing. What is the same for all of them is looked up once.
  private func maker(of segment: PendingSegment) -> (Int) -> NSManagedObject {
    let (entity, storage) = (segment.entity, segment.storage)
    let type = entity.objectClass
    if mayKnowObjects(of: segment.range) {
      return { row in self.adoptKnownObject(segment, row) ?? type.inserted(of: entity, in: storage, row: row) }
    }
    return { row in type.inserted(of: entity, in: storage, row: row) }
  }

  /// Whether there may be an object under an ID of `range` that is not in a segment.
  func mayKnowObjects(of range: TemporaryIDRange) -> Bool {
    range.revision > 0 || unresolvedIDs.contains(range)
  }

  /// A fault for the ID may exist from before a child handed the row up.
  private func adoptKnownObject(_ segment: PendingSegment, _ row: Int) -> NSManagedObject? {
    guard let object = registeredObject(for: segment.temporaryID(row: row)) else { return nil }
    adopt(object, with: segment.batch.values(row: row))
    return object
  }

  // MARK: Saving and discarding

  /// The rows of all pending insertions, with the values that their objects have now.
  func packInsertions() -> [InsertedRows] {
    // A further change is to be noted.
    lastInserted = nil
    return insertions.segments.filter { $0.liveCount > 0 }.map { segment in
      segment.pack()
      return segment.rows
    }
  }

  /// Releases the objects of rows that were discarded. Those that have other owners keep their values.
  func release(_ withdrawn: [PendingSegment]) {
    for segment in withdrawn { segment.releaseHandles() }
  }

  /// Breaks reference cycles of objects that were read ahead, or that pending changes lead to. For the end of the
  /// context.
  func dropRelated() {
    registry.forEach { object in
      object.forgetRelated()
      object.dropPending()
    }
    for segment in insertions.segments { segment.handles.forEach { _, object in object.dropPending() } }
  }
}
