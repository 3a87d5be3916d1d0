import Foundation

/// An object of the graph: a light handle on values that its context keeps. (Apple documentation: NSManagedObject.)
///
/// It belongs to its context's queue and does not keep the context alive. Subclasses are generated from the model, or
/// written by hand; a hand-written one may override `lifecycleHooks` to say which hooks it has.
open class NSManagedObject: NSObject {
  public let entity: NSEntityDescription
  /// Nil without a context, and once it has let go of the object or is gone itself.
  public internal(set) var managedObjectContext: NSManagedObjectContext? {
    get { isDismissed ? nil : home?.context }
    set {
      isDismissed = newValue == nil
      if let newValue, home?.context !== newValue { home = newValue.home }
    }
  }

  // An import makes millions of these, so that each field counts: what is not needed at once is in `home` or `rare`,
  // or made when it is asked for.
  var home: ObjectHome?
  /// Of the identity among those of a packed home.
  var number: Int64 = 0
  /// Of the values in the batch of a packed home.
  var row: Int32 = 0
  /// Whether the context has let go of the object. In a byte of its own: other queues may look at it.
  var isDismissed = false
  /// Whether a store has given a key to the temporary identity: that counts then.
  var isInStore = false
  /// Whether the values count as changed from the model's defaults.
  var beganWithDefaults = false
  var state: ObjectState = []
  /// `Z_OPT` of the row the values came from.
  var version: Int64 = 0
  /// Nil where a packed home gives one when it is asked for.
  var identityGiven: NSManagedObjectID?
  /// Nil for values that are still packed, or the defaults.
  var loaded: [StoredValue]?
  var rare: RareParts?

  /// The lifecycle methods this class overrides; all of them unless it says otherwise.
  open class var lifecycleHooks: LifecycleHooks { self == NSManagedObject.self ? [] : .all }

