import Foundation

/// Changed objects that the predicate of a query reads through relationships. The queried objects are unchanged, and the
/// store answers for them with what it has of the changed ones.
extension NSManagedObjectContext {
  /// The IDs of changed and deleted objects at the ends of the query's links.
  func changedObjects(linkedFrom query: FetchQuery) -> [(link: FetchQuery.Link, ids: [NSManagedObjectID])] {
    guard !graph.updates.isEmpty || graph.hasDeletions else { return [] }
    return query.links.compactMap { link in
      let changed = Array(graph.updates.values) + Array(graph.deletions.values)
      let packed = graph.packedDeletions.rows.filter { $0.entity.isKindOf(entity: link.entity) }
      let ids = changed.filter { $0.entity.isKindOf(entity: link.entity) }.map(\.objectID) + packed.ids
      return ids.isEmpty ? nil : (link, ids)
    }
  }

  /// The stored rows whose answer may depend on changed objects here.
  func rowsBelow(linkedTo changed: [(link: FetchQuery.Link, ids: [NSManagedObjectID])], _ query: FetchQuery) throws
    -> [FetchedRow]
  {
    guard !changed.isEmpty else { return [] }
    let leading = query.leading(to: changed)
    guard let parent else { return try storeReading().rows(leading) }
    return try parent.performAndWait { try parent.rows(leading) }
  }
}
