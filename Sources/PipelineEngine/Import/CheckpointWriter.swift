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
  ///   - chunk: What the save writes of the plan of a shard.
  ///   - beforeCommit: Waits for what must be on the disk before the save is committed.
  func prepare(
    _ checkpoint: FileCheckpoint, _ totals: ImportTotals, insertedCount: Int = 0, createdCount: Int = 0,
    related: RelatedState? = nil, chunk: ShardChunk? = nil,
    beforeCommit: (@Sendable () throws -> Void)? = nil
  ) {
    if environment.isDryRun { return }
    let (plans, shard) = (environment.plans, checkpoint.entry.shard)
    // The run of a plan is in the ledger when it is reported.
    let begin = totals.hasSaved || shard != nil ? [] : environment.runBegin
    let rejected = shard.flatMap { shard in chunk?.rejects.map { [plans.record($0, of: shard)] } } ?? []
    let progress = shard != nil || environment.store.givesKeysInOrder ? nil : SavedProgress(checkpoint.entry)
    ledger.prepare(
      Ledger.Page(
        move: checkpoint.move(plans), takeTurn: shard == nil ? nil : environment.takeTurn,
        statements: begin + checkpoint.statements(environment.tables) + rejected,
        progress: progress, input: shard?.input ?? checkpoint.entry.id,
        rootEntity: environment.store.entity.rootEntity.name, insertedCount: insertedCount, createdCount: createdCount,
        related: related, chunk: chunk?.order, claims: chunk?.claims, linkClaims: chunk?.linkClaims,
        beforeCommit: beforeCommit))
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
    try environment.store.performAgain(unless: environment.monitor.isCancelled) { try $0.saveParticipants() }
    didSave(&checkpoint, inserted: 0, &totals)
  }
}

/// What a chunk of a shard adds to the tables of its plan.
struct ShardChunk {
  /// The order of its first record.
  let order: Int64
  /// What it changes of the keys.
  let claims: KeyClaims?
  /// What it changes of what workers know of related objects.
  let linkClaims: LinkClaims?
  /// Its rejects, which are in the ledger until the plan is reported.
  let rejects: PlanTables.Rejects?

  init(_ plan: ChunkPlan, of chunk: ParsedChunk, _ shard: Shard, rejected: RejectedRecords?) {
    let first = chunk.block.start.record
    order = SharedKey.order(input: shard.input, record: first)
    (claims, linkClaims) = (plan.claims, plan.linkClaims)
    rejects = rejected.map { $0.row(firstRecord: first) }
  }
}
