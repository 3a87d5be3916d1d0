import Foundation

/// What a client can ask about the state of an object.
extension NSManagedObject {
  /// The identity of the object: temporary until a save reaches the store, then permanent. (Apple documentation:
  /// objectID.)
  ///
  /// ```swift
  /// let id = entry.objectID
  /// let same = try background.performAndWait { try background.existingObject(with: id).objectID }
  /// print(same == id)  // true
  /// ```
  public var objectID: NSManagedObjectID { identity.resolved }
  /// Whether the object was inserted and its context has not saved it yet. (Apple documentation: isInserted.)
  ///
  /// ```swift
  /// let entry = JournalEntry(context: context)
  /// print(entry.isInserted)  // true
  /// try context.save()
  /// print(entry.isInserted)  // false
  /// ```
  public var isInserted: Bool { has(.inserted) }
  /// Whether the object was changed since its context read or saved it. False for an inserted object, whose changes are
  /// part of the insertion. (Apple documentation: isUpdated.)
  ///
  /// ```swift
  /// entry.rating = 5
  /// print(entry.isUpdated)  // true, unless the entry is inserted
  /// ```
  public var isUpdated: Bool { has(.updated) }
  /// Whether the next save of its context deletes the object. True as well for one whose row was found to be gone when
  /// its fault fired. After the save it is false. (Apple documentation: isDeleted.)
  ///
  /// ```swift
  /// context.delete(entry)
  /// print(entry.isDeleted)  // true
  /// try context.save()
  /// print(entry.isDeleted)  // false
  /// ```
  public var isDeleted: Bool { has(.deleted) }
  /// Whether the object is inserted, updated or deleted, and its context has not saved that yet. (Apple documentation:
  /// hasChanges.)
  ///
  /// ```swift
  /// for entry in entries where entry.hasChanges { print(entry.changedValues()) }
  /// ```
  public var hasChanges: Bool {
    checkQueue()
    return !state.isDisjoint(with: [.inserted, .updated, .deleted])
  }
  /// Whether the values are not loaded. Reading any property loads them; asking for this state, the ID or the entity
  /// does not. (Apple documentation: isFault.)
  ///
  /// ```swift
  /// let entry = try context.existingObject(with: id)
  /// context.refresh(entry, mergeChanges: false)
  /// print(entry.isFault)  // true
  /// ```
  public var isFault: Bool { has(.fault) }
  /// 0 for an object that has its values and is not about to get or lose them.
  public var faultingState: Int {
    checkQueue()
    return Int(state.intersection([.fault, .awaking, .turningIntoFault]).rawValue)
  }

  @inline(__always)
  private func has(_ part: ObjectState, _ member: StaticString = #function) -> Bool {
    checkQueue(member)
    return state.contains(part)
  }
}
