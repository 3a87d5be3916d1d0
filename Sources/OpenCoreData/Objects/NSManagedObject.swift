import Foundation

/// An object of the graph: a light handle on values that its context keeps. (Apple documentation: NSManagedObject.)
///
/// It belongs to its context's queue and holds the context weakly. Subclasses are generated from the model, or
/// written by hand; a hand-written one may override `lifecycleHooks` to say which hooks it has.
open class NSManagedObject: NSObject {
  public let entity: NSEntityDescription
  public internal(set) weak var managedObjectContext: NSManagedObjectContext?

  /// Temporary and of its own alone until a context or a store gives another.
  var identity: NSManagedObjectID {
    get {
      if let known = identityLearnt ?? identityGiven { return known }
      let made = NSManagedObjectID(entity: entity, range: TemporaryIDRange(count: 1), row: 0)
      identityGiven = made
      return made
    }
    set {
      identityGiven = newValue
      identityLearnt = nil
    }
  }
  /// What another queue may ask for, where a notification has brought it the object.
  var identityToShare: NSManagedObjectID { identityGiven?.resolved ?? objectID }
  // Contexts give one at once: making another first would cost as much as the rest of the object.
  private var identityGiven: NSManagedObjectID?
  /// The permanent identity that was learnt after the object had been announced. Kept apart, so that what other queues
  /// look at stands still.
  var identityLearnt: NSManagedObjectID?
  /// By slot; empty in a fault that has nothing loaded.
  var values: [StoredValue] = []
  /// The last committed values, kept from the first change on.
  var snapshot: [StoredValue]?
  /// The values at the start of the context's event `eventNumber`, in which the last change was made.
  var eventSnapshot: [StoredValue]?
  var eventNumber: UInt64 = 0
  /// By slot, what transformables were set to or last read as.
  var transformedObjects: [Int: TransformedObject]?
  var state: ObjectState = []
  /// `Z_OPT` of the row the values came from.
  var version: Int64 = 0
  /// What relationships were found to lead to; nil where none was asked for.
  var related: RelatedIDs?
  /// The faults whose rows come in together with this one's.
  var faultGroup: FaultGroup?

  /// The lifecycle methods this class overrides; all of them unless it says otherwise.
  open class var lifecycleHooks: LifecycleHooks { self == NSManagedObject.self ? [] : .all }

  /// Makes an object and inserts it into `context`, or makes one without a context.
  public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    precondition(!entity.isAbstract, "Objects of the abstract entity \(entity.name ?? "") can't be made.")
    self.entity = entity
    super.init()
    values = entity.layout.defaultValues
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
    return values[slot]
  }

  func setStoredValue(_ value: StoredValue, at slot: Int) {
    checkQueue(slot: slot)
    if state.contains(.fault) { fireFault() }
    if state.contains(.awaking) { return setAwaking(value, at: slot) }
    let context = managedObjectContext
    rememberValues(context)
    values[slot] = value
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
