import CSV
import Foundation
import OpenCoreData
import PersistentStores

/// What a plan that was ended without a report has left.
package struct AbandonedPlan: Sendable {
  package var recordsRead: Int
  /// Whether all its shards were complete, so that it could have been closed.
  package var wasComplete: Bool
}

/// Closes a plan: makes one report and one file of rejects of all its shards, and one entry of the ledger of each input, as
/// an import on one machine does.
package final class PlanReport {
  private let record: PlanRecord
  private let run: ImportRun
  private let parts: PlanParts
  private let reports: ReportPlan
  /// The environment of what is the same for all parts.
  private var environment: ImportEnvironment { run.environment }
  private var store: ImportStore { environment.store }
  private var definition: PipelineDefinition { run.definition }

  /// Opens the store of a plan.
  ///
  /// - Parameter id: The number of the plan, or its beginning.
  package convenience init(
    plan id: String, options: RunOptions, vocabulary: DefinitionVocabulary, isCancelled: @escaping @Sendable () -> Bool
  ) throws {
    let record = try PlanRecord.find(
      id, in: StoreLocation(options.store ?? ""), vocabulary, timeoutSeconds: options.lockTimeoutSeconds)
    try self.init(record, options, isCancelled: isCancelled)
  }

  private init(_ record: PlanRecord, _ options: RunOptions, isCancelled: @escaping @Sendable () -> Bool) throws {
    try record.checkOpen(record.state)
    self.record = record
    var options = options
    record.plan.apply(to: &options)
    (options.runID, options.profilesEntries) = (record.id, true)
    var definition = record.plan.pipeline
    if definition.parts.isEmpty { options.inputs = ["-"] }
    reports = try ReportPlan(
      &definition, &options,
      with: ReportName.Values(pipeline: definition.name, run: record.id, start: record.madeAt))
    run = try PlanRun.importRun(definition, options: options, isCancelled: isCancelled)
    parts = PlanParts(run, isOfWorker: false)
  }

  /// Closes a plan, and returns its summary. The summary of a closed plan is made of what the ledger has kept.
  ///
  /// - Parameter id: The number of the plan, or its beginning.
  package static func summary(
    ofPlan id: String, options: RunOptions, vocabulary: DefinitionVocabulary,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws -> RunSummary {
    let (store, seconds) = (StoreLocation(options.store ?? ""), options.lockTimeoutSeconds)
    let record = try PlanRecord.find(id, in: store, vocabulary, timeoutSeconds: seconds)
    guard record.state == .closed else { return try PlanReport(record, options, isCancelled: isCancelled).close() }
    return try ClosedPlan(record, in: store, vocabulary, timeoutSeconds: seconds).report(options, unless: isCancelled)
  }

  /// Makes the report and closes the plan.
  ///
  /// - Throws: 75 where shards are not complete, with their numbers.
  package func close() throws(RunFailure) -> RunSummary {
    try ReportFiles.check(reports.paths)
    return try locked { (lock) throws(RunFailure) in
      let ledger = try store.ledger(environment.tables, overwrittenMax: 0)
      var planned = try store.perform { try PlannedShards(record.id, parts, in: $0) }
      try check(planned)
      try checkRejects(planned)
      try attributeKeys(of: &planned)
      for part in parts.parts { try part.environment.setFirstValues() }
      let expectations = try environment.expectations()
      var totals = ImportTotals(definition)
      totals.notes = record.notes
      let rejects = try writeRejects(&planned, ledger)
      var entries: [LedgerEntry] = []
      for (index, part) in parts.parts.enumerated() {
        totals.begin(part: index, of: part.environment, lastStoredKey: 0)
        for input in planned.inputs where input.part == index { entries.append(try finish(input, &totals)) }
      }
      let failure = environment.compare(&totals, with: expectations)
      var summary = run.summary(totals, failure, seconds: max(0, planned.endedAt.timeIntervalSince(record.madeAt)))
      summary.startedAt = record.madeAt
      summary.note = [PlanRecord.note(shardCount: planned.shardCount), summary.note].compactMap(\.self)
        .joined(separator: ". ")
      for path in rejects { try RejectsFile.publish(path, replaces: true) }
      guard
        ReportFiles.write(
          &summary, to: reports.reports(of: summary), of: reports, advice: ", and the plan stays open",
          unless: environment.monitor.isCancelled)
      else { return summary }
      try save(entries, summary, to: ledger)
      return summary
    }
  }

  /// Ends a plan that can't be completed. What its workers have saved stays until an undo takes it back.
  ///
  package func abandon() throws(RunFailure) -> AbandonedPlan {
    try locked { (lock) throws(RunFailure) in
      // Workers wait from here on, and find that their shards are gone.
      try store.beginTransaction()
      do throws(RunFailure) {
        let left = try abandonInTransaction()
        try store.commitTransaction(of: nil, environment.tables)
        return left
      } catch {
        try? store.rollBackTransaction()
        throw error
      }
    }
  }

  private func abandonInTransaction() throws(RunFailure) -> AbandonedPlan {
    let (plans, id) = (environment.plans, record.id)
    let ledger = try store.ledger(environment.tables, overwrittenMax: 0)
    var planned = try store.perform { coordinator in
      _ = try coordinator.participantRows("SELECT shardID FROM \(plans.shard) WHERE planID = ? FOR UPDATE", [id])
      return try PlannedShards(id, parts, in: coordinator)
    }
    try attributeKeys(of: &planned)
    for part in parts.parts { try part.environment.setFirstValues() }
    var totals = ImportTotals(definition)
    var entries: [LedgerEntry] = []
    for input in planned.inputs {
      totals.begin(part: input.part, of: parts[input.part].environment, lastStoredKey: 0)
      var entry = try finish(input, &totals)
      if input.shards.contains(where: { !$0.isComplete }) {
        // Until an undo takes back what is saved of it, no import may read it.
        (entry.isComplete, entry.isReported) = (false, false)
        (entry.isPlanned, entry.isUndone) = (entry.counts.read > 0, entry.counts.read == 0)
      }
      entries.append(entry)
    }
    let wasComplete = planned.inputs.allSatisfy { $0.shards.allSatisfy(\.isComplete) }
    totals.outcome = .stopped
    totals.stopReason =
      wasComplete
      ? "the plan was ended without a report, although all its shards were complete"
      : "the plan was ended before all its shards were complete"
    let summary = run.summary(totals, nil, seconds: max(0, planned.endedAt.timeIntervalSince(record.madeAt)))
    try save(entries, summary, to: ledger, as: .abandoned)
    return AbandonedPlan(recordsRead: summary.counts.read, wasComplete: wasComplete)
  }

  private func locked<Result>(_ body: (StoreLock) throws(RunFailure) -> Result) throws(RunFailure) -> Result {
    let lock = try StoreLock(
      store.location ?? StoreLocation(""), definition.vocabulary, pipeline: "report \(definition.name)",
      now: Date(), timeoutSeconds: run.options.lockTimeoutSeconds)
    defer {
      store.close()
      lock.release()
    }
    if let fence = lock.fence { store.coordinator.addSaveParticipant(fence) }
    try store.openExisting()
    // Another report may have closed it since it was read.
    let (plans, id) = (environment.plans, record.id)
    let state = try store.perform { try PlanRecord.state(of: id, plans, in: $0) }
    if state == .closed {
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure,
        message: "another report has closed the plan \(id) meanwhile; repeat this one to see the summary")
    }
    try record.checkOpen(state)
    return try body(lock)
  }

  /// A path that can't be written is reported before the work.
  private func checkRejects(_ planned: PlannedShards) throws(RunFailure) {
    guard RejectsDestination.requested(environment.definition, run.options) != nil else { return }
    OwnFolders.make(of: environment.definition, run.options)
    for path in rejectsPaths(of: planned).sorted() { try RejectsDestination.check(path) }
  }

  // MARK: The results

  private func check(_ planned: PlannedShards) throws(RunFailure) {
    let open = planned.inputs.flatMap(\.shards).filter { !$0.isComplete }.compactMap(\.shard?.number)
    guard let first = open.first else { return }
    let shown = open.prefix(Self.shownMax).map { "\($0)" }.joined(separator: ", ")
    let more = open.count > Self.shownMax ? " and \((open.count - Self.shownMax).grouped) more" : ""
    throw RunFailure(
      code: nil, exitCode: .temporaryFailure,
      message:
        "\(open.count.grouped) of \(planned.shardCount.grouped) shards are not complete: \(shown)\(more). Import "
        + "them with 'work --plan \(record.id)', or one with --shard \(first), and report then")
  }
  private static let shownMax = 10

  /// Adds an input's shards to the totals.
  ///
  /// - Returns: The ledger's entry of the whole input.
  private func finish(_ input: PlannedShards.Input, _ totals: inout ImportTotals) throws(RunFailure) -> LedgerEntry {
    let results = input.results
    totals.finish(input.entry, results, rejects: input.rejects.path)
    var entry = input.entry
    entry.note(
      entry.progress, results: results, rejects: input.rejects, at: input.shards.map(\.savedAt).max() ?? record.madeAt)
    (entry.isPlanned, entry.isComplete, entry.isReported) = (false, true, true)
    return entry
  }

  /// Counts new, changed and other entries by the first record that has a key. Workers have counted those that they came
  /// to first.
  private func attributeKeys(of planned: inout PlannedShards) throws(RunFailure) {
    for (index, part) in parts.parts.enumerated() where part.environment.keys.areShared {
      try attributeKeys(of: &planned, part: index)
    }
  }

  private func attributeKeys(of planned: inout PlannedShards, part: Int) throws(RunFailure) {
    let environment = parts[part].environment
    let outcomes = try store.perform { try environment.sharedKeys.outcomes(in: $0) }
    let tallies = try store.perform { try environment.sharedKeys.linkTallies(in: $0) }
    let others: WritableKeyPath<RunCounts, Int> =
      environment.definition.duplicates.updates ? \.updated : \.duplicate
    for index in planned.inputs.indices where planned.inputs[index].part == part {
      let own = outcomes[planned.inputs[index].entry.id] ?? [:]
      var counts = planned.inputs[index].results.counts
      let rest = counts.read - counts.rejected - counts.repeated - own.values.reduce(0, +)
      counts.inserted = own[.inserted] ?? 0
      counts.updated = own[.updated] ?? 0
      counts.unchanged = own[.unchanged] ?? 0
      counts.duplicate = own[.duplicate] ?? 0
      // Those with the key of an earlier input of the plan.
      counts[keyPath: others] += rest
      planned.inputs[index].results.counts = counts
      let created = planned.inputs[index].results.links.map { LinkCounts(entity: $0.entity, created: $0.created) }
      let tally = tallies[planned.inputs[index].entry.id] ?? LinkTally()
      planned.inputs[index].results.links = LinkCounts.sum(created, tally.counts(of: environment.links))
    }
  }

  // MARK: Rejects

  /// What the inputs of one file of rejects have in common.
  private struct PartForm: Hashable {
    let part: Int
    let form: PlanTables.Form
  }

  /// Writes the rejects of all inputs, in their order: those of a part with the same header into one file.
  ///
  /// - Returns: The paths of the files, which have temporary names yet.
  private func writeRejects(_ planned: inout PlannedShards, _ ledger: Ledger) throws(RunFailure) -> [String] {
    for path in rejectsPaths(of: planned) { RejectsDestination.remove(path, ofRun: record.id) }
    var files: [PartForm: RejectsFile] = [:]
    for index in planned.inputs.indices where planned.inputs[index].shards.contains(where: { $0.counts.rejected > 0 }) {
      let input = planned.inputs[index]
      let form = planned.form(of: input)
      let key = PartForm(part: input.part, form: form)
      let file = files[key] ?? rejectsFile(of: input, form, ledger)
      files[key] = file
      try file.begin(input.entry.path)
      let (plans, id) = (environment.plans, input.entry.id)
      for shard in input.shards where shard.counts.rejected > 0 {
        let rows = try store.perform { try plans.rejects(ofShard: shard.shard?.id ?? 0, in: $0) }
        for row in rows { try file.append(RejectedRecords(row)) }
        let kept = rows.reduce(0) { $0 + $1.count }
        guard kept == shard.counts.rejected else {
          throw RunFailure(
            code: nil, exitCode: .software,
            message: "the ledger has \(kept) of the \(shard.counts.rejected) rejects of shard "
              + "\(shard.shard?.number ?? 0) (input \(id)). This is an error of the program: report it")
        }
      }
      var mark = file.mark
      mark.count = input.shards.reduce(0) { $0 + $1.counts.rejected }
      planned.inputs[index].rejects = mark
    }
    for file in files.values { try file.finish() }
    return files.values.compactMap(\.path)
  }

  /// The paths that files of rejects have unless something else has them. Files that an interrupted report of the plan has
  /// made are written again.
  private func rejectsPaths(of planned: PlannedShards) -> Set<String> {
    Set(
      planned.inputs.map { input in
        let path = rejectsPath(of: input)
        return planned.form(of: input).isJSONLines
          ? RejectsDestination.jsonLinesPath(for: path, environment.definition, run.options) : path
      })
  }

  private func rejectsPath(of input: PlannedShards.Input) -> String {
    RejectsDestination.paths(for: [input.entry.path], environment.definition, run.options, store: store.location).first
      .flatMap(\.self) ?? RunSummary.rejectsName(for: input.entry.path)
  }

  private func rejectsFile(of input: PlannedShards.Input, _ form: PlanTables.Form, _ ledger: Ledger) -> RejectsFile {
    let (entry, environment) = (input.entry, parts[input.part].environment)
    let file = InputFile(name: entry.path, path: entry.location ?? entry.path)
    return environment.rejectsFile(of: file, form, labels: entry.header, at: rejectsPath(of: input), ledger)
  }

  // MARK: The ledger

  /// Replaces the shards by the entries of their inputs, in one transaction. The check of the lock makes it wait for the
  /// server's disk.
  private func save(
    _ entries: [LedgerEntry], _ summary: RunSummary, to ledger: Ledger, as state: PlanRecord.State = .closed
  ) throws(RunFailure) {
    let (tables, plans) = (environment.tables, environment.plans)
    var run = LedgerRun(id: record.id, pipeline: definition.name, startedAt: record.madeAt, endedAt: Date())
    (run.outcome, run.exitCode) = (summary.outcome.rawValue, summary.exitCode.rawValue)
    (run.counts, run.message) = (summary.counts, summary.failure?.message ?? summary.stopReason)
    let issues =
      entries.map { ("DELETE FROM \(tables.issue) WHERE inputID = ?", [.integer($0.id)]) }
      as [LedgerTables.Statement]
    let statements =
      entries.map(tables.record) + issues + plans.forget(plan: record.id, tables) + [tables.record(run)]
      + parts.parts.flatMap { $0.environment.sharedKeys.drop + $0.environment.sharedLinks.drop }
    try store.perform { coordinator in
      coordinator.addSaveParticipant(ledger)
      defer { coordinator.removeSaveParticipant(ledger) }
      // Workers that still run are refused from here on: their shards are gone.
      ledger.prepare(
        Ledger.Page(
          move: plans.close(plan: record.id, as: state.rawValue, at: Date()), statements: statements))
      try coordinator.saveParticipants()
    }
  }
}

