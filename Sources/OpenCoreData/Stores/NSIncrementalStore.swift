import Foundation

/// The superclass of stores that read and write single rows, such as a folder of files or a web service. (Apple
/// documentation: NSIncrementalStore, "Incremental Store Programming Guide".)
///
/// A subclass overrides `loadMetadata()`, ``execute(_:with:)``, ``newValuesForObject(with:with:)``,
/// ``obtainPermanentIDs(for:)`` and, if its model has relationships, ``newValue(forRelationship:forObjectWith:with:)``.
/// It is registered under a name of its own and then added by that name:
///
/// ```swift
/// NSPersistentStoreCoordinator.registerStoreClass(FolderStore.self, forStoreType: "Folder")
/// try coordinator.addPersistentStore(ofType: "Folder", configurationName: nil, at: folder, options: nil)
/// ```
///
/// All methods of one store are called one at a time, on whatever thread reads or saves. The order in a save is:
/// `obtainPermanentIDs(for:)` for new objects, `execute(_:with:)` with an ``NSSaveChangesRequest``, and
/// `managedObjectContextDidRegisterObjects(with:)`. See <doc:StoresOfYourOwn>.
// Unchecked: it has nothing of its own that changes; the adapter calls subclasses under its lock.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
  override func makeAdapter() -> (any ClassStoreAdapter)? { IncrementalRowStore(self) }

  /// Finds objects, or saves changes.
  ///
  /// - Parameters:
  ///   - request: An `NSFetchRequest<NSFetchRequestResult>` or an ``NSSaveChangesRequest``; `requestType` says which.
  ///   - context: Where objects of the result are made, with `object(with:)`. It is valid during the call only.
  /// - Returns: For a fetch request an array: of managed objects, of `NSManagedObjectID`, of dictionaries by the names
  ///   in `propertiesToFetch`, or with one `NSNumber`, depending on `resultType`. For a save request an empty array.
  /// - Throws: What keeps the request from being carried out. A save that others' changes stand in the way of throws
  ///   `NSManagedObjectMergeError`, with an array of ``NSMergeConflict`` under `NSPersistentStoreSaveConflictsErrorKey`:
  ///   the merge policy of the saving context then resolves the conflict.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
    throw Self.notOverridden("execute(_:with:)", Self.self)
  }

  /// The row of an object.
  ///
  /// - Throws: `NSManagedObjectReferentialIntegrityError` (133000) for a row that does not exist any more; any other
  ///   error means that the row can't be read.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    throw Self.notOverridden("newValuesForObject(with:with:)", Self.self)
  }

  /// What a relationship of an object leads to.
  ///
  /// - Parameters:
  ///   - relationship: A relationship of the object's entity.
  ///   - objectID: The object.
  ///   - context: The context that reads; nil if none does. It is valid during the call only.
  /// - Returns: An `NSManagedObjectID` or `NSNull` for a to-one relationship, a set or an array of `NSManagedObjectID`
  ///   for a to-many one.
  /// - Throws: As ``newValuesForObject(with:with:)``.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    throw Self.notOverridden("newValue(forRelationship:forObjectWith:with:)", Self.self)
  }

  /// Gives new objects their IDs, made with ``newObjectID(for:referenceObject:)``.
  ///
  /// - Parameter array: New objects with the values that they have so far.
  /// - Returns: One ID for each object, in the same order.
  /// - Throws: What keeps the store from it; the save then fails with this error.
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    throw Self.notOverridden("obtainPermanentIDs(for:)", Self.self)
  }

  /// Called when objects become known to contexts: after they were read or inserted, once for all contexts.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Called when objects that were registered were deleted, and for all others when the store is removed.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// The ID of the object that the store knows by `data`: the same one every time.
  ///
  /// - Parameters:
  ///   - entity: The entity of the object.
  ///   - data: A `String`, an integer, a `UUID`, a `URL`, or Foundation's `NSString`, `NSNumber` or `NSUUID`. Values with
  ///     the same text are the same reference. Other types stop the program.
  public final func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
    makeObjectID(for: entity, data)
  }

  /// What the store knows an object by, as it was given to ``newObjectID(for:referenceObject:)``.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any { reference(of: objectID) }

  /// A UUID for a store that does not exist yet.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }
}

extension NSPersistentStore {
  /// The ID for a reference object of a store of a client's own.
  func makeObjectID(for entity: NSEntityDescription, _ data: Any) -> NSManagedObjectID {
    guard let reference = StoreReference(data) else {
      preconditionFailure(
        "A reference object of the type \(Swift.type(of: data)) can't stand in an ID. Use a String, an integer or a UUID."
      )
    }
    guard let adapter = adapter as? StoreAdapter else {
      preconditionFailure("Only stores of a class of the client's own have reference objects.")
    }
    return NSManagedObjectID(
      entity: entity, store: adapter.identity, key: adapter.references.key(for: reference, of: entity))
  }

  func reference(of objectID: NSManagedObjectID) -> Any {
    guard case .permanent(let store, let key) = objectID.resolved.reference, store === identity,
      let reference = store.references?.reference(of: key)
    else {
      preconditionFailure("The ID \(objectID) is not of the store \(location), which has no reference object for it.")
    }
    return reference.value
  }
}
