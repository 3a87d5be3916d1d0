import Locking

/// The objects of a context by ID. Unchanged ones are not held.
///
/// A class, so that a lookup copies no tables.
final class ObjectRegistry {
  /// Where the objects are found. It outlives the registry in the storages of objects, which leave it in their `deinit`.
  let unheld = UnheldObjects()
  /// Slots of unheld objects, also of some that are gone.
  private var entries: [ObjectKey: Int32] = [:]
  private var purgeAt = 1024
  /// The scopes of the keys among the entries, now or earlier.
  private var scopes: Set<UInt64> = []
  private var lastScope: UInt64?
  /// Objects that are registered for a short time only and that are mostly never asked for.
  private var batches: [BatchObjects] = []

  var isEmpty: Bool {
    if !batches.allSatisfy(\.handles.isEmpty) { return false }
    return entries.isEmpty || !unheld.isTaken.contains(true)
  }
  /// Whether the registry is empty, so that a lookup can be skipped.
  var hasNoEntries: Bool { entries.isEmpty && batches.isEmpty }
  /// Whether the registry has none with a key like this one: of the same store and root entity.
  func hasNone(like key: ObjectKey) -> Bool { batches.isEmpty && !scopes.contains(key.scope) }
  var objects: Set<NSManagedObject> {
    batches.reduce(into: Set(entries.values.compactMap(unheldObject(at:)))) { $0.formUnion($1.handles.objects) }
  }

  subscript(key: ObjectKey) -> NSManagedObject? {
    if let slot = entries[key], let known = unheldObject(at: slot) { return known }
    for batch in batches { if let row = batch.row(of: key) { return batch.handles[row] } }
    return nil
  }

  private func unheldObject(at slot: Int32) -> NSManagedObject? { unheld.object(at: slot) as? NSManagedObject }

  func insert(_ object: NSManagedObject, as key: ObjectKey) {
    // Dead entries are swept when the table has doubled, which spreads the cost over the insertions.
    if entries.count >= purgeAt { sweep() }
    if key.scope != lastScope {
      lastScope = key.scope
      scopes.insert(key.scope)
    }
    object.unheldSlot = unheld.add(object, at: object.unheldSlot)
    if let former = entries.updateValue(object.unheldSlot, forKey: key) { unheld.free(former) }
  }

  /// So many objects are about to be inserted.
  func reserve(_ count: Int) {
    // They live: looking for dead entries among them would make the table anew, several times.
    if entries.count + count > purgeAt { sweep(expecting: count) }
    entries.reserveCapacity(entries.count + count)
  }

  private func sweep(expecting count: Int = 0) {
    let isTaken = unheld.isTaken
    var dead: [Int32] = []
    entries = entries.filter { _, slot in
      if isTaken[Int(slot)] { return true }
      dead.append(slot)
      return false
    }
    unheld.free(dead)
    purgeAt = max(1024, entries.count * 2, entries.count + count)
  }

  /// - Returns: The slot that is free now, if the key had one: its object need not give it back when it goes.
  @discardableResult
  func remove(_ key: ObjectKey) -> Int32? {
    let slot = entries.removeValue(forKey: key)
    if let slot { unheld.free(slot) }
    for batch in batches { batch.remove(key) }
    return slot
  }

  func removeAll() {
    for batch in batches { batch.releaseAll() }
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
