import Foundation
import PipelineEngine

/// Runs a pipeline interactively: progress and messages on standard error, the summary as the result.
struct RunSession: Sendable {
  private let definition: PipelineDefinition
  private let kind: RunSummary.Kind
  private var options: RunOptions
  private let arguments: Arguments
  private let display: RunDisplay

  init(
    _ definition: PipelineDefinition, kind: RunSummary.Kind, options: RunOptions, arguments: Arguments
  ) {
    self.definition = definition
    self.kind = kind
    self.options = options
    self.options.profilesEntries = arguments.has("json")
    self.arguments = arguments
    display = RunDisplay(arguments)
  }

  func run() async -> ExitCode {
    let line = display.showsProgress && !logsToTerminal ? ProgressLine(kind) : nil
    let report: @Sendable (String) -> Void = { message in
      if let line { line.report(message) } else { Console.report(message) }
    }
    var options = options
    options.warn = report
    let makesSeed = options.seed != nil
    let runner = PipelineRunner(definition, kind, options: options)
    let signals = TerminationSignals { _ in
      let rest = kind == .export ? "no output is left" : makesSeed ? "no seed is made" : "what is saved stays"
      let message = "stopping at the next chunk; \(rest). Signal once more to stop at once"
      report(message)
      runner.cancel()
    }
    let watching = line.map { line in
      Task { for await progress in runner.progress { line.show(progress) } }
    }
    do {
      let summary = try await runner.run()
      await watching?.value
      line?.erase()
      signals.end()
      return present(summary)
    } catch {
      line?.erase()
      signals.end()
      return arguments.failure(error).report()
    }
  }

  /// Whether the event log goes to the terminal, where a progress line would mix with it.
  private var logsToTerminal: Bool {
    let isAsked = definition.log != nil || options.logFile != nil || options.logLevel != nil || options.logFormat != nil
    return isAsked && (options.logFile ?? definition.log?.file ?? "-") == "-"
  }

  // MARK: Results

  /// Prints the result of a run.
  func present(_ summary: RunSummary) -> ExitCode {
    let toOutput = kind != .export || (options.output ?? definition.export?.output ?? "-") != "-"
    // A reader that closed the pipe, such as head, has the records it wants; no message is needed.
    if !toOutput, summary.exitCode == .ioError, Console.isOutputClosed { return .ioError }
    if let failure = summary.failure {
      Console.report(failure.message)
      if let hint = GuessHint(after: failure, of: options, arguments: arguments) { Console.report(hint.text) }
    }
    if let left = summary.leftFolder { Console.report("warning: \(left)") }
    do throws(CommandFailure) {
      guard let text = try text(of: summary) else { return summary.exitCode }
      if display.isJSON {
        if toOutput { try Console.print(text, as: .json) } else { Console.show(text) }
      } else {
        let styled = Self.styled(text, of: summary)
        if toOutput { try Console.print(styled) } else { Console.show(styled) }
      }
    } catch {
      return error.report()
    }
    return summary.exitCode
  }

  /// The verdict in the colour of its meaning, and the word that begins the next step.
  private static func styled(_ text: String, of summary: RunSummary) -> StyledText {
    let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    var styled = StyledText(String(lines[0]), style(of: summary))
    let rest = lines.count > 1 ? "\n\(lines[1])" : ""
    guard let next = rest.range(of: "\nNext: ", options: .backwards) else {
      styled.append(rest)
      return styled
    }
    styled.append(String(rest[..<next.lowerBound]) + "\n")
    styled.append("Next:", .heading)
    styled.append(" " + String(rest[next.upperBound...]))
    return styled
  }

  private static func style(of summary: RunSummary) -> StyledText.Style {
    switch summary.outcome {
    case .failed, .stopped: .bad
    case .cancelled: .caution
    case .completed: summary.issues.errors + summary.issues.warnings > 0 ? .caution : .good
    }
  }

  /// The summary; nil if there is nothing to show.
  private func text(of summary: RunSummary) throws(CommandFailure) -> String? {
    if display.isQuiet, summary.exitCode == .ok {
      // What is wrong with a whole column is not left unsaid.
      for warning in summary.columnWarnings { Console.report("\(warning)") }
      return nil
    }
    guard display.isJSON else {
      // A run that never began has no summary except its failure, which is already reported.
      let hasBegun = !summary.inputs.isEmpty || !summary.outputs.isEmpty || summary.issues.errors > 1
      return summary.outcome == .failed && !hasBegun ? nil : summary.text()
    }
    do {
      return String(decoding: try summary.json(), as: UTF8.self)
    } catch {
      throw CommandFailure(
        "the summary can't be written as JSON: \(error). This is a fault of the program", .software)
    }
  }
}

/// How the results and the progress of a run are displayed.
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
