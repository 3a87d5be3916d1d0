import Foundation
import PipelineEngine

/// Which command is meant, and what can be answered without running one.
enum Program {
  static let version = "0.1.0"

  static let usage = """
    Usage: surfjournal COMMAND [options]

    Imports surf logs from CSV into Core Data stores, checks them, exports them, and
    edits their entries.

    Commands:
      import FILE... --store PATH   import CSV files, plain or gzipped, into a store
      validate FILE...              check CSV files as an import would; nothing is stored
      export --store PATH           write a store's entries as CSV
      run PIPELINE                  run a pipeline: a built-in one, or a definition's file
      replay REJECTS                import a file of rejects that was mended
      list --store PATH             list a store's entries, the newest first
      show ID --store PATH          show an entry
      add --store PATH              add an entry by hand
      edit ID --store PATH          change an entry, or look at what would change
      delete ID... --store PATH     delete entries
      history STORE                 list what was imported into a store, and when
      inspect STORE                 show what is in a store of any model, and what is unusual
      verify STORE                  check what Core Data relies on in a store
      ledger drop STORE             make a store forget what was imported into it
      check PIPELINE...             explain what pipelines do, and what is wrong with them
      pipelines                     list the pipelines that can be run by name
      help [COMMAND]                show how a command is used

    Options:
      -h, --help                    show this help
          --version                 show the version

    Results go to standard output, progress and messages to standard error.

    Exit status:
       0  done, nothing wrong         73  an output can't be created
      64  wrong command line          74  reading or writing failed
      65  records were rejected       75  locked or cancelled; try again later
      66  no such input               77  permission denied
      70  a fault of this program     78  wrong pipeline definition

    """

  static let commands: [any Command.Type] = [
    ImportCommand.self, ValidateCommand.self, ExportCommand.self, RunCommand.self, ReplayCommand.self,
    ListCommand.self, ShowCommand.self, AddCommand.self, EditCommand.self, DeleteCommand.self, HistoryCommand.self,
    InspectCommand.self, VerifyCommand.self, LedgerCommand.self, CheckCommand.self, PipelinesCommand.self,
    HelpCommand.self,
  ]

  /// What the command line comes to.
  enum Invocation {
    case done(ExitCode)
    case work(any Command)
  }

  /// What the program was called with; nil for what is not UTF-8. Swift mends such arguments, and a value would be
  /// stored that nobody gave.
  static var arguments: [String?] {
    let mended = CommandLine.arguments.dropFirst()
    guard mended.contains(where: { $0.contains("\u{FFFD}") }),
      let given = FileManager.default.contents(atPath: "/proc/self/cmdline")
    else { return Array(mended) }
    // Each argument ends in a zero byte.
    return given.split(separator: 0, omittingEmptySubsequences: false).dropFirst().dropLast()
      .map { String(validating: $0, as: UTF8.self) }
  }

  /// Reads the command line. Help, the version and mistakes are answered here.
  ///
  /// - Parameter words: The arguments; nil for one that is not UTF-8.
  static func prepare(_ words: [String?]) -> Invocation {
    do throws(CommandFailure) {
      let arguments = words.compactMap(\.self)
      if let index = words.firstIndex(of: nil) {
        throw CommandFailure.usage("argument \(index + 1) is not UTF-8; check the terminal's encoding", of: nil)
      }
      guard let first = arguments.first else { throw CommandFailure.usage("no command is given", of: nil) }
      if first.hasPrefix("-") {
        let parsed = try Arguments(arguments, usage: usage, command: nil)
        if let code = try answer(parsed, usage) { return .done(code) }
        throw CommandFailure.usage("no command is given", of: nil)
      }
      guard let command = command(named: first) else { throw unknownCommand(first) }
      let parsed = try Arguments(Array(arguments.dropFirst()), usage: command.usage, command: command.name)
      if let code = try answer(parsed, command.usage) { return .done(code) }
      return .work(try command.init(parsed))
    } catch {
      return .done(error.report())
    }
  }

  static func command(named name: String) -> (any Command.Type)? { commands.first { $0.name == name } }

  static func unknownCommand(_ name: String) -> CommandFailure {
    let names = commands.map { $0.name }
    let hint = NearestName.hint(for: name, in: names)
    let rest = hint.isEmpty ? "; there are \(names.joined(separator: ", "))" : hint
    return .usage("there is no command '\(name)'\(rest)", of: nil)
  }

  private static func answer(_ arguments: Arguments, _ usage: String) throws(CommandFailure) -> ExitCode? {
    if arguments.has("help") {
      try Console.print(usage)
    } else if arguments.has("version") {
      try Console.print("surfjournal \(version)\n")
    } else {
      return nil
    }
    return .ok
  }
}
