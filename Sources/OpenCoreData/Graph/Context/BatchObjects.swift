/// The objects made for the rows of one batch, held together until their context releases them: while a save is
/// announced, or while a walk presents its batch. Registering each of them would cost more than the object itself.
final class BatchObjects {
  let storage: BatchStorage
  private(set) var handles: RowObjectTable
  /// Built at the first lookup by a store's key.
  private var rowsByKey: [ObjectKey: Int]?
  private var revisionSeen = 0

  init(_ storage: BatchStorage, _ handles: RowObjectTable = RowObjectTable()) {
    self.storage = storage
    self.handles = handles
  }

  /// Adds the objects that `make` makes, by row.
  func fill<Result>(_ make: (inout [NSManagedObject?]) throws -> Result) rethrows -> Result {
    var made: [NSManagedObject?] = []
    made.reserveCapacity(storage.batch.count)
    let result = try make(&made)
    handles = RowObjectTable(made)
    return result
  }

  func row(of key: ObjectKey) -> Int? {
    var revision = 0
    if case .temporary(let range) = storage.ids {
      if key.isTemporary {
        let isOwn = key.number >= range.first && key.number < range.first + UInt64(range.count)
        return isOwn ? Int(key.number - range.first) : nil
      }
      revision = range.revision
      if revision == 0 { return nil }
    }
    if key.isTemporary { return nil }
    if rowsByKey == nil || revision != revisionSeen {
      rowsByKey = [:]
      handles.forEach { row, object in rowsByKey?[object.idForOtherQueues.key] = row }
      revisionSeen = revision
    }
    return rowsByKey?[key]
  }

  func remove(_ key: ObjectKey) {
    guard let row = row(of: key) else { return }
    handles[row]?.unpack()
    handles[row] = nil
  }

  /// Releases the objects and returns those that stay alive: the ones with other owners, or all of them.
  func release(keepingAll: Bool) -> [(row: Int, object: NSManagedObject)] {
    let kept = handles.takeHeld(keepingAll: keepingAll)
    for (_, object) in kept { object.unpack() }
    storage.forgetRows()
    return kept
  }

  func releaseAll() { _ = release(keepingAll: false) }
}

/// Objects by the row that they were made for: a few of them, or most.
struct RowObjectTable {
  private var few: [Int: NSManagedObject] = [:]
  /// By row, once an object was made for each row.
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
      if row < all.count {
        all[row] = newValue
      } else if row == all.count, few.isEmpty, newValue != nil {
        // Objects that are inserted one after the other.
        all.append(newValue)
      } else {
        few[row] = newValue
      }
    }
  }

  /// Makes sure that each row below `count` has the object that `make` returns for it; existing objects stay.
  mutating func fill(_ count: Int, _ make: (Int) -> NSManagedObject?) {
    guard all.count < count else { return }
    all.reserveCapacity(count)
    for row in all.count..<count { all.append(few.isEmpty ? make(row) : few.removeValue(forKey: row) ?? make(row)) }
  }

  func forEach(_ body: (Int, NSManagedObject) -> Void) {
    for (row, object) in all.enumerated() { if let object { body(row, object) } }
    for (row, object) in few { body(row, object) }
  }

  /// Drops all objects and returns those with other owners, or all of them.
  mutating func takeHeld(keepingAll: Bool) -> [(row: Int, object: NSManagedObject)] {
    var held: [(row: Int, object: NSManagedObject)] = []
    // By index and in place, because an iterator would hold every object once more. And one by one, because an object
    // that was just checked is in the cache when it is freed.
    for row in all.indices {
      if !keepingAll, isKnownUniquelyReferenced(&all[row]) {
        all[row] = nil
      } else if let object = all[row] {
        held.append((row, object))
      }
    }
    var index = few.startIndex
    while index != few.endIndex {
      if keepingAll || !isKnownUniquelyReferenced(&few.values[index]) {
        held.append((few.keys[index], few.values[index]))
      }
      few.formIndex(after: &index)
    }
    self = RowObjectTable()
    return held
  }
}
