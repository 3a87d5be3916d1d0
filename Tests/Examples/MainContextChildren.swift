import Foundation
import OpenCoreData
import SurfJournal

/// Background work in children of a main-queue context: what a child saves is on the screen at once, and on the disk when
/// the main context is saved.
final class MainContextChildren: Sendable {
  let mainContext: NSManagedObjectContext

  init(storeURL: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: journalModel)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
    mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    mainContext.persistentStoreCoordinator = coordinator
  }

  func childContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.parent = mainContext
    return context
  }

  /// Rates all sessions at a place in the background.
  func rate(_ location: String, _ rating: Int) async throws -> Int {
    let child = childContext()
    let count = try await child.perform {
      let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
      request.predicate = NSPredicate(format: "location == %@", location)
      let entries = try child.fetch(request)
      for entry in entries { entry.rating = NSNumber(value: rating) }
      try child.save()
      return entries.count
    }
    try await mainContext.perform { [mainContext] in
      if mainContext.hasChanges { try mainContext.save() }
    }
    return count
  }
}
