import Foundation
import OpenCoreData
import PersistentStores

/// Where the entries of a chunk lead.
extension ImportContexts {
  /// Inserts the entries of a plan and what is created for them, on the queue of the import context. To-one
  /// relationships are packed; a to-many relationship needs the objects at both ends.
  func insertLinked(_ plan: ChunkPlan) -> (entries: ObjectIDCollection, created: [Int: [NSManagedObjectID]]) {
    var created: [Int: [NSManagedObjectID]] = [:]
    for (group, creation) in plan.links.creations.sorted(by: { $0.key < $1.key }) {
      created[group] = Array(importContext.insert(creation.batch))
    }
    let ids = plan.links.ids(created)
    var inserts = plan.inserts
    for link in plan.links.links where !link.ofInserts.isEmpty { inserts.setLink(link.packed(ids)) }
    let entries = importContext.insert(inserts)
    for link in plan.links.links where link.listsOfInserts.contains(where: { !$0.isEmpty }) {
      let others = importContext.objects(withIDs: ids)
      for (row, list) in link.listsOfInserts.enumerated() where !list.isEmpty {
        importContext.object(with: entries[row])
          .addRelatedObjects(list.map { others[Int($0)] }, forKey: link.link.name)
      }
    }
    return (entries, created)
  }
}

extension ImportContexts {
  /// The stored objects whose versions the save counts up because of their relationships, other than the entries whose
  /// former values are recorded.
  func linkedKeys(_ plan: ChunkPlan, _ overwritten: [OverwrittenEntries]) -> LinkedKeys {
    if plan.links.links.isEmpty { return LinkedKeys() }
    var ids: [NSManagedObjectID] = plan.links.packedTargets
    let hasObjects =
      overwritten.contains { $0.count > 0 }
      || plan.links.links.contains { link in
        link.listsOfInserts.contains { !$0.isEmpty } || link.link.relationship.inverseRelationship?.isToMany == false
      }
    // Asking for objects would make one for each packed row.
    if hasObjects {
      importContext.processPendingChanges()
      ids += importContext.updatedObjects.map(\.objectID)
    }
    var linked = LinkedKeys(ids)
    for entries in overwritten {
      let entity = entries.entity.flatMap { coordinator.managedObjectModel.entitiesByName[$0] } ?? plan.inserts.entity
      if let root = entity.rootEntity.name { linked.remove(entries.entries.lazy.map(\.key), of: root) }
    }
    return linked
  }

  /// Gives related objects the values that records have for them, on the queue of the import context.
  ///
  /// - Returns: Those that have other values now, as they were before, by their entities.
  func changeRelated(_ links: PlannedLinks) throws -> [OverwrittenEntries] {
    if links.changes.isEmpty { return [] }
    var overwritten: [String: OverwrittenEntries] = [:]
    let changes = links.changes.sorted { ($0.key.storeKey ?? 0) < ($1.key.storeKey ?? 0) }
    let objects = try importContext.loadedObjects(withIDs: changes.map(\.key))
    for ((_, change), object) in zip(changes, objects) {
      guard let named = links.changedEntity(of: object.objectID), let entity = object.entity.name else { continue }
      let names = links.changedAttributes(of: named)
      let slots = names.compactMap { object.entity.slot(named: $0) }
      var batch = ObjectBatch(entity: object.entity, rowCapacity: 1)
      batch.appendRow()
      var stated: [Int] = []
      for (slot, value) in change.values {
        guard let own = object.entity.slot(named: named.attributeSlots[slot].name) else { continue }
        batch.setValue(value, row: 0, slot: own)
        stated.append(own)
      }
      // Reading a value loads the row, and with it the version.
      let before = object.storedValues(at: slots)
      let entry = OverwrittenEntries.Entry(
        key: object.objectID.storeKey ?? 0, version: object.rowVersion, values: before)
      object.setValues(at: stated.sorted(), of: batch, row: 0)
      if object.storedValues(at: slots) == before { continue }
      overwritten[entity, default: OverwrittenEntries(attributes: names, of: entity)].append(entry)
    }
    return overwritten.sorted { $0.key < $1.key }.map(\.value)
  }
}

/// Sets the relationships of entries that a chunk updates.
struct LinkedUpdates {
  private let links: [PlannedLinks.Link]
  private let ids: [NSManagedObjectID]
  private let context: NSManagedObjectContext

  init(_ links: PlannedLinks, _ context: NSManagedObjectContext, created: [Int: [NSManagedObjectID]]) {
    self.links = links.links.filter { $0.listsOfUpdates.contains { $0 != nil } }
    ids = links.ids(created)
    self.context = context
  }

  /// The relationships that are set.
  var names: [String] { links.map(\.link.name) }

  /// Reads the relationships together.
  func read(_ objects: [NSManagedObject]) { for name in names { context.read(name, of: objects) } }

  /// What an entry leads to, for the ledger.
  func values(of object: NSManagedObject) -> [StoredValue] { Self.values(names, of: object) }

  static func values(_ names: [String], of object: NSManagedObject) -> [StoredValue] {
    names.map { name in
      let ids = object.objectIDs(forRelationshipNamed: name)
      return ids.isEmpty ? .null : .text(RelatedKeys(ids).text)
    }
  }

  /// Sets what the update with this number says.
  func set(_ number: Int, _ object: NSManagedObject) {
    for link in links {
      guard let list = link.listsOfUpdates[number] else { continue }
      object.setLink(link.link.name, to: list.map { context.object(with: ids[Int($0)]) })
    }
  }
}

extension ResolvedLinks {
  /// How many of the objects that a row of the chunk names the store does not have, and the pipeline leaves out.
  func missingCount(_ row: Int, _ link: Link) -> Int {
    link.values.elements(ofRow: row).count { element in
      guard link.targetOfRow[element] >= 0, case .missing = targets[Int(link.targetOfRow[element])] else {
        return false
      }
      return true
    }
  }

  /// Whether `object` already leads to what a row of the chunk names, or keeps what it has.
  func leads(_ row: Int, _ link: Link, as object: NSManagedObject) -> Bool {
    if missingCount(row, link) > 0 { return true }
    var named: [NSManagedObjectID] = []
    for element in link.values.elements(ofRow: row) where link.targetOfRow[element] >= 0 {
      switch targets[Int(link.targetOfRow[element])] {
      case .stored(let id): if !named.contains(id) { named.append(id) }
      case .new: return false
      case .missing, .ambiguous: continue
      }
    }
    let present = object.objectIDs(forRelationshipNamed: link.link.name)
    return link.link.relationship.isOrdered ? present == named : Set(present) == Set(named)
  }
}
