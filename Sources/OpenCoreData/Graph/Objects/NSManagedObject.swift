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
  /// The entity of the object, of the model that its context works with. (Apple documentation: entity.)
  public let entity: NSEntityDescription
  /// Nil for an object without a context, and after the context has released the object or was freed.
  public private(set) var managedObjectContext: NSManagedObjectContext? {
    get { isUnregistered ? nil : storage?.context }
    set {
      isUnregistered = newValue == nil
      guard let newValue, storage?.context !== newValue else { return }
      leaveUnheldSlot(for: newValue.storage)
      storage = newValue.storage
    }
  }

  // An import makes millions of objects, so the size of each field counts: what is not needed at once is in `storage`
  // or `auxiliaryIfPresent`, or is made on request. Fields that can be set only here are set by the transitions at the
  // end of this file. The others belong to NSManagedObject+Storage.swift. Exclusivity is not checked: each access reads or
  // replaces a field as a whole.
  @exclusivity(unchecked) private(set) var storage: ObjectStorage?
  /// Stands for the ID in a batch storage.
  @exclusivity(unchecked) private(set) var number: Int64 = 0
  /// The row of the values in the batch of a batch storage.
  @exclusivity(unchecked) private(set) var row: Int32 = 0
  /// Whether the context has released the object. A byte of its own, because other queues may read it.
  @exclusivity(unchecked) private(set) var isUnregistered = false
  /// Whether a store has given the temporary ID a key, which then takes precedence.
  @exclusivity(unchecked) private(set) var isInStore = false
  /// Whether the values count as changed from the model's defaults.
  @exclusivity(unchecked) var beganWithDefaults = false
  @exclusivity(unchecked) private(set) var state: ObjectState = []
  /// Where the context finds the object without holding it; negative before it was registered.
  @exclusivity(unchecked) var unheldSlot: Int32 = -1
  /// `Z_OPT` of the row that the values came from.
  @exclusivity(unchecked) private(set) var version: Int64 = 0
  /// Nil if a batch storage makes the ID on request.
  @exclusivity(unchecked) var assignedID: NSManagedObjectID?
  /// Nil if the values are still packed, or are the defaults.
  @exclusivity(unchecked) var loaded: [StoredValue]?
  @exclusivity(unchecked) var auxiliaryIfPresent: AuxiliaryState?

  /// The lifecycle methods this class overrides; all of them unless it declares otherwise.
  open class var lifecycleHooks: LifecycleHooks { self == NSManagedObject.self ? [] : .all }

  /// Makes an object. (Apple documentation: init(entity:insertInto:).)
  ///
  /// ```swift
  /// if let entity = NSEntityDescription.entity(forEntityName: "JournalEntry", in: context) {
  ///   let draft = JournalEntry(entity: entity, insertInto: nil)
  ///   draft.location = "Rincon"
  ///   context.insert(draft)
  /// }
  /// ```
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
    self.init(entity: Self.entity(in: context), insertInto: context)
  }

  deinit { if unheldSlot >= 0 { storage?.unheld.forget(self, at: unheldSlot) } }

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
  /// Called after a refresh has removed the values; a read of one loads them again.
  open func didTurnIntoFault() {}

  /// If false, `didChangeValue(forKey:)` makes an object count as changed even for a key that the model does not have.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  // MARK: Keyed access

  /// The value of an attribute: NSNumber, NSDecimalNumber, String, Date, Data, UUID, URL or a transformable's object;
  /// of a relationship: the object, an NSSet, or an NSOrderedSet.
  open func value(forKey key: String) -> Any? {
    if let slot = knownSlot(key) { return object(of: storedValue(at: slot), slot) }
    if let relationship = entity.relationshipsByName[key] { return relatedValue(relationship) }
    if let property = fetchedProperty(key) { return fetchedObjects(property) }
    return ownProperty(key) ?? value(forUndefinedKey: key)
  }

  /// Sets an attribute or a relationship: to an object, a set, an ordered set or an array of objects, or nil. The other
  /// end of a relationship is set too. Stops the program for a value of a type that does not match the property, and for
  /// an object of another context, as Apple's framework does.
  open func setValue(_ value: Any?, forKey key: String) {
    guard let slot = knownSlot(key) else { return setOtherValue(value, forKey: key) }
    if value == nil, entity.attributeSlots[slot].usesScalarValueType { return setNilValueForKey(key) }
    setStoredValue(from: value, at: slot)
  }

  /// Called for a read of a key that the entity does not have; stops the program unless a class overrides it.
  open func value(forUndefinedKey key: String) -> Any? { preconditionFailure(undefined(key)) }  // a caller's mistake

  /// Called for a write to a key that the entity does not have; stops the program unless a class overrides it.
  open func setValue(_ value: Any?, forUndefinedKey key: String) { preconditionFailure(undefined(key)) }  // as above

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
    if let relationship = entity.relationshipsByName[key] {
      checkQueue()
      try Self.propertyValidators[key]?(self, &value)
      return try check(value, relationship)
    }
    let slot = slot(key)
    checkQueue(slot: slot)
    try Self.propertyValidators[key]?(self, &value)
    try check(stored(value, slot), slot: slot)
  }

  /// Checks every attribute and every relationship; throws a validation code (1550–1690), several as 1560.
  open func validateForInsert() throws { try validateProperties(isNew: true) }
  /// Checks every attribute and the relationships that were changed; throws as `validateForInsert()`.
  open func validateForUpdate() throws { try validateProperties(isNew: false) }
  /// Checks that no relationship with the rule deny leads to an object that stays; throws 1600, several as 1560.
  open func validateForDelete() throws { try checkDeniedDeletion() }

  // Objects are compared by identity, and neither member may be overridden (Apple documentation: NSManagedObject,
  // "Subclassing Notes"); every notification contains sets of objects.
  public final override var hash: Int { Int(bitPattern: ObjectIdentifier(self)) }
  public final override func isEqual(_ object: Any?) -> Bool { object.map { ($0 as AnyObject) === self } ?? false }

  open override var description: String {
    checkQueue()
    return valuesText
  }
}

