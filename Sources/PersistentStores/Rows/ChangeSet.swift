import ManagedObjectModel

/// The changes that one save passes to the level below: to the parent context or to the coordinator.
///
/// It contains only values and identities, so that it can be sent between queues; its batches are shared, not copied.
package struct ChangeSet: Sendable {
  package var insertions: [InsertedRows] = []
  package var updates: [UpdatedRow] = []
  package var deletions: [RowVersion] = []
  /// Deletions of rows without objects.
  package var deletedRows: [DeletedRows] = []
  /// The IDs of all deletions, shared with the levels that these came through.
  package var sharedDeletedIDs = SharedDeletedIDs()
  /// Changes of relationships of inserted and updated objects.
  package var relationships: [RowRelationships] = []
  /// Unchanged objects whose rows must be unchanged since they were read.
  package var checks: [RowVersion] = []

  package init() {}

  package var isEmpty: Bool {
    insertions.isEmpty && updates.isEmpty && deletions.isEmpty && deletedRows.isEmpty
  }

  /// All deletions one by one.
  package var singleDeletions: [RowVersion] {
    deletions + deletedRows.flatMap { rows in rows.liveRows.map(rows.deletion(row:)) }
  }
  /// The IDs of all objects that are deleted.
  package var deletedIDs: [NSManagedObjectID] { deletions.map(\.id) + deletedRows.ids }
}

/// Objects inserted together: one entity, packed values, in order of insertion.
package struct InsertedRows: Sendable {
  package var batch: ObjectBatch
  package let range: TemporaryIDRange
  /// Ascending numbers of rows whose objects were deleted again.
  package var removedRows: [Int]
  package var sharedIDs = SharedIDSet()

  package init(
    batch: ObjectBatch, range: TemporaryIDRange, removedRows: [Int], sharedIDs: SharedIDSet = SharedIDSet()
  ) {
    self.batch = batch
    self.range = range
    self.removedRows = removedRows
    self.sharedIDs = sharedIDs
  }

  package var liveCount: Int { batch.count - removedRows.count }

  package func liveRows(from first: Int) -> LazyFilterSequence<Range<Int>> {
    removedRows.complement(in: first..<batch.count)
  }

  package func objectID(row: Int) -> NSManagedObjectID {
    NSManagedObjectID(range: range, row: row).resolved
  }
}

package struct UpdatedRow: Sendable {
  package let id: NSManagedObjectID
  /// Slots whose values differ from the committed ones; none if only relationships were changed.
  package let changedSlots: [Int]
  /// All values, by slot.
  package let values: [StoredValue]
  /// The row that the change is based on.
  package let base: BaseRow
  /// The row is gone, and the object is to be written again under its key.
  package let isRecreation: Bool

  package init(
    id: NSManagedObjectID, changedSlots: [Int], values: [StoredValue], base: BaseRow, isRecreation: Bool = false
  ) {
    self.id = id
    self.changedSlots = changedSlots
    self.values = values
    self.base = base
    self.isRecreation = isRecreation
  }

  package var version: Int64 { base.version }
}

/// A row as a context has read it: to be deleted, or to be checked for changes.
package struct RowVersion: Sendable {
  package let id: NSManagedObjectID
  package let base: BaseRow
  /// Whether delete rules go with a deletion; an undo takes an insertion back without them.
  package let carriesOutRules: Bool

  package init(id: NSManagedObjectID, base: BaseRow, carriesOutRules: Bool = true) {
    self.id = id
    self.base = base
    self.carriesOutRules = carriesOutRules
  }

  package var version: Int64 { base.version }
}

/// The state of a row that a change is based on. It moves up a chain with the change, so that no level has to read the
/// row again, and the store can detect changes by others in the meantime.
package struct BaseRow: Sendable {
  /// The row's version (`Z_OPT`), or ``unknownVersion``.
  package let version: Int64
  /// The files of values that were left out because these are missing, by slot.
  package let leftOut: [Int: String]
  private let content: Content

  private enum Content: Sendable {
    case values([StoredValue])
    case packed(SharedRows, row: Int)
  }

  package init(version: Int64, values: [StoredValue], leftOut: [Int: String] = [:]) {
    (self.version, self.leftOut, content) = (version, leftOut, .values(values))
  }

  /// The state of a row whose values stay packed.
  package init(version: Int64, _ rows: SharedRows, row: Int) {
    (self.version, leftOut, content) = (version, [:], .packed(rows, row: row))
  }

  /// By slot.
  package var values: [StoredValue] {
    switch content {
    case .values(let values): values
    case .packed(let rows, let row): rows.batch.values(row: row)
    }
  }

  /// Where the values are packed; nil if they are not.
  package var packed: (rows: SharedRows, row: Int)? {
    if case .packed(let rows, let row) = content { (rows, row) } else { nil }
  }

  /// The version of values that a parent context had not saved when they were read. Rows never have it.
  package static let unknownVersion: Int64 = -1
}
