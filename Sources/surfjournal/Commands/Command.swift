import PipelineEngine

/// One command of the program: its usage text, which also declares its options, and its action.
protocol Command: Sendable {
  static var name: String { get }
  /// The help text. Lines such as `  -o, --output FILE   where to` declare the options, see ``Arguments``.
  static var usage: String { get }
  /// Where it takes its store from.
  static var storeWord: StoreWord { get }
  /// Whether its stores may be addresses of a server.
  static var takesAddresses: Bool { get }

  /// Validates the arguments before anything is read or written.
  init(_ arguments: Arguments) throws(CommandFailure)

  func run() async -> ExitCode
}

extension Command {
  static var storeWord: StoreWord { .none }
  static var takesAddresses: Bool { false }

  /// Runs the command. Copies of stores that it makes go with the process, also if a signal ends it.
  func runToEnd() async -> ExitCode {
    TerminationSignals.removeCopies()
    return await run()
  }
}
