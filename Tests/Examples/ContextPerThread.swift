import Foundation
import OpenCoreData
import SurfJournal

/// A context for each thread, kept in the thread's dictionary: the pattern of the time before contexts had queues.
final class ContextPerThread: Sendable {
  let rootContext: NSManagedObjectContext
  let mainContext: NSManagedObjectContext
  private let key = "ContextPerThread.\(UUID().uuidString)"

  init(storeURL: URL) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: journalModel)
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: nil)
    rootContext = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    rootContext.persistentStoreCoordinator = coordinator
    mainContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    mainContext.parent = rootContext
  }

  /// The main context on the main thread, on any other the thread's own, made when it is first asked for.
  func contextForCurrentThread() -> NSManagedObjectContext {
    if Thread.isMainThread { return mainContext }
    if let known = Thread.current.threadDictionary[key] as? ThreadContext { return known.context }
    let made = ThreadContext(parent: rootContext)
    Thread.current.threadDictionary[key] = made
    return made.context
  }

  func forgetContextForCurrentThread() { Thread.current.threadDictionary.removeObject(forKey: key) }
}

/// A context with the observer that gives its objects permanent IDs before they are saved: IDs may then travel to other
/// threads at once.
private final class ThreadContext: NSObject {
  let context: NSManagedObjectContext
  private let observers: Observers

  init(parent: NSManagedObjectContext) {
    context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.parent = parent
    observers = Observers([
      NotificationCenter.default.addObserver(
        forName: .NSManagedObjectContextWillSave, object: context, queue: nil
      ) { notification in
        guard let context = notification.object as? NSManagedObjectContext else { return }
        let inserted = Array(context.insertedObjects)
        guard !inserted.isEmpty else { return }
        do {
          try context.obtainPermanentIDs(for: inserted)
        } catch {
          print("no permanent IDs before the save: \(error.localizedDescription)")
        }
      }
    ])
  }
}

extension NSManagedObjectContext {
  /// Saves this context, then its parent on the parent's queue, and so on up to the root.
  func saveToRoot() throws {
    if hasChanges { try save() }
    guard let parent else { return }
    try parent.performAndWait { try parent.saveToRoot() }
  }
}
