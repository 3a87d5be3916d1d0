import Foundation
import Locking

/// A context that merges what other contexts save to its parent or to its coordinator.
protocol MergingContext: AnyObject, Sendable {
  /// Merges `changes` later, on the context's queue.
  func mergeLater(_ changes: SavedIDs)
}

/// The contexts that merge automatically what is saved to one parent or to one coordinator
/// (`automaticallyMergesChangesFromParent`).
final class AutomaticMerging: Sendable {
  private struct Listener: Sendable { weak var context: (any MergingContext)? }

  private let listeners = Locked<[Listener]>([])

  func add(_ context: any MergingContext) {
    listeners.withLock { listeners in
      listeners.removeAll { $0.context == nil || $0.context === context }
      listeners.append(Listener(context: context))
    }
  }

  func remove(_ context: any MergingContext) {
    listeners.withLock { listeners in listeners.removeAll { $0.context == nil || $0.context === context } }
  }

  /// Makes every listener except the saving context merge `changes`, each on its own queue.
  func announce(_ changes: @autoclosure () -> SavedIDs, from saver: any MergingContext) {
    let contexts = listeners.withLock { $0.compactMap(\.context) }.filter { $0 !== saver }
    guard !contexts.isEmpty else { return }
    let saved = changes()
    guard !saved.isEmpty else { return }
    for context in contexts { context.mergeLater(saved) }
  }
}

/// The IDs of the objects that a save inserted, updated and deleted: what other contexts need to merge it.
struct SavedIDs: Sendable {
  var inserted = ObjectIDCollection()
  var updated: [NSManagedObjectID] = []
  var deleted: [NSManagedObjectID] = []
  /// Every object may have changed.
  var invalidatesAll = false

  init() {}

  init(_ changes: ChangeSet) {
    inserted = ObjectIDCollection(changes.insertions)
    updated = changes.updates.map(\.id)
    deleted = changes.deletions.map(\.id)
  }

  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty && !invalidatesAll }
}
