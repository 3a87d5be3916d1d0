import Foundation
import OpenCoreData
import PersistentStores

/// The end of a run in the ledger.
extension ImportRun {
  /// Records how the run has ended. A run that had nothing to do leaves the store unchanged. One that failed or was
  /// stopped before its first save is recorded where the store has a ledger, or has no entries yet.
  func noteEnd(_ outcome: Outcome) throws(RunFailure) {
    let isNoted =
      store.isWritten
      ? try store.performAgain(unless: environment.monitor.isCancelled) { try noteSavedEnd(outcome, $0) } : false
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
    guard holdsStore, outcome.summary.outcome != .completed, let location = store.location, location.exists,
      let hasLedger = try? environment.tables.hasLedger(location), hasLedger || store.isOpen
    else { return }
    // A store that must not be written to, or is of another model, is refused here as it was before.
    if !store.isOpen, (try? store.openExisting()) == nil { return }
    guard hasLedger || parts.allSatisfy({ (try? $0.environment.store.entryCountMax()) == 0 }) else { return }
    try? environment.tables.record(
      ledgerRun(outcome.summary), in: location, timeoutSeconds: options.lockTimeoutSeconds)
  }
}

extension LedgerTables {
  /// Records a run, in a new ledger where the store has none. The caller holds the store's lock, and has opened it for
  /// writing.
  func record(_ run: LedgerRun, in store: StoreLocation, timeoutSeconds: Double) throws {
    let ledger = try LedgerConnection.writing(store, timeoutSeconds: timeoutSeconds)
    defer { ledger.close() }
    try ledger.transaction {
      for sql in LedgerLayout.statements(for: self, ledger.dialect, from: try ledger.layout(of: self)) {
        _ = try ledger.rows(sql, [])
      }
      for statement in [noteInterruptions(before: run.id), record(run)] {
        _ = try ledger.rows(statement.sql, statement.values)
      }
    }
  }

  /// A store that can only be opened by writing to it, such as one that a killed run had begun to make, has none.
  func hasLedger(_ store: StoreLocation) throws -> Bool {
    let ledger = try LedgerConnection.reading(store)
    defer { ledger.close() }
    return try ledger.layout(of: self) != nil
  }
}
