import Foundation
import Locking
import OpenCoreData

/// The store's memory of what was imported into it: tables of its own, written in the transaction of each save.
///
/// What it says of a chunk is there if and only if the chunk's entries are. Frameworks that know nothing of it leave
/// its tables alone. It belongs to one run at a time, which the run's lock sees to.
final class Ledger: SaveParticipant {
  /// What the next save writes.
  private struct Pending: Sendable {
    var statements: [LedgerTables.Statement] = []
    /// Waits for what must be on the disk before the save is committed.
    var beforeCommit: (@Sendable () throws -> Void)?
  }

  private let pending = Locked(Pending())
  private let hasTables = Locked(false)
  private let nextInputID: Locked<Int64>
  let tables: LedgerTables
  /// What was known when the run began, the newest first.
  let entries: [LedgerEntry]

  /// Reads the ledger of the coordinator's store; an empty one where there is none.
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

  /// Has the next save write this and nothing else of the ledger's.
  func prepare(
    _ statements: [LedgerTables.Statement], beforeCommit: (@Sendable () throws -> Void)? = nil
  ) {
    pending.withLock { $0 = Pending(statements: statements, beforeCommit: beforeCommit) }
  }

  /// Nothing is to be written, whatever is saved.
  func clear() { pending.withLock { $0 = Pending() } }

  func write(to transaction: SaveTransaction) throws {
    let pending = pending.withLock { $0 }
    guard !pending.statements.isEmpty else { return }
    if !hasTables.withLock({ $0 }) { try tables.create(in: transaction) }
    for statement in pending.statements { try transaction.run(statement.sql, statement.values) }
    try pending.beforeCommit?()
  }

  /// The save went through: its tables are there.
  func didSave() {
    hasTables.withLock { $0 = true }
    clear()
  }
}
