import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores

/// The store's record of what was imported into it: tables of its own, written in the transaction of each save.
///
/// A chunk is in the ledger if and only if its entries are in the store. Frameworks without support for it leave its
/// tables alone. The run's lock ensures that one run at a time uses it.
final class Ledger: LinkSharingParticipant {
  /// What the next save writes.
  struct Page: Sendable {
    /// Moves the checkpoint of a shard. The save fails with `CheckpointMoved` where it changes no row.
    var move: LedgerTables.Statement?
    /// Called at the beginning of the save; throws `WritersBusy` where it may not write yet.
    var takeTurn: (@Sendable (SaveTransaction) throws -> Void)?
    var statements: [LedgerTables.Statement] = []
    /// How far the save imports the input; nil where the store can't lose it.
    var progress: SavedProgress?
    /// The input that the entries of the save come from; nil for a save without entries.
    var input: Int64?
    /// The name of the root entity of these entries, by which the store numbers them.
    var rootEntity: String?
    /// The number of entries that the save inserts.
    var insertedCount = 0
    /// The number of related objects that it creates.
    var createdCount = 0
    /// The state of related objects that the save relies on; nil if it relies on none.
    var related: RelatedState?
    /// The order of the first record of a shard's chunk, which no other save has; nil for a run of its own.
    var chunk: Int64?
    /// What the save changes of the keys of a plan; nil where it compares none.
    var claims: KeyClaims?
    /// What it changes of what the workers of a plan know of related objects; nil where it leads to none.
    var linkClaims: LinkClaims?
    /// Waits until the rejects are on the disk, before the save is committed.
    var beforeCommit: (@Sendable () throws -> Void)?
  }

  private struct Pending: Sendable {
    var page = Page()
    /// The entries and related objects that the save updates, as they were before.
    var overwritten: [OverwrittenEntries] = []
    /// The objects that it links entries to, or unlinks.
    var linked: [LinkedKeys] = []
  }

  private let pending = Locked(Pending())
  /// What the last save has written; nil before the first, and where the store can't lose it.
  private let lastSaved = Locked<SavedProgress?>(nil)
  private let written = Locked(false)
  private let relatedAfterSave = Locked<RelatedState?>(nil)
  private let hasTables = Locked(false)
  private let nextInputID: Locked<Int64>
  private let undoRecords: Locked<UndoRecords>
  let tables: LedgerTables
  /// The entries when the run began, the newest first, without those that were undone.
  let entries: [LedgerEntry]
  /// Those of them that were not imported to their end.
  let partialEntries: [LedgerEntry]
  /// Those of them that no run has reported: partial ones, and those whose report could not be written.
  let unreportedEntries: [LedgerEntry]
  /// The paths of the rejects of these.
  let unreportedRejects: Set<String>

  /// Reads the ledger of the coordinator's store; it is empty where there is none.
  ///
  /// - Parameters:
  ///   - overwrittenMax: The number of entries whose values from before an update are kept.
  init(
    _ tables: LedgerTables, _ coordinator: NSPersistentStoreCoordinator?, overwrittenMax: Int = 0
  ) throws {
    self.tables = tables
    var entries: [LedgerEntry] = []
    if let coordinator, let layout = try tables.layout(in: coordinator) {
      entries = try tables.allEntries(layout) { try coordinator.participantRows($0) }
    }
    self.entries = entries.filter { !$0.isUndone }
    unreportedEntries = self.entries.filter { !$0.isReported }
    unreportedRejects = Set(unreportedEntries.compactMap(\.rejects.path))
    partialEntries = unreportedEntries.filter { !$0.isComplete && !$0.isPlanned }
    nextInputID = Locked((entries.map(\.id).max() ?? 0) + 1)
    undoRecords = Locked(UndoRecords(tables, overwrittenMax: overwrittenMax))
  }

  func newInputID() -> Int64 {
    nextInputID.withLock { id in
      defer { id += 1 }
      return id
    }
  }

  // MARK: Writing

  /// Makes the next save write exactly this page to the ledger.
  func prepare(_ page: Page) {
    pending.withLock { $0 = Pending(page: page) }
    written.withLock { $0 = false }
  }

  /// Whether a save has written the page. One whose changes cancel each other out does not reach the store.
  var hasWritten: Bool { written.withLock { $0 } }

  /// Adds to the page what the save is about to overwrite.
  func add(_ overwritten: [OverwrittenEntries]) { pending.withLock { $0.overwritten = overwritten } }

  /// Adds to the page the objects at the other ends of relationships that saves change: those of the next save, or of
  /// earlier ones of the same transaction.
  func add(_ linked: [LinkedKeys]) { pending.withLock { $0.linked = linked } }

  /// Whether the next save is that of a worker, while others link entries to the same objects.
  var sharesLinks: Bool { pending.withLock { $0.page.linkClaims != nil } }

  /// Makes the next save write nothing to the ledger.
  func clear() { pending.withLock { $0 = Pending() } }

