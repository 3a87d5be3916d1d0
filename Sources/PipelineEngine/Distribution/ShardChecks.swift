import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores

/// Checks the shards of a plan in a file as an import would, without a store, and adds up what workers have found.
package struct ShardChecks {
  private let path: String
  private let file: PlanFile
  private let run: ImportRun
  private let reports: ReportPlan
  private var environment: ImportEnvironment { run.environment }

  /// - Parameter path: The file of the plan.
  package init(
    planFile path: String, options: RunOptions, vocabulary: DefinitionVocabulary,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws {
    self.path = path
    file = try PlanFile.read(path, vocabulary)
    var options = options
    file.plan.apply(to: &options)
    (options.runID, options.profilesEntries, options.inputs) = (file.id, true, ["-"])
    var definition = file.plan.pipeline
    reports = try ReportPlan(
      &definition, &options, with: ReportName.Values(pipeline: definition.name, run: file.id, start: file.madeAt))
    run = try PlanRun.importRun(definition, options: options, isDryRun: true, isCancelled: isCancelled)
    guard environment.digest.hex == file.digest else {
      throw RunFailure(
        code: nil, exitCode: .configuration,
        message:
          "this version of the program reads the pipeline of the plan \(path) otherwise than the one that made the "
          + "plan; use the same version on all machines")
    }
  }

  // MARK: Checking

  /// The numbers of all shards.
  package var shardNumbers: Range<Int> { file.shards.indices }

  /// Checks one shard, or all.
  ///
  /// - Parameter report: Called with each result.
  package func check(_ number: Int?, _ report: (CheckedShard) -> Void) throws(RunFailure) {
    for shard in number.map({ [$0] }) ?? Array(shardNumbers) { report(try checked(shard)) }
  }

  private func checked(_ number: Int) throws(RunFailure) -> CheckedShard {
    guard let entry = file.entry(ofShard: number, environment) else {
      throw RunFailure(
        code: nil, exitCode: .usage,
        message: "the plan has no shard \(number); its shards are numbered from 0 to \(file.shards.count - 1)")
    }
    let ledger = try environment.store.ledger(environment.tables, overwrittenMax: 0)
    var totals = ImportTotals(environment.definition)
    totals.begin(part: 0, of: environment, lastStoredKey: 0)
    let input = InputFile(name: entry.path, path: entry.location ?? entry.path)
    var importer = FileImporter(
      try environment.readable(input, for: entry), environment: environment,
      contexts: run.parts[0].contexts(), ledger: ledger, rejectsPath: nil, shard: entry)
    _ = try importer.run(KnownInputs(), &totals)
    if totals.outcome == .cancelled {
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure, message: "cancelled; the shard is not checked to its end")
    }
    if let reason = totals.stopReason { throw RunFailure(code: nil, exitCode: .dataError, message: reason) }
    let results = importer.checkpoint.results
    return CheckedShard(
      plan: file.id, shard: number, counts: results.counts, results: results.kept, issues: results.log.listed)
  }

  // MARK: The report

  /// Adds up what workers have printed, and writes the reports. A shard that was checked several times counts once.
  ///
  /// - Parameter paths: Files with their lines, in any order; - is standard input.
  /// - Throws: 75 where shards are missing, with their numbers.
  package func report(from paths: [String]) throws(RunFailure) -> RunSummary {
    try ReportFiles.check(reports.paths)
    var lines = CheckedLines(plan: file.id)
    for path in paths { try lines.read(path, unless: environment.monitor.isCancelled) }
    var summary = try summary(of: lines.found)
    _ = ReportFiles.write(
      &summary, to: reports.reports(of: summary), of: reports, unless: environment.monitor.isCancelled)
    return summary
  }

  private func summary(of found: [Int: CheckedShard]) throws(RunFailure) -> RunSummary {
    let missing = file.shards.indices.filter { found[$0] == nil }
    guard missing.isEmpty else {
      let shown = missing.prefix(10).map { "\($0)" }.joined(separator: ", ")
      throw RunFailure(
        code: nil, exitCode: .temporaryFailure,
        message:
          "the results lack \(missing.count.grouped) of \(file.shards.count.grouped) shards: \(shown); check them with "
          + "'work --dry-run --plan \(path) --shard N', and name their results with --from too")
    }
    let expectations = try environment.expectations()
    var totals = ImportTotals(environment.definition)
    totals.begin(part: 0, of: environment, lastStoredKey: 0)
    totals.notes = file.notes
    for (index, input) in file.inputs.enumerated() {
      let shards = file.shards.indices.filter { file.shards[$0].input == index }.compactMap { found[$0] }
      finish(input, shards: shards, &totals)
    }
    let failure = environment.compare(&totals, with: expectations)
    var summary = run.summary(totals, failure, seconds: 0)
    summary.startedAt = file.madeAt
    let count = file.shards.count == 1 ? "one shard" : "\(file.shards.count.grouped) shards"
    summary.note = ["checked by workers as \(count)", summary.note].compactMap(\.self).joined(separator: ". ")
    return summary
  }

  private func finish(_ input: PlanFile.Input, shards: [CheckedShard], _ totals: inout ImportTotals) {
    let listedMax = environment.definition.limits.issuesListedMax
    var sum = InputResults(listedMax: listedMax, profiler: environment.profiler, statistics: environment.statistics)
    for issue in input.issues { sum.log.add(issue) }
    for shard in shards where shard.counts.read > 0 {
      sum.add(
        InputResults(
          counts: shard.counts, kept: shard.results, issues: shard.issues, listedMax: listedMax,
          profiler: environment.profiler, statistics: environment.statistics))
    }
    var summary = RunSummary.File(
      path: input.path, bytes: input.bytes, records: sum.counts.read, contentHash: input.contentHash, state: .imported)
    summary.counts = sum.counts
    totals.finish(summary, wasOpened: true, sum, of: environment.definition.entity, rejects: nil, made: nil)
  }
}
