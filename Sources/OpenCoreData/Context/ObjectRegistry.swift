/// The objects of a context by identity. Unchanged ones are held weakly.
struct ObjectRegistry {
  private struct Entry { weak var object: NSManagedObject? }
  private var entries: [ObjectKey: Entry] = [:]
  private var purgeAt = 1024
  /// Objects that are here for a while only, most of which nobody will ever have asked for.
  private var runs: [HandleRun] = []

  var isEmpty: Bool { entries.allSatisfy { $0.value.object == nil } && runs.allSatisfy(\.handles.isEmpty) }
  /// True where a look for an object would be in vain, without looking.
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

  /// Ends a run: its objects are forgotten, but for those that are given back because somebody holds them.
  mutating func end(_ run: HandleRun, keepingAll: Bool) -> [(row: Int, object: NSManagedObject)] {
    guard let place = runs.firstIndex(where: { $0 === run }) else { return [] }
    runs.remove(at: place)
    return run.release(keepingAll: keepingAll)
  }
}

/// Objects made for the rows of one batch, held together until their context lets go of them: while a save is announced,
/// or while a walk shows its batch. Registering each of them would cost more than the object.
final class HandleRun {
  let home: PackedHome
  private(set) var handles: HandleTable
  /// Made when somebody looks for a key of a store.
  private var rowsByKey: [ObjectKey: Int]?
  private var newsSeen = 0

  init(_ home: PackedHome, _ handles: HandleTable) {
    self.home = home
    self.handles = handles
  }

  func row(of key: ObjectKey) -> Int? {
    var news = 0
    if case .temporary(let range) = home.ids {
      if key.isTemporary {
        let isOwn = key.number >= range.first && key.number < range.first + UInt64(range.count)
        return isOwn ? Int(key.number - range.first) : nil
      }
      news = range.newsCount
      if news == 0 { return nil }
    }
    if key.isTemporary { return nil }
    if rowsByKey == nil || news != newsSeen {
      rowsByKey = [:]
      handles.forEach { row, object in rowsByKey?[object.identityToShare.key] = row }
      newsSeen = news
    }
    return rowsByKey?[key]
  }

  func remove(_ key: ObjectKey) {
    guard let row = row(of: key) else { return }
    handles[row]?.unpack()
    handles[row] = nil
  }

  /// Lets go of the objects, and gives back those that live on: the ones somebody else holds, or all of them.
  func release(keepingAll: Bool) -> [(row: Int, object: NSManagedObject)] {
    let kept = handles.takeHeld(keepingAll: keepingAll)
    for (_, object) in kept { object.unpack() }
    home.forgetRows()
    return kept
  }

  func releaseAll() { _ = release(keepingAll: false) }
}

/// Objects by the row that they were made for: a few of them, or most.
struct HandleTable {
  private var few: [Int: NSManagedObject] = [:]
  /// By row, once one was made for each.
  private var all: [NSManagedObject?] = []

  init() {}
  init(_ all: [NSManagedObject?]) { self.all = all }

  var isEmpty: Bool { few.isEmpty && all.allSatisfy { $0 == nil } }
  var objects: [NSManagedObject] { all.compactMap { $0 } + few.values }

  subscript(row: Int) -> NSManagedObject? {
    @inline(__always) get {
      if row < all.count { return all[row] }
      return few.isEmpty ? nil : few[row]
    }
    set {
      if row < all.count { all[row] = newValue } else { few[row] = newValue }
    }
  }

  /// Has an object for each row below `count` that `make` makes one for, keeping those that are there.
  mutating func fill(_ count: Int, _ make: (Int) -> NSManagedObject?) {
    guard all.count < count else { return }
    all.reserveCapacity(count)
    for row in all.count..<count { all.append(few.isEmpty ? make(row) : few.removeValue(forKey: row) ?? make(row)) }
  }

  func forEach(_ body: (Int, NSManagedObject) -> Void) {
    for (row, object) in all.enumerated() { if let object { body(row, object) } }
    for (row, object) in few { body(row, object) }
  }

  /// Forgets all objects, and gives back those that others hold; or all.
  mutating func takeHeld(keepingAll: Bool) -> [(row: Int, object: NSManagedObject)] {
    var held: [(row: Int, object: NSManagedObject)] = []
    // By index and in place: an iterator would hold every object once more.
    for row in all.indices where keepingAll || !isKnownUniquelyReferenced(&all[row]) {
      if let object = all[row] { held.append((row, object)) }
    }
    var index = few.startIndex
    while index != few.endIndex {
      if keepingAll || !isKnownUniquelyReferenced(&few.values[index]) {
        held.append((few.keys[index], few.values[index]))
      }
      few.formIndex(after: &index)
    }
    self = HandleTable()
    return held
  }
}
