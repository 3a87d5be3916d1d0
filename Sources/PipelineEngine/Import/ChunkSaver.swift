import Foundation
import OpenCoreData

/// Saves the chunks of one input. One transaction has the entries, which pass through the contexts, and the state in
/// the ledger; the rejected records are on the disk before it is committed.
struct ChunkSaver {
  /// Why a chunk is not saved.
  struct Stop {
    let reason: String
    /// The issues of the records up to the first one over the limit.
    let issues: [RecordIssue]
    /// What was read of the chunk.
    let counts: RunCounts
  }

  private let environment: ImportEnvironment
  private let contexts: ImportContexts
  private let writer: CheckpointWriter
  private let rejects: RejectsFile?
  private var planner: ChunkPlanner
  /// Nil for a pipeline without links.
  private let linker: Linker?

  init(
    _ planner: ChunkPlanner, linker: Linker?, contexts: ImportContexts, writer: CheckpointWriter, rejects: RejectsFile?
  ) {
    self.linker = linker
    environment = writer.environment
    self.contexts = contexts
    self.writer = writer
    self.rejects = rejects
    self.planner = planner
  }

  /// Plans the chunk and saves it. Records that are refused become rejects, and the rest is planned again.
  ///
  /// - Returns: Nil where the chunk is saved and included in `checkpoint`.
  mutating func save(
    _ chunk: ParsedChunk, checkpoint: inout FileCheckpoint, totals: inout ImportTotals
  ) throws -> Stop? {
    let rejectsBefore = rejects?.mark ?? RejectsMark()
    let (store, monitor, begun) = (environment.store, environment.monitor, checkpoint.entry.progress.position.record)
    var (backOff, turn) = (store.backOff, BackOff.endless)
    defer { if environment.takeTurn != nil { store.disconnect() } }
    while true {
      do {
        return try save(chunk, after: rejectsBefore, checkpoint: &checkpoint, totals: &totals)
      } catch is OutdatedLinks {
        planner.undo()
        try linker?.read()
      } catch is OutdatedKeys {
        // The keys are read again.
        planner.undo()
      } catch let error as NSError where leadsToNothing(error, checkpoint.entry.shard) {
        throw RunFailure(
          code: nil, exitCode: .dataError,
          message:
            "another program has deleted an object that records lead to (\(error.missingObjectText)); end the plan with "
            + "'report --plan \(checkpoint.entry.run) --abandon', which says how to take back what is saved of it, and plan "
            + "again")
      } catch is WritersBusy {
        planner.undo()
        store.disconnect()
        guard turn.wait(unless: monitor.isCancelled) else { throw RunFailure.cancelled }
      } catch {
        // What is saved is not saved again.
        guard store.mayRepeat(error as NSError), checkpoint.entry.progress.position.record == begun,
          store.wait(&backOff, unless: monitor.isCancelled)
        else { throw error }
        planner.undo()
      }
    }
  }

  /// Whether a save of a shard was refused because an object is gone that it leads to.
  private func leadsToNothing(_ error: NSError, _ shard: Shard?) -> Bool {
    shard != nil && linker != nil && error.isOfMissingObject
  }

  /// Saves the plan. If the answer of the store is lost, the ledger says whether it was saved.
  private func save(
    _ plan: ChunkPlan, of chunk: ParsedChunk, as next: FileCheckpoint, _ totals: ImportTotals
  ) throws -> ImportContexts.Outcome {
    do {
      let outcome = try contexts.save(plan, of: chunk, lastStoredKey: lastStoredKey(totals), noting: writer.note)
      if !environment.isDryRun, outcome.failures.isEmpty, !writer.ledger.hasWritten {
        try environment.store.coordinator.saveParticipants()
      }
      return outcome
    } catch {
      let (store, tables) = (environment.store, environment.tables)
      guard store.mayRepeat(error as NSError), (error as NSError).isOfLostCommit,
        try store.wasSaved(next.entry, tables)
      else { throw error }
      let first = try store.firstKey(ofLast: plan.inserts.count, input: next.entry.id, tables)
      return ImportContexts.Outcome(firstKey: first, isReadBack: true)
    }
  }

