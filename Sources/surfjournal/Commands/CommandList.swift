import PipelineEngine

/// The program's commands, and the help text that lists them.
enum CommandList {
  static let usage = """
    Usage: surfjournal COMMAND [options]

    Imports surf logs from CSV into Core Data stores, checks them, exports them, and
    edits their entries.

    Commands:
      import FILE... --store PATH   import CSV files, plain or compressed, into a store
      validate FILE...              check CSV files as an import would
      preview FILE...               show how CSV files would be read
      diff FILE --store PATH        show what an import of a file would change
      diff FILE1 FILE2              show what differs between two files
      export STORE                  write a store's entries as CSV
      seed FILE... -o SEED          make a store that an app can ship from CSV files
      run PIPELINE                  run a pipeline by its name or definition file
      replay REJECTS                import a file of corrected rejects
      list STORE                    list a store's entries, the newest first
      show STORE ID                 show an entry
      add STORE                     add an entry by hand
      edit STORE ID                 change an entry, or show what would change
      delete STORE ID...            delete entries
      history STORE                 list what was imported into a store, and when
      undo STORE [RUN]              take back an import
      copy STORE STORE              copy a store to a PostgreSQL server, or back
      plan PIPELINE [FILE...]       plan an import that many machines do
      work --plan ID                import the shards of a plan
      report --plan ID              close a plan, with one report of all its shards
      split FILE --rows N --to DIR  cut a large file into parts
      inspect STORE                 show the contents of a store of any model
                                    (or: store info)
      verify STORE                  check what Core Data relies on in a store
                                    (or: store verify)
      ledger drop STORE             remove the record of what was imported
      guess FILE...                 find out the form of CSV files for a pipeline
      check PIPELINE...             explain pipelines, and report their mistakes
                                    (or: pipeline check)
      notify PIPELINE               send a test of what a pipeline notifies
      init DIR                      make a folder for an import that runs every night
      pipelines                     list the pipelines that can be run by name
      help [COMMAND]                show how a command is used

    Options:
      -h, --help                    show this help
          --color WHEN              use colours: auto (on a terminal), always or
                                    never; the variable NO_COLOR has the same effect
                                    as never
          --version                 show the version

    Results go to standard output, progress and messages to standard error.

    Exit status:
       0  done, nothing wrong         73  an output can't be created
      64  wrong command line          74  reading or writing failed
      65  records were rejected       75  locked or cancelled; try again later
      66  no such input               77  permission denied
      69  a library is missing        78  wrong pipeline definition
      70  a fault of this program      1  differences ('diff --exit-code')

    """

  static let all: [any Command.Type] = [
    ImportCommand.self, ValidateCommand.self, PreviewCommand.self, DiffCommand.self, ExportCommand.self,
    SeedCommand.self, RunCommand.self, ReplayCommand.self, ListCommand.self, ShowCommand.self, AddCommand.self,
    EditCommand.self, DeleteCommand.self, HistoryCommand.self, UndoCommand.self, CopyCommand.self,
    PlanCommand.self, WorkCommand.self, ReportCommand.self, SplitCommand.self,
    InspectCommand.self, VerifyCommand.self, LedgerCommand.self, GuessCommand.self,
    CheckCommand.self, NotifyCommand.self, InitCommand.self, PipelinesCommand.self,
    HelpCommand.self,
  ]

  /// Names of two words, which say what a command is about.
  private static let aliases = [
    ["store", "info"]: "inspect", ["store", "verify"]: "verify", ["store", "history"]: "history",
    ["pipeline", "check"]: "check", ["pipeline", "run"]: "run", ["pipeline", "list"]: "pipelines",
  ]

  /// The command that the first words name, and the words after them.
  static func find(_ words: [String]) throws(CommandFailure) -> (command: any Command.Type, rest: [String]) {
    if let name = aliases[Array(words.prefix(2))], let command = command(named: name) {
      return (command, Array(words.dropFirst(2)))
    }
    guard let first = words.first, let command = command(named: first) else {
      throw unknownCommand(words.first ?? "")
    }
    return (command, Array(words.dropFirst()))
  }

  /// What is shown where no command is given.
  static let start = """
    surfjournal imports surf logs from CSV into stores of Core Data, each record once.

    What most people need first:
      surfjournal import log.csv --store journal.sqlite     import a log
      surfjournal guess table.csv -o table.json             find out how a spreadsheet is read,
      surfjournal run table.json --store journal.sqlite     and import it
      surfjournal list journal.sqlite                       see the entries
      surfjournal undo journal.sqlite                       take the last import back
      surfjournal export journal.sqlite -o copy.csv         write them as CSV again

    'surfjournal help' lists all commands, 'surfjournal help import' says all of one.

    """

  static func command(named name: String) -> (any Command.Type)? { all.first { $0.name == name } }

  /// What the program's help says of a command.
  static func summary(of name: String) -> String {
    let line = usage.split(separator: "\n").first { $0.hasPrefix("  \(name) ") }
    return line?.split(separator: "  ", omittingEmptySubsequences: true).last.map { $0.drop { $0 == " " } }
      .map(String.init) ?? ""
  }

  static func unknownCommand(_ name: String) -> CommandFailure {
    let names = all.map { $0.name }
    let subjects = aliases.keys.filter { $0[0] == name }.map { $0.joined(separator: " ") }.sorted()
    if !subjects.isEmpty {
      return .usage("'\(name)' needs a second word: \(subjects.joined(separator: ", "))", of: nil)
    }
    let hint = UsualGuess.hint(forCommand: name) ?? NearestName.hint(for: name, in: names)
    let rest = hint.isEmpty ? "; there are \(names.joined(separator: ", "))" : hint
    return .usage("unknown command '\(name)'\(rest)", of: nil)
  }
}
