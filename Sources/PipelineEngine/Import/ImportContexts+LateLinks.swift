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

/// Why the model refuses an entry with its links.
struct RelinkingFailure {
  /// The entry's primary key.
  let key: Int64
  /// The relationship that causes it; nil for something else of the entry.
  let link: String?
  let message: String
}

extension ImportContexts {
  /// Sets relationships of entries that are in the store, and saves level by level.
  ///
  /// - Parameters:
  ///   - note: Called before the save with the entries that were there before the run, as they were, and with the objects
  ///     at the other ends.
  ///   - prepare: Called before that with the keys of the entries whose relationships change.
  /// - Returns: What the model says against entries; then nothing was saved.
  func relink(
    _ entries: [RelinkedEntry], of entity: NSEntityDescription,
    noting note: ([OverwrittenEntries], LinkedKeys) -> Void, prepare: (Set<Int64>) -> Void
  ) throws -> [RelinkingFailure] {
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
      return []
    } catch {
      let failures = failures(of: entries, entity)
      rollBack()
      if failures.isEmpty { throw error }
      return failures
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

  /// What the save of these entries was refused for: rules about themselves, and about the objects at the other ends.
  private func failures(of entries: [RelinkedEntry], _ entity: NSEntityDescription) -> [RelinkingFailure] {
    let numbers = Dictionary(entries.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { $1 })
    func number(of id: NSManagedObjectID) -> Int? {
      id.entity.rootEntity === entity.rootEntity ? id.storeKey.flatMap { numbers[$0] } : nil
    }
    let names = Set(entries.flatMap { $0.links.map(\.name) }).sorted()
    let relationships = names.compactMap { entity.relationshipsByName[$0] }
    let refused = ([importContext] + levels).flatMap { context in
      context.performAndWait { context.refusedObjects(over: relationships) }
    }
    return refused.flatMap { object -> [RelinkingFailure] in
      var found: [RelinkingFailure] = []
      let own = number(of: object.id).map { entries[$0] }
      if let message = object.message, let own {
        found.append(RelinkingFailure(key: own.key, link: nil, message: message))
      }
      for end in object.ends {
        // An entry that states this end itself is at fault, not those that it names.
        if end.problem != nil, let own, own.links.contains(where: { $0.name == end.inverse.name }) {
          found.append(RelinkingFailure(key: own.key, link: end.inverse.name, message: end.description))
          continue
        }
        let message = end.problem != nil ? end.message : own == nil ? object.message.map(end.message(saying:)) : nil
        guard let message else { continue }
        found += end.refused(number(of:)).map {
          RelinkingFailure(key: entries[$0].key, link: end.relationship.name, message: message)
        }
      }
      return found
    }
  }
}
