import Foundation
import Locking

/// The contexts that take over by themselves what is saved to one parent or to one coordinator
/// (`automaticallyMergesChangesFromParent`).
final class AutomaticMerging: Sendable {
  private struct Listener: Sendable { weak var context: NSManagedObjectContext? }

  private let listeners = Locked<[Listener]>([])

  func add(_ context: NSManagedObjectContext) {
    listeners.withLock { listeners in
      listeners.removeAll { $0.context == nil || $0.context === context }
      listeners.append(Listener(context: context))
    }
  }

  func remove(_ context: NSManagedObjectContext) {
    listeners.withLock { listeners in listeners.removeAll { $0.context == nil || $0.context === context } }
  }

  /// Has every listener but the one that saved merge `changes`, each on its own queue and in its own time.
  func announce(_ changes: @autoclosure () -> SavedIDs, from saver: NSManagedObjectContext) {
    let contexts = listeners.withLock { $0.compactMap(\.context) }.filter { $0 !== saver }
    guard !contexts.isEmpty else { return }
    let saved = changes()
    guard !saved.isEmpty else { return }
    for context in contexts {
      context.queue.async { [weak context] in context?.merge(saved) }
    }
  }
}

/// Who was inserted, updated and deleted by a save: what other contexts need to know of it.
struct SavedIDs: Sendable {
  var inserted = ObjectIDCollection()
  var updated: [NSManagedObjectID] = []
  var deleted: [NSManagedObjectID] = []
  /// Everything may have changed.
  var invalidatesAll = false

  init() {}

  init(_ changes: ChangeSet) {
    inserted = ObjectIDCollection(changes.insertions)
    updated = changes.updates.map(\.id)
    deleted = changes.deletions.map(\.id)
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !invalidatesAll }
}

extension NSManagedObjectContext {
  /// Listens where the context now reads from, and no longer where it did before.
  func renewMerging() {
    mergesFrom?.remove(self)
    let source = parent?.mergers ?? persistentStoreCoordinator?.mergers
    mergesFrom = automaticallyMergesChangesFromParent ? source : nil
    mergesFrom?.add(self)
  }
}
