import Foundation
import SystemSupport
import OpenCoreData
import PersistentStores

/// An import whose store is a seed: it imports into a store in a private folder, makes from it the store that an app
/// ships, and moves that to its path when everything is done.
struct SeedRun {
  private let definition: PipelineDefinition
  private let options: RunOptions
  private let seed: SeedOptions
  private let destination: SeedDestination

  /// - Throws: `PipelineError` where no path is given.
  init(
    _ definition: PipelineDefinition, options: RunOptions, seed: SeedOptions
  ) throws(PipelineError) {
    guard let output = definition.storeLocation(options)?.path else {
      throw PipelineError(path: "store", "a seed is a file; name its path with --store")
    }
    let ownStore = definition.store.flatMap { StoreLocation(definition.path($0)).path }
    try OutputPath.check([output], key: "seed", areNotNextTo: ownStore)
    self.definition = definition
    self.options = options
    self.seed = seed
    destination = SeedDestination(output)
  }

  /// - Parameters:
  ///   - isCancelled: Checked once more before the seed is published.
  ///   - report: Writes the reports, and returns whether they are on the disk.
  ///   - body: The import, with the definition and the options that it has to use.
  func run(
    isCancelled: () -> Bool, report: (inout RunSummary) -> Bool,
    _ body: (PipelineDefinition, RunOptions) throws(PipelineError) -> RunSummary
  ) throws(PipelineError) -> RunSummary {
    do throws(RunFailure) {
      try destination.check(replaces: seed.replaces)
    } catch {
      RunLock.removeLeft(storePath: destination.output)
      return reported(failed(error), report)
    }
    let lock: RunLock
    do throws(RunFailure) {
      lock = try RunLock(storePath: destination.output, pipeline: definition.name, now: options.now())
    } catch {
      return reported(failed(error), report)
    }
    defer { lock.release() }
    let owed = unreported
    if let owed, !seed.replaces {
      // Only a run of its pipeline has its reports.
      guard owed.pipeline == definition.name else { return reported(failed(destination.refusal), report) }
      return ended(isRepetition(of: owed) ? owed : refused(owed), report)
    }
    if var owed, owed.pipeline == definition.name, !report(&owed) { return owed }
    // Those of a seed that is published stay.
    if !destination.isPublished { removeLeftRejects() }
    do throws(RunFailure) {
      try destination.begin(replaces: seed.replaces)
    } catch {
      return reported(failed(error), report)
    }
    let imported: RunSummary
    do throws(PipelineError) {
      imported = try body(innerDefinition, innerOptions)
    } catch {
      destination.clear()
      throw error
    }
    var summary = finished(imported, isCancelled)
    if let owed { summary.add(note: note(of: owed)) }
    return ended(summary, report)
  }

  // MARK: The report

  /// The seed that is there, where the run that made it was killed before it had written its report, or could not write
  /// it.
  private var unreported: RunSummary? {
    guard var summary = destination.unreported(program: definition.vocabulary.program),
      destination.uuid == summary.seed?.uuid
    else { return nil }
    summary.add(note: "the seed was made by the run of \(LedgerDate.text(summary.startedAt)), which was not reported")
    return summary
  }

  /// Whether this run would make the seed once more.
  private func isRepetition(of owed: RunSummary) -> Bool {
    owed.inputs.map(\.path) == inputs.map(\.name)
      && inputs.allSatisfy { Self.isUnchanged($0.path, since: owed.startedAt) }
  }

  /// What the report of a run with `--force` says of the unreported seed that it has replaced.
  private func note(of owed: RunSummary) -> String {
    let pipeline = owed.pipeline == definition.name ? "" : " of the pipeline \(owed.pipeline)"
    let counts = owed.counts
    return
      "the seed that was there was made by the run of \(LedgerDate.text(owed.startedAt))\(pipeline), which was not "
      + "reported: \(TextTable.count(counts.read, "record")) read, \(counts.inserted.grouped) inserted, "
      + "\(counts.rejected.grouped) rejected"
  }

  /// What a run reports that finds an unreported seed in the place of its own.
  private func refused(_ owed: RunSummary) -> RunSummary {
    var summary = owed
    (summary.outcome, summary.failure) = (.failed, destination.refusal?.summary)
    return summary
  }

