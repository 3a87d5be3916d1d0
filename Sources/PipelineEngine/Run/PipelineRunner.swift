import Foundation
import Locking
import OpenCoreData
import Synchronization

/// Runs one pipeline once. (A Swift program needs no more than this.)
///
/// ```swift
/// var options = RunOptions()
/// options.inputs = ["surf-log.csv.gz"]
/// options.store = "journal.sqlite"
/// let runner = PipelineRunner(.surfLog, .import, options)
/// let summary = try await runner.run()
/// ```
///
/// Nothing may block the main thread while a run is under way: the view context of the import's chain lives there.
public final class PipelineRunner: Sendable {
  public let definition: PipelineDefinition
  public let kind: RunSummary.Kind
  public let options: RunOptions
  /// How far the run is; ends with it. A slow reader sees the newest state, not every one.
  public let progress: AsyncStream<RunProgress>

  private let continuation: AsyncStream<RunProgress>.Continuation
  private let cancellation = Cancellation()

  public init(_ definition: PipelineDefinition, _ kind: RunSummary.Kind, _ options: RunOptions = RunOptions()) {
    self.definition = definition
    self.kind = kind
    self.options = options
    (progress, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  /// Ends the run at the next chunk border; what was saved before stays.
  public func cancel() { cancellation.request() }

  /// Does the work on a thread of its own. Cancelling the task is `cancel()`.
  ///
  /// - Returns: The summary, also of a run that failed: then with its `failure`.
  /// - Throws: `PipelineError` for a definition that can't be run as it is.
  public func run() async throws(PipelineError) -> RunSummary {
    let outcome = await withTaskCancellationHandler {
      await withCheckedContinuation { (result: CheckedContinuation<Result<RunSummary, PipelineError>, Never>) in
        Thread.begin("pipeline \(definition.name)") {
          result.resume(returning: Result { () throws(PipelineError) in try self.runHere() })
        }
      }
    } onCancel: {
      cancel()
    }
    continuation.finish()
    do throws(PipelineError) {
      return try outcome.get()
    } catch {
      // What only a run can see is told where the file says it, too.
      throw definition.sourceMap.located(error)
    }
  }

  private func runHere() throws(PipelineError) -> RunSummary {
    let reports = ReportFiles.paths(definition, options)
    for path in reports where ReportFormat(path: path) == nil {
      throw PipelineError(
        path: "report", "'\(path)' must end in \(ReportFormat.endings), which says how the report is written")
    }
    let log: EventLog
    do throws(RunFailure) {
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
    let summary = try run(model, reports, Deadline(definition, options), log)
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
    // A seed is new, whatever it replaces.
    let store = options.seed == nil ? definition.storePath(options) : nil
    let found: RunModel
    do {
      found = try RunModel(definition, given: options.model, store: store)
    } catch {
      if let mistake = error as? PipelineError { throw mistake }
      if let missing = error as? RunModel.MissingModel {
        return .failure(RunFailure(code: .sourceError, exitCode: .noInput, message: missing.errorDescription ?? ""))
      }
      return .failure(RunFailure(store: error as NSError, path: store))
    }
    // Where the store was to tell the model, the model can't tell what is wrong.
    if kind == .export, let store, !FileManager.default.fileExists(atPath: store),
      found.model.entitiesByName[definition.entity] == nil
    {
      return .failure(RunFailure(noStore: store))
    }
    if !options.isQuiet { found.notes.forEach(options.warn) }
    guard kind != .export, found.isOfTables else { return .success(found) }
    return .failure(
      RunFailure(
        code: nil, exitCode: .dataError,
        message: "nothing says what may go into the store \(store ?? ""): no model that is known here fits it, and it "
          + "keeps none. Name its model with --model, or in the pipeline"))
  }

  private func run(
    _ model: RunModel, _ reports: [String], _ deadline: Deadline, _ log: EventLog
  ) throws(PipelineError) -> RunSummary {
    let monitor = RunMonitor(
      isCancelled: { self.cancellation.isRequested || deadline.hasPassed() },
      report: { self.continuation.yield($0) }, log: log)
    func explained(_ summary: RunSummary) -> RunSummary {
      var summary = summary
      if summary.outcome == .cancelled, !cancellation.isRequested { summary.stopReason = deadline.message }
      return summary
    }
    switch kind {
    case .import where options.seed != nil:
      let seed = try SeedRun(definition, options, options.seed ?? SeedOptions())
      let summary = try seed.run(isCancelled: monitor.isCancelled) { definition, options throws(PipelineError) in
        let run = try ImportRun(definition, options, model: model, isDryRun: false, monitor)
        return run.finish(run.run())
      }
      return ReportFiles.write(explained(summary), to: reports)
    case .import, .validate:
      let run = try ImportRun(definition, options, model: model, isDryRun: kind == .validate, monitor)
      var outcome = run.run()
      outcome.summary = ReportFiles.write(explained(outcome.summary), to: reports)
      return run.finish(outcome)
    case .export:
      var run = try ExportRun(definition, options, model: model, monitor)
      return ReportFiles.write(explained(run.run()), to: reports)
    }
  }
}

/// A wish to end, seen by every thread of the run.
private final class Cancellation: Sendable {
  private let flag = Atomic<Bool>(false)
  var isRequested: Bool { flag.load(ordering: .acquiring) }
  func request() { flag.store(true, ordering: .releasing) }
}