  /// The state of related objects as the last save has left it.
  var relatedState: RelatedState? { relatedAfterSave.withLock { $0 } }

  /// Throws if the store has lost what the run had saved, or if other programs have changed the related objects since they
  /// were read; until the save has ended they can't. Moves the checkpoint of a shard, which fails if another worker has
  /// moved it, and takes the keys of its chunk and the related objects that it creates.
  func begin(_ transaction: SaveTransaction) throws {
    let page = pending.withLock { $0.page }
    try page.takeTurn?(transaction)
    if let last = lastSaved.withLock({ $0 }) {
      let query = last.query(tables)
      try transaction.check(query.sql, query.values) { try last.check(found: $0) }
    }
    if let move = page.move, try transaction.change(move.sql, move.values) == 0 { throw CheckpointMoved() }
    try page.claims?.take(in: transaction)
    try page.linkClaims?.take(in: transaction)
    try page.linkClaims?.lockStored(in: transaction)
    guard let known = page.related else { return }
    for sql in known.mark.locks { try transaction.run(sql, []) }
    if try known.now(in: transaction).value != known.value { throw OutdatedLinks() }
  }

  /// Throws if the store has lost the last of what the run had saved: no later save would find that.
  func checkLastSave(_ coordinator: NSPersistentStoreCoordinator) throws {
    guard let last = lastSaved.withLock({ $0 }) else { return }
    let (query, hasTables) = (last.query(tables), try tables.layout(in: coordinator) != nil)
    try last.check(found: hasTables ? coordinator.participantRows(query.sql, query.values) : [])
  }

  func write(to transaction: SaveTransaction) throws {
    let (page, overwritten, linked) = pending.withLock { ($0.page, $0.overwritten, $0.linked) }
    guard !page.statements.isEmpty || page.input != nil else { return }
    written.withLock { $0 = true }
    if let known = page.related {
      // The save itself may have changed them.
      let new = try known.now(in: transaction)
      relatedAfterSave.withLock { $0 = new }
    }
    if !hasTables.withLock({ $0 }) { try tables.create(in: transaction) }
    for statement in page.statements { try transaction.run(statement.sql, statement.values) }
    if let claims = page.claims, let root = page.rootEntity {
      try claims.note(transaction.insertedKeys(ofRoot: root), count: page.insertedCount, in: transaction)
    }
    try page.linkClaims?.note(in: transaction)
    if let input = page.input {
      try undoRecords.withLock { records in
        try records.noteInsertions(page, ofInput: input, transaction)
        for entries in overwritten {
          try records.note(entries, ofInput: input, ordinal: page.chunk, transaction)
        }
        for keys in linked where !keys.isEmpty {
          try records.note(keys, ofInput: input, ordinal: page.chunk, transaction)
        }
      }
    }
    try page.beforeCommit?()
  }

  /// Called after a successful save: the tables exist from then on.
  func didSave() {
    hasTables.withLock { $0 = true }
    if let saved = pending.withLock({ $0.page.progress }) { lastSaved.withLock { $0 = saved } }
    clear()
  }

  /// Called when a transaction was rolled back: what it had created and recorded is gone.
  func didRollBack() {
    hasTables.withLock { $0 = false }
    lastSaved.withLock { $0 = nil }
    undoRecords.withLock { $0.didRollBack() }
    clear()
  }

  /// Called when an undo has written to the tables: the numbers of its records are read again.
  func didUndo() { undoRecords.withLock { $0.didRollBack() } }
}

/// How far an input was imported by a save on a server. One that fails over to another server may lose what it has
/// committed: the run, which knows nothing of that, must not continue behind a gap.
struct SavedProgress: Sendable {
  let input: Int64
  let record: Int
  let byte: Int

  init(_ entry: LedgerEntry) {
    (input, record, byte) = (entry.id, entry.progress.position.record, entry.progress.position.byteOffset)
  }

  /// Finds a row if the store has it.
  fileprivate func query(_ tables: LedgerTables) -> (sql: String, values: [Any?]) {
    ("SELECT 1 FROM \(tables.input) WHERE inputID = ? AND record = ? AND byte = ?", [input, record, byte])
  }

  fileprivate func check(found rows: [[Any?]]) throws {
    guard rows.isEmpty else { return }
    throw RunFailure(
      code: nil, exitCode: .temporaryFailure,
      message: "the server has lost what this run had saved up to record \((record - 1).grouped): another one may have "
        + "taken its place. Run it again; it continues with what is there",
      concernsStore: true)
  }
}

/// The state of the objects that records lead to: those that were read are the ones that the store has as long as it is
/// the same.
struct RelatedState: Sendable {
  let mark: ChangeMark
  let value: Int64

  /// The present state.
  func now(in transaction: SaveTransaction) throws -> RelatedState {
    RelatedState(mark: mark, value: try transaction.rows(mark.query).first?.first as? Int64 ?? 0)
  }
}

/// A save that relies on related objects as they were before another program has written to the store.
struct OutdatedLinks: Error {}
