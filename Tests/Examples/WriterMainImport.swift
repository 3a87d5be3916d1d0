import Foundation
import OpenCoreData
import SurfJournal

/// The chain of three: a private writer on the coordinator, the main context as its child, and for each import a
/// temporary private child of that. The main queue never waits for the disk.
final class WriterMainImport: Sendable {
  let writerContext: NSManagedObjectContext
  let mainContext: NSManagedObjectContext

  init(storeURL: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: journalModel)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
    writerContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    writerContext.persistentStoreCoordinator = coordinator
    mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    mainContext.parent = writerContext
  }

  /// Three saves, stacked: each in the block of the level that saves, the next level's begun from it.
  func importSessions(
    _ locations: [String], completion: @escaping @Sendable (Result<Int, any Error>) -> Void
  ) {
    let (writer, main) = (writerContext, mainContext)
    let temporary = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    temporary.parent = main
    temporary.perform {
      do {
        for location in locations { JournalEntry(context: temporary).location = location }
        try temporary.save()
        main.perform {
          do {
            try main.save()
            writer.perform { completion(Result { try writer.save() }.map { locations.count }) }
          } catch {
            completion(.failure(error))
          }
        }
      } catch {
        completion(.failure(error))
      }
    }
  }
}