/// The shards of a plan as the ledger has them, by input.
private struct PlannedShards {
  struct Input {
    /// The whole input.
    let entry: LedgerEntry
    /// The number of its part.
    let part: Int
    /// In the order of their records.
    var shards: [LedgerEntry] = []
    /// Those of the header and of all shards.
    var results: InputResults
    var rejects = RejectsMark()
  }

  var inputs: [Input]
  let forms: [Int64: PlanTables.Form]
  var shardCount: Int { inputs.reduce(0) { $0 + $1.shards.count } }
  /// When the last chunk was saved.
  var endedAt: Date { inputs.flatMap(\.shards).map(\.savedAt).max() ?? Date(timeIntervalSince1970: 0) }

  func form(of input: Input) -> PlanTables.Form {
    forms[input.entry.id] ?? PlanTables.Form(header: [], isJSONLines: false, hasTabs: false)
  }

  init(_ id: String, _ parts: PlanParts, in coordinator: NSPersistentStoreCoordinator) throws {
    let (tables, plans) = (parts[0].environment.tables, parts[0].environment.plans)
    let forms = try plans.forms(ofPlan: id, in: coordinator)
    let entries = Dictionary(
      try tables.entries(ofRun: id, coordinator).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    let shards = Dictionary(
      grouping: try plans.shards(where: "planID = ?", [id], inputs: entries, in: coordinator),
      by: { $0.shard?.input ?? 0 })
    let withIssues = try plans.inputsWithIssues(ofPlan: id, tables, in: coordinator)
    // The issues of one shard at a time are in memory.
    func results(_ entry: LedgerEntry, _ environment: ImportEnvironment) throws -> InputResults {
      InputResults(
        entry, issues: withIssues.contains(entry.id) ? try tables.issues(ofInput: entry.id, coordinator) : [],
        listedMax: environment.definition.limits.issuesListedMax, profiler: environment.profiler,
        statistics: environment.statistics)
    }
    self.forms = Dictionary(forms.map { ($0.input, $0.form) }, uniquingKeysWith: { first, _ in first })
    inputs = try forms.compactMap { input, _ in
      guard let entry = entries[input] else { return nil }
      let (own, part) = (shards[input] ?? [], parts.index(of: entry))
      let environment = parts[part].environment
      var sum = InputResults(
        listedMax: environment.definition.limits.issuesListedMax, profiler: environment.profiler,
        statistics: environment.statistics)
      sum.log.merge(try results(entry, environment).log)
      for shard in own where shard.counts.read > 0 { sum.add(try results(shard, environment)) }
      return Input(entry: entry, part: part, shards: own, results: sum)
    }
  }
}

extension PlanRecord {
  /// - Throws: 64 for a plan that is not open any more.
  fileprivate func checkOpen(_ state: State) throws(RunFailure) {
    guard state != .open else { return }
    throw RunFailure(
      code: nil, exitCode: .usage,
      message: state == .closed
        ? "the plan \(id) is closed; 'report' without --abandon shows its summary"
        : "the plan \(id) was ended with --abandon; 'history' shows its run")
  }
}
