import Foundation

/// A save on an incremental store: checks, IDs of new objects, the save request, and what contexts hold afterwards.
extension IncrementalRowStore {
  /// Notes whether rows are another edition than the changes build on, then hands the changes to the store.
  ///
  /// - Throws: `SaveFailure` for conflicts that the adapter or the store has found, or what else the store throws.
  func save(_ changes: ChangeSet) throws {
    try alone {
      try checkEditions(changes)
      if isReadOnly { return }
      let store: NSIncrementalStore = try client()
      if details.hasUnsavedMetadata {
        try withScratch(isFresh: true) { context in
          let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
          request.affectedStores = [store]
          _ = try store.execute(request, with: context)
        }
      }
      if !changes.isEmpty || !changes.checks.isEmpty { try execute(changes, store) }
    }
  }

  private func execute(_ changes: ChangeSet, _ store: NSIncrementalStore) throws {
    try withScratch(isFresh: true) { context in
      let objects = try SavedObjects(changes, in: context)
      try assignIDs(to: objects.inserted, store)
      context.graph.adoptPermanentIDs()
      let request = NSSaveChangesRequest(
        inserted: Set(objects.inserted + objects.recreated), updated: Set(objects.updated),
        deleted: Set(objects.deleted), locked: Set(objects.checked))
      request.affectedStores = [store]
      do {
        _ = try store.execute(request, with: context)
      } catch let error as NSError {
        throw try conflicts(in: error) ?? error
      }
      noteSaved(changes)
      try? unregister(changes.deletions.map(\.id))
      try? register(objects.inserted.map(\.objectID))
    }
  }

  // MARK: Conflicts

  /// - Throws: `SaveFailure` with every object whose row is another edition than its change builds on.
  private func checkEditions(_ changes: ChangeSet) throws {
    var failures: [SaveFailure.Failure] = []
    func check(_ id: NSManagedObjectID, _ version: Int64, isDeletion: Bool = false) throws {
      guard editions.last(id.key) != version else { return }
      let row = try row(for: id)
      if row?.version == version || row == nil && isDeletion { return }
      failures.append(.otherVersion(id, row))
    }
    for row in changes.updates where !row.isRecreation { try check(row.id, row.version) }
    for update in changes.updates where update.isRecreation {
      if let row = try row(for: update.id) { failures.append(.otherVersion(update.id, row)) }
    }
    for row in changes.deletions { try check(row.id, row.version, isDeletion: true) }
    for row in changes.checks { try check(row.id, row.version) }
    if !failures.isEmpty { throw SaveFailure(code: .mergeConflict, failures: failures) }
  }

  /// The conflicts that the store has thrown, with the rows as they are now; nil for another error.
  private func conflicts(in error: NSError) throws -> SaveFailure? {
    guard error.domain == NSCocoaErrorDomain, error.code == NSManagedObjectMergeError,
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSMergeConflict], !conflicts.isEmpty
    else { return nil }
    let ids = conflicts.map(\.sourceObject.objectID)
    return SaveFailure(
      code: .mergeConflict, failures: try ids.map { .otherVersion($0, try row(for: $0)) })
  }

  // MARK: IDs

  func obtainIDs(for rows: [FetchedRow]) throws {
    if isReadOnly { throw readOnlyError }
    try withScratch(isFresh: true) { context in
      var changes = ChangeSet()
      changes.insertions = InsertedRows.rows(rows)
      try assignIDs(to: try SavedObjects(changes, in: context).inserted, try client())
    }
  }

  /// Asks the store for the IDs of those objects that have none yet.
  private func assignIDs(to objects: [NSManagedObject], _ store: NSIncrementalStore) throws {
    let new = objects.filter(\.objectID.isTemporaryID)
    guard !new.isEmpty else { return }
    let ids = try store.obtainPermanentIDs(for: new)
    try assign(ids, to: new)
  }

  // MARK: Afterwards

  private func noteSaved(_ changes: ChangeSet) {
    for rows in changes.insertions {
      for row in rows.liveRows(from: 0) {
        let id = rows.objectID(row: row)
        let values = id.entity.withoutTransient(rows.batch.values(row: row))
        editions.noteSaved(id.key, edition: 1, values: values, isNew: true)
      }
    }
    for row in changes.updates {
      let values = row.id.entity.withoutTransient(row.values)
      editions.noteSaved(
        row.id.key, edition: row.isRecreation ? 1 : row.version + 1, values: values, isNew: row.isRecreation)
    }
    for row in changes.deletions { editions.forget(row.id.key) }
  }
}

extension SaveFailure.Failure {
  static func otherVersion(_ id: NSManagedObjectID, _ row: FetchedRow?) -> Self {
    Self(
      id: id, message: "its row was changed or deleted by another context", obstacle: .otherVersion(row))
  }
}

extension NSEntityDescription {
  fileprivate func withoutTransient(_ values: [StoredValue]) -> [StoredValue] {
    zip(attributeSlots, values).map { $0.isTransient ? .null : $1 }
  }
}
