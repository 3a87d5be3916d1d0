/// The objects of a context by ID. Unchanged ones are held weakly.
struct ObjectRegistry {
  private struct Entry { weak var object: NSManagedObject? }
  private var entries: [ObjectKey: Entry] = [:]
  private var purgeAt = 1024
  /// Objects that are registered for a short time only and that are mostly never asked for.
  private var runs: [HandleRun] = []

  var isEmpty: Bool { entries.allSatisfy { $0.value.object == nil } && runs.allSatisfy(\.handles.isEmpty) }
  /// Whether the registry is empty, so that a lookup can be skipped.
  var hasNoEntries: Bool { entries.isEmpty && runs.isEmpty }
  var objects: Set<NSManagedObject> {
    runs.reduce(into: Set(entries.values.compactMap(\.object))) { $0.formUnion($1.handles.objects) }
  }

  subscript(key: ObjectKey) -> NSManagedObject? {
    if let known = entries[key]?.object { return known }
    for run in runs { if let row = run.row(of: key) { return run.handles[row] } }
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
    for run in runs { run.remove(key) }
  }

  mutating func removeAll() {
    for run in runs { run.releaseAll() }
    self = ObjectRegistry()
  }

  mutating func add(_ run: HandleRun) { runs.append(run) }

  /// Forgets the objects of a batch and returns those that have other owners, or all of them.
  mutating func end(_ run: HandleRun, keepingAll: Bool) -> [(row: Int, object: NSManagedObject)] {
    guard let place = runs.firstIndex(where: { $0 === run }) else { return [] }
    runs.remove(at: place)
    return run.release(keepingAll: keepingAll)
  }
}
