import Foundation
import OpenCoreData
import PersistentStores

extension ImportEnvironment {
  /// Gives the related objects that workers have created the values of the first record that names each. A worker that came
  /// to a later one has created them with the values of that.
  func setFirstValues() throws(RunFailure) {
    if links.isEmpty { return }
    let (tables, container) = (sharedLinks, store.container)
    try store.perform { coordinator in
      var last: (group: Int64, hash: String)?
      while true {
        let rows = try tables.withEarlierValues(after: last, in: coordinator)
        guard let end = rows.last else { return }
        last = (end.group, end.hash)
        let context = container.newBackgroundContext()
        try context.performAndWait {
          for row in rows { try Self.set(row.values, ofKey: row.storeKey, row.entity, in: context) }
          if context.hasChanges { try context.save() }
        }
      }
    }
  }

  private static func set(
    _ values: OverwrittenEntries, ofKey key: Int64, _ entity: String, in context: NSManagedObjectContext
  ) throws {
    guard let coordinator = context.persistentStoreCoordinator,
      let entity = coordinator.managedObjectModel.entitiesByName[entity],
      let id = coordinator.objectID(of: entity, key: key)
    else { return }
    let object: NSManagedObject
    do {
      object = try context.existingObject(with: id)
    } catch let error as NSError where error.code == NSManagedObjectReferentialIntegrityError {
      // Another program has deleted it.
      return
    }
    let slots = values.attributes.compactMap { entity.slot(named: $0) }
    guard slots.count == values.attributes.count, let own = values.entries.first?.values,
      object.storedValues(at: slots) != own
    else { return }
    var batch = ObjectBatch(entity: entity, rowCapacity: 1)
    batch.appendRow()
    for (slot, value) in zip(slots, own) { batch.setValue(value, row: 0, slot: slot) }
    object.setValues(at: slots, of: batch, row: 0)
  }
}
