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

  /// Adds the objects that `make` makes for the rows without one.
  func fillMissing(_ make: (Int) -> NSManagedObject?) {
    handles.fill(storage.batch.count, make)
    rowsByKey = nil
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

/// Rows that a save has inserted, and their objects. Those that were not asked for before are made for the observers of
/// the save.
final class SavedInsertion {
  let objects: BatchObjects
  private let entity: NSEntityDescription
  private let range: TemporaryIDRange
  private let removedRows: [Int]
  private let isInStore: Bool
  /// Whether keys were allocated before the save.
  private let hasKeys: Bool
  /// The set of all objects, if it was made for the observers of the insertion.
  private var announced: Set<NSManagedObject>?

  /// Ends the insertion of the segment's rows.
  ///
  /// - Parameter inStore: Whether the save has reached a store.
  init(_ segment: PendingSegment, inStore: Bool) {
    (entity, range, removedRows) = (segment.entity, segment.range, segment.removedRows)
    isInStore = inStore
    hasKeys = !inStore && segment.range.revision > 0
    announced = segment.objects
    objects = segment.takeHandles()
    objects.handles.forEach { row, object in finish(object, row: row) }
  }

  private func finish(_ object: NSManagedObject, row: Int) {
    object.becomeSavedInsertion(inStore: isInStore, hasKey: hasKeys && range.permanent(row: row) != nil)
  }

  /// The set would hold the objects.
  func forgetSet() { announced = nil }

  /// The objects of all rows. Makes those that are missing: no context may know an object of such a row.
  func makeAll() -> Set<NSManagedObject> {
    if let announced { return announced }
    let (type, storage) = (entity.objectClass, objects.storage)
    var all = Set<NSManagedObject>(unique: storage.batch.count - removedRows.count)
    objects.handles.forEach { _, object in all.add(object) }
    guard all.count < storage.batch.count - removedRows.count else { return all }
    objects.fillMissing { row in
      guard removedRows.isEmpty || removedRows.insertionIndex(ifAbsent: row) != nil else { return nil }
      let object = type.inserted(of: entity, in: storage, row: row)
      finish(object, row: row)
      // Each object is added to the set while it is in the processor's cache.
      all.add(object)
      return object
    }
    return all
  }
}

extension ObjectGraph {
  /// Releases the objects of rows whose save was announced.
  func release(_ saved: SavedInsertion) {
    saved.forgetSet()
    release(saved.objects)
  }

  /// The objects of rows that were saved just now, for observers of the save.
  func objects(ofSaved saved: [SavedInsertion]) -> Set<NSManagedObject> {
    guard let first = saved.first else { return [] }
    return saved.dropFirst().reduce(into: objects(of: first)) { $0.formUnion(objects(of: $1)) }
  }

  private func objects(of saved: SavedInsertion) -> Set<NSManagedObject> {
    let isRegistered = !saved.objects.handles.isEmpty
    let all = saved.makeAll()
    if !isRegistered { add(saved.objects) }
    return all
  }

  /// Makes the objects of pending rows where those of saved rows could not be made later, because the context may have
  /// faults for them.
  ///
  /// - Parameter all: Makes them for all rows.
  func makeObjectsKnownByID(ofAll all: Bool = false) {
    for segment in insertions.segments where all || mayKnowObjects(of: segment.range) { _ = handles(in: segment) }
  }

  /// The objects of deleted rows and `single`, also after the save that has deleted them.
  func objects(ofDeleted segments: [DeletedSegment], and single: [NSManagedObject]) -> Set<NSManagedObject> {
    var all = Set<NSManagedObject>(unique: single.count + segments.reduce(0) { $0 + $1.rows.liveCount })
    for object in single { all.add(object) }
    for segment in segments { segment.addObjects(to: &all) }
    return all
  }
}
