import Foundation

/// A query over objects in memory. It gives the same answers as a store.
extension FetchQuery {
  /// Whether the query matches the values that `object` has now.
  ///
  /// - Throws: What the store says if an object on a key path can't be read.
  func matches(_ object: NSManagedObject) throws -> Bool {
    try QueryFilter(self, object.entity).accepts(QueriedManagedObject(object: object))
  }

  /// An object's row with the values that the query asks for.
  func row(_ object: NSManagedObject, id: NSManagedObjectID) throws -> FetchedRow {
    FetchedRow(
      id: id, version: object.versionForChildren, values: object.values,
      extras: try keyPaths.map { try object.storedValue(at: AttributePath($0, of: object.entity)) })
  }
}
