import Foundation
import SystemSupport
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
    let work = PipelineWork(
      definition, kind, options: options, isCancelled: { self.cancellation.isCancelled },
      report: { self.continuation.yield($0) })
    if kind == .import { return try work.run() }
    return try PrivateCopy.keeping { () throws(PipelineError) in try work.run() }
  }
}
