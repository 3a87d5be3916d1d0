import Foundation

/// An object of the graph: a light handle on values that its context holds. (Apple documentation: NSManagedObject.)
///
/// It belongs to its context's queue and does not keep the context alive. Subclasses are generated from the model or
/// written by hand; a hand-written one may override `lifecycleHooks` to declare the hooks it has.
///
/// ```swift
/// let entry = JournalEntry(context: context)
/// entry.location = "Rincon"
/// entry.setValue(4, forKey: "rating")
/// print(entry.changedValues(), entry.isInserted)
/// try context.save()
/// ```
open class NSManagedObject: NSObject {
  public let entity: NSEntityDescription
  /// Nil for an object without a context, and after the context has released the object or was freed.
  public internal(set) var managedObjectContext: NSManagedObjectContext? {
    get { isUnregistered ? nil : storage?.context }
    set {
      isUnregistered = newValue == nil
      if let newValue, storage?.context !== newValue { storage = newValue.storage }
    }
  }

  // An import makes millions of objects, so the size of each field counts: what is not needed at once is in `storage`
  // or `auxiliaryIfPresent`, or is made on request.
  var storage: ObjectStorage?
  /// Stands for the ID in a batch storage.
  var number: Int64 = 0
  /// The row of the values in the batch of a batch storage.
  var row: Int32 = 0
  /// Whether the context has released the object. A byte of its own, because other queues may read it.
  var isUnregistered = false
  /// Whether a store has given the temporary ID a key, which then takes precedence.
  var isInStore = false
  /// Whether the values count as changed from the model's defaults.
  var beganWithDefaults = false
  var state: ObjectState = []
  /// `Z_OPT` of the row that the values came from.
  var version: Int64 = 0
  /// Nil if a batch storage makes the ID on request.
  var assignedID: NSManagedObjectID?
  /// Nil if the values are still packed, or are the defaults.
  var loaded: [StoredValue]?
  var auxiliaryIfPresent: AuxiliaryState?

  /// The lifecycle methods this class overrides; all of them unless it declares otherwise.
  open class var lifecycleHooks: LifecycleHooks { self == NSManagedObject.self ? [] : .all }

