import PipelineEngine

struct HelpCommand: Command {
  static let name = "help"
  static let usage = """
    Usage: surfjournal help [COMMAND]

    Shows how the program or one of its commands is used.

    Options:
      \(SharedOptions.help)

    Examples:
      surfjournal help import
      surfjournal help run

    """

  private let text: String

  init(_ arguments: Arguments) throws(CommandFailure) {
    if arguments.operands.isEmpty {
      text = CommandList.usage
      return
    }
    let (command, rest) = try CommandList.find(arguments.operands)
    // The action of a command, such as 'ledger drop', is in the command's help.
    let isAction = rest.count == 1 && command.usage.contains("surfjournal \(command.name) \(rest[0]) ")
    if let first = rest.first, !isAction { throw arguments.unexpected(first) }
    text = command.usage
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      try Console.print(text)
    } catch {
      return error.report()
    }
    return .ok
  }
}
