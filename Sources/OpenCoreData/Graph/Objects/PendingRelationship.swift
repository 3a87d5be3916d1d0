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
  /// The added objects with a number that grows with each addition.
  private var added: [NSManagedObject: Int] = [:]
  private var additions = 0
  /// Objects that the level below may have. One that was also added is there, at the end if the relationship is ordered.
  private(set) var removed: Set<NSManagedObject> = []
  /// All objects in order, once an order was set that removals and additions at the end can't express.
  private(set) var order: [NSManagedObject]?

  var isEmpty: Bool { added.isEmpty && removed.isEmpty && order == nil }
  var addedInOrder: [NSManagedObject] {
    added.count < 2 ? Array(added.keys) : added.sorted { $0.value < $1.value }.map(\.key)
  }

  /// Whether nothing was removed or arranged, and all added objects meet `condition`.
  func hasOnlyAdded(_ condition: (NSManagedObject) -> Bool) -> Bool {
    removed.isEmpty && order == nil && added.keys.allSatisfy(condition)
  }

  func hasAdded(_ object: NSManagedObject) -> Bool { added[object] != nil }

  /// What the relationship has if the level below has `base`.
  func applied(to base: [NSManagedObject]) -> [NSManagedObject] {
    let kept = base.filter { !removed.contains($0) && added[$0] == nil }
    guard let order else { return kept + addedInOrder }
    // The level below may have other members since the order was set; new ones are behind the others.
    let (named, members) = (Set(order), Set(kept).union(added.keys))
    return order.filter(members.contains) + kept.filter { !named.contains($0) }
  }

  mutating func add(_ object: NSManagedObject) {
    additions += 1
    added[object] = additions
    order?.removeAll { $0 === object }
    order?.append(object)
  }

  /// Brings added objects into this order, behind the others.
  mutating func reorder(_ objects: [NSManagedObject]) {
    let moved = objects.filter { added[$0] != nil }
    for object in moved {
      additions += 1
      added[object] = additions
    }
    order = order.map { known in known.filter { !moved.contains($0) } + moved }
  }

  /// Takes a removal back.
  mutating func keep(_ object: NSManagedObject) { removed.remove(object) }

  /// - Parameter base: Whether the level below may have the object.
  mutating func remove(_ object: NSManagedObject, mayBeBelow base: Bool) {
    added[object] = nil
    if base { removed.insert(object) }
    order?.removeAll { $0 === object }
  }

  mutating func setOrder(_ objects: [NSManagedObject]) { order = objects }

  /// Leaves out what changes nothing if the level below has `base`.
  mutating func normalize(_ base: [NSManagedObject], isOrdered: Bool) {
    let below = Set(base)
    removed.formIntersection(below)
    guard isOrdered else {
      for object in Array(added.keys) where below.contains(object) {
        added[object] = nil
        removed.remove(object)
      }
      return
    }
    if order == base { self = PendingMembers() }
  }
}
