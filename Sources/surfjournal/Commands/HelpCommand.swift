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
    if arguments.operands.count > 1 {
      throw arguments.mistake("'\(arguments.operands[1])' is one argument too many")
    }
    guard let name = arguments.operands.first else {
      text = CommandList.usage
      return
    }
    guard let command = CommandList.command(named: name) else { throw CommandList.unknownCommand(name) }
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