// MARK: - Transitions

/// The transitions between the states of an object. Only they write `state`, and with it the fields that follow from
/// it. They concern the object alone: `ObjectGraph`, which calls most of them, changes its tables in the same step.
/// (docs/invariants.md, "States of an object".)
extension NSManagedObject {
  /// Makes the object one of those that share `storage`, which also gives its ID.
  ///
  /// - Parameters:
  ///   - number: The number that stands for its ID there.
  ///   - row: The row of its values, unless the object has values of its own.
  private func attach(to storage: BatchStorage, id number: Int64, row: Int) {
    leaveUnheldSlot(for: storage)
    self.storage = storage
    self.number = number
    self.row = Int32(truncatingIfNeeded: row)
    isUnregistered = false
    isInStore = false
    assignedID = nil
    auxiliaryIfPresent?.permanentID = nil
  }

  /// An object for a packed row: its values stay in the batch until they are asked for.
  @inline(__always)
  private static func packed(
    of entity: NSEntityDescription, in storage: BatchStorage, id number: Int64, row: Int, state: ObjectState
  ) -> Self {
    let object = Self.init(entity: entity, insertInto: nil)
    object.attach(to: storage, id: number, row: row)
    // Discards what the class's initialiser has set.
    (object.loaded, object.auxiliaryIfPresent) = (nil, nil)
    object.state = state
    return object
  }

  /// An object for a pending row.
  static func inserted(of entity: NSEntityDescription, in storage: BatchStorage, row: Int) -> Self {
    let object = packed(of: entity, in: storage, id: Int64(row), row: row, state: .inserted)
    object.beganWithDefaults = true
    return object
  }

  /// An object for a row of a batch that was read: a fault, unless `state` says otherwise.
  static func walked(
    of entity: NSEntityDescription, in storage: BatchStorage, key: Int64, row: Int, version: Int64,
    state: ObjectState = .fault
  ) -> Self {
    let object = packed(of: entity, in: storage, id: key, row: row, state: state)
    object.version = version
    return object
  }

  /// A fault of the class that the model names, with `id`, in `context`.
  static func fault(_ id: NSManagedObjectID, in context: NSManagedObjectContext) -> NSManagedObject {
    let object = id.entity.objectClass.init(entity: id.entity, insertInto: nil)
    object.assignedID = id
    object.auxiliaryIfPresent?.permanentID = nil
    object.managedObjectContext = context
    object.loaded = []
    object.state = .fault
    return object
  }

  /// An object without a context enters one, with its own values, as a row of a segment. A new row has the defaults.
  func becomeInserted(in storage: BatchStorage, row: Int) {
    let isFresh = self.storage == nil && loaded == nil && auxiliaryIfPresent == nil
    if isFresh { beganWithDefaults = true } else { unpack() }
    attach(to: storage, id: Int64(row), row: row)
    state = isFresh ? [.inserted, .fresh] : [.inserted, .unpacked]
  }