  /// The inputs of the run.
  private var inputs: [(name: String, path: String)] {
    let all = definition.imports.map { ImportPart.inputs(of: $0, options) }
    // The parts can't have inputs of the options.
    return (options.inputs == nil ? all : [all[0]]).flatMap(\.self).map { ($0.name, $0.path) }
  }

  private static func isUnchanged(_ path: String, since date: Date) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.modificationDate] as? Date).map { $0 <= date } ?? false
  }

  private func reported(_ summary: RunSummary, _ report: (inout RunSummary) -> Bool) -> RunSummary {
    var summary = summary
    _ = report(&summary)
    return summary
  }

  /// The private folder has what the next run would need to report a seed that is published.
  private func ended(_ summary: RunSummary, _ report: (inout RunSummary) -> Bool) -> RunSummary {
    var summary = summary
    let isSeed = summary.seed != nil && destination.isPublished
    if report(&summary) || !isSeed { summary.leftFolder = destination.clear() }
    return summary
  }

  /// Removes the rejects of a seed that was killed, which the ledger of its store names: that store is made anew.
  private func removeLeftRejects() {
    guard mayExist(destination.imported),
      let opened = try? OpenedDatabase.openForReading(destination.imported)
    else { return }
    defer { withExtendedLifetime(opened) {} }
    let tables = LedgerTables(definition.vocabulary)
    let rows = { (sql: String) in try opened.connection.rows(sql).map { $0.map(\.plain) } }
    // A store without a ledger has no rejects.
    guard let layout = try? tables.layout(.sqlite, rows), let entries = try? tables.entries(layout, rows) else {
      return
    }
    for entry in entries {
      if let path = entry.rejects.path { RejectsFile.remove(path, ofRun: entry.run) }
    }
  }

  // MARK: The import

  /// Reports are written for the finished seed.
  private var innerDefinition: PipelineDefinition {
    var definition = definition
    definition.report = []
    return definition
  }

  private var innerOptions: RunOptions {
    var options = options
    options.store = destination.imported
    options.seed = nil
    options.reports = []
    // Files would have other names each time, and their hidden folder is easily left behind.
    options.keepsLargeValues = true
    // No replay may import into the folder, which is removed by then, nor into a seed.
    (options.namesStoreInRejects, options.seedInRejects) = (false, StoreLocation(destination.output).recorded)
    if RejectsDestination.requested(definition, options) == nil {
      let neighbour = ReportFiles.paths(definition, self.options).first ?? destination.output
      options.rejects = OutputPath.folder(of: neighbour) + "/"
    }
    return options
  }

  // MARK: The seed

  private func finished(_ imported: RunSummary, _ isCancelled: () -> Bool) -> RunSummary {
    var summary = imported
    summary.store = destination.output
    guard summary.outcome == .completed else {
      if summary.failure == nil { summary.note = "no seed was made" }
      return summary
    }
    do throws(RunFailure) {
      guard mayExist(destination.imported) else {
        throw RunFailure(
          code: nil, exitCode: .noInput,
          message: "there was nothing to import, so that no seed was made; check the inputs")
      }
      let uuid = try SeedStore(seed, without: LedgerTables(definition.vocabulary)).make(
        from: destination.imported, to: destination.made)
      if isCancelled() {
        summary.outcome = .cancelled
        summary.note = "no seed was made"
        return summary
      }
      summary.seed = RunSummary.Seed(uuid: uuid.uuidString, files: destination.files)
      if summary.counts.rejected > 0 {
        let rejected = summary.counts.rejected
        let records = "\(TextTable.count(rejected, "record")) that \(rejected == 1 ? "was" : "were")"
        summary.note = "the seed lacks the \(records) rejected"
      }
      try destination.keep(summary)
      try destination.publish(replaces: seed.replaces)
    } catch {
      // The seed has its name already where only its folder could not be synced.
      if !destination.isPublished { summary.seed = nil }
      summary.note = nil
      summary.outcome = .failed
      summary.failure = error.summary
    }
    return summary
  }

  private func failed(_ error: RunFailure?) -> RunSummary {
    RunSummary(
      kind: .import, pipeline: definition.name, outcome: .failed, failure: error?.summary, startedAt: options.now(),
      seconds: 0, store: destination.output, program: definition.vocabulary.program)
  }
}
