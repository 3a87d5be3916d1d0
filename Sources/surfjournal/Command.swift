import PipelineEngine

/// One command of the program: its usage text, which also declares its options, and what it does.
protocol Command: Sendable {
  static var name: String { get }
  /// The help. Lines such as `  -o, --output FILE   where to` declare the options, see ``Arguments``.
  static var usage: String { get }

  /// Checks what can be checked before anything is read or written.
  init(_ arguments: Arguments) throws(CommandFailure)

  func run() async -> ExitCode
}

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
    if let message { Console.tell(message) }
    return exitCode
  }
}
