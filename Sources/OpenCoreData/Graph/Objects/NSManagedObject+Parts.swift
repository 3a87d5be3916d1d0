import Foundation

/// What an object is made of, some of it only where it is needed.
extension NSManagedObject {
  // MARK: Identity

  /// Temporary and of its own alone until a context or a store gives another.
  var identity: NSManagedObjectID {
    get {
      if let learnt = rare?.identityLearnt { return learnt }
      let own = identityOfItsOwn ?? NSManagedObjectID(range: TemporaryIDRange(count: 1, of: entity), row: 0)
      if identityOfItsOwn == nil { identityGiven = own }
      return isInStore ? own.resolved : own
    }
    set {
      identityGiven = newValue
      rare?.identityLearnt = nil
    }
  }

  /// What another queue may ask for, where a notification has brought it the object.
  var identityToShare: NSManagedObjectID { identityOfItsOwn?.resolved ?? objectID }

  private var identityOfItsOwn: NSManagedObjectID? { identityGiven ?? packedHome?.id(number) }

  var packedHome: PackedHome? { home as? PackedHome }

  /// Makes the object one of those that share `home`, with an identity from there.
  ///
  /// - Parameters:
  ///   - number: What its identity is there.
  ///   - row: Where its values are, unless it has some already.
  func moveIn(_ home: PackedHome, number: Int64, row: Int) {
    self.home = home
    self.number = number
    self.row = Int32(truncatingIfNeeded: row)
    isDismissed = false
    isInStore = false
    identityGiven = nil
    rare?.identityLearnt = nil
  }

  /// A handle on a packed row: its values stay there until they are asked for.
  static func handle(
    _ entity: NSEntityDescription, _ home: PackedHome, number: Int64, row: Int, _ state: ObjectState
  ) -> Self {
    let object = Self.init(entity: entity, insertInto: nil)
    object.moveIn(home, number: number, row: row)
    // Whatever its initialiser has set.
    object.loaded = nil
    object.rare = nil
    object.state = state
    return object
  }

  // MARK: Values

  /// Where a value can be read at once, as it is packed: nil where there is more to do, or to check.
  @inline(__always)
  var openHome: PackedHome? {
    loaded == nil && !state.contains(.fault) && !ConcurrencyDebug.isOn ? packedHome : nil
  }

  /// By slot; empty in a fault that has nothing loaded.
  var values: [StoredValue] {
    get {
      if let loaded { return loaded }
      let values = packedHome?.batch.values(row: Int(row)) ?? entity.layout.defaultValues
      loaded = values
      return values
    }
    set { loaded = newValue }
  }

  /// Whether there are values, or would be if they were asked for.
  var hasValues: Bool { loaded?.isEmpty != true }

  /// Takes the values out of the batch, which may go then.
  func unpack() { _ = values }

  /// One value, without taking out the others.
  func valueThere(at slot: Int) -> StoredValue {
    if let loaded { return loaded[slot] }
    if let home = packedHome { return home.value(row: Int(row), slot: slot) }
    return values[slot]
  }

  func replaceValue(_ value: StoredValue, at slot: Int) { replaceValues(at: CollectionOfOne(slot)) { _ in value } }

  func replaceValues(at slots: some Collection<Int>, _ value: (_ slot: Int) -> StoredValue) {
    var replaced = values
    // Held nowhere else, so that the array is not copied; and read from nowhere else, so that reading needs no check.
    loaded = nil
    for slot in slots { replaced[slot] = value(slot) }
    loaded = replaced
  }

  /// The last committed values, kept from the first change on. A handle on an inserted row counts as changed from the
  /// defaults: as one that began with these and then was set.
  var snapshot: [StoredValue]? {
    get { rare?.snapshot ?? (beganWithDefaults ? entity.layout.defaultValues : nil) }
    set {
      beganWithDefaults = false
      if rare != nil || newValue != nil { parts.snapshot = newValue }
    }
  }

  // MARK: What few objects have

  var parts: RareParts {
    if let rare { return rare }
    let made = RareParts()
    rare = made
    return made
  }

  var faultGroup: FaultGroup? {
    get { rare?.faultGroup }
    set { if rare != nil || newValue != nil { parts.faultGroup = newValue } }
  }

  var related: RelatedIDs? {
    get { rare?.related }
    set { if rare != nil || newValue != nil { parts.related = newValue } }
  }
}
