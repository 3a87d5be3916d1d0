import Foundation

/// The destination instances that an entity mapping has made, each with its source object, in the order of their making.
///
/// Objects are kept by their keys: about 100 bytes for a pair. A destination instance is held as long as it is not saved,
/// because it has no key yet.
final class MappingAssociations {
  /// An object of a store.
  private struct Instance {
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
    let object: NSManagedObject
    let key: ObjectKey
  }

  /// The pairs of one object.
  private struct Chain {
    let first: Int32
    var last: Int32
  }

  private var pairs: [Pair] = []
  private var bySource: [ObjectKey: Chain] = [:]
  private var byDestination: [ObjectKey: Chain] = [:]
  private var unsaved: [Int32: Unsaved] = [:]
  private var spaces: [PermanentIDSpace] = []
  private var spaceNumbers: [SpaceName: Int32] = [:]

  private struct SpaceName: Hashable {
    let store: ObjectIdentifier
    let entity: ObjectIdentifier
  }

  var count: Int { pairs.count }

  // MARK: Adding

  func add(_ source: NSManagedObject, _ destination: NSManagedObject) {
    guard let origin = instance(source.objectID.resolved) else { return }
    let number = Int32(pairs.count)
    let id = destination.objectID.resolved
    let instance = instance(id)
    if instance == nil { unsaved[number] = Unsaved(object: destination, key: id.key) }
    pairs.append(Pair(source: origin, destination: instance))
    chain(number, to: source.key, in: &bySource, by: \.nextOfSource)
    chain(number, to: id.key, in: &byDestination, by: \.nextOfDestination)
  }

  private func chain(
    _ number: Int32, to key: ObjectKey, in table: inout [ObjectKey: Chain], by next: WritableKeyPath<Pair, Int32>
  ) {
    if let last = table[key]?.last {
      pairs[Int(last)][keyPath: next] = number
      table[key]?.last = number
    } else {
      table[key] = Chain(first: number, last: number)
    }
  }

  /// Nil for an object that is in no store.
  private func instance(_ id: NSManagedObjectID) -> Instance? {
    guard let key = id.storeKey, let store = id.storeIdentity else { return nil }
    let name = SpaceName(store: ObjectIdentifier(store), entity: ObjectIdentifier(id.entity))
    if let number = spaceNumbers[name] { return Instance(space: number, key: key) }
    let number = Int32(spaces.count)
    spaces.append(PermanentIDSpace(store, id.entity))
    spaceNumbers[name] = number
    return Instance(space: number, key: key)
  }

  /// Called after a save: notes the keys of the new objects.
  func noteSavedKeys() {
    for (number, waiting) in unsaved {
      let id = waiting.object.objectID.resolved
      guard let instance = instance(id) else { continue }
      pairs[Int(number)].destination = instance
      unsaved[number] = nil
      if let chain = byDestination.removeValue(forKey: waiting.key) { byDestination[id.key] = chain }
    }
  }

  /// Forgets destination instances that were deleted.
  func forget(_ deleted: Set<NSManagedObject>) {
    for object in deleted {
      guard var number = byDestination.removeValue(forKey: object.objectID.resolved.key)?.first else { continue }
      while number >= 0 {
        pairs[Int(number)].destination = nil
        unsaved[number] = nil
        number = pairs[Int(number)].nextOfDestination
      }
    }
  }

  func forgetAll() {
    pairs = []
    bySource = [:]
    byDestination = [:]
    unsaved = [:]
  }

  // MARK: Asking

  /// The destination instances of a source object.
  func destinations(of source: ObjectKey, in context: NSManagedObjectContext) -> [NSManagedObject] {
    numbers(bySource[source], \.nextOfSource).compactMap { object($0, in: context) }
  }

  /// The source objects of a destination instance.
  func sources(of destination: ObjectKey) -> [NSManagedObjectID] {
    numbers(byDestination[destination], \.nextOfDestination).map { id(pairs[Int($0)].source) }
  }

  /// The destination instances of the pairs in `range`, each once, with the source object that each was made of first.
  func instances(_ range: Range<Int>, in context: NSManagedObjectContext) -> [(NSManagedObject, NSManagedObjectID)] {
    range.clamped(to: pairs.indices).compactMap { position in
      let number = Int32(position)
      guard let object = object(number, in: context), byDestination[object.key]?.first == number else { return nil }
      return (object, id(pairs[position].source))
    }
  }

  func allSources() -> [NSManagedObjectID] { pairs.map { id($0.source) } }

  private func numbers(_ chain: Chain?, _ next: KeyPath<Pair, Int32>) -> [Int32] {
    guard let chain else { return [] }
    var numbers = [chain.first]
    while let last = numbers.last, pairs[Int(last)][keyPath: next] >= 0 {
      numbers.append(pairs[Int(last)][keyPath: next])
    }
    return numbers
  }

  private func object(_ number: Int32, in context: NSManagedObjectContext) -> NSManagedObject? {
    if let instance = pairs[Int(number)].destination { return context.object(with: id(instance)) }
    guard let object = unsaved[number]?.object, !object.isDeleted, object.managedObjectContext != nil else {
      return nil
    }
    return object
  }

  private func id(_ instance: Instance) -> NSManagedObjectID {
    NSManagedObjectID(space: spaces[Int(instance.space)], key: instance.key)
  }
}
