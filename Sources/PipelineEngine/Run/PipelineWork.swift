import Foundation
import SystemSupport

/// The work of a ``PipelineRunner``, from the names of its reports to its summary.
struct PipelineWork {
  private let given: PipelineDefinition
  private let kind: RunSummary.Kind
  private let givenOptions: RunOptions
  private let isCancelled: @Sendable () -> Bool
  private let progress: @Sendable (RunProgress) -> Void

  init(
    _ definition: PipelineDefinition, _ kind: RunSummary.Kind, options: RunOptions,
    isCancelled: @escaping @Sendable () -> Bool, report: @escaping @Sendable (RunProgress) -> Void
  ) {
    (given, self.kind, givenOptions) = (definition, kind, options)
    (self.isCancelled, progress) = (isCancelled, report)
  }

  /// Does the work, and what follows it.
  ///
  /// - Throws: `PipelineError` for a definition that can't be run as it is; that is notified as a failure.
  func run() throws(PipelineError) -> RunSummary {
    var (definition, options) = (given, givenOptions)
    let runID = UUID().uuidString.lowercased()
    options.runID = runID
    let values = ReportName.Values(pipeline: definition.name, run: runID, start: options.now())
    let plan = try ReportPlan(&definition, &options, with: values)
    for path in plan.paths where ReportFormat(path: path) == nil {
      throw PipelineError(
        path: "report",
        "'\(path)' has no known ending; end it in \(ReportFormat.endings), which determines the "
          + "report's format")
    }
    OwnFolders.make(of: definition, options)
    let conclusion = RunConclusion(given, kind, options: options, plan: plan, unless: isCancelled)
    conclusion.begin()
    var attempt = Attempt(
      definition: definition, kind: kind, options: options, plan: plan, recentRuns: conclusion.recentRuns,
      isCancelled: isCancelled, deadline: Deadline(definition, options), progress: progress)
    do throws(PipelineError) {
      let summary = try attempt.run()
      return conclusion.end(summary, written: attempt.written, log: attempt.log)
    } catch {
      let failure = RunSummary.Failure(message: error.message, exitCode: error.exitCode)
      let summary = RunSummary(
        kind: kind, pipeline: definition.name, outcome: .failed, failure: failure, startedAt: options.now(), seconds: 0,
        program: definition.vocabulary.program)
      _ = conclusion.end(summary, written: [], log: attempt.log)
      throw error
    }
  }
}

extension PipelineWork {
  /// The run itself, up to its reports.
  private struct Attempt {
    let definition: PipelineDefinition
    let kind: RunSummary.Kind
    let options: RunOptions
    let plan: ReportPlan
    let recentRuns: [RunPoint]
    let isCancelled: @Sendable () -> Bool
    let deadline: Deadline
    let progress: @Sendable (RunProgress) -> Void
    private(set) var log = EventLog.off
    /// The reports that were written.
    private(set) var written: [ReportPlan.Report] = []

    mutating func run() throws(PipelineError) -> RunSummary {
      // Before the log is opened, which makes its file.
      let store = options.originalStore.map { StoreLocation($0) } ?? definition.storeLocation(options)
      try EventLog.checkPath(definition, options, filesRead: [], store: store?.path)
      do throws(RunFailure) {
        if let path = definition.storeLocation(options)?.path {
          try RunFailure.checkKind(ofStore: path, mayBeMade: kind == .import)
        }
        log = try EventLog.of(definition, options, unless: mustEnd)
      } catch {
        return failed(error)
      }
      let model: RunModel
      switch try foundModel() {
      case .success(let found): model = found
      case .failure(let failure):
        let summary = reported(failed(failure))
        log.log(.runEnded(summary))
        return summary
      }
      let summary = try run(model)
      log.log(.runEnded(summary))
      return summary
    }

    /// A run that ended before it began.
    private func failed(_ failure: RunFailure) -> RunSummary {
      var summary = RunSummary(
        kind: kind, pipeline: definition.name, outcome: .failed, failure: failure.summary, startedAt: options.now(),
        seconds: 0, program: definition.vocabulary.program)
      summary.gauges.version = options.programVersion
      return summary
    }

