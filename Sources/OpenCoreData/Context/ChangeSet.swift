import Locking

/// What one save hands to the level below: to the parent context or to the coordinator.
///
/// It holds values and identities only, so that it may change queues; its batches are shared, not copied.
struct ChangeSet: Sendable {
  var insertions: [InsertedRows] = []
  var updates: [UpdatedRow] = []
  var deletions: [KnownRow] = []
  /// Unchanged objects whose rows must be as they were read.
  var checks: [KnownRow] = []

  var isEmpty: Bool { insertions.isEmpty && updates.isEmpty && deletions.isEmpty }
}

/// Objects inserted together: one entity, values packed, in order of insertion.
struct InsertedRows: Sendable {
  var batch: ObjectBatch
  let range: TemporaryIDRange
  /// Ascending numbers of rows whose objects were deleted again.
  var removedRows: [Int]
  var sharedIDs = SharedIDSet()

  var liveCount: Int { batch.count - removedRows.count }
  var liveRows: some Sequence<Int> { liveRows(from: 0) }

  func liveRows(from first: Int) -> LazyFilterSequence<Range<Int>> {
    (first..<batch.count).lazy.filter { removedRows.rank(of: $0) != nil }
  }

  func objectID(row: Int) -> NSManagedObjectID {
    NSManagedObjectID(entity: batch.entity, range: range, row: row).resolved
  }
}

/// The set of the IDs of rows that are inserted together. Every level that they pass on their way to a store announces
/// it, and IDs don't depend on contexts: it is made once for all of them, and again where it has become another.
final class SharedIDSet: Sendable {
  private struct Made: Sendable {
    let removedRows: [Int]
    let rowCount: Int
    let newsCount: Int
    let ids: Set<NSManagedObjectID>
  }

  private let made = Locked<Made?>(nil)

  func ids(of rows: InsertedRows) -> Set<NSManagedObjectID> {
    let news = rows.range.newsCount
    let known = made.withLock { $0 }
    if let known, known.newsCount == news, known.rowCount == rows.batch.count, known.removedRows == rows.removedRows {
      return known.ids
    }
    let ids =
      rows.removedRows.isEmpty
      ? rows.range.ids(0..<rows.batch.count, of: rows.batch.entity, count: rows.batch.count)
      : rows.range.ids(rows.liveRows, of: rows.batch.entity, count: rows.liveCount)
    made.withLock {
      $0 = Made(removedRows: rows.removedRows, rowCount: rows.batch.count, newsCount: news, ids: ids)
    }
    return ids
  }
}

struct UpdatedRow: Sendable {
  let id: NSManagedObjectID
  /// Slots whose values differ from the last committed ones.
  let changedSlots: [Int]
  /// All values, by slot.
  let values: [StoredValue]
  /// The row's version (`Z_OPT`) that the change builds on.
  let version: Int64
  /// The row is gone, and the object is to be written anew under its key.
  var isRecreation = false
}

/// A row as the context has read it: to be deleted, or to be looked after.
struct KnownRow: Sendable {
  let id: NSManagedObjectID
  let version: Int64
}
