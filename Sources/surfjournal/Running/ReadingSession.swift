import Foundation
import PipelineEngine

extension Arguments {
  /// The value of `--damaged-log`.
  func readsDamagedWAL() throws(CommandFailure) -> Bool {
    switch string("damaged-log") ?? "refuse" {
    case "refuse": return false
    case "ignore": return true
    case let other: throw mistake("--damaged-log is '\(other)'; it must be refuse or ignore")
    }
  }
}

extension Arguments {
  /// The value of `--missing-external`.
  func leavesOutMissingValues() throws(CommandFailure) -> Bool {
    switch string("missing-external") ?? "refuse" {
    case "refuse": return false
    case "warn": return true
    case let other: throw mistake("--missing-external is '\(other)'; it must be refuse or warn")
    }
  }
}

/// Runs what reads files and writes nothing: progress on a terminal, an orderly end at the first signal.
struct ReadingSession {
  private let arguments: Arguments

  init(_ arguments: Arguments) { self.arguments = arguments }

  func run<Value: Sendable>(
    _ work: (ReadingControl) async throws(PipelineError) -> Value
  ) async throws(CommandFailure) -> Value {
    let showsProgress = !arguments.has("no-progress") && Console.isErrorTerminal
    let line = showsProgress ? ProgressLine(.validate) : nil
    let control = ReadingControl { line?.show($0) }
    let signals = TerminationSignals { _ in
      let message = "stopping at the next chunk. Signal once more to stop at once"
      if let line { line.report(message) } else { Console.report(message) }
      control.cancel()
    }
    defer {
      line?.erase()
      signals.end()
    }
    do throws(PipelineError) {
      return try await work(control)
    } catch {
      throw arguments.failure(error)
    }
  }
}
