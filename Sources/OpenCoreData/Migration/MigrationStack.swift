import Foundation

/// One side of a migration: a model, its coordinator and a context.
final class MigrationStack {
  /// A copy whose entities have no classes of the program: these belong to one version of the model only. (Apple's Core
  /// Data Model Versioning and Data Migration Programming Guide, "Three-Stage Migration".)
  let model: NSManagedObjectModel
  private(set) lazy var coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
  private(set) lazy var context: NSManagedObjectContext = {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    // Sets of objects for observers would cost as much as the migration.
    context.changeNotificationContents = .objectIDs
    return context
  }()

  init(_ model: NSManagedObjectModel) {
    let copy = model.copy() as? NSManagedObjectModel ?? NSManagedObjectModel()
    for entity in copy.entities { entity.managedObjectClassName = "NSManagedObject" }
    self.model = copy
  }

  func open(_ file: URL, options: [AnyHashable: Any]) throws -> NSPersistentStore {
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
  }

  /// Removes the store; what the context knows of it can't be read any more.
  func close() {
    context.performAndWait { context.reset() }
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }
}
