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
      export --store PATH           write a store's entries as CSV
      seed --from FILE -o SEED      make a store that an app can ship from CSV files
      run PIPELINE                  run a pipeline by its name or definition file
      replay REJECTS                import a file of corrected rejects
      list --store PATH             list a store's entries, the newest first
      show ID --store PATH          show an entry
      add --store PATH              add an entry by hand
      edit ID --store PATH          change an entry, or show what would change
      delete ID... --store PATH     delete entries
      history STORE                 list what was imported into a store, and when
      undo STORE [RUN]              take back an import
      inspect STORE                 show the contents of a store of any model
      verify STORE                  check what Core Data relies on in a store
      ledger drop STORE             remove the record of what was imported
      guess FILE...                 find out the form of CSV files for a pipeline
      check PIPELINE...             explain pipelines, and report their mistakes
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
      69  a library is missing        78  wrong pipeline definition
      70  a fault of this program      1  differences ('diff --exit-code')

    """

  static let all: [any Command.Type] = [
    ImportCommand.self, ValidateCommand.self, PreviewCommand.self, DiffCommand.self, ExportCommand.self,
    SeedCommand.self, RunCommand.self, ReplayCommand.self, ListCommand.self, ShowCommand.self, AddCommand.self,
    EditCommand.self, DeleteCommand.self, HistoryCommand.self, UndoCommand.self,
    InspectCommand.self, VerifyCommand.self, LedgerCommand.self, GuessCommand.self,
    CheckCommand.self, PipelinesCommand.self,
    HelpCommand.self,
  ]

  static func command(named name: String) -> (any Command.Type)? { all.first { $0.name == name } }

  static func unknownCommand(_ name: String) -> CommandFailure {
    let names = all.map { $0.name }
    let hint = NearestName.hint(for: name, in: names)
    let rest = hint.isEmpty ? "; there are \(names.joined(separator: ", "))" : hint
    return .usage("there is no command '\(name)'\(rest)", of: nil)
  }
}