    private func foundModel() throws(PipelineError) -> Result<RunModel, RunFailure> {
      // A seed is new, even if it replaces a file.
      let store = options.seed == nil ? definition.storeLocation(options) : nil
      let found: RunModel
      switch try RunModel.found(
        definition, options: options, store: store?.text, for: kind == .export ? .export : .opened)
      {
      case .success(let model): found = model
      case .failure(let failure): return .failure(failure)
      }
      // If the missing store was to provide the model, the missing store is the error, not the model.
      if kind == .export, let store, !store.exists,
        found.model.entitiesByName[definition.firstEntity] == nil
      {
        return .failure(RunFailure(noStore: store.shown))
      }
      if kind == .export, found.isOfTables, !options.guessesModel {
        return .failure(found.unknownModel(ofExported: store?.shown))
      }
      if !options.isQuiet { found.notes.forEach(options.warn) }
      guard kind != .export, found.isOfTables else { return .success(found) }
      return .failure(RunModel.unknownModel(of: store?.shown))
    }

    /// Whether a signal or the time limit ends the run.
    private var mustEnd: @Sendable () -> Bool {
      let (isCancelled, deadline) = (isCancelled, deadline)
      return { isCancelled() || deadline.hasPassed() }
    }

    private mutating func run(_ model: RunModel) throws(PipelineError) -> RunSummary {
      let (isCancelled, deadline) = (isCancelled, deadline)
      let monitor = RunMonitor(isCancelled: mustEnd, report: progress, log: log)
      func explained(_ summary: RunSummary) -> RunSummary {
        var summary = summary
        if summary.outcome == .cancelled, !isCancelled() { summary.stopReason = deadline.message }
        return summary
      }
      switch kind {
      case .import where options.seed != nil:
        let seed = try SeedRun(definition, options: options, seed: options.seed ?? SeedOptions())
        var attempt = self
        let summary = try seed.run(
          isCancelled: monitor.isCancelled,
          report: { summary in
            summary = explained(summary)
            return attempt.report(&summary, advice: ", and the same command writes it")
          }
        ) { definition, options throws(PipelineError) in
          let run = try ImportRun(definition, options: options, model: model, isDryRun: false, monitor: monitor)
          return run.finish(run.run())
        }
        self = attempt
        return summary
      case .import, .validate:
        let run = try ImportRun(
          definition, options: options, model: model, isDryRun: kind == .validate, monitor: monitor)
        if run.needsDryRunOnCopy {
          let summary = try DryRunOnCopy.run(definition, options: options, model: model, monitor: monitor)
          return reported(explained(summary))
        }
        var outcome = run.run()
        outcome.summary = explained(outcome.summary)
        if plan.reports.contains(where: { ReportFormat(path: $0.path) == .html }) {
          outcome.summary.recentRuns = run.recentRuns()
        }
        let advice = kind == .import ? ", and the next run of this pipeline writes it" : ""
        outcome.isReportOwed = !report(&outcome.summary, replaces: !outcome.isReported, advice: advice)
        return run.finish(outcome)
      case .export:
        var run = try ExportRun(definition, options: options, model: model, monitor: monitor)
        return reported(explained(run.run()))
      }
    }

    // MARK: Reports

    private mutating func reported(_ summary: RunSummary) -> RunSummary {
      var summary = summary
      _ = report(&summary)
      return summary
    }

    /// - Parameter replaces: False where a run that was killed has reported: its reports stay, because this one had nothing
    ///   left to do.
    private mutating func report(_ summary: inout RunSummary, replaces: Bool = true, advice: String = "") -> Bool {
      // The records have runs that could not open the store; the ledger may have more runs.
      if recentRuns.count > summary.recentRuns.count { summary.recentRuns = recentRuns }
      let reports = plan.reports(of: summary).filter { replaces || !mayExist($0.path) }
      written += reports
      return ReportFiles.write(&summary, to: reports, of: plan, advice: advice, unless: mustEnd)
    }
  }
}
