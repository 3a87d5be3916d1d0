import Foundation

/// A query over objects in memory. It gives the same answers as a store.
extension FetchQuery {
  /// Whether the query matches the values that `object` has now.
  func matches(_ object: NSManagedObject) throws -> Bool {
    try QueryFilter(self, object.entity).accepts { source in
      switch source {
      case .slot(let slot): object.values[slot]
      case .path(let path): object.storedValue(at: path)
      }
    }
  }

  /// An object's row with the values that the query asks for.
  func row(_ object: NSManagedObject, id: NSManagedObjectID) throws -> FetchedRow {
    FetchedRow(
      id: id, version: object.versionForChildren, values: object.values,
      extras: try keyPaths.map { object.storedValue(at: try AttributePath($0, of: object.entity)) })
  }
}
