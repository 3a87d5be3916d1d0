/// The pending changes of an object's relationships, by name, on top of what the level below has.
///
/// They hold objects of the same context, which are registered and therefore one for each identity.
struct PendingRelationships {
  /// The objects that to-one relationships were set to.
  var one: [String: NSManagedObject?] = [:]
  var many: [String: PendingMembers] = [:]

  var isEmpty: Bool { one.isEmpty && many.isEmpty }
  var names: [String] { Array(one.keys) + Array(many.keys) }
}

/// The pending change of a to-many relationship: what was added and removed. The relationship need not be read for it.
struct PendingMembers {
  private(set) var added = AddedMembers()
  /// Objects that the level below may have. One that was also added is there, at the end if the relationship is ordered.
  private(set) var removed: Set<NSManagedObject> = []
  /// All objects in order, once an order was set that removals and additions at the end can't express.
  private(set) var order: [NSManagedObject]?

  var isEmpty: Bool { added.isEmpty && removed.isEmpty && order == nil }
  var addedInOrder: [NSManagedObject] { added.inOrder }

  /// Whether nothing was removed or arranged, and all added objects meet `condition`.
  func hasOnlyAdded(_ condition: (NSManagedObject) -> Bool) -> Bool {
    removed.isEmpty && order == nil && added.allSatisfy(condition)
  }

  func hasAdded(_ object: NSManagedObject) -> Bool { added.contains(object) }

  /// What the relationship has if the level below has `base`.
  func applied(to base: [NSManagedObject]) -> [NSManagedObject] {
    let kept = base.filter { !removed.contains($0) && !added.contains($0) }
    guard let order else { return kept + addedInOrder }
    // The level below may have other members since the order was set; new ones are behind the others.
    let (named, members) = (Set(order), Set(kept).union(addedInOrder))
    return order.filter(members.contains) + kept.filter { !named.contains($0) }
  }

  mutating func add(_ object: NSManagedObject) {
    added.append(object)
    order?.removeAll { $0 === object }
    order?.append(object)
  }

  /// Brings added objects into this order, behind the others.
  mutating func reorder(_ objects: [NSManagedObject]) {
    let moved = objects.filter(added.contains)
    for object in moved { added.append(object) }
    order = order.map { known in known.filter { !moved.contains($0) } + moved }
  }

  /// Takes a removal back.
  mutating func keep(_ object: NSManagedObject) { removed.remove(object) }

  /// - Parameter base: Whether the level below may have the object.
  mutating func remove(_ object: NSManagedObject, mayBeBelow base: Bool) {
    added.remove(object)
    if base { removed.insert(object) }
    order?.removeAll { $0 === object }
  }

  mutating func setOrder(_ objects: [NSManagedObject]) { order = objects }

  /// Leaves out what changes nothing if the level below has `base`.
  mutating func normalize(_ base: [NSManagedObject], isOrdered: Bool) {
    let below = Set(base)
    removed.formIntersection(below)
    guard isOrdered else {
      for object in addedInOrder where below.contains(object) {
        added.remove(object)
        removed.remove(object)
      }
      return
    }
    if order == base { self = PendingMembers() }
  }
}

/// Objects in the order of their addition.
///
/// A copy shares what it has with the original for as long as objects are only added to one of them: each event keeps a
/// copy of what there was at its start, and an object may have a million additions.
struct AddedMembers {
  private final class Storage {
    /// The objects with a number that grows with each addition.
    var numbers: [NSManagedObject: Int]
    var last: Int

    init(_ numbers: [NSManagedObject: Int] = [:], last: Int = 0) {
      self.numbers = numbers
      self.last = last
    }
  }

  private var storage = Storage()
  /// Later numbers of the storage belong to others.
  private var last = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }
  /// What copies have in common.
  var storageIdentity: ObjectIdentifier { ObjectIdentifier(storage) }

  var inOrder: [NSManagedObject] {
    if isEmpty { return [] }
    return storage.numbers.filter { $0.value <= last }.sorted { $0.value < $1.value }.map(\.key)
  }

  func contains(_ object: NSManagedObject) -> Bool { storage.numbers[object].map { $0 <= last } ?? false }

  func allSatisfy(_ condition: (NSManagedObject) -> Bool) -> Bool {
    storage.numbers.allSatisfy { $0.value > last || condition($0.key) }
  }

  /// Adds an object at the end, or moves it there.
  mutating func append(_ object: NSManagedObject) {
    if storage.last != last || storage.numbers[object] != nil { makeUnique() }
    if storage.numbers[object] == nil { count += 1 }
    last += 1
    storage.last = last
    storage.numbers[object] = last
  }

  mutating func remove(_ object: NSManagedObject) {
    guard contains(object) else { return }
    makeUnique()
    storage.numbers[object] = nil
    count -= 1
  }

  private mutating func makeUnique() {
    if isKnownUniquelyReferenced(&storage), storage.last == last { return }
    storage = Storage(storage.numbers.filter { $0.value <= last }, last: last)
  }
}
