/// Objects inserted into a context and not yet saved by it: packed segments in order of insertion.
struct PendingInsertions {
  private(set) var segments: [PendingSegment] = []
  private var segmentByRange: [ObjectIdentifier: PendingSegment] = [:]
  /// By root entity, whose objects share a sequence of keys: the last segment, if single objects can be added to it.
  private var openSegments: [ObjectIdentifier: PendingSegment] = [:]
  /// How many single objects a new segment has capacity for at first: as many as were inserted before the last save.
  private var firstCapacity = Self.leastCapacity
  private static let leastCapacity = 16
  private static let greatestCapacity = 4096

  /// Whether rows have packed relationships, or there are deferred ones.
  private let packedLinks: PackedLinkState
  var hasPackedLinks: Bool { packedLinks.arePending }
  private(set) var deferredLinks = DeferredLinks()

  init(_ packedLinks: PackedLinkState) { self.packedLinks = packedLinks }

  var isEmpty: Bool { segments.allSatisfy { $0.liveCount == 0 } }
  var count: Int { segments.reduce(0) { $0 + $1.liveCount } }

  mutating func append(_ segment: PendingSegment) {
    segments.append(segment)
    if !segment.batch.links.isEmpty { packedLinks.arePending = true }
    segmentByRange[ObjectIdentifier(segment.range)] = segment
    openSegments[ObjectIdentifier(segment.batch.entity.rootEntity)] = segment.hasCapacity ? segment : nil
  }

  typealias PackedRows = (segment: PendingSegment, links: [BatchLink])

  typealias TakenLinks = (deferred: DeferredLinks, packed: [PackedRows])

  mutating func takePackedLinks() -> TakenLinks {
    packedLinks.arePending = false
    defer { deferredLinks = DeferredLinks() }
    return (deferredLinks, segments.compactMap { $0.batch.links.isEmpty ? nil : ($0, $0.batch.takeLinks()) })
  }

  /// Notes that a new object leads to `owner`, for later.
  ///
  /// - Parameter repeats: Only if the object that was linked last leads there by the relationship, too: there is nothing
  ///   to note for the owner then.
  /// - Returns: False if it can't wait, for example because of packed relationships. Nothing was noted then.
  mutating func deferLink(
    of object: NSManagedObject, to owner: NSManagedObject, _ relationship: NSRelationshipDescription,
    in event: UInt64, repeats: Bool
  ) -> Bool {
    if repeats { return deferredLinks.repeatLast(owner, for: object, relationship, in: event) }
    guard !packedLinks.arePending || !deferredLinks.isEmpty, let (segment, row) = locate(object),
      deferredLinks.append(owner, row: row, of: segment, relationship, in: event)
    else { return false }
    packedLinks.arePending = true
    return true
  }

  mutating func removeAll() {
    let single = segments.reduce(0) { $0 + ($1.isOpen ? $1.batch.count : 0) }
    packedLinks.arePending = false
    self = PendingInsertions(packedLinks)
    firstCapacity = min(Self.greatestCapacity, max(Self.leastCapacity, single))
  }

  /// The segment for one more single object of `entity`: the last one of its root entity if it has capacity, so that
  /// objects which share a sequence of keys keep their order.
  mutating func openSegment(
    for entity: NSEntityDescription, in context: NSManagedObjectContext
  ) -> PendingSegment {
    let last = openSegments[ObjectIdentifier(entity.rootEntity)]
    if let last, last.hasCapacity, last.batch.entity === entity { return last }
    // Doubling keeps the number of segments small without reserving much memory for a single object.
    let capacity = min(Self.greatestCapacity, max(firstCapacity, (last?.range.count ?? 0) * 2))
    let segment = PendingSegment(
      context, ObjectBatch(entity: entity), range: TemporaryIDRange(count: capacity, of: entity), isOpen: true)
    append(segment)
    return segment
  }

  func segment(of range: TemporaryIDRange) -> PendingSegment? { segmentByRange[ObjectIdentifier(range)] }

  /// The segment and row of `object` if it is pending.
  func locate(_ object: NSManagedObject) -> (segment: PendingSegment, row: Int)? {
    // Most often it was inserted a moment ago.
    guard let last = segments.last, object.storage === last.storage else { return locate(object.identity) }
    let row = Int(object.row)
    return last.isLive(row) ? (last, row) : nil
  }

  /// The segment and row of the object with `id` if it is pending.
  func locate(_ id: NSManagedObjectID) -> (segment: PendingSegment, row: Int)? {
    if case .temporary(let range, let row) = id.reference {
      guard let found = segment(of: range), found.isLive(row) else { return nil }
      return (found, row)
    }
    // An object with a permanent ID is still pending if the ID was obtained before the save.
    for segment in segments {
      if let row = segment.row(obtainedAs: id.key) { return segment.isLive(row) ? (segment, row) : nil }
    }
    return nil
  }
}

/// Packed objects of one entity that were inserted together or one after the other, and the objects made for some of
/// them.
///
/// Pending objects are not in a registry: the segment finds them by their row and holds them.
final class PendingSegment {
  /// Shared by the objects made for the rows. They hold the batch through it, but not the segment, which holds them.
  let storage: BatchStorage
  var batch: ObjectBatch {
    _read { yield storage.batch }
    _modify { yield &storage.batch }
  }
  let entity: NSEntityDescription
  let range: TemporaryIDRange
  /// Ascending.
  @exclusivity(unchecked) private(set) var removedRows: [Int]
  /// The objects that were asked for. Held strongly: they may have changes to save.
  private(set) var handles = RowObjectTable()
  /// All of them as a set, once it was asked for.
  private(set) var objects: Set<NSManagedObject>?
  /// Shared with the levels that the rows came through.
  private let sharedIDs: SharedIDSet
  /// Whether the rows were inserted here rather than handed up by a child.
  private let isOwn: Bool
  let isOpen: Bool
  /// Set if a child context checked the model's rules and nothing has changed since.
  @exclusivity(unchecked) var isValidated = false

