import Foundation

/// The adapter of an atomic store: it keeps the cache nodes, and answers queries from them.
// Unchecked: as its superclass; what it adds is used under the superclass's lock.
final class AtomicRowStore: StoreAdapter, @unchecked Sendable {
  private var nodes: [ObjectKey: NSAtomicStoreCacheNode] = [:]
  /// Of rows that were changed since the store was loaded; all others have version 1.
  private var versions: [ObjectKey: Int64] = [:]

  override func makeReader() throws -> any RowReader {
    _ = try client(NSAtomicStore.self)
    return AtomicReader(self)
  }

  // MARK: Nodes

  var allNodes: Set<NSAtomicStoreCacheNode> { alone { Set(nodes.values) } }

  func add(_ new: Set<NSAtomicStoreCacheNode>) { alone { for node in new { nodes[node.objectID.key] = node } } }

  func node(for id: NSManagedObjectID) -> NSAtomicStoreCacheNode? { alone { nodes[id.resolved.key] } }

  // MARK: Rows

  /// The rows of objects that `query` covers, by key.
  func candidates(_ query: FetchQuery) throws -> [FetchedRow] {
    try nodes.values.filter { query.covers($0.objectID.entity) }.map(row)
      .sorted { ($0.id.key.scope, $0.id.key.number) < ($1.id.key.scope, $1.id.key.number) }
  }

  func row(for id: NSManagedObjectID) throws -> FetchedRow? { try nodes[id.key].map(row) }

  private func row(_ node: NSAtomicStoreCacheNode) throws -> FetchedRow {
    FetchedRow(
      id: node.objectID, version: versions[node.objectID.key] ?? 1,
      values: try node.objectID.entity.storedValues { node.value(forKey: $0.name) })
  }

  func related(_ relationship: NSRelationshipDescription, of id: NSManagedObjectID) -> [NSManagedObjectID] {
    RelatedValue.ids(nodes[id.key]?.value(forKey: relationship.name), isOrdered: relationship.isOrdered)
  }

  // MARK: Saving

  /// - Throws: `SaveFailure` for rows that were changed since, or what the store throws; the nodes then are as they
  ///   were.
  override func write(_ changes: ChangeSet) throws {
    try alone {
      try checkVersions(changes)
      if isReadOnly || changes.isEmpty && !hasUnsavedMetadata { return }
      let store: NSAtomicStore = try client()
      try withScratch(isFresh: true) { context in
        let objects = try SavedObjects(changes, in: context)
        let before = (nodes: nodes, versions: versions, values: copies(of: objects.updated))
        do {
          try assignIDs(to: objects.inserted, store)
          context.graph.adoptPermanentIDs()
          try change(objects, store)
          try store.save()
        } catch {
          (nodes, versions) = (before.nodes, before.versions)
          for (node, values) in before.values { node.propertyCache = values }
          throw error
        }
      }
    }
  }

  private func copies(of objects: [NSManagedObject]) -> [(node: NSAtomicStoreCacheNode, values: NSMutableDictionary?)] {
    objects.compactMap { object in
      node(for: object.objectID).map { ($0, $0.propertyCache?.mutableCopy() as? NSMutableDictionary) }
    }
  }

  private func change(_ objects: SavedObjects, _ store: NSAtomicStore) throws {
    var new: Set<NSAtomicStoreCacheNode> = []
    for object in objects.inserted + objects.recreated {
      let node = store.newCacheNode(for: object)
      guard node.objectID == object.objectID, nodes[node.objectID.key] == nil else {
        throw NSError.coreData(
          .save,
          "The store \(location) can't keep \(object.objectID): its new node has the ID \(node.objectID), or the store has "
            + "an object with this ID already.")
      }
      new.insert(node)
      versions[node.objectID.key] = nil
    }
    store.addCacheNodes(new)
    for object in objects.updated {
      guard let node = store.cacheNode(for: object.objectID) else { continue }
      store.updateCacheNode(node, from: object)
      versions[node.objectID.key, default: 1] += 1
    }
    let removed = objects.deleted.compactMap { store.cacheNode(for: $0.objectID) }
    if !removed.isEmpty { store.willRemoveCacheNodes(Set(removed)) }
    for node in removed {
      nodes[node.objectID.key] = nil
      versions[node.objectID.key] = nil
    }
  }

  private func checkVersions(_ changes: ChangeSet) throws {
    var failures: [SaveFailure.Failure] = []
    func check(_ id: NSManagedObjectID, _ version: Int64?, isDeletion: Bool = false) throws {
      let row = try row(for: id)
      if row?.version == version || row == nil && isDeletion { return }
      failures.append(.otherVersion(id, row))
    }
    for row in changes.updates { try check(row.id, row.isRecreation ? nil : row.version) }
    for row in changes.deletions { try check(row.id, row.version, isDeletion: true) }
    for row in changes.checks { try check(row.id, row.version) }
    if !failures.isEmpty { throw SaveFailure(code: .mergeConflict, failures: failures) }
  }

  override func obtainPermanentIDs(for rows: [FetchedRow]) throws {
    if isReadOnly { throw readOnlyError }
    try withScratch(isFresh: true) { context in
      var changes = ChangeSet()
      changes.insertions = InsertedRows.rows(rows)
      try assignIDs(to: try SavedObjects(changes, in: context).inserted, try client())
    }
  }

  private func assignIDs(to objects: [NSManagedObject], _ store: NSAtomicStore) throws {
    let new = objects.filter(\.objectID.isTemporaryID)
    try assign(
      new.map { store.objectID(for: $0.entity, withReferenceObject: store.newReferenceObject(for: $0)) }, to: new)
  }
}
