/// The pending changes of an object's relationships, by name, on top of what the level below has.
///
/// They hold objects of the same context, which are registered and therefore one for each identity.
struct PendingRelationships {
  /// The objects that to-one relationships were set to.
  var one = PendingObjects()
  var many = NamedValues<PendingMembers>()

  var isEmpty: Bool { one.isEmpty && many.isEmpty }
  var names: [String] { many.isEmpty ? one.keys : one.isEmpty ? many.keys : one.keys + many.keys }
}

/// What an object has for relationships, by name. It has few of them, which are found faster one by one than in a table,
/// and take less memory.
struct NamedValues<Value>: Sequence {
  private var entries: [(name: String, value: Value)] = []

  init() {}
  init(_ name: String, _ value: Value?) { if let value { entries = [(name, value)] } }

  var isEmpty: Bool { entries.isEmpty }
  var keys: [String] { entries.map(\.name) }

  subscript(name: String) -> Value? {
    get { entries.first { $0.name == name }?.value }
    set {
      let index = entries.firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): entries[index].value = value
      case (let index?, nil): entries.remove(at: index)
      case (nil, let value?): entries.append((name, value))
      case (nil, nil): break
      }
    }
  }

  func makeIterator() -> IndexingIterator<[(name: String, value: Value)]> { entries.makeIterator() }

  /// Changes a value in place.
  mutating func change(_ name: String, default value: @autoclosure () -> Value, _ body: (inout Value) -> Void) {
    if let index = entries.firstIndex(where: { $0.name == name }) { return body(&entries[index].value) }
    var value = value()
    body(&value)
    entries.append((name, value))
  }
}

/// Changes of to-many relationships; none for one that was not changed.
extension NamedValues<PendingMembers> {
  mutating func change(_ name: String, _ body: (inout PendingMembers) -> Void) {
    change(name, default: PendingMembers(), body)
  }
}

/// Objects that to-one relationships were set to, by name. Most objects have one of them: it needs no table.
struct PendingObjects {
  private var first: (key: String, value: NSManagedObject?)?
  private var others: [String: NSManagedObject?] = [:]

  var isEmpty: Bool { first == nil && others.isEmpty }
  var keys: [String] { (first.map { [$0.key] } ?? []) + Array(others.keys) }

  /// Nil for a relationship that was not set.
  subscript(name: String) -> NSManagedObject?? {
    if let first, first.key == name { return .some(first.value) }
    return others.isEmpty ? nil : others[name]
  }

  mutating func updateValue(_ object: NSManagedObject?, forKey name: String) {
    if isEmpty || first?.key == name {
      first = (name, object)
    } else {
      others.updateValue(object, forKey: name)
    }
  }

  func forEach(_ body: (_ name: String, _ object: NSManagedObject?) -> Void) {
    if let first { body(first.key, first.value) }
    for (name, object) in others { body(name, object) }
  }
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
  func hasRemoved(_ object: NSManagedObject) -> Bool { !removed.isEmpty && removed.contains(object) }

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
    if applied(to: base) == base { self = PendingMembers() }
  }
}

/// Objects in the order of their addition.
///
/// A copy shares what it has with the original for as long as objects are only added to one of them: each event keeps a
/// copy of what there was at its start, and an object may have a million additions.
struct AddedMembers {
  private final class Storage {
    /// Nil at the index of an object that was removed.
    private(set) var objects: [NSManagedObject?]
    /// The indices of the objects, once there are so many that looking at each would take longer. By identity: an
    /// object's own hash and comparison can't be inlined.
    private var indices: [ObjectIdentifier: Int] = [:]
    private static let searchedMax = 16

    init(_ objects: [NSManagedObject] = []) {
      self.objects = objects
      if objects.count > Self.searchedMax { makeIndices() }
    }

    private func makeIndices() {
      for (index, object) in objects.enumerated() { if let object { indices[ObjectIdentifier(object)] = index } }
    }

    func index(of object: NSManagedObject) -> Int? {
      if objects.count > Self.searchedMax { return indices[ObjectIdentifier(object)] }
      return objects.firstIndex { $0 === object }
    }

    func append(_ object: NSManagedObject) {
      objects.append(object)
      if objects.count == Self.searchedMax + 1 {
        makeIndices()
      } else if objects.count > Self.searchedMax {
        indices[ObjectIdentifier(object)] = objects.count - 1
      }
    }

    func remove(at index: Int) {
      if let object = objects[index] { indices[ObjectIdentifier(object)] = nil }
      objects[index] = nil
    }
  }

  private var storage = Storage()
  /// Later elements of the storage belong to others.
  private var end = 0
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  var inOrder: [NSManagedObject] { isEmpty ? [] : storage.objects.prefix(end).compactMap(\.self) }

  func contains(_ object: NSManagedObject) -> Bool {
    storage.index(of: object).map { $0 < end } ?? false
  }

  func allSatisfy(_ condition: (NSManagedObject) -> Bool) -> Bool {
    storage.objects.prefix(end).allSatisfy { $0.map(condition) ?? true }
  }

  /// Adds an object at the end, or moves it there.
  mutating func append(_ object: NSManagedObject) {
    if storage.objects.count != end || storage.index(of: object) != nil { remove(object) }
    storage.append(object)
    end += 1
    count += 1
  }

  /// Afterwards the storage is the receiver's own, and does not have the object.
  mutating func remove(_ object: NSManagedObject) {
    makeUnique()
    guard let index = storage.index(of: object) else { return }
    storage.remove(at: index)
    count -= 1
  }

  /// Nothing is copied if the storage is the receiver's own, unless most of it is gaps.
  private mutating func makeUnique() {
    if isKnownUniquelyReferenced(&storage), storage.objects.count == end, end < 32 || count > end / 2 { return }
    storage = Storage(inOrder)
    end = count
  }
}
