import Foundation
import SystemSupport
import OpenCoreData

/// A dry run without a store whose chunks are looked at: files are read, parsed and validated as by an import. It reads
/// each file to its end and writes nothing, whatever reports, rejects and limits the pipeline declares.
struct ObservedRun: Sendable {
  let definition: PipelineDefinition
  let model: RunModel
  let control: ReadingControl
  private let options: RunOptions
  private let deadline: Deadline

  init(_ definition: PipelineDefinition, options: RunOptions, model: RunModel, control: ReadingControl) {
    var (definition, options) = (definition, options)
    (definition.store, definition.inbox, definition.rejects, definition.log) = (nil, nil, nil, nil)
    (definition.report, definition.atomic, definition.appendOnly) = ([], false, false)
    (definition.errorPolicy, definition.errorBudget) = (.skip, nil)
    (options.store, options.rejects, options.logFile, options.logLevel, options.logFormat) = (nil, nil, nil, nil, nil)
    // A file is read although another one has the same content.
    (options.reports, options.again) = ([], true)
    self.definition = definition
    self.options = options
    self.model = model
    self.control = control
    deadline = Deadline(definition, options)
  }

  var isCancelled: Bool { control.isCancelled || deadline.hasPassed() }

  /// Why reading ended if it was not cancelled.
  var timeoutMessage: String? {
    deadline.timeoutSeconds.map { "the timeout of \($0.formatted()) s ended it; allow it more time with --timeout" }
  }

  /// Reads the inputs in order, on this thread.
  func read(_ inputs: [String], observer: any ChunkObserver) throws(PipelineError) -> RunSummary {
    var options = options
    options.inputs = inputs
    do throws(PipelineError) {
      let run = try ImportRun(
        definition, options: options, model: model, isDryRun: true, monitor: control.monitor(deadline),
        observer: observer)
      var summary = run.finish(run.run())
      if summary.outcome == .cancelled, !control.isCancelled { summary.stopReason = timeoutMessage }
      return summary
    } catch {
      throw definition.sourceMap.located(error)
    }
  }

  /// Does work on a thread of its own, because reading waits for other threads.
  static func onThread<Value: Sendable>(
    _ name: String, _ work: @escaping @Sendable () throws(PipelineError) -> Value
  ) async throws(PipelineError) -> Value {
    let result = await withCheckedContinuation { (done: CheckedContinuation<Result<Value, PipelineError>, Never>) in
      Thread.begin(name) { done.resume(returning: Result { () throws(PipelineError) in try work() }) }
    }
    return try result.get()
  }
}

extension RunSummary {
  /// Why reading did not reach the end of the files: the exit status and the message.
  var unfinished: Failure? {
    switch outcome {
    case .completed: nil
    case .failed: failure
    case .stopped: Failure(message: stopReason ?? "the pipeline's error policy ended it", exitCode: exitCode)
    case .cancelled: Failure(message: stopReason ?? "it was cancelled; run it again", exitCode: exitCode)
    }
  }
}
