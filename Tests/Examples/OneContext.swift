import Foundation
import OpenCoreData
import SurfJournal

/// The smallest stack: model, coordinator, one context on the main queue.
@MainActor final class OneContext {
  let context: NSManagedObjectContext

  init(storeURL: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: journalModel)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
    context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
  }

  func addSession(at location: String, rating: Int, on date: Date) throws {
    let entry = JournalEntry(context: context)
    entry.location = location
    entry.rating = NSNumber(value: rating)
    entry.date = date
    try saveContext()
  }

  func best(atLeast rating: Int) throws -> [JournalEntry] {
    let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
    request.predicate = NSPredicate(format: "rating >= %d", rating)
    request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: false)]
    return try context.fetch(request)
  }

  private func saveContext() throws {
    guard context.hasChanges else { return }
    do {
      try context.save()
    } catch {
      context.rollback()
      throw error
    }
  }
}

/// The model that the build plugin put into the program; an app reads it from its bundle the same way.
let journalModel = NSPersistentContainer(name: "SurfJournalModel").managedObjectModel
