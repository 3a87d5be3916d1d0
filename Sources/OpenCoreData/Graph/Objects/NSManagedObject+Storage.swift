import Foundation

/// The parts of an object. Some are allocated only when they are needed.
extension NSManagedObject {
  // MARK: ID

  /// The object's ID. Temporary and made for this object alone until a context or a store gives another.
  var identity: NSManagedObjectID {
    if let permanentID = auxiliaryIfPresent?.permanentID { return permanentID }
    let own = ownID ?? NSManagedObjectID(range: TemporaryIDRange(count: 1, of: entity), row: 0)
    if ownID == nil { assignedID = own }
    return isInStore ? own.resolved : own
  }

  /// The key of `identity`, for which an object of a packed row makes no ID.
  var key: ObjectKey {
    if assignedID == nil, auxiliaryIfPresent?.permanentID == nil, let storage = batchStorage,
      case .stored(let space) = storage.ids
    {
      return space.key(number)
    }
    return identity.key
  }

  /// The object's store and its key there, once it has one. Makes no ID.
  var storedKey: (store: StoreIdentity, key: Int64)? {
    if assignedID == nil, auxiliaryIfPresent?.permanentID == nil, let storage = batchStorage {
      switch storage.ids {
      case .stored(let space): return (space.store, number)
      case .temporary(let range): return range.permanent(row: Int(number))
      }
    }
    let id = identity.resolved
    guard let key = id.storeKey, let store = id.storeIdentity else { return nil }
    return (store, key)
  }

  /// The place of an object that was inserted and has no key yet. Makes no ID.
  var unsavedPlace: (range: TemporaryIDRange, row: Int)? {
    if assignedID == nil, let storage = batchStorage, case .temporary(let range) = storage.ids {
      return (range, Int(number))
    }
    guard case .temporary(let range, let row) = identity.reference else { return nil }
    return (range, row)
  }

  /// From now on the object has `permanentID`. What other queues read (`idForOtherQueues`) stays as it was.
  func setPermanentID(_ permanentID: NSManagedObjectID) { auxiliary.permanentID = permanentID }

  /// The ID for another queue that received the object in a notification.
  var idForOtherQueues: NSManagedObjectID { ownID?.resolved ?? objectID }

  private var ownID: NSManagedObjectID? { assignedID ?? batchStorage?.id(number) }

  /// Called before the object gets another storage. An object that goes leaves its slot in the table of its last storage
  /// only, so it must not have one in another context's table.
  func leaveUnheldSlot(for new: ObjectStorage) {
    guard unheldSlot >= 0, let storage, storage.unheld !== new.unheld else { return }
    storage.unheld.forget(self, at: unheldSlot)
    unheldSlot = -1
  }

  var batchStorage: BatchStorage? { storage as? BatchStorage }

  /// Whether the object is one of `context`, which is known to exist.
  func belongs(to context: NSManagedObjectContext) -> Bool {
    !isUnregistered && storage?.unheld === context.graph.registry.unheld
  }

  // MARK: Values

  /// The batch from which a value can be read directly; nil if the access needs further work or checks.
  @inline(__always)
  var directStorage: BatchStorage? {
    loaded == nil && !state.contains(.fault) && !WatchedReads.isOn ? batchStorage : nil
  }

  /// By slot; empty in a fault without values.
  var values: [StoredValue] {
    if let loaded { return loaded }
    let values = batchStorage?.batch.values(row: Int(row)) ?? entity.layout.defaultValues
    loaded = values
    return values
  }

  /// Gives an object without a context the model's defaults.
  func resetToDefaults() {
    loaded = entity.layout.defaultValues
    snapshot = nil
  }

  /// An object that has left its context is to be inserted again, with `values`.
  func beginAgain(with values: [StoredValue]) {
    loaded = values
    snapshot = entity.layout.defaultValues
    dropPending()
  }

  /// Whether the object has values, loaded or packed.
  var hasValues: Bool { loaded?.isEmpty != true }

  /// Materialises the values, so that the batch can be freed.
  func unpack() { _ = values }

  /// One value, without materialising the others.
  func currentValue(at slot: Int) -> StoredValue {
    if let loaded { return loaded[slot] }
    if let storage = batchStorage { return storage.value(row: Int(row), slot: slot) }
    return values[slot]
  }