  /// Makes an object. (Apple documentation: init(entity:insertInto:).)
  ///
  /// - Parameters:
  ///   - entity: The entity of the object; stops the program if it is abstract.
  ///   - context: Where the object is inserted; nil for an object without a context.
  public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    precondition(!entity.isAbstract, "Objects of the abstract entity \(entity.name ?? "") can't be made.")
    self.entity = entity
    super.init()
    context?.insert(self)
  }

  /// Inserts a new object of the entity with this class. Required, so that generic code can call `T(context:)`. (Apple
  /// documentation: init(context:).)
  ///
  /// - Parameter context: Where the object is inserted. Stops the program if its model has no entity with this class.
  public required convenience init(context: NSManagedObjectContext) {
    guard let entity = context.model?.entity(ofClass: Self.self) else {
      preconditionFailure(
        "No entity of the model has the class \(Self.self). Check its representedClassName, "
          + "and that the context has a coordinator.")
    }
    self.init(entity: entity, insertInto: context)
  }

  // MARK: State

  /// The identity of the object: temporary until a save reaches the store, then permanent. (Apple documentation:
  /// objectID.)
  public var objectID: NSManagedObjectID { identity.resolved }
  /// Whether the object was inserted and its context has not saved it yet. (Apple documentation: isInserted.)
  public var isInserted: Bool { has(.inserted) }
  /// Whether the object was changed since its context read or saved it. False for an inserted object, whose changes are
  /// part of the insertion. (Apple documentation: isUpdated.)
  public var isUpdated: Bool { has(.updated) }
  /// Whether the next save of its context deletes the object. True as well for one whose row was found to be gone when
  /// its fault fired. After the save it is false. (Apple documentation: isDeleted.)
  public var isDeleted: Bool { has(.deleted) }
  /// Whether the object is inserted, updated or deleted, and its context has not saved that yet. (Apple documentation:
  /// hasChanges.)
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

  // MARK: Lifecycle, for subclasses

  /// Called after insertion, once in an object's life; values set here are saved.
  open func awakeFromInsert() {}
  /// Called after a fault was fulfilled; values set here do not count as changes.
  open func awakeFromFetch() {}
  /// Called after a rollback, or after a refresh that kept changes; values set here do not count as changes. Transient
  /// values can be set again here.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
  /// Called before a save; changes made here are saved too.
  open func willSave() {}
  /// Called after a save.
  open func didSave() {}
  /// Called before the object is marked for deletion.
  open func prepareForDeletion() {}
  /// Called before a refresh removes the values; they can still be read.
  open func willTurnIntoFault() {}
  open func didTurnIntoFault() {}

  /// If false, `didChangeValue(forKey:)` makes an object count as changed even for a key that the model does not have.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  // MARK: Keyed access

  /// The value of an attribute: NSNumber, NSDecimalNumber, String, Date, Data, UUID, URL or a transformable's object;
  /// of a relationship: the object, an NSSet, or an NSOrderedSet.
  open func value(forKey key: String) -> Any? {
    if let slot = knownSlot(key) { return object(of: storedValue(at: slot), slot) }
    if let relationship = entity.relationshipsByName[key] { return relatedValue(relationship) }
    return ownProperty(key) ?? value(forUndefinedKey: key)
  }

  /// Sets an attribute. Stops the program for a value of a type that does not match the attribute, as Apple's framework
  /// does, and for a relationship, because relationships are read-only here.
  open func setValue(_ value: Any?, forKey key: String) {
    guard let slot = knownSlot(key) else {
      if let relationship = entity.relationshipsByName[key] { refuseToSet(relationship) }
      return setValue(value, forUndefinedKey: key)
    }
    if value == nil, entity.attributeSlots[slot].usesScalarValueType { return setNilValueForKey(key) }
    setStoredValue(from: value, at: slot)
  }

  /// Called for a read of a key that the entity does not have; stops the program unless a class overrides it.
  open func value(forUndefinedKey key: String) -> Any? { preconditionFailure(undefined(key)) }

  /// Called for a write to a key that the entity does not have; stops the program unless a class overrides it.
  open func setValue(_ value: Any?, forUndefinedKey key: String) { preconditionFailure(undefined(key)) }

  /// Called when an attribute whose property is a scalar is set to nil; stores nil, which the property reads as 0.
  open func setNilValueForKey(_ key: String) { setStoredValue(.null, at: slot(key)) }

  // MARK: Validation

  /// Checks of single properties, by key. Apple's framework finds methods by their names; here the class lists them:
  ///
  ///     override class var propertyValidators: [String: PropertyValidator] {
  ///       ["rating": validator(Session.validateRating)]
  ///     }
  ///     func validateRating(_ value: inout Any?) throws { … }
  ///
  /// A subclass adds to the checks of its superclass: `super.propertyValidators.merging(…)`.
  open class var propertyValidators: [String: PropertyValidator] { [:] }

  /// Checks one value: by the class's own check for the key, which may replace it, then against the model's rules.
  ///
  /// - Throws: `NSError` with one of Core Data's validation codes, or what the class's check throws. Apple's method
  ///   takes a pointer; this one replaces the value through `inout`.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    let slot = slot(key)
    checkQueue(slot: slot)
    try Self.propertyValidators[key]?(self, &value)
    try check(stored(value, slot), slot: slot)
  }

  /// Checks every attribute, and that the entity has no mandatory relationship, because a new object has no related
  /// objects.
  open func validateForInsert() throws { try validateProperties(isNew: true) }
  /// Checks every attribute; relationships cannot have changed.
  open func validateForUpdate() throws { try validateProperties(isNew: false) }
  open func validateForDelete() throws {}

  // Objects are compared by identity, and neither member may be overridden (Apple documentation: NSManagedObject,
  // "Subclassing Notes"); every notification contains sets of objects.
  public final override var hash: Int { Int(bitPattern: ObjectIdentifier(self)) }
  public final override func isEqual(_ object: Any?) -> Bool { (object as? NSManagedObject) === self }

  open override var description: String {
    checkQueue()
    return valuesText
  }
}
