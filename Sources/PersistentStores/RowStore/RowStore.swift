import Foundation
import ManagedObjectModel

/// Storage for the rows of a coordinator's objects: a SQLite file, or another conforming type.
///
/// Values cross this boundary, never objects: queries, change sets and batches go in; rows, cursors, outcomes and
/// ``SaveFailure`` come out. Transactions, snapshots and the query language belong to the store. Only a ``SQLRowStore``
/// takes SQL, and only that of save participants.
///
/// The coordinator calls the writing methods one at a time. It calls `read` from any thread, also while another one
/// writes: a reader then sees what was committed last.
///
/// A row has a key, which is unique in its entity's inheritance tree, a version, which is 1 for a new row and grows by 1
/// with every change, and a value for each slot of its entity. A store keeps null for transient attributes and for NaN.
/// It may round a decimal to the nearest `Double`. Null comes first in an order and is equal to no other value in a
/// uniqueness constraint.
package protocol RowStore: AnyObject, Sendable {
  /// The kind of store, such as `NSSQLiteStoreType`.
  var type: String { get }
  /// The store's location; nil for an in-memory store.
  var url: URL? { get }
  /// The store's name in messages, without a password.
  var location: String { get }
  var isReadOnly: Bool { get }
  /// One object for the life of the store: the IDs of the store's objects refer to it.
  var identity: StoreIdentity { get }
  /// Whether a save can be rolled back, and save participants can write in its transaction. A store
  /// that is not transactional has written its part for good when `SaveWriter.write` returns.
  var isTransactional: Bool { get }

  /// Whether `SaveWriter.write` takes batches whose rows have packed to-one relationships. Contexts link the rows of
  /// other stores one by one.
  var takesPackedLinks: Bool { get }

  /// What was missing of the store's last changes when it was opened, as a sentence; nil if nothing was.
  var loss: String? { get }

  /// Whether the store's configuration has the entity.
  func keeps(_ entity: NSEntityDescription) -> Bool

  // MARK: Reading

  /// Runs `body` with a reader of the rows of `snapshot`, or of those committed last for nil.
  ///
  /// The reader is valid during the call only. Rows written by an open transaction are seen by the thread that holds
  /// it, and by every thread between `beginTransaction` and its end.
  ///
  /// - Throws: `NSError` 134070 after `close`.
  func read<Result>(
    _ snapshot: (any StoreSnapshot)?, _ body: (any RowReader) throws -> Result
  ) throws -> Result

  /// A cursor over the rows of `query`. It can outlive the call and be used while the store is written to.
  ///
  /// It reads the rows of `snapshot`, or those that are committed when it is made. Only a store that keeps no snapshots,
  /// or that has an open transaction, may show it rows that are written later.
  func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor

  /// As `cursor(_:rowsPerBatch:in:)`, for rows that come by key: up to `readers` connections read ranges of keys at the
  /// same time, all in one state of the rows. A store that can't do that, and a query with sort keys or an offset, has
  /// one reader.
  ///
  /// - Throws: `NSError` with `isOfUnsharedSnapshot` if the connections can't see one state.
  func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, readers: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor

  /// The rows that are committed now, readable while the snapshot is retained; nil if the store does not support
  /// snapshots.
  func makeSnapshot() throws -> (any StoreSnapshot)?
  /// A number that grows with every save (in `SaveWriter.finish`) and every batch request of this store. Writes of
  /// other processes do not count.
  var writeCount: Int64 { get }

  // MARK: Saving

  /// Whose changes the next save or batch request writes.
  func willWrite(for origin: ChangeOrigin)
  /// Begins the transaction of a save. `commit` or `rollBack` ends it, on the same thread.
  ///
  /// - Throws: `NSError` 134030 for a read-only store, 134090 while another process writes.
  func beginSave(of changes: ChangeSet) throws -> any SaveWriter
  /// Gives `ids` that are temporary the keys that a save will use, and notes each with `TemporaryIDRange.obtain`. No
  /// other object gets such a key, also if it is never saved.
  func obtainPermanentIDs(for ids: [NSManagedObjectID]) throws
  /// The greatest key of an object of the entity's inheritance tree; 0 before the first.
  func lastKey(of entity: NSEntityDescription) throws -> Int64

  // MARK: Large insertions

  /// Very many rows of `entity` are about to be inserted: leaves out indexes that only make reading faster, until
  /// `restoreIndexes`. Reading by them is slow meanwhile.
  func deferIndexes(of entity: NSEntityDescription) throws
  /// Makes the indexes that were left out; does nothing if there are none.
  func restoreIndexes() throws

  // MARK: Transactions around several saves

  /// Saves and batch requests from now on are part of one transaction. A save that fails in it takes back only what
  /// it wrote itself.
  func beginTransaction() throws
  func commitTransaction() throws
  func rollBackTransaction() throws

  // MARK: Batch requests

  // Each is a transaction, or a part of the open one: an error leaves the store as it was. The IDs of an outcome are in
  // no particular order.
  //
  // They throw `NSError` 134030 for a store that is read-only, and 133021 where values must be unique and are taken.

  /// Deletes the rows that `query` finds.
  func batchDelete(_ query: FetchQuery, wantsIDs: Bool) throws -> BatchOutcome
  /// Deletes the rows with `keys` in the inheritance tree of `entity`.
  func batchDelete(keys: [Int64], of entity: NSEntityDescription, wantsIDs: Bool) throws -> BatchOutcome
  /// Sets attributes of the rows that `query` finds. The slots are those of the query's entity.
  func batchUpdate(_ query: FetchQuery, values: [Int: BatchValue], wantsIDs: Bool) throws -> BatchOutcome
  /// Inserts batches of `entity` until `fill`, which is given an empty batch each time, leaves it empty. The rows get
  /// ascending keys. The outcome counts rows that were inserted and rows that were overwritten; the latter stay of
  /// their entity, which may be another one of the inheritance tree.
  func batchInsert(
    _ entity: NSEntityDescription, resolution: UniquenessResolution, wantsIDs: Bool,
    fill: (inout ObjectBatch) throws -> Void
  ) throws -> BatchOutcome

  // MARK: Metadata and files

  /// The metadata with changes that the next save writes: the clients' keys, and `NSStoreTypeKey`, `NSStoreUUIDKey` and
  /// `NSStoreModelVersionHashesKey`.
  var metadata: [String: Any] { get }
  /// Replaces the clients' keys. The next save writes them.
  func setMetadata(_ metadata: [String: Any])
  var hasUnsavedMetadata: Bool { get }

  /// Writes everything that is committed into the store's own file and waits for the disk.
  func checkpoint() throws
  /// Waits for the readers that are in use, then releases everything. A second call does nothing.
  func close()
}

