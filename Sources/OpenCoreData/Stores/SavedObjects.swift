import Foundation

/// The objects of a change set, made in a context for a store of a client's own. They look as they do in the context
/// that saves: inserted ones have their values, changed ones know which values are changed.
struct SavedObjects {
  /// In the order of insertion.
  let inserted: [NSManagedObject]
  let updated: [NSManagedObject]
  /// Changed objects whose rows others deleted: they are to be written anew under their IDs.
  let recreated: [NSManagedObject]
  let deleted: [NSManagedObject]
  let checked: [NSManagedObject]

  /// - Parameter context: One that has no objects yet; it takes the changes as from a child.
  init(_ changes: ChangeSet, in context: NSManagedObjectContext) throws {
    try context.adopt(changes, from: context)
    inserted = context.graph.insertions.segments.flatMap { context.graph.handles(in: $0) }
    updated = changes.updates.filter { !$0.isRecreation }.map { context.object(with: $0.id) }
    recreated = changes.updates.filter(\.isRecreation).map { context.object(with: $0.id) }
    deleted = context.graph.deletions.inOrder
    checked = changes.checks.map { context.object(with: $0.id) }
  }
}

extension InsertedRows {
  /// New objects, given one by one, as the ranges of their IDs have them.
  static func rows(_ rows: [FetchedRow]) -> [InsertedRows] {
    var ranges: [(range: TemporaryIDRange, values: [Int: [StoredValue]])] = []
    for row in rows {
      guard case .temporary(let range, let number) = row.id.reference, range.permanent(row: number) == nil else {
        continue
      }
      if let index = ranges.firstIndex(where: { $0.range === range }) {
        ranges[index].values[number] = row.values
      } else {
        ranges.append((range, [number: row.values]))
      }
    }
    return ranges.compactMap { range, values in
      guard let last = values.keys.max() else { return nil }
      var batch = ObjectBatch(entity: range.entity, rowCapacity: last + 1)
      for row in 0...last {
        batch.appendRow()
        if let values = values[row] { batch.setValues(values, row: row) }
      }
      return InsertedRows(batch: batch, range: range, removedRows: (0...last).filter { values[$0] == nil })
    }
  }
}

extension StoreAdapter {
  /// Makes `ids`, which the client's store gave, the permanent IDs of `objects`.
  ///
  /// - Throws: `NSError` 134060 for IDs that can't be theirs.
  func assign(_ ids: [NSManagedObjectID], to objects: [NSManagedObject]) throws {
    guard ids.count == objects.count else {
      throw NSError.coreData(
        .coreData, "The store \(location) gave \(ids.count) permanent IDs for \(objects.count) objects.")
    }
    var seen: Set<NSManagedObjectID> = []
    for (id, object) in zip(ids, objects) {
      guard case .permanent(let store, _) = id.reference, store === identity, id.entity === object.entity,
        seen.insert(id).inserted
      else {
        throw NSError.coreData(
          .coreData,
          "The store \(location) gave the ID \(id) to an object of \(object.entity.name ?? ""). Each object needs an ID of "
            + "its own, of its entity and of this store.")
      }
    }
    for (id, object) in zip(ids, objects) {
      guard case .temporary(let range, let row) = object.identity.reference, let key = id.storeKey else { continue }
      range.obtain(key, row: row, from: identity)
    }
  }
}
