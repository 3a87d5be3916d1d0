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

  func liveRows(from first: Int) -> LazyFilterSequence<Range<Int>> { removedRows.others(in: first..<batch.count) }

  func objectID(row: Int) -> NSManagedObjectID {
    NSManagedObjectID(range: range, row: row).resolved
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
