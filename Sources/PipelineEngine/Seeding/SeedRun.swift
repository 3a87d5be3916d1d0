import Foundation
import OpenCoreData

/// An import whose store is a seed: it goes into a store in a private folder, and what an app ships is made of that and
/// put into place when all is done.
struct SeedRun {
  private let definition: PipelineDefinition
  private let options: RunOptions
  private let seed: SeedOptions
  private let place: SeedPlace

  /// - Throws: `PipelineError` where no place is named.
  init(
    _ definition: PipelineDefinition, _ options: RunOptions, _ seed: SeedOptions
  ) throws(PipelineError) {
    guard let output = definition.storePath(options) else {
      throw PipelineError(path: "store", "there is no place for the seed; name one")
    }
    self.definition = definition
    self.options = options
    self.seed = seed
    place = SeedPlace(output)
  }

  /// - Parameters:
  ///   - isCancelled: Asked once more before the seed is put into place.
  ///   - body: The import, with the definition and the options that it is to have.
  func run(
    isCancelled: () -> Bool,
    _ body: (PipelineDefinition, RunOptions) throws(PipelineError) -> RunSummary
  ) throws(PipelineError) -> RunSummary {
    let lock: RunLock
    do throws(RunFailure) {
      try place.check(replaces: seed.replaces)
      lock = try RunLock(storePath: place.output, pipeline: definition.name, now: options.now())
    } catch {
      return failed(error)
    }
    defer { lock.release() }
    do throws(RunFailure) {
      try place.begin(replaces: seed.replaces)
    } catch {
      place.clear()
      return failed(error)
    }
    defer { place.clear() }
    return finished(try body(innerDefinition, innerOptions), isCancelled)
  }

  // MARK: The import

  /// Reports are written of the seed, when it is there.
  private var innerDefinition: PipelineDefinition {
    var definition = definition
    definition.report = []
    return definition
  }

  private var innerOptions: RunOptions {
    var options = options
    options.store = place.imported
    options.seed = nil
    options.reports = []
    // No replay may go into the folder that is gone by then, nor into a seed.
    options.namesStoreInRejects = false
    if RejectsPlace.wish(definition, options) == nil {
      let neighbour = ReportFiles.paths(definition, self.options).first ?? place.output
      options.rejects = OutputPlace.folder(of: neighbour) + "/"
    }
    return options
  }

  // MARK: The seed

  private func finished(_ imported: RunSummary, _ isCancelled: () -> Bool) -> RunSummary {
    var summary = imported
    summary.store = place.output
    guard summary.outcome == .completed else {
      if summary.failure == nil { summary.note = "no seed was made" }
      return summary
    }
    do throws(RunFailure) {
      guard FileManager.default.fileExists(atPath: place.imported) else {
        throw RunFailure(
          code: nil, exitCode: .noInput,
          message: "there was nothing to import, so that no seed was made; check the inputs")
      }
      let uuid = try SeedStore(seed, without: LedgerTables(definition.vocabulary)).make(
        from: place.imported, to: place.made)
      if isCancelled() {
        summary.outcome = .cancelled
        summary.note = "no seed was made"
        return summary
      }
      let files = try place.publish(replaces: seed.replaces)
      summary.seed = RunSummary.Seed(uuid: uuid.uuidString, files: files)
      if summary.counts.rejected > 0 {
        let rejected = summary.counts.rejected
        let records = "\(TextTable.count(rejected, "record")) that \(rejected == 1 ? "was" : "were")"
        summary.note = "the seed lacks the \(records) rejected"
      }
    } catch {
      summary.outcome = .failed
      summary.failure = error.summary
    }
    return summary
  }

  private func failed(_ error: RunFailure) -> RunSummary {
    RunSummary(
      kind: .import, pipeline: definition.name, outcome: .failed, failure: error.summary, startedAt: options.now(),
      seconds: 0, store: place.output, program: definition.vocabulary.program)
  }
}
