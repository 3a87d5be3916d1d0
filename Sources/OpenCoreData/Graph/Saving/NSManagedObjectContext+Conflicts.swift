import Foundation

/// Turns a store's refusal into conflicts, and resolved conflicts into changes that the store accepts.
extension NSManagedObjectContext {
  /// From now on a save also checks that `object`'s row is unchanged since it was read, although the object has no
  /// changes.
  public func detectConflicts(for object: NSManagedObject) {
    checkQueue()
    precondition(object.managedObjectContext === self, "Conflicts are detected for a context's own objects.")
    guard !object.isInserted else { return }
    if object.isFault { object.fireFault() }
    graph.checkForConflicts(object)
  }

  /// Lets the merge policy resolve the conflicts that prevented a save.
  ///
  /// - Throws: The policy's error, `NSError` 133020 or 133021 for the error policy; for other failures their error.
  func resolve(_ failure: SaveFailure) throws {
    guard let policy = mergePolicy as? NSMergePolicy else {
      preconditionFailure("A merge policy is an NSMergePolicy; \(type(of: mergePolicy)) is none.")
    }
    linkPackedRows()
    pauseUndo()
    defer { resumeUndo() }
    do {
      switch failure.code {
      case .mergeConflict:
        let conflicts = versionConflicts(failure.failures)
        try policy.resolve(optimisticLockingConflicts: conflicts)
        for conflict in conflicts { accept(conflict) }
      case .constraintConflict:
        let conflicts = constraintConflicts(failure)
        // The index is not one of the model's constraints, so a policy cannot resolve the conflict.
        guard !conflicts.isEmpty else { throw saveError(for: failure) }
        try policy.resolve(constraintConflicts: conflicts)
      default: throw saveError(for: failure)
      }
    } catch let unresolved as NSError where unresolved.isConflict {
      let known = saveError(for: failure).userInfo
      throw NSError(
        domain: unresolved.domain, code: unresolved.code, userInfo: known.merging(unresolved.userInfo) { $1 })
    }
  }

  // MARK: Versions

  private func versionConflicts(_ failures: [SaveFailure.Failure]) -> [NSMergeConflict] {
    let rows = failures.map { failure -> FetchedRow? in
      if case .otherVersion(let row) = failure.obstacle { row } else { nil }
    }
    let links = storedLinks(of: rows.compactMap(\.self))
    return zip(failures, rows).map { failure, row in
      NSMergeConflict(object(with: failure.id), persisted: row, links: row.flatMap { links[$0.id] } ?? [:])
    }
  }

  /// What the to-one relationships of rows lead to, with one read for each relationship.
  private func storedLinks(of rows: [FetchedRow]) -> [NSManagedObjectID: [String: NSManagedObjectID?]] {
    var links: [NSManagedObjectID: [String: NSManagedObjectID?]] = [:]
    for (entity, rows) in Dictionary(grouping: rows, by: \.id.entity) {
      let ids = rows.map(\.id)
      for relationship in entity.storedToOnes {
        // What can't be read is left out.
        guard let found = try? storedIDs(relationship, of: ids) else { continue }
        for (id, ends) in zip(ids, found) { links[id, default: [:]].updateValue(ends.first, forKey: relationship.name) }
      }
    }
    return links
  }

  /// Accepts what a policy has left in an object as what is to be saved, on top of the present row of the store.
  private func accept(_ conflict: NSMergeConflict) {
    let object = conflict.sourceObject
    guard object.managedObjectContext === self else { return }
    if let stored = conflict.persisted {
      if object.version != stored.version, !object.isDeleted {
        // A client's policy has not rebased the object: changed values are saved, the others are the store's.
        takeOver(stored, of: object) { own, base, stored in own != base ? own : stored }
      }
      object.accept(version: stored.version)
      object.awake(after: .mergePolicy)
    } else if object.isUpdated {
      object.becomeRecreated()
    } else if !object.isDeleted {
      forgetDeleted(object)
    }
  }

  // MARK: Uniqueness

  private func constraintConflicts(_ failure: SaveFailure) -> [NSConstraintConflict] {
    struct Group {
      let constraint: [String]
      let rival: FetchedRow
      var objects: [NSManagedObject]
    }
    var order: [[AnyHashable]] = []
    var groups: [[AnyHashable]: Group] = [:]
    for one in failure.failures {
      guard case .taken(let constraint, let rival) = one.obstacle else { continue }
      let key: [AnyHashable] = [rival.id, constraint]
      if groups[key] == nil { order.append(key) }
      groups[key, default: Group(constraint: constraint, rival: rival, objects: [])].objects
        .append(object(with: one.id))
    }
    return order.compactMap { groups[$0] }.map { group in
      let rival = object(with: group.rival.id)
      let isUnsaved = rival.hasChanges && !rival.isDeleted
      let database = isUnsaved ? nil : realized(rival, group.rival)
      let conflicting = (isUnsaved ? [rival] : []) + group.objects
      return NSConstraintConflict(
        constraint: group.constraint, database: database,
        databaseSnapshot: database.map { $0.entity.valuesByName(group.rival.values) }, conflicting: conflicting,
        conflictingSnapshots: conflicting.map { $0.entity.valuesByName($0.values) })
    }
  }

  // MARK: Errors

  /// The error of a failed save with the objects of this context in it.
  func saveError(for failure: SaveFailure) -> NSError {
    let objects = failure.failures.map { object(with: $0.id) }
    var info: [String: Any] = [
      OCDFailedObjectIDsErrorKey: failure.failures.map(\.id), NSAffectedObjectsErrorKey: objects,
    ]
    // Apple's header of the error policy: the IDs of the objects in conflict.
    let inserted = objects.filter(\.isInserted).map(\.objectID)
    let updated = objects.filter { !$0.isInserted }.map(\.objectID)
    if !inserted.isEmpty { info[NSInsertedObjectsKey] = inserted }
    if !updated.isEmpty { info[NSUpdatedObjectsKey] = updated }
    info[NSDetailedErrorsKey] = failure.failures.map { one in
      NSError.coreData(failure.code, one.message, userInfo: [OCDFailedObjectIDsErrorKey: [one.id]])
    }
    return .coreData(failure.code, failure.message, userInfo: info)
  }
}

extension NSError {
  fileprivate var isConflict: Bool {
    domain == NSCocoaErrorDomain && [NSManagedObjectMergeError, NSManagedObjectConstraintMergeError].contains(code)
  }
}
