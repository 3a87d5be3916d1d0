import PipelineEngine

/// Why a command ends without having done its work.
struct CommandFailure: Error {
  /// Nil where there is nobody to tell.
  let message: String?
  let exitCode: ExitCode

  init(_ message: String?, _ exitCode: ExitCode) {
    self.message = message
    self.exitCode = exitCode
  }

  /// A wrong command line; `command` is whose help to read.
  static func usage(_ message: String, of command: String?) -> CommandFailure {
    let help = command.map { "surfjournal help \($0)" } ?? "surfjournal help"
    return CommandFailure("\(message)\nSee '\(help)'.", .usage)
  }

  /// Tells the person and answers the exit status.
  func report() -> ExitCode {
    if let message { Console.report(message) }
    return exitCode
  }
}
