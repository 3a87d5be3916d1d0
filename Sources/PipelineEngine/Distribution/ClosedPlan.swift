import Foundation
import SystemSupport
import PersistentStores

/// A plan that is closed. Its ledger has the counts of the run and of each input, and how many issues there were, but no
/// issue and no profile.
struct ClosedPlan {
  private let record: PlanRecord
  private let store: StoreLocation
  private let vocabulary: DefinitionVocabulary
  private let run: LedgerHistory.Run
  /// In the order of their import.
  private let entries: [LedgerEntry]

  /// - Throws: 66 where the ledger has the run no more.
  init(
    _ record: PlanRecord, in store: StoreLocation, _ vocabulary: DefinitionVocabulary, timeoutSeconds: Double
  ) throws(RunFailure) {
    let found = try PlanRecord.reading(store, timeoutSeconds: timeoutSeconds) { ledger in
      try Self.read(record.id, LedgerTables(vocabulary), from: ledger)
    }
    guard let found else {
      throw RunFailure(
        code: nil, exitCode: .noInput,
        message: "the plan \(record.id) is closed, and the ledger of \(store.shown) has its run no more, because "
          + "it was compacted. The report that was written then has its summary")
    }
    (self.record, self.store, self.vocabulary, run) = (record, store, vocabulary, found.run)
    entries = found.entries.sorted { $0.id < $1.id }
  }

  private static func read(
    _ id: String, _ tables: LedgerTables, from ledger: LedgerConnection
  ) throws -> (run: LedgerHistory.Run, entries: [LedgerEntry])? {
    guard let layout = try ledger.layout(of: tables) else { return nil }
    func rows(_ columns: [String], of table: String) throws -> [[Any?]] {
      let list = layout.readable(columns).joined(separator: ", ")
      return try ledger.rows("SELECT \(list) FROM \(table) WHERE runID = ?", [.text(id)]).map { $0.map(\.plain) }
    }
    guard let run = try rows(LedgerRun.columns, of: tables.run).first else { return nil }
    let entries = try rows(LedgerEntry.columns, of: tables.input).compactMap(LedgerEntry.init(row:))
    return (LedgerHistory.Run(run, [:]), entries)
  }

  /// The summary, which is written to those of the reports that are not there: one that is there has the issues, too.
  func report(_ options: RunOptions, unless isCancelled: @escaping () -> Bool) throws -> RunSummary {
    var (definition, options) = (record.plan.pipeline, options)
    let plan = try ReportPlan(
      &definition, &options,
      with: ReportName.Values(pipeline: definition.name, run: record.id, start: record.madeAt))
    let missing = plan.reports.filter { !Self.isKept($0.path) }
    try ReportFiles.check(missing.map(\.path))
    var summary = summary
    let kept = plan.paths.filter(Self.isKept)
    if !kept.isEmpty { summary.note = "\(summary.note ?? ""). left as they are: \(kept.joined(separator: ", "))" }
    _ = ReportFiles.write(&summary, to: missing, of: plan, unless: isCancelled)
    return summary
  }

  private static func isKept(_ path: String) -> Bool {
    mayExist(path) && stat.of(path).flatMap(RegularFile.kind) == nil
  }

  private var summary: RunSummary {
    var totals = ImportTotals(record.plan.pipeline)
    for entry in entries {
      let results = InputResults(entry, issues: [], listedMax: 0, profiler: nil, statistics: nil)
      let rejects = entry.rejects.path.flatMap { entry.rejects.count > 0 && mayExist($0) ? $0 : nil }
      totals.finish(entry, results, rejects: rejects)
    }
    let exitCode = run.exitCode.flatMap { ExitCode(rawValue: Int32($0)) } ?? .ok
    let failure = run.message.map { RunSummary.Failure(message: $0, exitCode: exitCode) }
    let endedAt = entries.map(\.savedAt).max() ?? record.madeAt
    var summary = RunSummary(
      kind: .import, pipeline: run.pipeline, outcome: failure == nil ? .completed : .failed, failure: failure,
      run: record.id, startedAt: record.madeAt, seconds: max(0, endedAt.timeIntervalSince(record.madeAt)),
      inputs: totals.files, store: store.shown, counts: run.counts ?? totals.counts, issues: totals.log,
      rejects: totals.rejectsPaths.isEmpty ? nil : totals.rejectsPaths.joined(separator: ", "),
      program: vocabulary.program)
    // A compacted ledger has no counts of issues. Each rejected record has one.
    summary.issues.errors = max(summary.issues.errors, summary.counts.rejected)
    summary.rejectsFiles = totals.rejectsPaths
    if record.plan.pipeline.parts.count > 1 { summary.entities = totals.entities }
    summary.links = totals.links.isEmpty ? nil : totals.links
    summary.note = note(hasIssues: summary.issues.errors + summary.issues.warnings > 0)
    return summary
  }

  private func note(hasIssues: Bool) -> String {
    let closed = run.endedAt.map { "the plan was closed on \($0)" } ?? "the plan was closed before"
    let issues = hasIssues ? ", and the report that was written then lists the issues" : ""
    var parts = [PlanRecord.note(shardCount: record.plan.shardCount)] + record.notes + [closed + issues]
    let undone = entries.count(where: \.isUndone)
    if undone > 0 { parts.append("taken back since then: \(TextTable.count(undone, "input"))") }
    return parts.joined(separator: ". ")
  }
}

extension PlanRecord {
  /// What a summary says of the workers.
  static func note(shardCount count: Int?) -> String {
    let shards = count.map { " as " + ($0 == 1 ? "one shard" : "\($0.grouped) shards") } ?? ""
    return "imported by workers\(shards)"
  }
}

extension ImportTotals {
  /// Adds an input of a plan. Several inputs have one file of rejects.
  mutating func finish(_ entry: LedgerEntry, _ results: InputResults, rejects: String?) {
    var file = RunSummary.File(
      path: entry.path, bytes: entry.progress.consumedBytes, records: results.counts.read,
      contentHash: entry.progress.hash.hex, state: .imported)
    file.counts = results.counts
    finish(
      file, wasOpened: true, results, of: entry.entity,
      rejects: rejects.flatMap { rejectsPaths.contains($0) ? nil : $0 }, made: nil)
  }
}
