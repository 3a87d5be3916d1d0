import OpenCoreData

/// Writes what the ledger says of an input, in the transaction of a save. A dry run writes nothing.
struct CheckpointWriter {
  let environment: ImportEnvironment
  let ledger: Ledger

  /// Has the next save write the checkpoint; the first one of a run writes the run too.
  ///
  /// - Parameter beforeCommit: Waits for what must be on the disk before the save is committed.
  func prepare(
    _ checkpoint: FileCheckpoint, _ totals: ImportTotals, beforeCommit: (@Sendable () throws -> Void)? = nil
  ) {
    if environment.isDryRun { return }
    let begin = totals.hasSaved ? [] : environment.runBegin
    ledger.prepare(begin + checkpoint.statements(environment.tables), beforeCommit: beforeCommit)
  }

  /// The save went through, with so many new entries.
  func didSave(_ checkpoint: inout FileCheckpoint, inserted: Int, _ totals: inout ImportTotals) {
    ledger.didSave()
    checkpoint.didSave()
    totals.noteSaved(inserted: inserted)
  }

  /// Writes the checkpoint alone, without entries.
  func write(_ checkpoint: inout FileCheckpoint, _ totals: inout ImportTotals) throws(RunFailure) {
    if environment.isDryRun { return }
    prepare(checkpoint, totals)
    try environment.store.perform { try $0.saveParticipants() }
    didSave(&checkpoint, inserted: 0, &totals)
  }
}
