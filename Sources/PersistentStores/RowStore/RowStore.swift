import Foundation
import ManagedObjectModel

/// Storage for the rows of a coordinator's objects: a SQLite file, or another conforming type.
///
/// Values cross this boundary, never objects: queries, change sets and batches go in; rows, cursors, outcomes and
/// ``SaveFailure`` come out. Transactions, snapshots and the query language belong to the store.
///
/// The coordinator calls the writing methods one at a time. It calls `read` from any thread, also during a write: a
/// reader then sees the last commit.
package protocol RowStore: AnyObject, Sendable {
  /// The kind of store, such as `NSSQLiteStoreType`.
  var type: String { get }
  /// The store's location; nil for an in-memory store.
  var url: URL? { get }
  var isReadOnly: Bool { get }
  var identity: StoreIdentity { get }
  /// Whether a save can be rolled back, and save participants can write in its transaction. A store of which that is
  /// not true has written its part for good when `SaveWriter.write` returns.
  var isTransactional: Bool { get }

  /// Whether the store's configuration has the entity.
  func keeps(_ entity: NSEntityDescription) -> Bool

  // MARK: Reading

  /// Runs `body` with a reader of the rows of `snapshot`, or of those committed last for nil.
  ///
  /// The reader is valid during the call only. Rows written by an open transaction are visible to the thread that holds
  /// it, and to every thread between `beginTransaction` and its end.
  func read<Result>(
    _ snapshot: (any StoreSnapshot)?, _ body: (any RowReader) throws -> Result
  ) throws -> Result

  /// A cursor over the rows of `query`. It can outlive the call and be used during writes to the store.
  func cursor(
    _ query: FetchQuery, rowsPerBatch: Int, in snapshot: (any StoreSnapshot)?
  ) throws -> any RowCursor

  /// Whether `makeSnapshot` can keep a state of the store readable.
  func keepsSnapshots() throws -> Bool
  /// The rows that are committed now, readable while the snapshot is retained; nil if the store does not support
  /// snapshots.
  func makeSnapshot() throws -> (any StoreSnapshot)?
  /// A number that changes with every write of this store object. Writes of other processes do not change it.
  var writeCount: Int64 { get }

  // MARK: Saving

  /// Begins the transaction of a save. `commit` or `rollBack` ends it, on the same thread.
  ///
  /// - Throws: `NSError` 134030 for a read-only store, 134090 while another process writes.
  func beginSave(of changes: ChangeSet) throws -> any SaveWriter
  /// Allocates the keys of those `ids` that are temporary, for a later save.
  func obtainPermanentIDs(for ids: [NSManagedObjectID]) throws
  /// The greatest key of an object of the entity's inheritance tree; 0 before the first.
  func lastKey(of entity: NSEntityDescription) throws -> Int64

  // MARK: Transactions around several saves

  func beginTransaction() throws
  func commitTransaction() throws
  func rollBackTransaction() throws
  /// The rows that a save participant's statement returns, outside of a save.
  func participantRows(_ sql: String, _ values: [StoredValue]) throws -> [[StoredValue]]

  // MARK: Batch requests

  /// Deletes the rows that `query` finds.
  func batchDelete(_ query: FetchQuery, wantsIDs: Bool) throws -> BatchOutcome
  /// Deletes the rows with `keys` in the inheritance tree of `entity`.
  func batchDelete(keys: [Int64], of entity: NSEntityDescription, wantsIDs: Bool) throws -> BatchOutcome
  /// Sets attributes, by slot, of the rows that `query` finds.
  func batchUpdate(_ query: FetchQuery, values: [Int: StoredValue], wantsIDs: Bool) throws -> BatchOutcome
  /// Inserts batches of `entity` until `fill` leaves one empty.
  func batchInsert(
    _ entity: NSEntityDescription, resolution: UniquenessResolution, wantsIDs: Bool,
    fill: (inout ObjectBatch) throws -> Void
  ) throws -> BatchOutcome

  // MARK: Metadata and files

  /// The metadata, including changes that the next save writes.
  var metadata: [String: Any] { get }
  /// Replaces the clients' keys. The next save writes them.
  func setMetadata(_ metadata: [String: Any])
  var hasUnsavedMetadata: Bool { get }

  /// Writes everything that is committed into the store's own file and waits for the disk.
  func checkpoint() throws
  func close()
}

/// Reads rows of one store in one state. It belongs to one thread at a time.
package protocol RowReader: AnyObject {
  /// The rows that `query` finds, each with its values by slot of its own entity.
  func rows(_ query: FetchQuery) throws -> [FetchedRow]
  /// The rows of `ids`; nil for an ID without a row in this store.
  func rows(for ids: [NSManagedObjectID]) throws -> [FetchedRow?]
  func count(_ query: FetchQuery) throws -> Int
  /// The IDs at the other end of `relationship` for each of `ids`: in the relationship's order if it is ordered,
  /// otherwise by key.
  func related(_ relationship: NSRelationshipDescription, of ids: [NSManagedObjectID]) throws -> [[NSManagedObjectID]]
  /// - Throws: `CancellationFlag.error` once `stop` is cancelled.
  func dictionaryRows(_ query: FetchQuery, _ shape: DictionaryShape, stop: CancellationFlag) throws -> [DictionaryRow]
  func dictionaryCount(_ query: FetchQuery, _ shape: DictionaryShape) throws -> Int
}

/// A committed state that stays readable during writes. Releasing it ends that.
package protocol StoreSnapshot: AnyObject, Sendable {}

/// The open transaction of a save on one store.
package protocol SaveWriter: AnyObject {
  /// Writes `changes`, then what `participants` add.
  ///
  /// - Parameter whole: The change set of the whole save, which `participants` receive; it spans several stores if they
  ///   are saved together.
  /// - Throws: `SaveFailure` with every refused object, or `NSError` 134030 or 134090.
  func write(_ changes: ChangeSet, _ participants: [any SaveParticipant], whole: ChangeSet) throws
  func commit() throws
  /// Gives the inserted objects their permanent IDs. Called once, after every store of the save has committed.
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

extension RowStore {
  package var isTransactional: Bool { true }

  /// The store's name in messages.
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
