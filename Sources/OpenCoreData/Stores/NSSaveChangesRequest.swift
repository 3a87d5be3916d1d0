import Foundation

/// The changes of one save, as an incremental store is given them. (Apple documentation: NSSaveChangesRequest.)
///
/// Where all four sets are nil, only the store's metadata is to be saved.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  /// New objects; their IDs are permanent.
  open var insertedObjects: Set<NSManagedObject>? { inserted }
  /// Objects with changed values.
  open var updatedObjects: Set<NSManagedObject>? { updated }
  /// Objects whose rows are to be removed.
  open var deletedObjects: Set<NSManagedObject>? { deleted }
  /// Unchanged objects whose rows must be as they were read (`detectConflicts(for:)`).
  open var lockedObjects: Set<NSManagedObject>? { locked }

  private let inserted: Set<NSManagedObject>?
  private let updated: Set<NSManagedObject>?
  private let deleted: Set<NSManagedObject>?
  private let locked: Set<NSManagedObject>?

  /// A save request, as coordinators hand it to an incremental store. (Apple documentation:
  /// init(inserted:updated:deleted:locked:).)
  ///
  /// - Parameters:
  ///   - insertedObjects: Objects to insert; nil for none.
  ///   - updatedObjects: Objects with changes to write; nil for none.
  ///   - deletedObjects: Objects to delete; nil for none.
  ///   - lockedObjects: Unchanged objects whose version must still be the stored one; nil for none.
  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    inserted = insertedObjects
    updated = updatedObjects
    deleted = deletedObjects
    locked = lockedObjects
    super.init()
  }

  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }
}
