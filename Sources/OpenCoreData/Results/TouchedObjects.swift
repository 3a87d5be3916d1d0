import Foundation

/// Objects that may have changed, from notifications of their context.
struct TouchedObjects {
  private(set) var objects: [ObjectIdentifier: NSManagedObject] = [:]
  /// IDs of deleted objects, from a context that announces IDs. The objects are found among those of the list.
  private(set) var deletedKeys: Set<ObjectKey> = []
  /// The context has forgotten all its objects.
  private(set) var isAll = false

  var isEmpty: Bool { objects.isEmpty && deletedKeys.isEmpty && !isAll }

  /// Adds what an ObjectsDidChange notification names: sets of objects or, as the context chooses, IDs.
  mutating func add(_ info: [AnyHashable: Any], in context: NSManagedObjectContext, _ query: FetchQuery) {
    if info[NSInvalidatedAllObjectsKey] != nil { isAll = true }
    for key in [
      NSInsertedObjectsKey, NSUpdatedObjectsKey, NSRefreshedObjectsKey, NSInvalidatedObjectsKey, NSDeletedObjectsKey,
    ] {
      for object in info[key] as? Set<NSManagedObject> ?? [] where query.covers(object.entity) {
        objects[ObjectIdentifier(object)] = object
      }
    }
    for key in [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectIDsKey] {
      for id in Self.ids(info[key]) where query.covers(id.entity) {
        let object = context.object(with: id)
        objects[ObjectIdentifier(object)] = object
      }
    }
    for id in Self.ids(info[NSDeletedObjectIDsKey]) where query.covers(id.entity) {
      deletedKeys.insert(id.resolved.key)
    }
  }

  /// Adds the objects that a DidMergeChangesObjectIDs notification names as updated and that the context does not have.
  mutating func addUnknown(updatedIn info: [AnyHashable: Any], in context: NSManagedObjectContext, _ query: FetchQuery)
  {
    for id in Self.ids(info[NSUpdatedObjectIDsKey]) where query.covers(id.entity) {
      guard context.registeredObject(for: id) == nil else { continue }
      let object = context.object(with: id)
      objects[ObjectIdentifier(object)] = object
    }
  }

  private static func ids(_ value: Any?) -> [NSManagedObjectID] {
    switch value {
    case let ids as ObjectIDCollection: Array(ids)
    case let ids as Set<NSManagedObjectID>: Array(ids)
    default: []
    }
  }

  /// Adds those of `listed` whose IDs were announced as deleted.
  mutating func findDeleted(among listed: [NSObject]) {
    guard !deletedKeys.isEmpty else { return }
    for case let object as NSManagedObject in listed where deletedKeys.contains(object.objectID.key) {
      objects[ObjectIdentifier(object)] = object
    }
    deletedKeys = []
  }
}
