import Foundation
import Locking
import PersistentStores

/// Runs one pipeline once. A Swift program needs only this type.
///
/// ```swift
/// let definition = try PipelineDefinition(contentsOf: URL(fileURLWithPath: "Pipelines/surf-log.json"))
/// var options = RunOptions()
/// options.inputs = ["surf-log.csv.gz"]
/// options.store = "journal.sqlite"
/// let runner = PipelineRunner(definition, .import, options: options)
/// let summary = try await runner.run()
/// ```
///
/// Nothing may block the main thread during a run: the view context of the import's chain uses it.
public final class PipelineRunner: Sendable {
  /// The pipeline, as the runner was made with.
  ///
  /// ```swift
  /// print("\(runner.definition.name) fills \(runner.definition.entity)")
  /// ```
  public let definition: PipelineDefinition
  /// What the run does: import, validate or export.
  ///
  /// ```swift
  /// if runner.kind == .validate { print("Nothing will be stored") }
  /// ```
  public let kind: RunSummary.Kind
  /// What this run does differently from its definition.
  ///
  /// ```swift
  /// let inputs = runner.options.inputs ?? runner.definition.source
  /// ```
  public let options: RunOptions
  /// Progress of the run, at chunk boundaries. It finishes when the run ends. A slow reader gets the newest state, not
  /// every one; one task may read it.
  ///
  /// ```swift
  /// let reporting = Task {
  ///   for await state in runner.progress { print(state.file, state.records, state.rejected) }
  /// }
  /// let summary = try await runner.run()
  /// await reporting.value
  /// ```
  public let progress: AsyncStream<RunProgress>

  private let continuation: AsyncStream<RunProgress>.Continuation
  private let cancellation = CancellationFlag()