/// Reads rows of one store in one state. It belongs to one thread at a time.
package protocol RowReader: AnyObject {
  /// The rows that `query` finds, each with its values by slot of its own entity. Rows that are equal by the sort keys,
  /// or all without sort keys, come by key.
  func rows(_ query: FetchQuery) throws -> [FetchedRow]
  /// The rows of `ids`; nil for an ID without a row in this store.
  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?]
  /// As `rows(for:)`; a value whose file is missing is noted in `missing` and read as nil.
  func rows(for ids: [NSManagedObjectID], leavingOut missing: MissingValues) throws -> [FetchedRow?]
  func count(_ query: FetchQuery) throws -> Int
  /// How `rows(_:)` finds them. Reads no rows.
  func explanation(_ query: FetchQuery) throws -> QueryExplanation
  /// The IDs at the other end of `relationship` for each of `ids`: in the relationship's order if it is ordered,
  /// otherwise by key.
  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]]
  /// The objects at the other end of `relationship`, which is to-many, with their values: owner after owner by ascending
  /// key, and for each in the order of `related`. Nil if the store can't read both in one.
  func relatedRows(_ relationship: NSRelationshipDescription, of keys: [Int64]) throws -> [RelatedRows]?
  /// As `relatedRows(_:of:)`, for rows that are about to be deleted: the values of very many may stay in the store.
  func relatedRowsToDelete(_ relationship: NSRelationshipDescription, of keys: [Int64]) throws -> [RelatedRows]?
  /// The results that `query` and `shape` describe: rows that match become groups, those become distinct results, and
  /// limit and offset count these. Results that stand for several rows and are equal by the sort keys come in the order
  /// of their columns.
  ///
  /// - Throws: `CancellationFlag.error` once `stop` is raised.
  func dictionaryRows(_ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag) throws -> [DictionaryRow]
  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int
}

