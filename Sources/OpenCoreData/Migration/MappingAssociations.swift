import Foundation

/// The destination instances that an entity mapping has made, each with its source object, in the order of their making.
///
/// Objects are kept by their keys: about 75 bytes for a pair. Those that are not saved are kept by their places among the
/// insertions of the context, which holds them.
final class MappingAssociations {
  /// An object of a store.
  struct Instance {
    let space: Int32
    let key: Int64
  }

  private struct Pair {
    let source: Instance
    /// Nil while the object is not saved, and after it was deleted.
    var destination: Instance?
    /// The next pairs with the same source, and with the same destination; -1 for none.
    var nextOfSource: Int32 = -1
    var nextOfDestination: Int32 = -1
  }

  /// A destination instance without a key in the store.
  private struct Unsaved {
    let pair: Int32
    let row: Int32
    let range: TemporaryIDRange

    var id: NSManagedObjectID { NSManagedObjectID(range: range, row: Int(row)) }
    /// No other object of the process has it.
    var number: UInt64 { range.first + UInt64(row) }
  }

  // Unchecked: a check for each access would cost more than the access. One thread uses the object, and no closure that
  // is called here gets to it again.
  @exclusivity(unchecked) private var pairs: [Pair] = []
  @exclusivity(unchecked) private var bySource = PairIndex()
  @exclusivity(unchecked) private var byDestination = PairIndex()
  /// Ascending by pair.
  @exclusivity(unchecked) private var unsaved: [Unsaved] = []
  /// The pairs of unsaved objects by number, as far as it was asked for them.
  private var byUnsaved: [UInt64: [Int32]] = [:]
  private var unsavedSeen = 0
  @exclusivity(unchecked) private(set) var spaces: [PermanentIDSpace] = []

  var count: Int { pairs.count }

  // MARK: Adding

