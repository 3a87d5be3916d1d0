import PipelineEngine

/// The reason why a command ends without a result.
struct CommandFailure: Error {
  /// Nil if the message would not be read.
  let message: String?
  let exitCode: ExitCode

  init(_ message: String?, _ exitCode: ExitCode) {
    self.message = message
    self.exitCode = exitCode
  }

  /// A wrong command line; the message refers to the help of `command`.
  static func usage(_ message: String, of command: String?) -> CommandFailure {
    let help = command.map { "surfjournal help \($0)" } ?? "surfjournal help"
    return CommandFailure("\(message)\nSee '\(help)'.", .usage)
  }

  /// Reports the failure and returns the exit status.
  func report() -> ExitCode {
    if let message { Console.report(message) }
    return exitCode
  }
}
