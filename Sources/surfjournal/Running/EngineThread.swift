import Foundation
import SystemSupport
import PipelineEngine

/// Work of the engine on a thread of its own: the main thread serves the main queue, which view contexts use.
enum EngineThread {
  /// Runs `body` and returns what it returns.
  ///
  /// - Parameter body: Receives what tells whether a signal has asked for an end.
  static func run<Result: Sendable>(
    _ name: String, stopping message: String,
    _ body: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Result
  ) async throws(CommandFailure) -> Result {
    let stop = Locked(false)
    let signals = TerminationSignals { _ in
      Console.report("\(message). Signal once more to stop at once")
      stop.withLock { $0 = true }
    }
    defer { signals.end() }
    let result = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome<Result>, Never>) in
      Thread.begin(name) {
        do {
          continuation.resume(returning: .done(try body { stop.withLock { $0 } }))
        } catch {
          continuation.resume(returning: .failed(failure(error)))
        }
      }
    }
    switch result {
    case .done(let result): return result
    case .failed(let failure): throw failure
    }
  }

  private enum Outcome<Result: Sendable>: Sendable {
    case done(Result)
    case failed(CommandFailure)
  }

  private static func failure(_ error: any Error) -> CommandFailure {
    if let failure = error as? RunFailure { return CommandFailure(failure.message, failure.exitCode) }
    if let mistake = error as? PipelineError { return CommandFailure(mistake.description, mistake.exitCode) }
    if let failure = error as? CommandFailure { return failure }
    return CommandFailure((error as NSError).localizedDescription, .software)
  }
}
