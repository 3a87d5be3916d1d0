/// Objects inserted into a context and not yet saved by it: a list of packed segments in order of insertion.
struct PendingInsertions {
  private(set) var segments: [PendingSegment] = []
  private var segmentByRange: [ObjectIdentifier: PendingSegment] = [:]
  /// By root entity, whose objects share a sequence of keys: the last segment, if single objects can join it.
  private var openSegments: [ObjectIdentifier: PendingSegment] = [:]

  var isEmpty: Bool { segments.allSatisfy { $0.liveCount == 0 } }
  var count: Int { segments.reduce(0) { $0 + $1.liveCount } }

  mutating func append(_ segment: PendingSegment) {
    segments.append(segment)
    segmentByRange[ObjectIdentifier(segment.range)] = segment
    openSegments[ObjectIdentifier(segment.batch.entity.rootEntity)] = segment.hasRoom ? segment : nil
  }

  mutating func removeAll() {
    self = PendingInsertions()
  }

  /// The segment that one more single object of `entity` goes to: the last one of its root entity while it has
  /// room, so that objects which share a sequence of keys keep their order.
  mutating func openSegment(
    for entity: NSEntityDescription, in context: NSManagedObjectContext
  ) -> PendingSegment {
    let last = openSegments[ObjectIdentifier(entity.rootEntity)]
    if let last, last.hasRoom, last.batch.entity === entity { return last }
    // Doubling keeps the number of segments small without reserving much for a single object.
    let capacity = min(4096, max(16, (last?.range.count ?? 0) * 2))
    let segment = PendingSegment(
      context, ObjectBatch(entity: entity), range: TemporaryIDRange(count: capacity, of: entity), isOpen: true)
    append(segment)
    return segment
  }

  func segment(of range: TemporaryIDRange) -> PendingSegment? { segmentByRange[ObjectIdentifier(range)] }

  /// Where the object with `id` waits, if it does.
  func locate(_ id: NSManagedObjectID) -> (segment: PendingSegment, row: Int)? {
    if case .temporary(let range, let row) = id.reference {
      guard let found = segment(of: range), found.isLive(row) else { return nil }
      return (found, row)
    }
    // A permanent ID can still be pending when it was obtained before the save.
    for segment in segments {
      if let row = segment.row(obtainedAs: id.key) { return segment.isLive(row) ? (segment, row) : nil }
    }
    return nil
  }
}

/// Objects of one entity inserted together or one after the other, packed; with the handles made for some of them.
///
/// The handles are in no registry as long as they are pending: here they are found by their row, and held.
final class PendingSegment {
  /// Of the handles: they hold the batch there, but not the segment, which holds them.
  let home: PackedHome
  var batch: ObjectBatch {
    _read { yield home.batch }
    _modify { yield &home.batch }
  }
  let entity: NSEntityDescription
  let range: TemporaryIDRange
  /// Ascending.
  private(set) var removedRows: [Int]
  /// The objects that were asked for. Kept strongly: they have changes to save.
  private(set) var handles = HandleTable()
  /// All of them as a set, where somebody wanted that.
  private var objects: Set<NSManagedObject>?
  /// Shared with the levels that the rows came through.
  private let sharedIDs: SharedIDSet
  /// Whether the rows were inserted here, and not handed up.
  private let isOwn: Bool
  private let isOpen: Bool
  /// Set when the model's rules were checked by a child context and nothing was touched since.
  var isValidated = false

  init(
    _ context: NSManagedObjectContext, _ batch: ObjectBatch, range: TemporaryIDRange, removedRows: [Int] = [],
    sharedIDs: SharedIDSet? = nil, isOpen: Bool = false
  ) {
    home = PackedHome(context, batch, .temporary(range))
    entity = batch.entity
    self.range = range
    self.removedRows = removedRows
    self.sharedIDs = sharedIDs ?? SharedIDSet()
    isOwn = sharedIDs == nil
    self.isOpen = isOpen
  }

  var liveCount: Int { batch.count - removedRows.count }
  var hasRoom: Bool { isOpen && batch.count < range.count }
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

  /// The row whose ID became permanent before the save and has this key.
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

  func remove(row: Int) {
    guard let index = removedRows.insertionIndex(ifAbsent: row) else { return }
    removedRows.insert(row, at: index)
    handles[row]?.unpack()
    handles[row] = nil
    objects = nil
  }

  func keep(_ handle: NSManagedObject, row: Int) {
    handles[row] = handle
    objects = nil
  }

  /// The objects of all live rows; `make` makes those that are missing.
  func allObjects(_ make: (Int) -> NSManagedObject) -> Set<NSManagedObject> {
    if let objects { return objects }
    var made = Set<NSManagedObject>(unique: liveCount)
    if removedRows.isEmpty, handles.isEmpty {
      // Each goes into the set while the processor has it at hand.
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

  /// Has the IDs made meanwhile: whoever is told of new objects will be told of their IDs by a save.
  func prepareIDs() { if isOwn, objects == nil { sharedIDs.prepare(rows) } }

  func fillHandles(_ make: (Int) -> NSManagedObject) {
    if removedRows.isEmpty { return handles.fill(batch.count, make) }
    handles.fill(batch.count) { isLive($0) ? make($0) : nil }
  }

  /// After a save: the handles, which others take care of from now on.
  func takeHandles() -> HandleRun? {
    objects = nil
    guard !handles.isEmpty else { return nil }
    let run = HandleRun(home, handles)
    handles = HandleTable()
    return run
  }

  /// After the rows were thrown away: whoever holds a handle keeps its values.
  func releaseHandles() { takeHandles()?.releaseAll() }

  /// Current values of a row: the handle's where it has newer ones.
  func values(row: Int) -> [StoredValue] { handles[row]?.values ?? batch.values(row: row) }

  func value(row: Int, slot: Int) -> StoredValue {
    if let handle = handles[row] { return handle.valueThere(at: slot) }
    return batch.value(row: row, slot: slot)
  }

  /// Writes the values that handles changed back into the batch.
  func pack() {
    handles.forEach { row, handle in
      guard handle.state.contains(.unpacked) else { return }
      batch.setValues(handle.values, row: row)
      handle.state.remove(.unpacked)
    }
  }

  var rows: InsertedRows {
    InsertedRows(batch: batch, range: range, removedRows: removedRows, sharedIDs: sharedIDs)
  }
}
