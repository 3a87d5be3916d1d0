extension NSManagedObjectContext {
  /// Chooses the store that a newly inserted object will be saved in, if several stores have its entity. The default is
  /// the first writable one. (Apple documentation: assign(_:to:).)
  ///
  /// - Parameters:
  ///   - object: An `NSManagedObject` inserted here, without a permanent ID.
  ///   - store: A store of the context's coordinator whose configuration has the object's entity.
  public func assign(_ object: AnyObject, to store: NSPersistentStore) {
    checkQueue()
    guard let object = object as? NSManagedObject, object.managedObjectContext === self else {
      preconditionFailure("Only a managed object of this context can be assigned to a store.")
    }
    let known = persistentStoreCoordinator?.persistentStores.first { $0 === store }?.rowStore
    guard let known else {
      preconditionFailure("Can't assign an object to a store that is not of the context's coordinator.")
    }
    precondition(
      known.keeps(object.entity),
      "Can't assign an object to a store that does not contain the object's entity, \(object.entity.name ?? "").")
    guard object.isInserted, object.objectID.isTemporaryID,
      case .temporary(let range, let row) = object.identity.reference
    else {
      preconditionFailure("Can't reassign an object to a different store once it has been saved.")
    }
    range.assign(known.identity, row: row)
  }
}
