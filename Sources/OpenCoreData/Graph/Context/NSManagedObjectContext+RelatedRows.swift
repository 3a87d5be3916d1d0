/// The objects at the other end of to-many relationships, read with their values in one statement. Their values stay
/// packed until they are asked for.
extension NSManagedObjectContext {
  /// Reads a relationship of `objects` and makes the objects at its other end, which each of them keeps.
  ///
  /// - Returns: False if something between this context and the rows has to be asked too. Nothing was done then.
  func readRows(_ relationship: NSRelationshipDescription, of objects: [NSManagedObject]) throws -> Bool {
    guard relationship.isToMany, relationship.inverseRelationship?.isToMany == false else { return false }
    let stored = objects.filter { !$0.isInserted && !$0.state.contains(.inaccessible) }
    // What can't be read together, such as a value whose file is missing, is read one by one.
    guard let found = (try? relatedRows(relationship, of: stored.map(\.objectID))) ?? nil else { return false }
    graph.adoptPermanentIDs()
    var related = RelatedLists()
    let mayKnowSome =
      !graph.packedDeletions.isEmpty || found.contains { !graph.registry.hasNone(like: $0.space.key(0)) }
    graph.expectObjects(found.reduce(0) { $0 + $1.count })
    for rows in found { take(rows, &related, mayKnowSome: mayKnowSome) }
    related.end()
    for object in stored {
      object.keepRelated(ahead: object.storedKey.map { related.objects(of: $0.key) } ?? [], relationship.name)
    }
    return true
  }

  /// The rows that the levels below have; nil if one of these contexts has changes, or an object of one of the rows.
  ///
  /// - Parameter toDelete: Whether they are about to be deleted, so that their values may stay in the store.
  func relatedRows(
    _ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID], toDelete: Bool = false
  ) throws -> [RelatedRows]? {
    guard let parent else { return try storeReading().relatedRows(relationship, of: ids, toDelete: toDelete) }
    return try parent.performAndWait {
      guard !parent.graph.hasChanges,
        let found = try parent.relatedRows(relationship, of: ids, toDelete: toDelete)
      else { return nil }
      let registry = parent.graph.registry
      if registry.hasNoEntries { return found }
      let isKnown = found.contains { rows in
        rows.numbers.keys.array.contains { key in registry[rows.space.key(key)].map { $0.hasValues } ?? false }
      }
      return isKnown ? nil : found
    }
  }

  /// Makes the objects of rows that were read, unless they have some.
  ///
  /// - Parameters:
  ///   - chosen: The numbers of the rows that get objects; nil for all.
  func take(_ rows: RelatedRows, _ related: inout RelatedLists, mayKnowSome: Bool, only chosen: [Int]? = nil) {
    let (space, entity) = (rows.space, rows.space.entity)
    let storage = BatchStorage(self, sharing: rows.rows)
    let (type, hasTransients) = (entity.objectClass, !entity.layout.transientSlots.isEmpty)
    let (numbers, versions, owners) = (rows.numbers.keys.array, rows.numbers.versions.array, rows.numbers.owners.array)
    for row in chosen ?? Array(numbers.indices) {
      let (number, version) = (numbers[row], versions[row])
      let key = space.key(number)
      let object: NSManagedObject
      if mayKnowSome, let registered = graph.knownObject(key) {
        let known = registered.entity === entity ? registered : self.object(ofRow: storage.id(number))
        if known.isFault, !known.hasValues {
          known.fill(from: FetchedRow(id: known.identity, version: version, values: storage.batch.values(row: row)))
        }
        object = known
      } else {
        object = type.walked(of: entity, in: storage, key: number, row: row, version: version)
        // Rows have no values of transient attributes.
        if hasTransients {
          object.fill(from: FetchedRow(id: object.identity, version: version, values: storage.batch.values(row: row)))
        }
        graph.add(object, as: key)
      }
      related.add(object, owner: owners[row])
    }
  }
}

/// Objects by the key of their owner. They come owner after owner, in the order of the keys.
struct RelatedLists {
  private(set) var lists: [(owner: Int64, objects: [NSManagedObject])] = []
  private var owner: Int64?
  private var list: [NSManagedObject] = []
  /// The place behind the owner that was asked for last: the next one is most often there.
  private var next = 0

  mutating func add(_ object: consuming NSManagedObject, owner: Int64) {
    if owner != self.owner {
      end()
      self.owner = owner
    }
    list.append(object)
  }

  mutating func end() {
    if let owner { lists.append((owner, list)) }
    // The next list is most often about as long.
    let count = list.count
    list = []
    list.reserveCapacity(count)
  }

  /// The objects of an owner, after the end.
  mutating func objects(of owner: Int64) -> [NSManagedObject] {
    if next == lists.count || lists[next].owner != owner { next = place(of: owner) }
    guard next < lists.count, lists[next].owner == owner else { return [] }
    next += 1
    return lists[next - 1].objects
  }

  /// The place of the first list whose owner has the key, or a greater one.
  private func place(of owner: Int64) -> Int {
    var (low, high) = (0, lists.count)
    while low < high {
      let middle = (low + high) / 2
      if lists[middle].owner < owner { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
