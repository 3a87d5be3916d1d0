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

  init(restored: [Int64: [Int64: Int64]]) { self.restored = restored }

  private func former(_ key: Int64, _ version: Int64) -> Int64 {
    restored[key]?[version] ?? version
  }

  /// Adds what one save has overwritten; the newest save first.
  mutating func add(_ save: OverwrittenEntries) {
    for old in save.entries {
      var entry = entries[old.key] ?? Entry(newestVersion: old.version + 1, version: old.version + 1, values: [:])
      if entry.version != old.version + 1 { editedBetween.append(old.key) }
      entry.version = former(old.key, old.version)
      for (name, value) in zip(save.attributes, old.values) { entry.values[name] = value }
      entries[old.key] = entry
    }
  }

  /// Whether an entry with this version was not changed since its last update, or since its insertion.
  func isUnchanged(_ key: Int64, version: Int64) -> Bool {
    former(key, version) == entries[key]?.newestVersion ?? 1
  }

  /// The version that the entry had before the updates; nil for one that was not updated.
  func formerVersion(of key: Int64) -> Int64? { entries[key]?.version }

  /// Sets the values of `object` back.
  func restore(_ object: NSManagedObject) {
    guard let entry = object.objectID.storeKey.flatMap({ entries[$0] }) else { return }
    var batch = ObjectBatch(entity: object.entity, rowCapacity: 1)
    batch.appendRow()
    var slots: [Int] = []
    for (name, value) in entry.values {
      if let relationship = object.entity.relationshipsByName[name] {
        restore(relationship, value, of: object)
        continue
      }
      guard let slot = object.entity.slot(named: name) else { continue }
      batch.setValue(value, row: 0, slot: slot)
      slots.append(slot)
    }
    object.setValues(at: slots.sorted(), of: batch, row: 0)
  }

  private func restore(_ relationship: NSRelationshipDescription, _ value: StoredValue, of object: NSManagedObject) {
    var objects: [NSManagedObject] = []
    if case .text(let keys) = value, let context = object.managedObjectContext {
      objects = RelatedKeys(keys).objects(in: context)
    }
    if !relationship.isToMany {
      object.setRelatedObject(objects.first, forKey: relationship.name)
    } else if relationship.isOrdered {
      object.setRelatedObjects(NSOrderedSet(array: objects), forKey: relationship.name)
    } else {
      object.setRelatedObjects(NSSet(array: objects), forKey: relationship.name)
    }
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
