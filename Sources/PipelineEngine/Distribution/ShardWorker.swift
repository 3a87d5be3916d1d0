import CSV
import Foundation
import OpenCoreData
import PersistentStores
import PostgreSQLStore

/// Imports shards of a plan. Any number of workers may do so at the same time, also on one shard: each chunk is in the
/// store once, because its transaction begins by moving the shard's checkpoint from where the worker has read it.
///
/// Nothing that happens to a worker is guessed at. Where a save has failed, was refused, or its answer got lost, the
/// worker reads the checkpoint again and goes on from there. It ends without a failure only when the ledger says that
/// the shard is complete.
package final class ShardWorker {
  /// A shard that the ledger says is complete.
  package struct Completed: Sendable, Codable {
    package var plan: String
    package var shard: Int
    package var path: String
    package var counts: RunCounts
    /// Whether this worker has saved a part of it.
    package var isOwn: Bool
    package var seconds: Double
  }

  private let record: PlanRecord
  private let run: ImportRun
  private var parts: PlanParts
  private let ledger: Ledger
  private let retrySeconds: Double
  private let isCancelled: @Sendable () -> Bool
  /// The environment of what is the same for all parts.
  private var environment: ImportEnvironment { run.environment }
  private var store: ImportStore { environment.store }
  private var plans: PlanTables { environment.plans }
  private var open: OpenShards { OpenShards(ofPlan: record.id, parts) }
  /// Whether the number of workers that write at the same time is limited.
  private var isLimited: Bool { parts[0].environment.takeTurn != nil }
  /// The parts that this worker has begun with. All that they need is complete, and stays it.
  private var begun: Set<Int> = []
  /// The planned inputs of the shards so far.
  private var inputs: [Int64: LedgerEntry] = [:]
  /// The shard whose bytes a command has printed last.
  private var copied: (shard: Int, file: InputFile)?

  /// Opens the store of a plan.
  ///
  /// - Parameters:
  ///   - id: The number of the plan, or its beginning.
  ///   - retrySeconds: How long to try again where the server can't be reached or refuses a transaction for a moment.
  package init(
    plan id: String, options: RunOptions, vocabulary: DefinitionVocabulary, retrySeconds: Double,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws {
    let location = StoreLocation(options.store ?? "")
    record = try Self.retrying(for: retrySeconds, unless: isCancelled) {
      try PlanRecord.find(id, in: location, vocabulary, timeoutSeconds: options.lockTimeoutSeconds)
    }
    var options = options
    record.plan.apply(to: &options)
    (options.runID, options.reports, options.profilesEntries) = (record.id, [], true)
    var definition = record.plan.pipeline
    (definition.report, definition.rejects) = ([], nil)
    // The inputs are those of the shards.
    if definition.parts.isEmpty { options.inputs = ["-"] }
    // The model is that of the store, which has to be asked.
    run = try Self.retrying(for: retrySeconds, unless: isCancelled) {
      try PlanRun.importRun(definition, options: options, isCancelled: isCancelled)
    }
    parts = PlanParts(run, isOfWorker: true)
    guard parts.digest == record.digest else {
      throw RunFailure(
        code: nil, exitCode: .configuration,
        message: "this version of the program reads the pipeline of the plan \(record.id) otherwise than the one that "
          + "made the plan; use the same version on all machines")
    }
    ledger = try Ledger(
      run.environment.tables, nil, overwrittenMax: run.environment.definition.limits.overwrittenMax)
    self.retrySeconds = retrySeconds
    self.isCancelled = isCancelled
  }

  /// Calls `body` again and again while the server can't be reached.
  private static func retrying<Result>(
    for seconds: Double, unless isCancelled: () -> Bool, _ body: () throws -> Result
  ) throws -> Result {
    var backOff = BackOff(seconds: seconds)
    while true {
      do {
        return try body()
      } catch {
        guard (error as? RunFailure)?.isPassing ?? (error as NSError).mayPass, backOff.wait(unless: isCancelled) else {
          throw error
        }
      }
    }
  }

  package func close() { store.close() }

  // MARK: Shards

  /// Imports a shard, or all open ones.
  ///
  /// - Parameters:
  ///   - number: The number of a shard; nil for all, in a random order so that workers seldom meet.
  ///   - report: Called for each shard that is complete now.
  package func work(on number: Int?, _ report: (Completed) -> Void) throws(RunFailure) {
    if try isClosed(record.state) { return try checkNumber(number) }
    try openStore()
    do throws(RunFailure) {
      try workOpen(on: number, report)
    } catch {
      // The plan may have been closed meanwhile, and its shards are gone.
      guard let now = try? stateNow(), try isClosed(now) else { throw error }
      try checkNumber(number)
    }
    // A plan that was ended has no shards left, too.
    _ = try isClosed(try retrying { () throws(RunFailure) in try self.stateNow() })
  }

  /// - Throws: 64 for a number that no shard of the plan has had.
  private func checkNumber(_ number: Int?) throws(RunFailure) {
    guard let number, let count = record.plan.shardCount, number >= count else { return }
    throw missingShard(number)
  }

  private func missingShard(_ number: Int) -> RunFailure {
    let last = record.plan.shardCount.map { " to \($0 - 1)" } ?? ""
    return RunFailure(
      code: nil, exitCode: .usage,
      message: "the plan \(record.id) has no shard \(number); its shards are numbered from 0\(last)")
  }

  private func stateNow() throws(RunFailure) -> PlanRecord.State {
    let (plans, id) = (plans, record.id)
    return try store.perform { try PlanRecord.state(of: id, plans, in: $0) }
  }

  /// Whether the plan is closed, so that all its shards are complete.
  ///
  /// - Throws: A failure where it was ended before that.
  private func isClosed(_ state: PlanRecord.State) throws(RunFailure) -> Bool {
    guard state == .abandoned else { return state == .closed }
    throw RunFailure(
      code: nil, exitCode: .dataError, message: "the plan \(record.id) was ended with 'report --abandon'")
  }

  private func workOpen(on number: Int?, _ report: (Completed) -> Void) throws(RunFailure) {
    guard let number else {
      let open = open
      return try workOnAll({ () throws(RunFailure) in try self.store.perform(open.some(in:)) }, report)
    }
    let entry = try retrying { () throws(RunFailure) in try self.load(number) }
    if !entry.isComplete { try begin(parts.index(of: entry)) }
    report(try complete(number))
  }

  /// Works until no shard is open of those that `shards` finds.
  private func workOnAll(
    _ shards: () throws(RunFailure) -> [Int], _ report: (Completed) -> Void
  ) throws(RunFailure) {
    var others: Set<Int> = []
    while case let open = try retrying(shards), !open.isEmpty {
      // Shards that others are at come last: they may be complete by then.
      let fresh = open.filter { !others.contains($0) }
      for shard in fresh {
        if let done = try advance(shard) { report(done) } else { others.insert(shard) }
      }
      if fresh.isEmpty {
        report(try complete(open[0]))
        others = []
      }
    }
  }

  /// The numbers of the shards that are not complete, in order.
  package func unfinishedShards() throws(RunFailure) -> [Int] {
    if try isClosed(record.state) { return [] }
    try openStore()
    let open = open
    return try retrying { () throws(RunFailure) in try self.store.perform(open.unfinished(in:)) }
  }

  private func openStore() throws(RunFailure) {
    _ = try retrying { () throws(RunFailure) in
      if !self.store.isOpen { try self.store.openExisting() }
      guard self.store.isOpen else { throw RunFailure(noStore: self.store.location?.shown ?? "") }
    }
    store.coordinator.addSaveParticipant(ledger)
    let (plans, id) = (plans, record.id)
    let isLimited = try retrying { () throws(RunFailure) in
      try self.store.perform { try plans.limitsWriters(ofPlan: id, in: $0) }
    }
    if isLimited { parts.setTurn { try plans.takeWriter(of: id, in: $0) } }
  }

  // MARK: Parts

  /// Called before a shard of a part: imports those that have to be complete before. All tasks of a scheduler might wait
  /// for one that it has not started.
  private func begin(_ index: Int) throws(RunFailure) {
    if begun.contains(index) { return }
    try workOnAll({ () throws(RunFailure) in
      let open = self.open
      return try self.store.perform { try open.some(before: index, in: $0) }
    }) { _ in }
    let environment = parts[index].environment
    if environment.sharesLinks {
      let objects = PlannedObjects(environment: environment, ledger: ledger)
      try retrying { () throws(RunFailure) in try objects.complete() }
    }
    begun.insert(index)
  }

  /// Goes on with a shard until it is complete, or until another worker turns out to be at it.
  ///
  /// - Returns: Nil where another worker is at it.
  private func advance(_ number: Int) throws(RunFailure) -> Completed? {
    let start = ContinuousClock.now
    var isOwn = false
    while true {
      let entry = try retrying { () throws(RunFailure) in try self.load(number) }
      if entry.isComplete { return completed(entry, isOwn: isOwn, since: start) }
      guard try saveChunks(of: entry) else { return nil }
      isOwn = true
    }
  }

  /// Imports a shard to its end. While other workers get on with it, it waits; when they don't any more, it takes over.
  private func complete(_ number: Int) throws(RunFailure) -> Completed {
    let start = ContinuousClock.now
    var watch = CheckpointWatch()
    while true {
      if let done = try advance(number) { return done }
      // Another worker has moved the checkpoint.
      while true {
        let entry = try retrying { () throws(RunFailure) in try self.load(number) }
        if entry.isComplete { return completed(entry, isOwn: false, since: start) }
        if watch.isStalled(at: entry.progress.position.record) { break }
        try sleep(CheckpointWatch.pollSeconds)
      }
    }
  }

  private func completed(_ entry: LedgerEntry, isOwn: Bool, since start: ContinuousClock.Instant) -> Completed {
    Completed(
      plan: record.id, shard: entry.shard?.number ?? 0, path: entry.path, counts: entry.counts, isOwn: isOwn,
      seconds: start.duration(to: .now) / .seconds(1))
  }

  /// The state of a shard in the ledger.
  private func load(_ number: Int) throws(RunFailure) -> LedgerEntry {
    let (plans, tables, id) = (plans, environment.tables, record.id)
    let found = try store.perform { coordinator in
      let key =
        try coordinator.participantRows(
          "SELECT inputID FROM \(plans.shard) WHERE planID = ? AND shard = ?", [id, number]
        ).first?.first as? Int64
      guard let key else { return nil as LedgerEntry? }
      if self.inputs[key] == nil { self.inputs[key] = try tables.entry(ofInput: key, coordinator) }
      return try plans.shards(
        where: "planID = ? AND shard = ?", [id, number], inputs: self.inputs, in: coordinator
      ).first
    }
    if let found { return found }
    throw missingShard(number)
  }

  // MARK: Chunks

  /// Imports from the checkpoint to the end of a shard.
  ///
  /// - Returns: False where another worker has moved the checkpoint; true after a failure that may pass, too.
  private func saveChunks(of entry: LedgerEntry) throws(RunFailure) -> Bool {
    let index = parts.index(of: entry)
    try begin(index)
    let part = parts[index]
    var totals = ImportTotals(run.definition)
    totals.begin(part: index, of: part.environment, lastStoredKey: 0)
    totals.begin(after: try countsOfOthers(than: entry))
    var importer = FileImporter(
      try readable(entry), environment: part.environment, contexts: part.contexts(), ledger: ledger, rejectsPath: nil,
      shard: entry)
    if isLimited { store.disconnect() }
    do throws(RunFailure) {
      let saved = try importer.run(KnownInputs(), &totals)
      if totals.outcome == .cancelled { throw RunFailure.cancelled }
      if let reason = totals.stopReason {
        throw RunFailure(
          code: nil, exitCode: .dataError,
          message: "\(reason). Raise the error budget of the pipeline and plan again, after "
            + "'report --plan \(record.id) --abandon'")
      }
      if saved.isComplete { lastSuccess = .now }
      return true
    } catch {
      ledger.clear()
      if importer.checkpoint.entry.progress.position != entry.progress.position { lastSuccess = .now }
      if error.isOfMovedCheckpoint { return false }
      try waitAfter(error)
      return true
    }
  }

  /// The input of a shard. What a command has printed is kept for the next attempt.
  private func readable(_ entry: LedgerEntry) throws(RunFailure) -> InputFile {
    let number = entry.shard?.number ?? 0
    if let copied, copied.shard == number { return copied.file }
    let file = InputFile(name: entry.path, path: entry.location ?? entry.path)
    let readable = try environment.readable(file, for: entry)
    if readable.copy != nil { copied = (number, readable) }
    return readable
  }

  /// What the rest of the plan has read so far, where a budget of errors needs it.
  private func countsOfOthers(than entry: LedgerEntry) throws(RunFailure) -> RunCounts {
    let budget = environment.definition.budget
    guard budget.errors != nil || budget.percent != nil else { return RunCounts() }
    let (plans, id, own) = (plans, record.id, entry.shard?.id ?? 0)
    return try retrying { () throws(RunFailure) in
      try self.store.perform { coordinator in
        let row = try coordinator.participantRows(
          "SELECT CAST(COALESCE(SUM(recordsRead), 0) AS BIGINT), CAST(COALESCE(SUM(rejected), 0) AS BIGINT) "
            + "FROM \(plans.shard) WHERE planID = ? AND shardID <> ?", [id, own]
        ).first
        var counts = RunCounts()
        counts.read = Int(row?[0] as? Int64 ?? 0)
        counts.rejected = Int(row?[1] as? Int64 ?? 0)
        return counts
      }
    }
  }

  // MARK: Failures that pass

  private var lastSuccess = ContinuousClock.now
  private var failuresInARow = 0

  /// Calls `body` until it succeeds, as long as its failure may pass.
  private func retrying<Result>(_ body: () throws(RunFailure) -> Result) throws(RunFailure) -> Result {
    while true {
      do throws(RunFailure) {
        let result = try body()
        (failuresInARow, lastSuccess) = (0, .now)
        return result
      } catch {
        try waitAfter(error)
      }
    }
  }

  /// Waits before the next attempt, each time longer and never exactly as long as other workers.
  ///
  /// - Throws: The failure itself, if it does not pass, or has not for too long.
  private func waitAfter(_ failure: RunFailure) throws(RunFailure) {
    guard failure.isPassing, lastSuccess.duration(to: .now) < .seconds(retrySeconds) else { throw failure }
    failuresInARow += 1
    let longest = min(Self.waitSecondsMax, 0.05 * Double(1 << min(failuresInARow, 10)))
    try sleep(Double.random(in: longest / 2...longest))
  }
  private static let waitSecondsMax = 3.0

  private func sleep(_ seconds: Double) throws(RunFailure) {
    if isCancelled() { throw RunFailure.cancelled }
    if isLimited { store.disconnect() }
    Thread.sleep(forTimeInterval: seconds)
  }
}
