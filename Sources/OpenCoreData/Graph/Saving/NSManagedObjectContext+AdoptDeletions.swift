import ManagedObjectModel
import PersistentStores

/// Rows that a child has deleted without objects.
extension NSManagedObjectContext {
  /// Splits what a child has deleted without objects into rows that need none here either, and deletions one by one.
  ///
  /// - Throws: The error of reading the values of the latter.
  func splitDeletions(_ deleted: [DeletedRows]) throws -> (packed: [DeletedSegment], single: [RowVersion]) {
    guard !deleted.isEmpty else { return ([], []) }
    // What new rows lead to has objects then.
    linkPackedRows()
    graph.adoptPermanentIDs()
    var packed: [DeletedSegment] = []
    var single: [RowVersion] = []
    for rows in deleted {
      guard graph.mayDelete(rows.entity) else {
        try rows.rows.load()
        single += rows.liveRows.map(rows.deletion(row:))
        continue
      }
      var rest = rows
      let space = rows.rows.space
      if !graph.registry.hasNone(like: space.key(0)) || graph.packedDeletions.mayHave(space.key(0)) {
        let keys = rows.keys.array
        for row in rows.liveRows where graph.knowsObject(space.key(keys[row])) {
          try rows.rows.load()
          rest.remove(row: row)
          single.append(rows.deletion(row: row))
        }
      }
      if rest.liveCount > 0 { packed.append(DeletedSegment(rest, in: self)) }
    }
    return (packed, single)
  }
}

extension ObjectGraph {
  fileprivate func knowsObject(_ key: ObjectKey) -> Bool { registry[key] != nil || packedDeletions.locate(key) != nil }
}
