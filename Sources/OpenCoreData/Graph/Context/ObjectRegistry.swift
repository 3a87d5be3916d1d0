import SystemSupport

/// The objects of a context by ID. Unchanged ones are not held.
///
/// A class, so that a lookup copies no tables.
final class ObjectRegistry {
  /// Where the objects are found. It outlives the registry in the storages of objects, which leave it in their `deinit`.
  let unheld = UnheldObjects()
  // Exclusivity is not checked for what each insertion changes: nothing that reads or changes it runs code of others.
  /// Slots of unheld objects, also of some that are gone.
  @exclusivity(unchecked) private var entries: [ObjectKey: Int32] = [:]
  /// Those of objects that were inserted since the last lookup. A walk over related objects makes millions, and
  /// looks none of them up.
  @exclusivity(unchecked) private var unindexed: [(key: ObjectKey, slot: Int32)] = []
  private static let keptMax = 1024
  @exclusivity(unchecked) private var purgeAt = 1024
  /// The scopes of the keys among the entries, now or earlier.
  private var scopes: Set<UInt64> = []
  @exclusivity(unchecked) private var lastScope: UInt64?
  /// Objects that are registered for a short time only and that are mostly never asked for.
  private var batches: [BatchObjects] = []

  var isEmpty: Bool {
    if !batches.allSatisfy(\.handles.isEmpty) { return false }
    return hasNoSlots || !unheld.isTaken.contains(true)
  }
  /// Whether the registry is empty, so that a lookup can be skipped.
  var hasNoEntries: Bool { hasNoSlots && batches.isEmpty }
  private var hasNoSlots: Bool { entries.isEmpty && unindexed.isEmpty }
  /// Whether the registry has none with a key like this one: of the same store and root entity.
  func hasNone(like key: ObjectKey) -> Bool { batches.isEmpty && !scopes.contains(key.scope) }
  var objects: Set<NSManagedObject> {
    index()
    return batches.reduce(into: Set(entries.values.compactMap(unheldObject(at:)))) { $0.formUnion($1.handles.objects) }
  }

  /// Calls `body` with each object. Nothing is looked up for it.
  func forEach(_ body: (NSManagedObject) -> Void) {
    for case let object as NSManagedObject in unheld.objects { body(object) }
    for batch in batches { batch.handles.forEach { body($1) } }
  }

  subscript(key: ObjectKey) -> NSManagedObject? {
    index()
    if let slot = entries[key], let known = unheldObject(at: slot) { return known }
    for batch in batches { if let row = batch.row(of: key) { return batch.handles[row] } }
    return nil
  }

  private func unheldObject(at slot: Int32) -> NSManagedObject? { unheld.object(at: slot) as? NSManagedObject }

  func insert(_ object: NSManagedObject, as key: ObjectKey) {
    // Dead entries are swept when the table has doubled, which spreads the cost over the insertions.
    if entries.count + unindexed.count >= purgeAt { sweep() }
    if key.scope != lastScope {
      lastScope = key.scope
      scopes.insert(key.scope)
    }
    object.unheldSlot = unheld.add(object, at: object.unheldSlot)
    unindexed.append((key, object.unheldSlot))
  }

  /// Makes all objects known to lookups.
  @inline(__always)
  private func index() { if !unindexed.isEmpty { indexAll() } }

  private func indexAll() {
    if unindexed.count > 1 { entries.reserveCapacity(entries.count + unindexed.count) }
    // By index: most often it is one, and an iterator would hold the list.
    for index in unindexed.indices {
      let (key, slot) = unindexed[index]
      if let former = entries.updateValue(slot, forKey: key) { unheld.free(former) }
    }
    unindexed.removeAll(keepingCapacity: unindexed.count < Self.keptMax)
  }

  /// So many objects are about to be inserted.
  func reserve(_ count: Int) {
    // They live: looking for dead entries among them would make the table anew, several times.
    if entries.count + unindexed.count + count > purgeAt { sweep(expecting: count) }
    unindexed.reserveCapacity(unindexed.count + count)
    unheld.reserve(count)
  }

  private func sweep(expecting count: Int = 0) {
    let isTaken = unheld.isTaken
    var dead: [Int32] = []
    func isAlive(_ slot: Int32) -> Bool {
      if isTaken[Int(slot)] { return true }
      dead.append(slot)
      return false
    }
    entries = entries.filter { isAlive($1) }
    unindexed = unindexed.filter { isAlive($0.slot) }
    unheld.free(dead)
    let left = entries.count + unindexed.count
    purgeAt = max(1024, left * 2, left + count)
  }

  /// - Returns: The slot that is free now, if the key had one: its object need not give it back when it goes.
  @discardableResult
  func remove(_ key: ObjectKey) -> Int32? {
    index()
    let slot = entries.removeValue(forKey: key)
    if let slot { unheld.free(slot) }
    for batch in batches { batch.remove(key) }
    return slot
  }

  func removeAll() {
    for batch in batches { batch.releaseAll() }
    index()
    unheld.free(Array(entries.values))
    (entries, batches, purgeAt) = ([:], [], 1024)
    (scopes, lastScope) = ([], nil)
  }

  func add(_ batch: BatchObjects) { batches.append(batch) }

  /// Forgets the objects of a batch and returns those that have other owners, or all of them.
  func end(_ batch: BatchObjects, keepingAll: Bool) -> [(row: Int, object: NSManagedObject)] {
    guard let index = batches.firstIndex(where: { $0 === batch }) else { return [] }
    batches.remove(at: index)
    return batch.release(keepingAll: keepingAll)
  }
}