  /// A runner that has not begun. Nothing is read or opened before `run()`, so nothing is checked here either.
  ///
  /// ```swift
  /// var options = RunOptions()
  /// options.inputs = ["surf-log.csv"]
  /// let runner = PipelineRunner(definition, .validate, options: options)
  /// ```
  ///
  /// - Parameters:
  ///   - definition: What to import or export, and how.
  ///   - kind: `.import`, `.validate` (a dry run: it reports what an import would do and changes nothing) or `.export`.
  ///   - options: Inputs, store, output and the rest that differs from the definition.
  public init(_ definition: PipelineDefinition, _ kind: RunSummary.Kind, options: RunOptions = RunOptions()) {
    self.definition = definition
    self.kind = kind
    self.options = options
    (progress, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Ends the run at the next chunk boundary; what was saved before stays, unless the run is atomic. Its summary has
  /// the outcome `cancelled`. May be called from any thread, more than once, and before the run.
  ///
  /// ```swift
  /// let work = Task { try await runner.run() }
  /// runner.cancel()
  /// print(try await work.value.outcome)  // cancelled
  /// ```
  public func cancel() { cancellation.cancel() }

  /// Does the work on a thread of its own. Call it once. Cancelling the task calls `cancel()`.
  ///
  /// ```swift
  /// let summary = try await runner.run()
  /// if let failure = summary.failure { print(failure.message) } else { print(summary.counts.inserted) }
  /// ```
  ///
  /// - Returns: The summary, also of a run that failed, which then has a `failure`.
  /// - Throws: `PipelineError` for a definition that can't be run as it is.
  public func run() async throws(PipelineError) -> RunSummary {
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { (result: CheckedContinuation<Result<RunSummary, PipelineError>, Never>) in
        Thread.begin("pipeline \(definition.name)") {
          result.resume(returning: Result { () throws(PipelineError) in try self.runSharingCopy() })
        }
      }
    } onCancel: {
      cancel()
    }
    continuation.finish()
    do throws(PipelineError) {
      return try outcome.get()
    } catch {
      // Errors that only a run can detect are also reported with their source location.
      throw definition.sourceMap.located(error)
    }
  }

  /// A run that does not write to the store may read it from a copy. An import has no use for it once it has begun.
  private func runSharingCopy() throws(PipelineError) -> RunSummary {
    if kind == .import { return try runHere() }
    return try PrivateCopy.keeping { () throws(PipelineError) in try runHere() }
  }

  private func runHere() throws(PipelineError) -> RunSummary {
    let reports = ReportFiles.paths(definition, options)
    for path in reports where ReportFormat(path: path) == nil {
      throw PipelineError(
        path: "report", "'\(path)' must end in \(ReportFormat.endings), which says how the report is written")
    }
    OwnFolders.make(of: definition, options)
    let log: EventLog
    do throws(RunFailure) {
      if let store = definition.storePath(options) {
        if kind != .export, StorePlace.isAddress(store) { throw RunFailure(importInto: StorePlace(store)) }
        try RunFailure.checkKind(ofStore: store)
      }
      log = try EventLog.of(definition, options)
    } catch {
      return failed(error)
    }
    let model: RunModel
    switch try foundModel() {
    case .success(let found): model = found
    case .failure(let failure):
      let summary = ReportFiles.write(failed(failure), to: reports)
      log.log(.runEnded(summary))
      return summary
    }
    let summary = try run(model, reports: reports, deadline: Deadline(definition, options), log: log)
    log.log(.runEnded(summary))
    return summary
  }

  /// A run that ended before it began.
  private func failed(_ failure: RunFailure) -> RunSummary {
    RunSummary(
      kind: kind, pipeline: definition.name, outcome: .failed, failure: failure.summary, startedAt: options.now(),
      seconds: 0, program: definition.vocabulary.program)
  }

  private func foundModel() throws(PipelineError) -> Result<RunModel, RunFailure> {
    // A seed is new, even if it replaces a file.
    let store = options.seed == nil ? definition.storePath(options) : nil
    let found: RunModel
    switch try RunModel.found(definition, options: options, store: store, for: kind == .export ? .export : .opened) {
    case .success(let model): found = model
    case .failure(let failure): return .failure(failure)
    }
    // If the missing store was to provide the model, the missing store is the error, not the model.
    if kind == .export, let store, !StorePlace(store).exists,
      found.model.entitiesByName[definition.firstEntity] == nil
    {
      return .failure(RunFailure(noStore: StorePlace(store).shown))
    }
    if kind == .export, found.isOfTables, !options.guessesModel {
      return .failure(found.unknownModel(ofExported: store))
    }
    if !options.isQuiet { found.notes.forEach(options.warn) }
    guard kind != .export, found.isOfTables else { return .success(found) }
    return .failure(RunModel.unknownModel(of: store))
  }

  private func run(
    _ model: RunModel, reports: [String], deadline: Deadline, log: EventLog
  ) throws(PipelineError) -> RunSummary {
    let monitor = RunMonitor(
      isCancelled: { self.cancellation.isCancelled || deadline.hasPassed() },
      report: { self.continuation.yield($0) }, log: log)
    func explained(_ summary: RunSummary) -> RunSummary {
      var summary = summary
      if summary.outcome == .cancelled, !cancellation.isCancelled { summary.stopReason = deadline.message }
      return summary
    }
    switch kind {
    case .import where options.seed != nil:
      let seed = try SeedRun(definition, options: options, seed: options.seed ?? SeedOptions())
      return try seed.run(
        isCancelled: monitor.isCancelled,
        report: { summary in
          summary = explained(summary)
          return ReportFiles.write(&summary, to: reports, advice: ", and the same command writes it")
        }
      ) { definition, options throws(PipelineError) in
        let run = try ImportRun(definition, options: options, model: model, isDryRun: false, monitor: monitor)
        return run.finish(run.run())
      }
    case .import, .validate:
      let run = try ImportRun(
        definition, options: options, model: model, isDryRun: kind == .validate, monitor: monitor)
      if run.needsDryRunOnCopy {
        let summary = try DryRunOnCopy.run(definition, options: options, model: model, monitor: monitor)
        return ReportFiles.write(explained(summary), to: reports)
      }
      var outcome = run.run()
      outcome.summary = explained(outcome.summary)
      let advice = kind == .import ? ", and the next run of this pipeline writes it" : ""
      // What a run that was killed has reported stays: this one had nothing left to do.
      let missing = outcome.isReported ? reports.filter { !FileManager.default.fileExists(atPath: $0) } : reports
      if !missing.isEmpty {
        outcome.isReportOwed = !ReportFiles.write(&outcome.summary, to: missing, advice: advice)
      }
      return run.finish(outcome)
    case .export:
      var run = try ExportRun(definition, options: options, model: model, monitor: monitor)
      return ReportFiles.write(explained(run.run()), to: reports)
    }
  }
}