  private mutating func save(
    _ chunk: ParsedChunk, after rejectsBefore: RejectsMark, checkpoint: inout FileCheckpoint, totals: inout ImportTotals
  ) throws -> Stop? {
    let (environment, shard) = (environment, checkpoint.entry.shard)
    var refused = planner.needsValidEntries ? planner.issues(for: try contexts.validate(chunk), of: chunk) : [:]
    let resolved = try linker?.resolve(chunk) ?? ResolvedLinks()
    var chunk = chunk
    if let digester = planner.digester, !digester.linksOfWhole.isEmpty {
      chunk.digests.keys = resolved.wholeKeys(of: chunk, digester)
    }
    if let linker { refused.merge(linker.refusals(resolved, of: chunk, input: checkpoint.entry.path)) { $1 } }
    // What contradicts an object that is not saved after all may be right.
    var conflicts: [Int: RecordIssue] = [:]
    while true {
      let without = refused.merging(conflicts) { first, _ in first }
      var plan = try planner.plan(chunk, resolved, without: without) { [totals] in
        try environment.nextKey(totals)
      }
      try contexts.removeUnchanged(
        &plan, of: chunk, resolved, isUpdated: environment.keys.updates, lastStoredKey: lastStoredKey(totals))
      if let linker {
        plan.links = linker.plan(resolved, plan, of: chunk)
        plan.linkClaims = try shard.flatMap { try linker.claims(for: plan, resolved, of: chunk, $0) }
        let found = linker.refusals(plan.links.conflicts, resolved, of: chunk, input: checkpoint.entry.path)
        if !found.isEmpty {
          planner.undo()
          conflicts.merge(found) { $1 }
          continue
        }
      }
      try plan.checkReasons(of: chunk)
      if let stop = stop(plan, chunk, before: totals.counts + checkpoint.results.counts) { return stop }
      try rejects?.cutBack(to: rejectsBefore)
      let rejected = plan.rejected.isEmpty || rejects == nil && shard == nil ? nil : RejectedRecords(plan, of: chunk)
      if let rejected { try rejects?.append(rejected) }
      var next = checkpoint
      next.advance(by: plan, of: chunk, rejects: rejects?.mark, at: environment.options.now())
      writer.prepare(
        next, totals, insertedCount: plan.inserts.count, createdCount: plan.links.createdCount,
        related: linker?.state, chunk: shard.map { ShardChunk(plan, of: chunk, $0, rejected: rejected) },
        beforeCommit: plan.rejected.isEmpty ? nil : rejects?.startSync())
      let outcome = try save(plan, of: chunk, as: next, totals)
      guard outcome.failures.isEmpty else {
        planner.undo()
        refused.merge(planner.issues(for: outcome.failures, of: chunk)) { $1 }
        conflicts = [:]
        continue
      }
      checkpoint = next
      try environment.observer?.add(chunk, plan)
      writer.didSave(&checkpoint, inserted: plan.inserts.count, &totals)
      environment.log(plan, of: chunk, input: checkpoint.entry.path)
      try planner.didSave(plan, of: chunk, firstKey: outcome.firstKey)
      if outcome.isReadBack {
        try linker?.read()
      } else {
        try linker?.didSave(plan.links, created: outcome.created, state: writer.ledger.relatedState)
      }
      try linker?.noteLate(chunk, resolved, plan: plan, firstKey: outcome.firstKey, input: checkpoint.entry.path)
      return nil
    }
  }

  /// The highest primary key that is certainly in the store: a dry run inserts nothing.
  private func lastStoredKey(_ totals: ImportTotals) -> Int64 { environment.isDryRun ? totals.lastStoredKey : .max }

  /// Whether the chunk has more rejects than the pipeline tolerates; `before` are the counts of the run without it.
  private func stop(_ plan: ChunkPlan, _ chunk: ParsedChunk, before: RunCounts) -> Stop? {
    if plan.rejected.isEmpty { return nil }
    let (budget, sum) = (environment.definition.budget, before + plan.counts)
    guard let reason = budget.excess(rejected: sum.rejected, read: sum.read) else { return nil }
    var last = UInt64.max
    if let errors = budget.errors, sum.rejected > errors {
      last = UInt64(chunk.block.number(ofRecordAt: plan.rejected[max(0, errors - before.rejected)]))
    }
    return Stop(reason: reason, issues: plan.issues.filter { $0.record <= last }, counts: plan.counts)
  }
}