  /// A fault, or one that found no row, becomes the object of a row that a child has handed up.
  func becomeInserted(with values: [StoredValue]) {
    loaded = values
    snapshot = entity.layout.defaultValues
    related = nil
    state = .inserted
  }

  /// The values of an inserted object are newer than those packed in its segment.
  func becomeUnpacked() { state = state.subtracting([.fresh, .written]).union(.unpacked) }
  func becomeWritten() { state.insert(.written) }
  func becomePacked() { state.remove(.unpacked) }
  func becomeUpdated() { state.insert(.updated) }
  func becomeUnchanged() { state.remove(.updated) }

  func becomeDeleted() {
    state.remove(.updated)
    state.insert(.deleted)
  }
  func becomeUndeleted() { if state.remove(.deleted) != nil { releaseAhead() } }

  /// The row of this updated object is gone: a save inserts it again.
  func becomeRecreated() { state.insert(.recreated) }

  /// Runs `body`, in which values that are set do not count as changes.
  func whileAwaking(_ body: () -> Void) {
    let wasAwaking = state.contains(.awaking)
    state.insert(.awaking)
    body()
    if !wasAwaking { state.remove(.awaking) }
  }

  // MARK: Faults

  /// Gives the object the values of `row`; a fault stays one.
  func fill(from row: FetchedRow) {
    (loaded, leftOut) = (row.values, row.leftOut)
    for slot in entity.layout.transientSlots { loaded?[slot] = entity.layout.defaultValues[slot] }
    version = row.version
  }

  /// A fault that has its values is one no more.
  func completeFault() {
    state.remove(.fault)
    faultGroup = nil
    whileAwaking { awakeFromFetch() }
  }

  /// The row of the fault is gone.
  func becomeInaccessible() {
    loaded = Array(repeating: .null, count: entity.attributeSlots.count)
    dropPending()
    state = [.deleted, .inaccessible]
    faultGroup = nil
  }

  /// - Parameter drop: Makes the object a fault (`becomeFault`) and forgets its change.
  func turnIntoFault(_ drop: () -> Void) {
    guard !isFault else { return drop() }
    state.insert(.turningIntoFault)
    willTurnIntoFault()
    drop()
    didTurnIntoFault()
  }

  /// Drops the values and all that was derived from them.
  func becomeFault() {
    announceChangeOfAll()
    loaded = []
    snapshot = nil
    auxiliaryIfPresent?.eventSnapshot = nil
    auxiliaryIfPresent?.transformedObjects = nil
    auxiliaryIfPresent?.fetched = [:]
    dropPending()
    forgetRelated()
    state = .fault
    version = 0
  }

  /// The values, some of them changed, are based on a row with the values `committed`.
  func becomeBased(on committed: [StoredValue], version: Int64) {
    self.version = version
    snapshot = values == committed ? nil : committed
  }

  /// The changes are to be saved on top of version `stored` of the row.
  func accept(version stored: Int64) {
    version = stored
    state.remove(.recreated)
  }

  /// Puts the committed values back.
  func rollBack() {
    announceChangeOfAll()
    if let snapshot { loaded = snapshot }
    snapshot = nil
    dropPending()
    auxiliaryIfPresent?.fetched = [:]
    becomeUndeleted()
    state.subtract([.updated, .recreated])
  }

  // MARK: The end of a save

  /// The update was saved, to the store or one level up. A context learns its parent's version only when it reads the
  /// object again.
  ///
  /// - Parameter isWritten: Whether there was something to write. The greatest version, of a damaged row, stays.
  func becomeSaved(inStore: Bool, isWritten: Bool) {
    if !inStore {
      version = BaseRow.unknownVersion
    } else if state.contains(.recreated) {
      version = 1
    } else if isWritten, version < .max {
      version += 1
    }
    snapshot = nil
    dropPending()
    state.subtract([.updated, .recreated])
  }

  /// The insertion was saved.
  ///
  /// - Parameter hasKey: Whether the row got its key before the save.
  func becomeSavedInsertion(inStore: Bool, hasKey: Bool) {
    state = []
    snapshot = nil
    dropPending()
    version = inStore ? 1 : BaseRow.unknownVersion
    isInStore = inStore || hasKey
  }

  /// The object leaves its context. It keeps its values; a fault can't be loaded any more.
  ///
  /// - Parameter asDeleted: Whether it shows as deleted from then on.
  func leaveContext(asDeleted: Bool = false) {
    state = asDeleted ? .deleted : state.intersection(.fault)
    dropPending()
    forgetRelated()
    auxiliaryIfPresent?.fetched = [:]
    managedObjectContext = nil
  }
}
