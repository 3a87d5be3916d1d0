import Foundation
import OpenCoreData
import PersistentStores
import StoreInspection
import SurfJournal

/// What a program does with a store that it was given.
enum StoreUse {
  static func use(_ file: URL) {
    let embedded = [CoreDataStack.modelName]
    do { _ = try StoreInspection(storeAt: file, embeddedModels: embedded).text() } catch { check(error) }
    do { _ = try StoreVerification(storeAt: file, embeddedModels: embedded).text() } catch { check(error) }
    do {
      let found = try StoreModel.find(forStoreAt: file, file: nil, embedded: embedded)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: found.model)
      let store = try coordinator.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: file,
        options: [
          NSReadOnlyPersistentStoreOption: true, NSIgnorePersistentStoreVersioningOption: found.origin == .tables,
        ])
      defer { try? coordinator.remove(store) }
      let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait {
        for entity in found.model.entities {
          let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
          request.fetchLimit = 50
          for object in try context.fetch(request) {
            for name in entity.attributesByName.keys { _ = object.value(forKey: name) }
          }
        }
      }
    } catch { check(error) }
  }

  private static func check(_ error: any Error) {
    if (error as NSError).localizedDescription.isEmpty { broken("a refused store has a reason") }
  }
}