  func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
    guard let origin = instance(source) else { return }
    let number = Int32(pairs.count)
    let instance = instance(destination)
    pairs.append(Pair(source: origin, destination: instance))
    chain(number, to: spaces[Int(origin.space)].key(origin.key), in: &bySource, by: \.nextOfSource)
    if let instance {
      chain(number, to: spaces[Int(instance.space)].key(instance.key), in: &byDestination, by: \.nextOfDestination)
    } else if let (range, row) = destination.unsavedPlace {
      unsaved.append(Unsaved(pair: number, row: Int32(row), range: range))
    }
  }

  private func chain(
    _ number: Int32, to key: ObjectKey, in index: inout PairIndex, by next: WritableKeyPath<Pair, Int32>
  ) {
    guard let first = index[key] else { return index.set(number, for: key) }
    guard first < number else {
      pairs[Int(number)][keyPath: next] = first
      return index.set(number, for: key)
    }
    var last = first
    while case let following = pairs[Int(last)][keyPath: next], following >= 0 { last = following }
    pairs[Int(last)][keyPath: next] = number
  }

  /// Nil for an object that is in no store.
  private func instance(_ object: NSManagedObject) -> Instance? {
    if let (store, key) = object.storedKey { return Instance(space: number(of: store, object.entity), key: key) }
    return nil
  }

  private func number(of store: StoreIdentity, _ entity: NSEntityDescription) -> Int32 {
    if let known = spaces.firstIndex(where: { $0.entity === entity && $0.store === store }) { return Int32(known) }
    spaces.append(PermanentIDSpace(store, entity))
    return Int32(spaces.count - 1)
  }

  /// Called after a save of `context`: notes the keys of the new objects.
  func noteSavedKeys(in context: NSManagedObjectContext) {
    guard !unsaved.isEmpty else { return }
    var rest: [Unsaved] = []
    for waiting in unsaved {
      guard let (store, key) = waiting.range.permanent(row: Int(waiting.row)) else {
        // One that was deleted again never gets a key.
        let mayBePending = waiting.range.revision == 0 || context.registeredObject(for: waiting.id) != nil
        if mayBePending { rest.append(waiting) }
        continue
      }
      let instance = Instance(space: number(of: store, waiting.range.entity), key: key)
      pairs[Int(waiting.pair)].destination = instance
      chain(
        waiting.pair, to: spaces[Int(instance.space)].key(key), in: &byDestination, by: \.nextOfDestination)
    }
    unsaved = rest
    (byUnsaved, unsavedSeen) = ([:], 0)
  }

  /// Forgets destination instances that were deleted.
  func forget(_ deleted: Set<NSManagedObject>) {
    for object in deleted {
      guard var number = byDestination.remove(object.objectID.resolved.key) else { continue }
      while number >= 0 {
        pairs[Int(number)].destination = nil
        number = pairs[Int(number)].nextOfDestination
      }
    }
  }

  func forgetAll() {
    pairs = []
    (bySource, byDestination) = (PairIndex(), PairIndex())
    unsaved = []
    (byUnsaved, unsavedSeen) = ([:], 0)
  }

  // MARK: Asking

  /// The destination instances of a source object.
  func destinations(of source: ObjectKey, in context: NSManagedObjectContext) -> [NSManagedObject] {
    var found: [NSManagedObject] = []
    appendDestinations(of: source, in: context, to: &found)
    return found
  }

  func appendDestinations(of source: ObjectKey, in context: NSManagedObjectContext, to found: inout [NSManagedObject]) {
    forEachPair(of: source) { number in
      if let object = object(number, in: context) { found.append(object) }
    }
  }

  /// Calls `body` with the key and the space of each destination instance of a source object.
  ///
  /// - Returns: False if one of them is not saved.
  func forEachDestination(of source: ObjectKey, _ body: (_ space: Int, _ key: Int64) -> Void) -> Bool {
    var isSaved = true
    forEachPair(of: source) { number in
      if let instance = pairs[Int(number)].destination {
        body(Int(instance.space), instance.key)
      } else if waiting(number) != nil {
        isSaved = false
      }
    }
    return isSaved
  }

  @inline(__always)
  private func forEachPair(of source: ObjectKey, _ body: (Int32) -> Void) {
    var number = bySource[source] ?? -1
    while number >= 0 {
      body(number)
      number = pairs[Int(number)].nextOfSource
    }
  }

  /// The source objects of a destination instance.
  func sources(of destination: NSManagedObject) -> [NSManagedObjectID] {
    guard let (store, key) = destination.storedKey else {
      return unsavedPairs(of: destination).map { id(pairs[Int($0)].source) }
    }
    let space = spaces[Int(self.number(of: store, destination.entity))]
    var (found, number) = ([NSManagedObjectID](), byDestination[space.key(key)] ?? -1)
    while number >= 0 {
      found.append(id(pairs[Int(number)].source))
      number = pairs[Int(number)].nextOfDestination
    }
    // A policy may have saved it since it was associated.
    return found.isEmpty ? unsavedPairs(of: destination).map { id(pairs[Int($0)].source) } : found
  }

  /// The pairs of an object that had no key when it was associated.
  private func unsavedPairs(of object: NSManagedObject) -> [Int32] {
    object.unsavedPlace.map { unsavedPairs(of: $0.range.first + UInt64($0.row)) } ?? []
  }

  private func unsavedPairs(of number: UInt64) -> [Int32] {
    for waiting in unsaved[unsavedSeen...] { byUnsaved[waiting.number, default: []].append(waiting.pair) }
    unsavedSeen = unsaved.count
    return byUnsaved[number] ?? []
  }

  /// The destination instances of the pairs in `range`, each once, with the source object that each was made of first.
  func instances(_ range: Range<Int>, in context: NSManagedObjectContext) -> [(NSManagedObject, NSManagedObjectID)] {
    range.clamped(to: pairs.indices).compactMap { position in
      guard isFirst(position), let object = object(Int32(position), in: context) else { return nil }
      return (object, id(pairs[position].source))
    }
  }

  /// Whether the pair is the first one of its destination instance.
  private func isFirst(_ position: Int) -> Bool {
    if let instance = pairs[position].destination {
      return byDestination[spaces[Int(instance.space)].key(instance.key)] == Int32(position)
    }
    guard let waiting = waiting(Int32(position)) else { return false }
    return unsavedPairs(of: waiting.number).first == Int32(position)
  }

  /// As `instances(_:in:)`, as keys; nil if an instance is not saved.
  func keys(_ range: Range<Int>) -> [(destination: Instance, source: Instance)]? {
    var found: [(destination: Instance, source: Instance)] = []
    found.reserveCapacity(range.count)
    for position in range.clamped(to: pairs.indices) {
      if let instance = pairs[position].destination {
        if isFirst(position) { found.append((instance, pairs[position].source)) }
      } else if waiting(Int32(position)) != nil {
        return nil
      }
    }
    return found
  }

  func allSources() -> [NSManagedObjectID] { pairs.map { id($0.source) } }

  private func object(_ number: Int32, in context: NSManagedObjectContext) -> NSManagedObject? {
    if let instance = pairs[Int(number)].destination { return context.object(with: id(instance)) }
    guard let waiting = waiting(number) else { return nil }
    // Mostly it waits for a save.
    if let object = context.pendingObject(in: waiting.range, row: Int(waiting.row)) { return object }
    // A policy may have saved it.
    if waiting.range.permanent(row: Int(waiting.row)) != nil { return context.object(with: waiting.id) }
    return context.registeredObject(for: waiting.id).flatMap { $0.isDeleted ? nil : $0 }
  }

  private func waiting(_ number: Int32) -> Unsaved? {
    guard let first = unsaved.first?.pair, number >= first else { return nil }
    // Mostly those of a batch follow each other.
    var position = Int(number - first)
    if position >= unsaved.count || unsaved[position].pair != number {
      position = unsaved.partitioningIndex { $0.pair >= number }
      guard position < unsaved.count, unsaved[position].pair == number else { return nil }
    }
    return unsaved[position]
  }

  func id(_ instance: Instance) -> NSManagedObjectID {
    NSManagedObjectID(space: spaces[Int(instance.space)], key: instance.key)
  }
}

extension Array {
  /// The first position whose element meets a condition that all later ones meet too.
  fileprivate func partitioningIndex(_ condition: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if condition(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
