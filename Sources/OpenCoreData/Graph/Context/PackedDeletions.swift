import ManagedObjectModel
import PersistentStores

/// Rows of one batch that are deleted without objects, and the objects that were made to announce them.
///
/// As pending insertions do, the objects are found by their rows. An object that is asked for by its ID leaves the
/// segment and becomes one of the graph's deletions.
final class DeletedSegment {
  private let storage: BatchStorage
  private(set) var rows: DeletedRows
  private var handles = RowObjectTable()

  /// - Parameter storage: Has the values of `rows`.
  init(_ rows: DeletedRows, in storage: BatchStorage) {
    (self.rows, self.storage) = (rows, storage)
  }

  init(_ rows: DeletedRows, in context: NSManagedObjectContext) {
    (self.rows, storage) = (rows, BatchStorage(context, sharing: rows.rows))
  }

  var entity: NSEntityDescription { rows.entity }

  /// The objects of all rows, in order.
  var objects: [NSManagedObject] {
    handles.fill(rows.keys.count) { row in rows.isLive(row) ? make(row) : nil }
    return rows.liveRows.compactMap { handles[$0] }
  }

  /// Gives the object of a row away.
  func takeObject(_ row: Int) -> NSManagedObject {
    let object = handles[row] ?? make(row)
    rows.remove(row: row)
    handles[row] = nil
    return object
  }

  /// A deleted object whose values stay packed.
  private func make(_ row: Int) -> NSManagedObject {
    let object = entity.objectClass.walked(
      of: entity, in: storage, key: rows.keys[row], row: row, version: rows.versions[row])
    object.completeFault()
    object.becomeDeleted()
    return object
  }

  /// The rows were deleted by a save: objects that are held keep their values.
  func endSave() { handles.forEach { _, object in object.leaveContext() } }
}

/// The rows of a context that are deleted without objects.
final class PackedDeletions {
  private(set) var segments: [DeletedSegment] = []
  /// Of root entities with such rows.
  private var scopes: Set<UInt64> = []
  /// Where the row with a key is: filled by the first lookup.
  private var places: [ObjectKey: (segment: Int32, row: Int32)] = [:]
  private var placedCount = 0

  /// Rows leave a segment when their objects are asked for.
  var isEmpty: Bool { segments.allSatisfy { $0.rows.liveCount == 0 } }
  var count: Int { segments.reduce(0) { $0 + $1.rows.liveCount } }
  var rows: [DeletedRows] { segments.lazy.map(\.rows).filter { $0.liveCount > 0 } }
  var objects: [NSManagedObject] { segments.flatMap(\.objects) }

  func append(_ segment: DeletedSegment) {
    segments.append(segment)
    scopes.insert(segment.rows.rows.space.scope)
  }

  func removeAll() { (segments, scopes, places, placedCount) = ([], [], [:], 0) }

  func mayHave(_ key: ObjectKey) -> Bool { !segments.isEmpty && scopes.contains(key.scope) }

  /// The segment and the row with the key, if it has no object.
  func locate(_ key: ObjectKey) -> (segment: DeletedSegment, row: Int)? {
    guard mayHave(key) else { return nil }
    while placedCount < segments.count {
      let rows = segments[placedCount].rows
      for row in rows.liveRows { places[rows.rows.space.key(rows.keys[row])] = (Int32(placedCount), Int32(row)) }
      placedCount += 1
    }
    guard let place = places[key], segments[Int(place.segment)].rows.isLive(Int(place.row)) else { return nil }
    return (segments[Int(place.segment)], Int(place.row))
  }
}
