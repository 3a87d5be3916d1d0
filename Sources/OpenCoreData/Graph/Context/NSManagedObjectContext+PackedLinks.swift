import PersistentStores

/// Packed to-one relationships of inserted batches. They go down to the store as they are, as long as the context has
/// no object at either end; otherwise, and before the context makes one, the rows are linked by objects.
extension NSManagedObjectContext {
  /// Links the rows of new segments by objects where that can't wait.
  func linkRows(of segments: [PendingSegment]) {
    guard graph.insertions.hasPackedLinks else { return }
    if segments.contains(where: { !$0.batch.links.isEmpty && !staysPacked($0) }) { linkPackedRows() }
  }

  private func staysPacked(_ segment: PendingSegment) -> Bool {
    // Such a context announces objects, and not only IDs.
    guard changeNotificationContents != .objects, segment.handles.isEmpty else { return false }
    let stores = persistentStoreCoordinator?.rowStores ?? []
    guard stores.count == 1, stores[0].takesPackedLinks else { return false }
    let hasObjects = !graph.registry.isEmpty || graph.insertions.segments.contains { !$0.handles.isEmpty }
    return segment.batch.links.allSatisfy { link in
      link.relationship.leavesOtherEndUnchecked && !(hasObjects && link.targets.contains { graph.hasObject(for: $0) })
    }
  }

  /// Links all pending rows by objects: what was packed becomes pending changes of both ends.
  func linkPackedRows() {
    guard graph.insertions.hasPackedLinks else { return }
    for (segment, links) in graph.takePackedLinks() {
      for link in links {
        let targets = link.targets.map(object(with:))
        // A change of the other end needs its values.
        loadTogether(targets)
        for row in segment.liveRows {
          guard let target = link.target(row: row) else { continue }
          graph.handle(in: segment, row: row).setRelated(targets[target], link.relationship)
        }
      }
    }
  }
}

extension ObjectGraph {
  /// Whether the context has an object with `id`. Makes none.
  fileprivate func hasObject(for id: NSManagedObjectID) -> Bool {
    if let (segment, row) = insertions.locate(id) { return segment.handles[row] != nil }
    return registeredObject(for: id) != nil
  }
}

extension NSRelationshipDescription {
  /// Whether a new object at this end changes nothing at the other end that has to be checked or announced there.
  fileprivate var leavesOtherEndUnchecked: Bool {
    guard let inverse = inverseRelationship else { return true }
    let hooks: LifecycleHooks = [.validation, .willSave, .didSave]
    return inverse.isToMany && inverse.maxCount == 0
      && inverse.entity.withDescendants.allSatisfy { $0.objectClass.lifecycleHooks.isDisjoint(with: hooks) }
  }
}

extension ChangeSet {
  /// The stored objects that packed relationships lead to, and whose other end they change.
  var packedOtherEnds: [NSManagedObjectID] {
    let links = insertions.flatMap { $0.batch.links.filter { $0.relationship.inverseRelationship != nil } }
    let stored = links.flatMap(\.targets).filter { !$0.resolved.isTemporaryID }
    if links.count < 2 { return stored }
    var seen: Set<ObjectKey> = []
    return stored.filter { seen.insert($0.resolved.key).inserted }
  }
}
