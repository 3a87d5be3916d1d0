import Foundation
import OpenCoreData
import PersistentStores

/// The end of a run in the ledger.
extension ImportRun {
  /// Records how the run has ended. A run that had nothing to do leaves the store unchanged. One that failed or was
  /// stopped before its first save is recorded where the store has a ledger.
  func noteEnd(_ outcome: Outcome) throws(RunFailure) {
    let isNoted = store.isWritten ? try store.perform { try noteSavedEnd(outcome, $0) } : false
    if !isNoted { noteUnsavedEnd(outcome) }
  }

  private func ledgerRun(_ summary: RunSummary) -> LedgerRun {
    LedgerRun(
      id: environment.runID, pipeline: definition.name, kind: environment.ledgerKind,
      startedAt: environment.startedAt, endedAt: options.now(),
      outcome: summary.outcome.rawValue, exitCode: summary.exitCode.rawValue, counts: summary.counts,
      message: summary.failure?.message ?? summary.stopReason)
  }

  private func statements(_ outcome: Outcome) -> [LedgerTables.Statement] {
    let isOwed = outcome.isReportOwed || !outcome.isDurable
    let reported = isOwed ? [] : environment.tables.finish(run: environment.runID)
    let outdated = LedgerRetention(definition.limits).map { environment.tables.compact($0, at: options.now()) }
    return [environment.tables.record(ledgerRun(outcome.summary))] + reported + (outdated ?? [])
  }

  /// - Returns: Whether the run is in the ledger: it has saved something.
  private func noteSavedEnd(_ outcome: Outcome, _ coordinator: NSPersistentStoreCoordinator) throws -> Bool {
    let isKnown =
      try environment.tables.layout(in: coordinator) != nil
      && !coordinator.participantRows("SELECT 1 FROM \(environment.tables.run) WHERE runID = ?", [environment.runID])
        .isEmpty
    guard isKnown else { return false }
    let ledger = try Ledger(environment.tables, nil)
    coordinator.addSaveParticipant(ledger)
    defer { coordinator.removeSaveParticipant(ledger) }
    ledger.prepare(Ledger.Page(statements: statements(outcome)))
    try coordinator.saveParticipants()
    try coordinator.checkpoint()
    return true
  }

  /// What ended the run may also prevent this: the report has said it then, and the files are moved nevertheless.
  private func noteUnsavedEnd(_ outcome: Outcome) {
    let holdsStore = outcome.lock != nil && copied == nil && options.seed == nil
    guard holdsStore, outcome.summary.outcome != .completed, let path = store.path,
      FileManager.default.fileExists(atPath: path), (try? environment.tables.hasLedger(path)) == true
    else { return }
    // A store that must not be written to, or is of another model, is refused here as it was before.
    if !store.isOpen, (try? store.openExisting()) == nil { return }
    try? environment.tables.record(
      ledgerRun(outcome.summary), inStore: path, timeoutSeconds: options.lockTimeoutSeconds)
  }
}

extension LedgerTables {
  /// Records a run in a store that has a ledger. The caller holds the store's lock, and has opened it for writing.
  func record(_ run: LedgerRun, inStore path: String, timeoutSeconds: Double) throws {
    let connection = try OpenedDatabase.openForWriting(path, timeoutSeconds: timeoutSeconds)
    defer { connection.close() }
    try connection.transaction {
      let found = try layout { try connection.rows($0).map { $0.map(\.plain) } }
      guard found != nil else { return }
      for sql in LedgerLayout.statements(for: self, from: found) { try connection.execute(sql) }
      for statement in [noteInterruptions(before: run.id), record(run)] {
        _ = try connection.rows(statement.sql, statement.values)
      }
    }
  }

  /// A store that can only be opened by writing to it, such as one that a killed run had begun to make, has none.
  func hasLedger(_ path: String) throws -> Bool {
    let opened = try OpenedDatabase.openForReading(path)
    defer { withExtendedLifetime(opened) {} }
    return try layout { try opened.connection.rows($0).map { $0.map(\.plain) } } != nil
  }
}