  func replaceValue(_ value: StoredValue, at slot: Int) { replaceValues(at: CollectionOfOne(slot)) { _ in value } }

  /// The object is about to have values of its own.
  private func endFreshness() {
    if state.contains(.written) { rememberValues(managedObjectContext) }
    becomeUnpacked()
  }

  func replaceValues(at slots: some Collection<Int>, _ value: (_ slot: Int) -> StoredValue) {
    if state.contains(.fresh) { endFreshness() }
    var replaced = values
    // `loaded` is nil during the change, so that the array has one owner and is not copied; and `value` must not read
    // the object, so that reads need no exclusivity check.
    loaded = nil
    for slot in slots { replaced[slot] = value(slot) }
    loaded = replaced
  }

  /// The last committed values, kept from the first change on. An inserted row's object counts as changed from the
  /// defaults, as an object does that began with these and was then set.
  var snapshot: [StoredValue]? {
    get { auxiliaryIfPresent?.snapshot ?? (beganWithDefaults ? entity.layout.defaultValues : nil) }
    set {
      beganWithDefaults = false
      if auxiliaryIfPresent != nil || newValue != nil { auxiliary.snapshot = newValue }
    }
  }

  var hasSnapshot: Bool { beganWithDefaults || auxiliaryIfPresent?.snapshot != nil }

  // MARK: State that few objects have

  /// Allocated at the first use; `auxiliaryIfPresent` does not allocate.
  var auxiliary: AuxiliaryState {
    if let auxiliaryIfPresent { return auxiliaryIfPresent }
    let made = AuxiliaryState()
    auxiliaryIfPresent = made
    return made
  }

  var faultGroup: FaultGroup? {
    get { auxiliaryIfPresent?.faultGroup }
    set { if auxiliaryIfPresent != nil || newValue != nil { auxiliary.faultGroup = newValue } }
  }

  /// The files of values that read as nil because these are missing, by slot, without values that were set since.
  var leftOut: [Int: String] {
    get {
      guard let files = auxiliaryIfPresent?.leftOut, !files.isEmpty else { return [:] }
      return files.filter { slot, _ in currentValue(at: slot) == .null }
    }
    set { if auxiliaryIfPresent != nil || !newValue.isEmpty { auxiliary.leftOut = newValue } }
  }

  /// Called after a save: a value that was set and saved does not belong to a missing file any more, also if it is nil
  /// again later.
  func forgetReplacedFiles() {
    guard auxiliaryIfPresent?.leftOut.isEmpty == false else { return }
    leftOut = leftOut
  }

  /// Changes of relationships that the context has not saved yet; nil if there are none.
  var pending: PendingRelationships? {
    if storage?.packedLinks.areIncomplete == true { managedObjectContext?.linkPackedRows() }
    return unpackedPending
  }

  /// The same without what is packed in rows.
  var unpackedPending: PendingRelationships? {
    guard let pending = auxiliaryIfPresent?.pending, !pending.isEmpty else { return nil }
    return pending
  }

  /// The object that a to-one relationship was set to, without what is packed in rows.
  func unpackedLink(_ name: String) -> NSManagedObject? { auxiliaryIfPresent?.pending.one[name] ?? nil }

  func dropPending() {
    guard let auxiliaryIfPresent else { return }
    if !auxiliaryIfPresent.pending.isEmpty { auxiliaryIfPresent.pending = PendingRelationships() }
    if !auxiliaryIfPresent.eventPending.isEmpty { auxiliaryIfPresent.eventPending = PendingRelationships() }
  }

  var related: RelatedIDs? {
    get { auxiliaryIfPresent?.related }
    set { if auxiliaryIfPresent != nil || newValue != nil { auxiliary.related = newValue } }
  }

  // MARK: Making and forgetting

  /// The entity with this class in the model of `context`. Stops the program if there is none.
  static func entity(in context: NSManagedObjectContext) -> NSEntityDescription {
    guard let entity = context.entity(ofClass: Self.self) else {
      preconditionFailure(
        "No entity of the model has the class \(Self.self). Check its representedClassName, "
          + "and that the context has a coordinator.")
    }
    return entity
  }

  /// The context was reset: a fault that reads as nil and can't be changed.
  func becomeForgotten() {
    becomeFault()
    leaveContext()
    loaded = entity.layout.nullValues
  }
}
