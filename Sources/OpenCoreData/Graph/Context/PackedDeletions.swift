import ManagedObjectModel
import PersistentStores

/// Rows of one batch that are deleted without objects, and the objects that were made to announce them.
///
/// As pending insertions do, the objects are found by their rows. An object that is asked for by its ID leaves the
/// segment and becomes one of the graph's deletions.
final class DeletedSegment {
  private unowned let context: NSManagedObjectContext
  /// The values. Nothing needs them before there is an object.
  private lazy var storage = context.storage(ofDeleted: rows)
  private(set) var rows: DeletedRows
  private var handles = RowObjectTable()
  /// Whether a save has deleted the rows.
  private var isSaved = false

  /// - Parameter context: Holds the segment.
  init(_ rows: DeletedRows, in context: NSManagedObjectContext) { (self.rows, self.context) = (rows, context) }

  var entity: NSEntityDescription { rows.entity }

  /// Adds the objects of all rows to `set`.
  func addObjects(to set: inout Set<NSManagedObject>) {
    guard handles.isEmpty else { return handles.forEach { _, object in set.add(object) } }
    let (rows, isSaved) = (rows, isSaved)
    let (entity, storage, type) = (entity, storage, entity.objectClass)
    let (keys, versions) = (rows.keys.array, rows.versions.array)
    // Each object is added to the set while it is in the processor's cache.
    handles.fill(keys.count) { row in
      guard rows.removedRows.isEmpty || rows.isLive(row) else { return nil }
      // Its class has no `awakeFromFetch` to be called (`mayDelete`).
      let object = type.walked(
        of: entity, in: storage, key: keys[row], row: row, version: versions[row], state: .deleted)
      if isSaved { object.leaveContext() }
      set.add(object)
      return object
    }
  }

  /// Gives the object of a row away.
  func takeObject(_ row: Int) -> NSManagedObject {
    let object =
      handles[row]
      ?? entity.objectClass.walked(
        of: entity, in: storage, key: rows.keys[row], row: row, version: rows.versions[row], state: .deleted)
    rows.remove(row: row)
    handles[row] = nil
    return object
  }

  /// The rows were deleted by a save: objects that are held keep their values.
  func endSave() {
    isSaved = true
    handles.forEach { _, object in object.leaveContext() }
  }
}

extension NSManagedObjectContext {
  /// The values of deleted rows. Reading an object can't throw: an error of the store ends the process, except within
  /// `throwingReadFailures`, as for a fault.
  fileprivate func storage(ofDeleted rows: DeletedRows) -> BatchStorage {
    do {
      try rows.rows.load()
    } catch {
      guard let readFailure else {
        preconditionFailure(
          "The values of deleted objects of the entity \(rows.entity.name ?? "") can't be read: \(error)")
      }
      readFailure.note(error)
      rows.rows.leaveOutValues(of: rows.keys.count)
    }
    return BatchStorage(self, sharing: rows.rows)
  }
}

/// The rows of a context that are deleted without objects.
final class PackedDeletions {
  private(set) var segments: [DeletedSegment] = []
  /// Of root entities with such rows.
  private var scopes: Set<UInt64> = []
  /// Where the row with a key is: filled by the first lookup.
  private var places: [ObjectKey: (segment: Int32, row: Int32)] = [:]
  private var placedCount = 0
  /// Shared with the levels that the deletions came through.
  var sharedIDs = SharedDeletedIDs()
  /// All deleted objects of the context as they were asked for last, until a row is added or gets an object.
  private var announced: Set<NSManagedObject>?

  /// Rows leave a segment when their objects are asked for.
  var isEmpty: Bool { segments.allSatisfy { $0.rows.liveCount == 0 } }
  var count: Int { segments.reduce(0) { $0 + $1.rows.liveCount } }
  var rows: [DeletedRows] { segments.lazy.map(\.rows).filter { $0.liveCount > 0 } }

  /// The objects of all rows, and the deleted objects of the context.
  func objects(and single: [NSManagedObject]) -> Set<NSManagedObject> {
    if let announced, announced.count == single.count + count, single.allSatisfy(announced.contains) {
      return announced
    }
    var all = Set<NSManagedObject>(unique: single.count + count)
    for object in single { all.add(object) }
    for segment in segments { segment.addObjects(to: &all) }
    announced = segments.isEmpty ? nil : all
    return all
  }

  func append(_ segment: DeletedSegment) {
    segments.append(segment)
    scopes.insert(segment.rows.rows.space.scope)
    announced = nil
  }

  /// A row is about to get an object of the context's own.
  func takeObject(_ segment: DeletedSegment, row: Int) -> NSManagedObject {
    announced = nil
    return segment.takeObject(row)
  }

  func removeAll() {
    (segments, scopes, places, placedCount) = ([], [], [:], 0)
    (announced, sharedIDs) = (nil, SharedDeletedIDs())
  }

  func mayHave(_ key: ObjectKey) -> Bool { !segments.isEmpty && scopes.contains(key.scope) }

  /// The segment and the row with the key, if it has no object.
  func locate(_ key: ObjectKey) -> (segment: DeletedSegment, row: Int)? {
    guard mayHave(key) else { return nil }
    while placedCount < segments.count {
      let rows = segments[placedCount].rows
      let keys = rows.keys.array
      for row in rows.liveRows { places[rows.rows.space.key(keys[row])] = (Int32(placedCount), Int32(row)) }
      placedCount += 1
    }
    guard let place = places[key], segments[Int(place.segment)].rows.isLive(Int(place.row)) else { return nil }
    return (segments[Int(place.segment)], Int(place.row))
  }
}
