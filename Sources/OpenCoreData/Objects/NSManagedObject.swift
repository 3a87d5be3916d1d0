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
      if let identityGiven { return identityGiven }
      let made = NSManagedObjectID(entity: entity, range: TemporaryIDRange(count: 1), row: 0)
      identityGiven = made
      return made
    }
    set { identityGiven = newValue }
  }
  // Contexts give one at once: making another first would cost as much as the rest of the object.
  private var identityGiven: NSManagedObjectID?
  /// By slot; empty in a fault that has nothing loaded.
  var values: [StoredValue] = []
  /// The last committed values, kept from the first change on.
  var snapshot: [StoredValue]?
  var state: ObjectState = []
  /// `Z_OPT` of the row the values came from.
  var version: Int64 = 0
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

  /// Inserts a new object of the entity whose class this is.
  public convenience init(context: NSManagedObjectContext) {
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
  public var isInserted: Bool { state.contains(.inserted) }
  public var isUpdated: Bool { state.contains(.updated) }
  public var isDeleted: Bool { state.contains(.deleted) }
  public var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }
  public var isFault: Bool { state.contains(.fault) }
  /// True when saving would write a value that differs from the stored one.
  public var hasPersistentChangedValues: Bool {
    changedSlots.contains { !entity.attributeSlots[$0].isTransient }
  }

  // MARK: Lifecycle, for subclasses

  /// After insertion, once in an object's life; values set here are saved.
  open func awakeFromInsert() {}
  /// After a fault has got its values; values set here are no changes.
  open func awakeFromFetch() {}
  /// Before a save; changes made here are saved too.
  open func willSave() {}
  /// After a save.
  open func didSave() {}
  open func prepareForDeletion() {}
  open func willTurnIntoFault() {}
  open func didTurnIntoFault() {}

  // MARK: Keyed access

  /// The value of an attribute: NSNumber, NSDecimalNumber, String, Date, Data, UUID, URL or a transformable's object.
  open func value(forKey key: String) -> Any? {
    let slot = slot(key)
    return entity.attributeSlots[slot].foundationValue(from: storedValue(at: slot))
  }

  /// Sets an attribute; a value of a type that does not fit it is a programmer's error, as in Apple's framework.
  open func setValue(_ value: Any?, forKey key: String) {
    let slot = slot(key)
    setStoredValue(stored(value, slot), at: slot)
  }

  // MARK: Validation

  /// Checks one value against the model's rules.
  ///
  /// - Throws: `NSError` with one of Core Data's validation codes. Apple's method takes a pointer; this one may
  ///   replace the value through `inout` likewise.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    let slot = slot(key)
    try check(stored(value, slot), slot: slot)
  }

  open func validateForInsert() throws { try validateAttributes() }
  open func validateForUpdate() throws { try validateAttributes() }
  open func validateForDelete() throws {}

  // MARK: Values by slot

  func slot(_ key: String) -> Int {
    guard let slot = entity.slot(named: key) else {
      if let recorder = entity as? KeyRecordingEntity { return recorder.slot(asked: key) }
      preconditionFailure("The entity \(entity.name ?? "") is not key value coding-compliant for \"\(key)\".")
    }
    return slot
  }

  func storedValue(at slot: Int) -> StoredValue {
    if isFault { fireFault() }
    return values[slot]
  }

  func setStoredValue(_ value: StoredValue, at slot: Int) {
    if isFault { fireFault() }
    if !state.contains(.awaking), snapshot == nil { snapshot = values }
    values[slot] = value
    if !state.contains(.awaking) { managedObjectContext?.noteChange(of: self) }
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

  /// Slots whose value differs from the committed one.
  var changedSlots: [Int] {
    guard let snapshot else { return [] }
    return values.indices.filter { values[$0] != snapshot[$0] }
  }

  open override var description: String {
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
  /// In `awakeFromFetch`: what is set now is no change.
  static let awaking = ObjectState(rawValue: 32)
  /// A fault whose row was gone: deleted, its values all nil.
  static let inaccessible = ObjectState(rawValue: 64)
  /// Updated, and its row was deleted by others: a save writes it anew.
  static let recreated = ObjectState(rawValue: 128)
}

/// Faults of one fetch that load their rows together (`fetchBatchSize`).
final class FaultGroup {
  var members: [NSManagedObjectID]
  init(_ members: [NSManagedObjectID]) { self.members = members }
}
