import SystemSupport

/// The set of the IDs of rows that are deleted without objects, and of the objects that are deleted with them. Each level
/// between the context and a store announces it, so it is made once for all levels, and made again if it changes.
package final class SharedDeletedIDs: Sendable {
  private struct Made: Sendable {
    let single: [NSManagedObjectID]
    let rows: [DeletedRows]
    let ids: Set<NSManagedObjectID>

    func isFor(_ single: [NSManagedObjectID], _ rows: [DeletedRows]) -> Bool {
      self.single == single && self.rows.elementsEqual(rows, by: { $0.isSame(as: $1) })
    }
  }

  private let made = Locked<Made?>(nil)

  package init() {}

  /// - Parameters:
  ///   - single: The IDs of the objects.
  ///   - rows: The rows without objects.
  package func ids(_ single: [NSManagedObjectID], _ rows: [DeletedRows]) -> Set<NSManagedObjectID> {
    made.withLock { made in
      if let made, made.isFor(single, rows) { return made.ids }
      var ids = Set<NSManagedObjectID>(unique: single.count + rows.liveCount)
      for id in single { ids.add(id) }
      for rows in rows { for id in rows.liveIDs { ids.add(id) } }
      // Without rows there is one object for each ID, and comparing the IDs costs about as much as the set.
      made = rows.isEmpty ? nil : Made(single: single, rows: rows, ids: ids)
      return ids
    }
  }
}

extension DeletedRows {
  /// Whether both are the same rows of one batch.
  fileprivate func isSame(as other: DeletedRows) -> Bool {
    rows === other.rows && keys.count == other.keys.count && removedRows == other.removedRows
  }
}