  /// Makes an object and inserts it into `context`, or makes one without a context.
  public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    precondition(!entity.isAbstract, "Objects of the abstract entity \(entity.name ?? "") can't be made.")
    self.entity = entity
    super.init()
    context?.insert(self)
  }

  /// Inserts a new object of the entity whose class this is. Required, so that generic code can say `T(context:)`.
  public required convenience init(context: NSManagedObjectContext) {
    guard let entity = context.model?.entity(ofClass: Self.self) else {
      preconditionFailure(
        "No entity of the model has the class \(Self.self). Check its representedClassName, "
          + "and that the context has a coordinator.")
    }
    self.init(entity: entity, insertInto: context)
  }

  // MARK: State

  /// Temporary until a save reaches the store, permanent from then on.
  public var objectID: NSManagedObjectID { identity.resolved }
  public var isInserted: Bool { has(.inserted) }
  public var isUpdated: Bool { has(.updated) }
  public var isDeleted: Bool { has(.deleted) }
  public var hasChanges: Bool {
    checkQueue()
    return !state.isDisjoint(with: [.inserted, .updated, .deleted])
  }
  public var isFault: Bool { has(.fault) }
  /// 0 for an object that has its values and is not about to get or lose them.
  public var faultingState: Int {
    checkQueue()
    return Int(state.intersection([.fault, .awaking, .fading]).rawValue)
  }

  @inline(__always)
  private func has(_ part: ObjectState, _ member: StaticString = #function) -> Bool {
    checkQueue(member)
    return state.contains(part)
  }

  // MARK: Lifecycle, for subclasses

  /// After insertion, once in an object's life; values set here are saved.
  open func awakeFromInsert() {}
  /// After a fault has got its values; values set here are no changes.
  open func awakeFromFetch() {}
  /// After a rollback, or a refresh that kept changes; values set here are no changes. The place to set transient
  /// values anew.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}
  /// Before a save; changes made here are saved too.
  open func willSave() {}
  /// After a save.
  open func didSave() {}
  /// When the object is about to be marked for deletion.
  open func prepareForDeletion() {}
  /// Before a refresh takes the values away; they can still be read.
  open func willTurnIntoFault() {}
  open func didTurnIntoFault() {}

  /// False makes an object count as changed also when `didChangeValue(forKey:)` is called for a key that the model
  /// does not have.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  // MARK: Keyed access

  /// The value of an attribute: NSNumber, NSDecimalNumber, String, Date, Data, UUID, URL or a transformable's object;
  /// of a relationship: the object, an NSSet, or an NSOrderedSet.
  open func value(forKey key: String) -> Any? {
    if let slot = knownSlot(key) { return object(of: storedValue(at: slot), slot) }
    if let relationship = entity.relationshipsByName[key] { return relatedValue(relationship) }
    return ownProperty(key) ?? value(forUndefinedKey: key)
  }

  /// Sets an attribute; a value of a type that does not fit it is a programmer's error, as in Apple's framework. So is
  /// setting a relationship, which is for reading only here.
  open func setValue(_ value: Any?, forKey key: String) {
    guard let slot = knownSlot(key) else {
      if let relationship = entity.relationshipsByName[key] { refuseToSet(relationship) }
      return setValue(value, forUndefinedKey: key)
    }
    if value == nil, entity.attributeSlots[slot].usesScalarValueType { return setNilValueForKey(key) }
    setStoredValue(from: value, at: slot)
  }

  /// Called where a key is read that the entity does not have; stops the program unless a class overrides it.
  open func value(forUndefinedKey key: String) -> Any? { preconditionFailure(undefined(key)) }

  /// Called where a key is set that the entity does not have; stops the program unless a class overrides it.
  open func setValue(_ value: Any?, forUndefinedKey key: String) { preconditionFailure(undefined(key)) }

  /// Called where an attribute whose property is a scalar is set to nil; stores nil, which the property reads as 0.
  open func setNilValueForKey(_ key: String) { setStoredValue(.null, at: slot(key)) }

  // MARK: Validation

  /// Checks of single properties, by key. Apple's framework finds methods by their names; here the class lists them:
  ///
  ///     override class var propertyValidators: [String: PropertyValidator] {
  ///       ["rating": validator(Session.validateRating)]
  ///     }
  ///     func validateRating(_ value: inout Any?) throws { … }
  ///
  /// A subclass adds to what its superclass has: `super.propertyValidators.merging(…)`.
  open class var propertyValidators: [String: PropertyValidator] { [:] }

  /// Checks one value: by the class's own check for the key, which may replace it, then against the model's rules.
  ///
  /// - Throws: `NSError` with one of Core Data's validation codes, or what the class's check throws. Apple's method
  ///   takes a pointer; this one may replace the value through `inout` likewise.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    let slot = slot(key)
    checkQueue(slot: slot)
    try Self.propertyValidators[key]?(self, &value)
    try check(stored(value, slot), slot: slot)
  }

  /// Checks every attribute, and that no relationship is mandatory: a new object has none.
  open func validateForInsert() throws { try validateProperties(isNew: true) }
  /// Checks every attribute; relationships can't have changed.
  open func validateForUpdate() throws { try validateProperties(isNew: false) }
  open func validateForDelete() throws {}

  // MARK: Values by slot

  func slot(_ key: String) -> Int {
    guard let slot = knownSlot(key) else { preconditionFailure(undefined(key)) }
    return slot
  }

  private func knownSlot(_ key: String) -> Int? {
    entity.slot(named: key) ?? (entity as? KeyRecordingEntity)?.slot(asked: key)
  }

  func storedValue(at slot: Int) -> StoredValue {
    checkQueue(slot: slot)
    if state.contains(.fault) { fireFault() }
    return valueThere(at: slot)
  }

  func setStoredValue(_ value: StoredValue, at slot: Int) {
    setStoredValues(at: CollectionOfOne(slot)) { _ in value }
  }

  /// Sets several values; the change is noted once for all of them.
  func setStoredValues(at slots: some Collection<Int>, _ value: (_ slot: Int) -> StoredValue) {
    guard let first = slots.first else { return }
    checkQueue(slot: first)
    if state.contains(.fault) { fireFault() }
    if state.contains(.awaking) {
      for slot in slots { setAwaking(value(slot), at: slot) }
      return
    }
    let context = managedObjectContext
    rememberValues(context)
    replaceValues(at: slots, value)
    context?.noteChange(of: self)
  }

  private func setStoredValue(from value: Any?, at slot: Int) {
    let stored = stored(value, slot)
    setStoredValue(stored, at: slot)
    keepObject(value, of: stored, slot)
  }

  /// Loads the values. An object whose row is gone is marked deleted and reads as nil throughout.
  func fireFault() {
    guard let context = managedObjectContext else {
      preconditionFailure(
        "\(objectID) is a fault without a context, so its values can't be loaded: the context is gone, or was "
          + "reset. Keep it while its objects are in use.")
    }
    context.fulfillFault(self)
  }

  // Each object is itself alone: neither may be overridden (Apple documentation: NSManagedObject, "Subclassing Notes"),
  // and sets of objects stand in every notification.
  public final override var hash: Int { Int(bitPattern: ObjectIdentifier(self)) }
  public final override func isEqual(_ object: Any?) -> Bool { (object as? NSManagedObject) === self }

  open override var description: String {
    checkQueue()
    let name = entity.name ?? ""
    let pairs = entity.attributeSlots.indices.map { slot -> String in
      let attribute = entity.attributeSlots[slot]
      let value = isFault ? nil : attribute.foundationValue(from: values[slot])
      return "\(attribute.name) = " + (value.map { "\($0)" } ?? "nil")
    }
    let content = isFault ? "<fault>" : pairs.joined(separator: "; ")
    return "<\(type(of: self))> (entity: \(name); id: \(objectID); data: \(content))"
  }
}

/// Where an object stands in its life.
struct ObjectState: OptionSet {
  let rawValue: UInt16
  static let inserted = ObjectState(rawValue: 1)
  static let updated = ObjectState(rawValue: 2)
  static let deleted = ObjectState(rawValue: 4)
  static let fault = ObjectState(rawValue: 8)
  /// Inserted, with values newer than those packed in its segment.
  static let unpacked = ObjectState(rawValue: 16)
  /// In `awakeFromFetch` or `awake(fromSnapshotEvents:)`: what is set now is no change.
  static let awaking = ObjectState(rawValue: 32)
  /// A fault whose row was gone: deleted, its values all nil.
  static let inaccessible = ObjectState(rawValue: 64)
  /// Updated, and its row was deleted by others: a save writes it anew.
  static let recreated = ObjectState(rawValue: 128)
  /// In `willTurnIntoFault`.
  static let fading = ObjectState(rawValue: 256)
}

/// Faults of one fetch that load their rows together (`fetchBatchSize`).
final class FaultGroup {
  var members: [NSManagedObjectID]
  init(_ members: [NSManagedObjectID]) { self.members = members }
}
