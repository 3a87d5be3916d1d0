import Foundation
import Locking
import OpenCoreData
import PersistentStores

/// The store's record of what was imported into it: tables of its own, written in the transaction of each save.
///
/// A chunk is in the ledger if and only if its entries are in the store. Frameworks without support for it leave its
/// tables alone. The run's lock ensures that one run at a time uses it.
final class Ledger: SaveParticipant {
  /// What the next save writes.
  private struct Pending: Sendable {
    var statements: [LedgerTables.Statement] = []
    /// Waits until the rejects are on the disk, before the save is committed.
    var beforeCommit: (@Sendable () throws -> Void)?
  }

  private let pending = Locked(Pending())
  private let hasTables = Locked(false)
  private let nextInputID: Locked<Int64>
  let tables: LedgerTables
  /// The entries when the run began, the newest first.
  let entries: [LedgerEntry]

  /// Reads the ledger of the coordinator's store; it is empty where there is none.
  init(_ tables: LedgerTables, _ coordinator: NSPersistentStoreCoordinator?) throws {
    self.tables = tables
    var entries: [LedgerEntry] = []
    if let coordinator, try tables.exist(in: coordinator) {
      let columns = LedgerEntry.columns.joined(separator: ", ")
      entries = try coordinator.participantRows("SELECT \(columns) FROM \(tables.input) ORDER BY inputID DESC")
        .compactMap(LedgerEntry.init(row:))
    }
    self.entries = entries
    nextInputID = Locked((entries.map(\.id).max() ?? 0) + 1)
  }

  func newInputID() -> Int64 {
    nextInputID.withLock { id in
      defer { id += 1 }
      return id
    }
  }

  // MARK: Writing

  /// Makes the next save write exactly these statements to the ledger.
  func prepare(
    _ statements: [LedgerTables.Statement], beforeCommit: (@Sendable () throws -> Void)? = nil
  ) {
    pending.withLock { $0 = Pending(statements: statements, beforeCommit: beforeCommit) }
  }

  /// Makes the next save write nothing to the ledger.
  func clear() { pending.withLock { $0 = Pending() } }

  func write(to transaction: SaveTransaction) throws {
    let pending = pending.withLock { $0 }
    guard !pending.statements.isEmpty else { return }
    if !hasTables.withLock({ $0 }) { try tables.create(in: transaction) }
    for statement in pending.statements { try transaction.run(statement.sql, statement.values) }
    try pending.beforeCommit?()
  }

  /// Called after a successful save: the tables exist from then on.
  func didSave() {
    hasTables.withLock { $0 = true }
    clear()
  }
}
