import Foundation
import OpenCoreData
import SurfJournal

/// Writes the journal to a CSV file from a background context; the main queue stays free.
final class BackgroundExport: Sendable {
  let container: NSPersistentContainer

  init(storeURL: URL) throws {
    container = NSPersistentContainer(name: "SurfJournalModel")
    container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: storeURL)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  /// - Returns: The number of lines written.
  func export(to file: URL) async throws -> Int {
    try await container.performBackgroundTask { context in
      let request: NSFetchRequest<JournalEntry> = JournalEntry.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "date", ascending: true)]
      request.fetchBatchSize = 20
      let entries = try context.fetch(request)
      try Data().write(to: file)
      let handle = try FileHandle(forWritingTo: file)
      for entry in entries {
        handle.write(Data(entry.csv().utf8))
        // What was written needs no memory any more.
        context.refresh(entry, mergeChanges: false)
      }
      try handle.close()
      return entries.count
    }
  }
}
