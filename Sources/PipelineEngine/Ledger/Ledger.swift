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
    var statements: [(sql: String, values: [StoredValue])] = []
    /// Waits for what must be on the disk before the save is committed.
    var beforeCommit: (@Sendable () throws -> Void)?
  }

  private let pending = Locked(Pending())
  private let hasTables = Locked(false)
  private let nextInputID: Locked<Int64>
  /// What was known when the run began, the newest first.
  let entries: [LedgerEntry]

  /// Reads the ledger of the coordinator's store; an empty one where there is none.
  init(_ coordinator: NSPersistentStoreCoordinator?) throws {
    var entries: [LedgerEntry] = []
    if let coordinator, try LedgerTables.exist(in: coordinator) {
      let columns = LedgerEntry.columns.joined(separator: ", ")
      entries = try coordinator.participantRows("SELECT \(columns) FROM SJ_INPUT ORDER BY inputID DESC")
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

  /// The issues that a report lists of an input.
  static func issues(ofInput id: Int64, _ coordinator: NSPersistentStoreCoordinator) throws -> [RecordIssue] {
    let rows = try coordinator.participantRows("SELECT issue FROM SJ_ISSUE WHERE inputID = ? ORDER BY ordinal", [id])
    let decoder = JSONDecoder()
    return rows.compactMap { row in
      (row[0] as? String).flatMap { try? decoder.decode(RecordIssue.self, from: Data($0.utf8)) }
    }
  }

  // MARK: Writing

  /// Has the next save write this and nothing else of the ledger's.
  func prepare(
    _ statements: [(sql: String, values: [StoredValue])], beforeCommit: (@Sendable () throws -> Void)? = nil
  ) {
    pending.withLock { $0 = Pending(statements: statements, beforeCommit: beforeCommit) }
  }

  /// Nothing is to be written, whatever is saved.
  func clear() { pending.withLock { $0 = Pending() } }

  func write(to transaction: SaveTransaction) throws {
    let pending = pending.withLock { $0 }
    guard !pending.statements.isEmpty else { return }
    if !hasTables.withLock({ $0 }) { try LedgerTables.create(in: transaction) }
    for statement in pending.statements { try transaction.run(statement.sql, statement.values) }
    try pending.beforeCommit?()
  }

  /// The save went through: its tables are there.
  func didSave() {
    hasTables.withLock { $0 = true }
    clear()
  }

  // MARK: Statements

  /// The run and what it came to so far.
  static func record(_ run: LedgerRun) -> (sql: String, values: [StoredValue]) {
    (LedgerTables.replaceRun, run.values)
  }

  /// A run that was killed says so from now on.
  static func noteInterruptions(before run: String) -> (sql: String, values: [StoredValue]) {
    ("UPDATE SJ_RUN SET outcome = 'interrupted' WHERE outcome = 'running' AND runID <> ?", [.text(run)])
  }

  static func record(_ entry: LedgerEntry) -> (sql: String, values: [StoredValue]) {
    (LedgerTables.replaceInput, entry.values)
  }

  static func record(_ issue: RecordIssue, ofInput id: Int64, ordinal: Int) -> (sql: String, values: [StoredValue])? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(issue) else { return nil }
    return (
      LedgerTables.replaceIssue,
      [.integer(id), .integer(Int64(ordinal)), .text(String(decoding: data, as: UTF8.self))]
    )
  }

  /// The report is written: the issues are in it, and the inputs of the run are done with.
  static func finish(run: String) -> [(sql: String, values: [StoredValue])] {
    [
      (
        "DELETE FROM SJ_ISSUE WHERE inputID IN (SELECT inputID FROM SJ_INPUT WHERE runID = ? AND state <> 'partial')",
        [.text(run)]
      ),
      ("UPDATE SJ_INPUT SET state = 'complete' WHERE runID = ? AND state = 'unreported'", [.text(run)]),
    ]
  }

  /// A half-done input that is imported anew does not go on any more.
  static func forget(input id: Int64) -> [(sql: String, values: [StoredValue])] {
    [
      ("DELETE FROM SJ_ISSUE WHERE inputID = ?", [.integer(id)]),
      ("DELETE FROM SJ_INPUT WHERE inputID = ? AND state = 'partial'", [.integer(id)]),
    ]
  }
}
