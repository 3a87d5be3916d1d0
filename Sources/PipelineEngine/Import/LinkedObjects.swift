import Foundation
import OpenCoreData
import PersistentStores

/// What the store has of the objects that the records of a chunk lead to, beyond what identifies them.
struct LinkedObjects {
  /// An entry at the other end of a relationship that leads back to one.
  enum Holder: Hashable {
    case stored(key: Int64)
    /// The entry that a row of the chunk makes.
    case row(Int)
  }

  /// By target of the chunk and slot.
  private(set) var values: [Int32: [Int: StoredValue]] = [:]
  /// By link and target.
  private(set) var holders: [[Int32: Holder]] = []

  /// For a chunk without links.
  init() {}

  /// - Parameter cache: The values of objects that earlier chunks have led to.
  /// - Throws: `NSError` 133000 for an object that is gone.
  init(
    _ resolved: ResolvedLinks, in context: NSManagedObjectContext, _ cache: inout [NSManagedObjectID: [StoredValue]]
  ) throws {
    for link in resolved.links {
      try readValues(resolved, link, in: context, cache: &cache)
      holders.append(try Self.holders(resolved, link, in: context))
    }
  }

  private mutating func readValues(
    _ resolved: ResolvedLinks, _ link: ResolvedLinks.Link, in context: NSManagedObjectContext,
    cache: inout [NSManagedObjectID: [StoredValue]]
  ) throws {
    let slots = link.link.comparedSlots
    if slots.isEmpty { return }
    let stored = resolved.storedTargets(of: link) { element in
      link.values.compared.contains { $0[element] != .none }
    }
    let unknown = stored.filter { cache[$0.id] == nil }.map(\.id)
    if cache.count + unknown.count > Self.cachedMax { cache = [:] }
    let requested = cache.isEmpty ? stored.map(\.id) : unknown
    for (id, row) in zip(requested, try context.storedValues(withIDs: requested)) {
      guard let row else { throw NSError.missingObject(id.storeKey ?? 0, of: link.link.destinationName) }
      cache[id] = row
    }
    for (target, id) in stored {
      guard let row = cache[id] else { continue }
      for slot in slots {
        let name = link.link.entity.attributeSlots[slot].name
        let own = id.entity === link.link.entity ? slot : id.entity.slot(named: name)
        if let own { values[target, default: [:]][slot] = row[own] }
      }
    }
  }
  private static let cachedMax = 100_000

  private static func holders(
    _ resolved: ResolvedLinks, _ link: ResolvedLinks.Link, in context: NSManagedObjectContext
  ) throws -> [Int32: Holder] {
    guard link.link.isExclusive else { return [:] }
    let stored = resolved.storedTargets(of: link) { _ in true }
    var holders: [Int32: Holder] = [:]
    for (target, owner) in zip(stored, try context.owners(of: stored.map(\.id), over: link.link.relationship)) {
      if let key = owner?.storeKey { holders[target.target] = .stored(key: key) }
    }
    return holders
  }
}
