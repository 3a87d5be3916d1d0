import OpenCoreData
import PersistentStores

extension Linker {
  /// What a chunk of a shard changes of what the workers of its plan know of related objects.
  func claims(
    for plan: ChunkPlan, _ resolved: ResolvedLinks, of chunk: ParsedChunk, _ shard: Shard
  ) throws -> LinkClaims? {
    guard environment.sharesLinks else { return nil }
    func order(ofRow row: Int) -> Int64 {
      SharedKey.order(input: shard.input, record: chunk.block.start.record + Int(chunk.recordOfRow[row]))
    }
    var claims = LinkClaims(
      tables: environment.sharedLinks, chunk: SharedKey.order(input: shard.input, record: chunk.block.start.record))
    for (group, creation) in plan.links.creations.sorted(by: { $0.key < $1.key }) {
      guard let entity = creation.batch.entity.name, let root = creation.batch.entity.rootEntity.name else { continue }
      for (number, digest) in creation.digests.enumerated() {
        claims.new.append(
          LinkClaims.New(
            group: group, digest: digest, order: order(ofRow: creation.firstRows[number]), number: number,
            entity: entity))
      }
      claims.created.append(LinkClaims.Created(group: group, root: root, count: creation.digests.count))
    }
    claims.earlier = earlier(plan, resolved, order: order)
    claims.stored = try stored(resolved.storedIDs + former(plan, resolved, of: chunk))
    claims.updatesEntries = plan.claims != nil
    return claims
  }

  /// What the entries lead to that the chunk updates: their save changes these objects, too.
  private func former(
    _ plan: ChunkPlan, _ resolved: ResolvedLinks, of chunk: ParsedChunk
  ) throws -> [(root: NSEntityDescription, ids: [NSManagedObjectID])] {
    if plan.updates.isEmpty { return [] }
    let store = environment.store
    let ids = plan.updates.compactMap { store.coordinator.objectID(of: chunk.batch.entity, key: $0.storeKey) }
    let context = store.container.newBackgroundContext()
    return try context.performAndWait {
      try resolved.links.map { link in
        (link.link.entity.rootEntity, try context.related(link.link.relationship, of: ids).flatMap(\.self))
      }
    }
  }

  /// The objects of the store that records of the chunk name, also those that are rejected: they were compared with what
  /// it has.
  private func stored(
    _ objects: [(root: NSEntityDescription, ids: [NSManagedObjectID])]
  ) throws -> [LinkClaims.Stored] {
    var keys: [String: Set<Int64>] = [:]
    for (root, ids) in objects where !ids.isEmpty {
      let table = try environment.store.coordinator.tableName(of: root)
      keys[table, default: []].formUnion(ids.compactMap(\.storeKey))
    }
    return keys.sorted { $0.key < $1.key }.map { LinkClaims.Stored(table: $0.key, keys: $0.value.sorted()) }
  }

  /// The objects that other workers have created from records behind those of the chunk. An object has the values of the
  /// first record that names it, and records are played in their order.
  private func earlier(
    _ plan: ChunkPlan, _ resolved: ResolvedLinks, order: (Int) -> Int64
  ) -> [LinkClaims.Earlier] {
    var found: [LinkClaims.Earlier] = []
    for (group, links) in Dictionary(grouping: resolved.links, by: \.link.group) {
      let slots = Set(links.flatMap(\.link.otherSlots)).sorted()
      guard !slots.isEmpty, links[0].link.policy == .create, let index = indexes[group] as? SharedLinkIndex else {
        continue
      }
      var seen: Set<KeyDigest> = [.none]
      for row in plan.namingRows {
        for link in links {
          for element in link.values.elements(ofRow: row) {
            let digest = link.values.digests[element]
            guard seen.insert(digest).inserted, let first = index.firstOrder(of: digest), order(row) < first else {
              continue
            }
            found.append(
              LinkClaims.Earlier(
                group: group, digest: digest, order: order(row),
                values: link.objectValues(element, slots: slots).encoded))
          }
        }
      }
    }
    return found
  }
}

extension ChunkPlan {
  /// The rows whose names are created where they are missing.
  fileprivate var namingRows: [Int] {
    if updates.isEmpty, passedRows.isEmpty, laterRows.isEmpty { return insertedRows }
    return (insertedRows + laterRows.values.joined() + updates.map(\.row) + passedRows).sorted()
  }
}

extension ResolvedLinks.Link {
  /// The values that an object has which is created for an element: those of its record, or the defaults.
  fileprivate func objectValues(_ element: Int, slots: [Int]) -> OverwrittenEntries {
    var values = OverwrittenEntries(attributes: slots.map { link.entity.attributeSlots[$0].name }, of: link.entity.name)
    let own = slots.map { slot in
      let value = self.values.batch.value(row: element, slot: slot)
      return value == .null ? link.defaults.first { $0.slot == slot }?.value ?? .null : value
    }
    values.append(OverwrittenEntries.Entry(key: 0, version: 0, values: own))
    return values
  }
}
