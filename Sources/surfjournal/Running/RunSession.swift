import Foundation
import PipelineEngine

/// Runs a pipeline for a person: progress and messages on standard error, the summary as the result.
struct RunSession: Sendable {
  let definition: PipelineDefinition
  let kind: RunSummary.Kind
  let options: RunOptions
  let display: RunDisplay
  /// Key paths of the definition that came from options, with the options' names: mistakes there are the caller's.
  var optionOfPath: [(path: String, option: String)] = []
  let command: String

  func run() async -> ExitCode {
    let runner = PipelineRunner(definition, kind, options)
    let line = display.showsProgress ? ProgressLine(kind) : nil
    let signals = StopSignals {
      let message = "stopping at the next chunk; what is saved stays. Signal once more to stop at once"
      if let line { line.tell(message) } else { Console.tell(message) }
      runner.cancel()
    }
    defer { withExtendedLifetime(signals) {} }
    let watching = line.map { line in
      Task { for await progress in runner.progress { line.show(progress) } }
    }
    do {
      let summary = try await runner.run()
      await watching?.value
      line?.erase()
      return present(summary)
    } catch {
      line?.erase()
      return failure(error).report()
    }
  }

  // MARK: Results

  private func present(_ summary: RunSummary) -> ExitCode {
    let toOutput = kind != .export || (options.output ?? definition.export?.output ?? "-") != "-"
    // Whoever read the records has had enough of them, and wants no message about it.
    if !toOutput, summary.exitCode == .ioError, Console.hasOutputReaderGone { return .ioError }
    if let failure = summary.failure { Console.tell(failure.message) }
    do throws(CommandFailure) {
      guard let text = try text(of: summary) else { return summary.exitCode }
      if toOutput { try Console.print(text) } else { Console.show(text) }
    } catch {
      return error.report()
    }
    return summary.exitCode
  }

  /// Nil where there is nothing to show.
  private func text(of summary: RunSummary) throws(CommandFailure) -> String? {
    if display.isQuiet, summary.exitCode == .ok { return nil }
    guard display.isJSON else {
      // Of a run that never began there is nothing to sum up.
      let hasBegun = summary.counts.read > 0 || summary.exported > 0 || summary.issues.errors > 0
      return summary.outcome == .failed && !hasBegun ? nil : summary.text()
    }
    do {
      return String(decoding: try summary.json(), as: UTF8.self)
    } catch {
      throw CommandFailure(
        "the summary can't be written as JSON: \(error). This is a fault of the program", .software)
    }
  }

  private func failure(_ error: PipelineError) -> CommandFailure {
    let options = error.mistakes.map { mistake in
      optionOfPath.first { mistake.path.hasPrefix($0.path) }?.option
    }
    guard options.allSatisfy({ $0 != nil }) else { return CommandFailure(error.description, error.exitCode) }
    let lines = zip(options, error.mistakes).map { "\($0 ?? ""): \($1.message)" }
    return .usage(lines.joined(separator: "\n"), of: command)
  }
}

/// How a run is shown.
struct RunDisplay: Sendable {
  let isJSON: Bool
  let isQuiet: Bool
  let showsProgress: Bool

  init(_ arguments: Arguments) {
    isJSON = arguments.has("json")
    isQuiet = arguments.has("quiet")
    showsProgress = !isQuiet && !arguments.has("no-progress") && Console.isErrorTerminal
  }
}
