import Foundation
import OpenCoreData
import SurfJournal

/// Two contexts on one coordinator, each of which takes over what the other one saves.
final class MergedContexts: Sendable {
  let coordinator: NSPersistentStoreCoordinator
  let mainContext: NSManagedObjectContext
  let backgroundContext: NSManagedObjectContext
  private let observers: Observers

  init(storeURL: URL) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: journalModel)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
    mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    mainContext.persistentStoreCoordinator = coordinator
    backgroundContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    backgroundContext.persistentStoreCoordinator = coordinator
    observers = Observers([mainContext, backgroundContext].map(Self.merge(into:)))
  }

  /// Listens to the saves of all contexts, and leaves out those of `context` itself and of other coordinators.
  private static func merge(into context: NSManagedObjectContext) -> any NSObjectProtocol {
    NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: nil, queue: nil
    ) { [weak context] notification in
      guard let context, let saved = notification.object as? NSManagedObjectContext, saved !== context,
        saved.persistentStoreCoordinator === context.persistentStoreCoordinator
      else { return }
      context.perform { context.mergeChanges(fromContextDidSave: notification) }
    }
  }
}

/// Observers that go with the one who holds this.
final class Observers: Sendable {
  // Safe: the tokens are constant, and only handed back.
  nonisolated(unsafe) private let tokens: [any NSObjectProtocol]

  init(_ tokens: [any NSObjectProtocol]) { self.tokens = tokens }

  deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }
}
