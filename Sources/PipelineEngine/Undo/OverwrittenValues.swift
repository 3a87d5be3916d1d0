import Foundation
import ManagedObjectModel
import OpenCoreData
import PersistentStores

/// The values that entries had before some inputs updated them, and the versions that the updates gave them.
struct OverwrittenValues {
  private struct Entry {
    /// The version that the last update gave it.
    let newestVersion: Int64
    /// The version before the oldest update so far.
    var version: Int64
    /// By attribute.
    var values: [String: StoredValue]
  }

  private var entries: [Int64: Entry] = [:]
  /// Entries that were set back: saving that gave them a new version, which counts as the former one. By key and new
  /// version.
  private let restored: [Int64: [Int64: Int64]]
  /// Entries that something else changed between two of the updates.
  private(set) var editedBetween: [Int64] = []
  /// Versions here are those that entries would have without these changes.
  var links: LinkChanges

  init(restored: [Int64: [Int64: Int64]], links: LinkChanges) { (self.restored, self.links) = (restored, links) }

  private func former(_ key: Int64, _ version: Int64) -> Int64 {
    restored[key]?[version] ?? version
  }

  /// Adds an entry as the save with this ordinal has overwritten it; its newest version first.
  mutating func add(_ old: OverwrittenEntries.Entry, _ attributes: [String], ordinal: Int64) {
    let version = links.ownVersion(old.version, of: old.key, before: ordinal)
    // The version of a damaged row may be the greatest of all.
    let next = version &+ 1
    var entry = entries[old.key] ?? Entry(newestVersion: next, version: next, values: [:])
    if entry.version != next { editedBetween.append(old.key) }
    entry.version = former(old.key, version)
    for (name, value) in zip(attributes, old.values) { entry.values[name] = value }
    entries[old.key] = entry
  }

  /// Whether nothing else has changed an entry with this version since its last update, and since its insertion if the
  /// inputs have inserted it.
  func isUnchanged(_ key: Int64, version: Int64, isInserted: Bool) -> Bool {
    let version = former(key, links.ownVersion(version, of: key))
    guard let entry = entries[key] else { return version == Self.firstVersion }
    return version == entry.newestVersion && (!isInserted || entry.version == Self.firstVersion)
  }

  /// The version of an entry that was only inserted.
  private static let firstVersion: Int64 = 1

  /// The version that the entry had before the updates; nil for one that was not updated.
  func formerVersion(of key: Int64) -> Int64? { entries[key]?.version }

  /// Sets the values of `object` back. Links to objects that are gone stay out.
  func restore(_ object: NSManagedObject) throws {
    guard let entry = object.objectID.storeKey.flatMap({ entries[$0] }) else { return }
    var batch = ObjectBatch(entity: object.entity, rowCapacity: 1)
    batch.appendRow()
    var slots: [Int] = []
    for (name, value) in entry.values {
      if let relationship = object.entity.relationshipsByName[name] {
        try restore(relationship, value, of: object)
        continue
      }
      guard let slot = object.entity.slot(named: name) else { continue }
      batch.setValue(value, row: 0, slot: slot)
      slots.append(slot)
    }
    object.setValues(at: slots.sorted(), of: batch, row: 0)
  }

  /// How many of the objects that the entry led to are gone.
  func goneCount(of object: NSManagedObject) throws -> Int {
    guard let context = object.managedObjectContext,
      let entry = object.objectID.storeKey.flatMap({ entries[$0] })
    else { return 0 }
    return try entry.values.reduce(0) { count, value in
      guard object.entity.relationshipsByName[value.key] != nil, case .text(let keys) = value.value else {
        return count
      }
      let related = RelatedKeys(keys)
      return count + related.count - (try related.objects(in: context).count)
    }
  }

  private func restore(
    _ relationship: NSRelationshipDescription, _ value: StoredValue, of object: NSManagedObject
  ) throws {
    var objects: [NSManagedObject] = []
    if case .text(let keys) = value, let context = object.managedObjectContext {
      objects = try RelatedKeys(keys).objects(in: context)
    }
    object.setLink(relationship.name, to: objects)
  }

  /// The keys of updated entries that are in none of the sorted ranges, in order.
  func keys(outside ranges: [ClosedRange<Int64>]) -> [Int64] {
    var index = 0
    return entries.keys.sorted().filter { key in
      while index < ranges.count, ranges[index].upperBound < key { index += 1 }
      return index == ranges.count || !ranges[index].contains(key)
    }
  }
}
