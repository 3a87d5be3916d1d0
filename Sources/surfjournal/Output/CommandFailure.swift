import PipelineEngine

/// The reason why a command ends without a result.
struct CommandFailure: Error {
  /// The message; empty if it would not be read.
  let lines: [String]
  let exitCode: ExitCode

  init(_ message: String?, _ exitCode: ExitCode) {
    self.init(lines: message.map { [$0] } ?? [], exitCode)
  }

  init(lines: [String], _ exitCode: ExitCode) { (self.lines, self.exitCode) = (lines, exitCode) }

  /// The mistakes of a definition, each on a line.
  init(_ error: PipelineError) { self.init(lines: error.lines, error.exitCode) }

  /// A wrong command line; the message refers to the help of `command`.
  static func usage(_ message: String, of command: String?) -> CommandFailure { usage(lines: [message], of: command) }

  static func usage(lines: [String], of command: String?) -> CommandFailure {
    let help = command.map { "surfjournal help \($0)" } ?? "surfjournal help"
    return CommandFailure(lines: lines + ["See '\(help)'."], .usage)
  }

  /// Reports the failure and returns the exit status.
  func report() -> ExitCode {
    Console.report(lines: lines)
    return exitCode
  }
}
