import Foundation
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
    if let owed = unreported { return ended(owed, report) }
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
    return ended(finished(imported, isCancelled), report)
  }

  // MARK: The report

  /// What a run of the same inputs has made, and not reported because it was killed or the disk was full.
  private var unreported: RunSummary? {
    guard !seed.replaces, var summary = destination.unreported(program: definition.vocabulary.program),
      summary.pipeline == definition.name, summary.inputs.map(\.path) == inputs.map(\.name),
      destination.uuid == summary.seed?.uuid,
      inputs.allSatisfy({ Self.isUnchanged($0.path, since: summary.startedAt) })
    else { return nil }
    let made = "the seed was made by the run of \(LedgerDate.text(summary.startedAt)), which was not reported"
    summary.note = summary.note.map { "\($0). \(made)" } ?? made
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
    let isSeed = summary.seed != nil && summary.failure == nil
    if report(&summary) || !isSeed { summary.leftFolder = destination.clear() }
    return summary
  }

  /// Removes the rejects of a seed that was killed, which the ledger of its store names: that store is made anew.
  private func removeLeftRejects() {
    guard FileManager.default.fileExists(atPath: destination.imported),
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
      guard FileManager.default.fileExists(atPath: destination.imported) else {
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

  private func failed(_ error: RunFailure) -> RunSummary {
    RunSummary(
      kind: .import, pipeline: definition.name, outcome: .failed, failure: error.summary, startedAt: options.now(),
      seconds: 0, store: destination.output, program: definition.vocabulary.program)
  }
}