  init(
    _ context: NSManagedObjectContext, _ batch: ObjectBatch, range: TemporaryIDRange, removedRows: [Int] = [],
    sharedIDs: SharedIDSet? = nil, isOpen: Bool = false
  ) {
    storage = BatchStorage(context, batch: batch, ids: .temporary(range))
    entity = batch.entity
    self.range = range
    self.removedRows = removedRows
    self.sharedIDs = sharedIDs ?? SharedIDSet()
    isOwn = sharedIDs == nil
    self.isOpen = isOpen
  }

  var liveCount: Int { batch.count - removedRows.count }
  var hasCapacity: Bool { isOpen && batch.count < range.count }
  var liveRows: [Int] {
    removedRows.isEmpty ? Array(0..<batch.count) : (0..<batch.count).filter { isLive($0) }
  }

  func isLive(_ row: Int) -> Bool { row < batch.count && removedRows.insertionIndex(ifAbsent: row) != nil }
  func objectID(row: Int) -> NSManagedObjectID {
    NSManagedObjectID(range: range, row: row).resolved
  }

  func temporaryID(row: Int) -> NSManagedObjectID {
    NSManagedObjectID(range: range, row: row)
  }

  /// The row with this key, whose ID became permanent before the save.
  func row(obtainedAs key: ObjectKey) -> Int? {
    let revision = range.revision
    guard revision > 0 else { return nil }
    if revision != revisionSeen {
      obtainedRows = Dictionary(range.keysObtained.keys.map { (objectID(row: $0).key, $0) }) { first, _ in first }
      revisionSeen = revision
    }
    return obtainedRows[key]
  }
  private var obtainedRows: [ObjectKey: Int] = [:]
  private var revisionSeen = 0

  /// The values of a new row; nil if all of them are.
  private lazy var defaults: [StoredValue]? =
    entity.layout.defaultValues.allSatisfy(\.isNull)
    ? nil : entity.layout.defaultValues

  /// Adds a row with the defaults for a single object.
  func appendRow() -> Int {
    batch.appendRow()
    if let defaults { batch.setValues(defaults, row: batch.count - 1) }
    isValidated = false
    return batch.count - 1
  }

  func remove(row: Int) {
    guard let index = removedRows.insertionIndex(ifAbsent: row) else { return }
    removedRows.insert(row, at: index)
    handles[row]?.unpack()
    handles[row] = nil
    objects = nil
  }

  /// Takes the removal of a row back.
  ///
  /// - Returns: Whether the row was removed.
  func restore(_ object: NSManagedObject, row: Int) -> Bool {
    guard let index = removedRows.firstIndex(of: row) else { return false }
    removedRows.remove(at: index)
    isValidated = false
    keep(object, row: row)
    return true
  }

  func keep(_ handle: NSManagedObject, row: Int) {
    handles[row] = handle
    objects = nil
  }

  /// The objects of all live rows; `make` makes the missing ones.
  func allObjects(_ make: (Int) -> NSManagedObject) -> Set<NSManagedObject> {
    if let objects { return objects }
    var made = Set<NSManagedObject>(unique: liveCount)
    if removedRows.isEmpty, handles.isEmpty {
      // Each object is added to the set while it is in the processor's cache.
      handles.fill(batch.count) { row in
        let object = make(row)
        made.add(object)
        return object
      }
    } else {
      fillHandles(make)
      handles.forEach { _, object in made.add(object) }
    }
    objects = made
    return made
  }

  /// Starts making the IDs: a save announces the IDs of the objects that are announced now.
  func prepareIDs() { if isOwn, objects == nil { sharedIDs.prepare(rows) } }

  func fillHandles(_ make: (Int) -> NSManagedObject) {
    if removedRows.isEmpty { return handles.fill(batch.count, make) }
    handles.fill(batch.count) { isLive($0) ? make($0) : nil }
  }

  /// Called after a save: hands the objects over to the caller.
  func takeHandles() -> BatchObjects {
    objects = nil
    let taken = BatchObjects(storage, handles)
    handles = RowObjectTable()
    return taken
  }

  /// Called after the rows were discarded: an object that has other owners keeps its values.
  func releaseHandles() { takeHandles().releaseAll() }

  /// The current values of a row: the object's if it has newer ones.
  func values(row: Int) -> [StoredValue] { handles[row]?.values ?? batch.values(row: row) }

  func value(row: Int, slot: Int) -> StoredValue {
    if let handle = handles[row] { return handle.currentValue(at: slot) }
    return batch.value(row: row, slot: slot)
  }

  /// Writes the values that objects changed back into the batch.
  func pack() {
    handles.forEach { row, handle in
      guard handle.state.contains(.unpacked) else { return }
      batch.setValues(handle.values, row: row)
      handle.becomePacked()
    }
  }

  var rows: InsertedRows {
    InsertedRows(batch: batch, range: range, removedRows: removedRows, sharedIDs: sharedIDs)
  }
}
