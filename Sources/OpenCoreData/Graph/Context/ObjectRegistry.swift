/// The objects of a context by ID. Unchanged ones are held weakly.
struct ObjectRegistry {
  private struct Entry { weak var object: NSManagedObject? }
  private var entries: [ObjectKey: Entry] = [:]
  private var purgeAt = 1024
  /// Objects that are registered for a short time only and that are mostly never asked for.
  private var batches: [BatchObjects] = []

  var isEmpty: Bool { entries.allSatisfy { $0.value.object == nil } && batches.allSatisfy(\.handles.isEmpty) }
  /// Whether the registry is empty, so that a lookup can be skipped.
  var hasNoEntries: Bool { entries.isEmpty && batches.isEmpty }
  var objects: Set<NSManagedObject> {
    batches.reduce(into: Set(entries.values.compactMap(\.object))) { $0.formUnion($1.handles.objects) }
  }

  subscript(key: ObjectKey) -> NSManagedObject? {
    if let known = entries[key]?.object { return known }
    for batch in batches { if let row = batch.row(of: key) { return batch.handles[row] } }
    return nil
  }

  mutating func insert(_ object: NSManagedObject, as key: ObjectKey) {
    if entries.count >= purgeAt {
      // Dead entries are swept when the table has doubled, which spreads the cost over the insertions.
      entries = entries.filter { $0.value.object != nil }
      purgeAt = max(1024, entries.count * 2)
    }
    entries[key] = Entry(object: object)
  }

  mutating func remove(_ key: ObjectKey) {
    entries[key] = nil
    for batch in batches { batch.remove(key) }
  }

  mutating func removeAll() {
    for batch in batches { batch.releaseAll() }
    self = ObjectRegistry()
  }

  mutating func add(_ batch: BatchObjects) { batches.append(batch) }

  /// Forgets the objects of a batch and returns those that have other owners, or all of them.
  mutating func end(_ batch: BatchObjects, keepingAll: Bool) -> [(row: Int, object: NSManagedObject)] {
    guard let place = batches.firstIndex(where: { $0 === batch }) else { return [] }
    batches.remove(at: place)
    return batch.release(keepingAll: keepingAll)
  }
}