/// A committed state that stays readable during writes. Releasing it ends that.
package protocol StoreSnapshot: AnyObject, Sendable {}

/// The open transaction of a save on one store.
package protocol SaveWriter: AnyObject {
  /// Writes `changes`, then what `participants` add. A save with unsaved metadata writes it too.
  ///
  /// The order is checks, deletions, updates, insertions, relationships. Each row is compared with the version that its change builds
  /// on and with the uniqueness constraints when it is written: a value may pass from a deleted object to another one,
  /// but two objects can't exchange values. The deletion of a row that is gone already succeeds. A refused row does not
  /// end the writing, so that the failure names all of them; conflicts of versions come before other refusals.
  ///
  /// The rows of one `InsertedRows` get consecutive keys in their order, except those that have obtained one. A refused
  /// row keeps its key.
  ///
  /// - Parameter whole: The change set of the whole save, which `participants` receive; it spans several stores
  ///   where they save together.
  /// - Throws: `SaveFailure` with every object at fault, or `NSError` 134030 or 134090; 134030 also for a change of an
  ///   object that is of another store or was never in one; 134070 for participants where the store takes none; 134060
  ///   for metadata that no property list can hold.
  func write(_ changes: ChangeSet, _ participants: [any SaveParticipant], whole: ChangeSet) throws
  func commit() throws
  /// Gives the inserted objects their permanent IDs with `TemporaryIDRange.resolve`. Called once, after every store of
  /// the save has committed.
  func finish()
  /// Has no effect after a commit.
  func rollBack()
}

/// The result of a batch request.
package struct BatchOutcome: Sendable {
  package var count = 0
  /// The IDs of the written or deleted objects; empty unless requested.
  package var ids: [NSManagedObjectID] = []

  package init(count: Int = 0, ids: [NSManagedObjectID] = []) {
    self.count = count
    self.ids = ids
  }
}

/// How an insertion treats a row whose unique values another row already has.
package enum UniquenessResolution: Sendable {
  /// The row in the store stays unchanged, and the new one is dropped.
  case keepStored
  /// The row in the store gets the new values.
  case overwrite
}

extension RowReader {
  package func explanation(_ query: FetchQuery) throws -> QueryExplanation { .inMemory }
  package func relatedRows(_ relationship: NSRelationshipDescription, of keys: [Int64]) throws -> [RelatedRows]? { nil }
  package func relatedRowsToDelete(_ relationship: NSRelationshipDescription, of keys: [Int64]) throws -> [RelatedRows]?
  { try relatedRows(relationship, of: keys) }

  /// For stores whose values are in no files.
  package func rows(for ids: [NSManagedObjectID], leavingOut missing: MissingValues) throws -> [FetchedRow?] {
    try rows(for: ids)
  }
}

extension RowStore {
  package var isTransactional: Bool { true }
  package func willWrite(for origin: ChangeOrigin) {}
  package var takesPackedLinks: Bool { false }
  package var loss: String? { nil }
  package func deferIndexes(of entity: NSEntityDescription) throws {}
  package func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, readers: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor { try cursor(query, rowsPerBatch: rowsPerBatch, in: snapshot) }
  package func restoreIndexes() throws {}

  package var location: String { url?.path ?? "the store in memory" }

  /// Writes `changes` and what the participants add in one transaction, then gives the inserted objects their IDs.
  ///
  /// - Throws: `SaveFailure` with every refused object, or `NSError` 134030, 134090; the store then is unchanged.
  package func save(_ changes: ChangeSet, _ participants: [any SaveParticipant]) throws {
    let writer = try beginSave(of: changes)
    do {
      try writer.write(changes, participants, whole: changes)
      try writer.commit()
    } catch {
      writer.rollBack()
      throw error
    }
    writer.finish()
  }
}
