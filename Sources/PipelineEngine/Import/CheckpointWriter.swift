import OpenCoreData

/// Writes an input's state to the ledger, in the transaction of a save. A dry run writes nothing.
struct CheckpointWriter {
  let environment: ImportEnvironment
  let ledger: Ledger

  /// Makes the next save write the checkpoint; the first one of a run also writes the run.
  ///
  /// - Parameters:
  ///   - insertedCount: The number of entries that the save inserts.
  ///   - createdCount: The number of related objects that it creates.
  ///   - related: The state in which the related objects were looked up.
  ///   - claims: What the chunk changes of the keys of a plan.
  ///   - rejects: What the chunk adds to the rejects of a shard, which are in the ledger until its plan is reported.
  ///   - beforeCommit: Waits for what must be on the disk before the save is committed.
  func prepare(
    _ checkpoint: FileCheckpoint, _ totals: ImportTotals, insertedCount: Int = 0, createdCount: Int = 0,
    related: RelatedState? = nil, claims: KeyClaims? = nil, rejects: PlanTables.Rejects? = nil,
    beforeCommit: (@Sendable () throws -> Void)? = nil
  ) {
    if environment.isDryRun { return }
    let (plans, shard) = (environment.plans, checkpoint.entry.shard)
    // The run of a plan is in the ledger when it is reported.
    let begin = totals.hasSaved || shard != nil ? [] : environment.runBegin
    let rejected = shard.flatMap { shard in rejects.map { [plans.record($0, of: shard)] } } ?? []
    let progress = shard != nil || environment.store.givesKeysInOrder ? nil : SavedProgress(checkpoint.entry)
    ledger.prepare(
      Ledger.Page(
        move: checkpoint.move(plans), waitForTurn: shard == nil ? nil : environment.waitForTurn,
        statements: begin + checkpoint.statements(environment.tables) + rejected,
        progress: progress, input: shard?.input ?? checkpoint.entry.id,
        rootEntity: environment.store.entity.rootEntity.name, insertedCount: insertedCount, createdCount: createdCount,
        related: related, claims: claims, beforeCommit: beforeCommit))
  }

  /// Adds the entries and related objects that the prepared save updates, as they were before, and the objects that it
  /// links entries to.
  func note(_ overwritten: [OverwrittenEntries], _ linked: LinkedKeys) {
    if environment.isDryRun { return }
    ledger.add(overwritten)
    ledger.add([linked])
  }

  /// Called after a successful save of that many new entries.
  func didSave(_ checkpoint: inout FileCheckpoint, inserted: Int, _ totals: inout ImportTotals) {
    ledger.didSave()
    totals.obsoleteRejects += checkpoint.didSave()
    totals.noteSaved(inserted: inserted)
  }

  /// Writes only the checkpoint, without entries.
  func write(_ checkpoint: inout FileCheckpoint, _ totals: inout ImportTotals) throws(RunFailure) {
    if environment.isDryRun { return }
    prepare(checkpoint, totals)
    try environment.store.performAgain { try $0.saveParticipants() }
    didSave(&checkpoint, inserted: 0, &totals)
  }
}
