import Foundation
import OpenCoreData
import PersistentStores

/// An entry in the store, and what its relationships lead to from now on.
struct RelinkedEntry {
  let key: Int64
  /// Whether the run has inserted it.
  let isNew: Bool
  var links: [(name: String, objects: [NSManagedObjectID])] = []
}

extension ImportContexts {
  /// Sets relationships of entries that are in the store, and saves level by level.
  ///
  /// - Parameters:
  ///   - note: Called before the save with the entries that were there before the run, as they were, and with the objects
  ///     at the other ends.
  ///   - prepare: Called before that with the keys of the entries whose relationships change.
  /// - Returns: What the model says against entries, by their keys; then nothing was saved.
  func relink(
    _ entries: [RelinkedEntry], of entity: NSEntityDescription,
    noting note: ([OverwrittenEntries], LinkedKeys) -> Void, prepare: (Set<Int64>) -> Void
  ) throws -> [Int64: String] {
    do {
      try importContext.performAndWait {
        let (overwritten, changed, ids) = try importContext.throwingReadFailures {
          let (overwritten, changed) = try set(entries, of: entity)
          importContext.processPendingChanges()
          return (overwritten, changed, importContext.updatedObjects.map(\.objectID))
        }
        prepare(changed)
        var linked = LinkedKeys(ids)
        linked.remove(overwritten.entries.lazy.map(\.key), of: entity.rootEntity.name ?? "")
        note([overwritten], linked)
        guard importContext.hasChanges else { return try coordinator.saveParticipants() }
        try importContext.throwingReadFailures { try importContext.save() }
      }
      for context in levels {
        try context.performAndWait { try context.throwingReadFailures { try context.save() } }
      }
      for context in levels + [importContext] { context.performAndWait { context.reset() } }
      return [:]
    } catch {
      let messages = relinkingMessages(error as NSError)
      rollBack()
      if messages.isEmpty { throw error }
      return messages
    }
  }

  /// - Returns: The changed entries that were there before the run, as they were; and the keys of all changed ones.
  private func set(
    _ entries: [RelinkedEntry], of entity: NSEntityDescription
  ) throws -> (OverwrittenEntries, changed: Set<Int64>) {
    let ids = entries.compactMap { coordinator.objectID(of: entity, key: $0.key) }
    let objects = try importContext.loadedObjects(withIDs: ids)
    let names = Set(entries.flatMap { $0.links.map(\.name) }).sorted()
    for name in names { importContext.read(name, of: objects) }
    let before = objects.map { object in
      // Reading a value loads the row, and with it the version.
      _ = object.storedValues(at: [0])
      return (version: object.rowVersion, values: LinkedUpdates.values(names, of: object))
    }
    for (entry, object) in zip(entries, objects) {
      for (name, ids) in entry.links { object.setLink(name, to: ids.map(importContext.object(with:))) }
    }
    var overwritten = OverwrittenEntries(attributes: names)
    var (changed, recorded) = (Set<Int64>(), Set<Int64>())
    for ((entry, object), before) in zip(zip(entries, objects), before) {
      guard LinkedUpdates.values(names, of: object) != before.values else { continue }
      changed.insert(entry.key)
      if !entry.isNew, recorded.insert(entry.key).inserted {
        overwritten.append(.init(key: entry.key, version: before.version, values: before.values))
      }
    }
    return (overwritten, changed)
  }

  private func relinkingMessages(_ error: NSError) -> [Int64: String] {
    var messages: [Int64: String] = [:]
    for context in [importContext] + levels {
      context.performAndWait {
        for failure in context.validationFailures {
          if let key = failure.id.storeKey { messages[key] = (failure.error as NSError).localizedDescription }
        }
      }
    }
    return messages
  }
}
