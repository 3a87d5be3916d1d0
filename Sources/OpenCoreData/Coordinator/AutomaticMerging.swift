import Foundation
import SystemSupport

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
  /// Refreshed by others, without a change of their values in the store.
  var refreshed: [NSManagedObjectID] = []
  /// Every object may have changed.
  var invalidatesAll = false
  /// What the parent of the merging contexts had when it announced the changes; nil if they read the rows themselves.
  var rows: SavedRows?

  init() {}

  init(_ changes: ChangeSet) {
    inserted = ObjectIDCollection(changes.insertions)
    updated = changes.updates.map(\.id) + changes.packedOtherEnds
    deleted = changes.deletedIDs
  }

  var isEmpty: Bool {
    inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && !invalidatesAll
  }
}

/// The rows of a parent's changes, handed to the children that merge them.
///
/// A child that asked its parent for them would wait for the parent's queue, on which code may be waiting for the
/// child.
struct SavedRows: Sendable {
  private let updated: [ObjectKey: FetchedRow]
  private let inserted: [InsertedRows]

  init(updated: [FetchedRow], inserted: [InsertedRows]) {
    self.updated = Dictionary(updated.map { ($0.id.key, $0) }) { first, _ in first }
    self.inserted = inserted
  }

  /// The row of an object that was updated or inserted; nil for other objects.
  subscript(id: NSManagedObjectID) -> FetchedRow? {
    if let row = updated[id.key] ?? updated[id.resolved.key] { return row }
    for rows in inserted {
      guard let row = rows.liveRows(from: 0).first(where: { rows.objectID(row: $0).key == id.resolved.key }) else {
        continue
      }
      return FetchedRow(id: id.resolved, version: BaseRow.unknownVersion, values: rows.batch.values(row: row))
    }
    return nil
  }
}

extension [InsertedRows] {
  /// The keys of the objects that packed relationships lead to, whose other end they change.
  var packedEnds: Set<ObjectKey> {
    var keys: Set<ObjectKey> = []
    for link in lazy.flatMap(\.batch.links) where link.relationship.inverseRelationship != nil {
      keys.formUnion(link.targets.lazy.map(\.resolved.key))
    }
    return keys
  }
}

extension ChangeSet {
  /// The stored objects that packed relationships lead to, whose other end they change, and that are not updated for
  /// another reason.
  var packedOtherEnds: [NSManagedObjectID] {
    let links = insertions.flatMap { $0.batch.links.filter { $0.relationship.inverseRelationship != nil } }
    let stored = links.flatMap(\.targets).filter { !$0.resolved.isTemporaryID }
    if links.count < 2, updates.isEmpty { return stored }
    var seen = Set(updates.map(\.id.resolved.key))
    return stored.filter { seen.insert($0.resolved.key).inserted }
  }
}
