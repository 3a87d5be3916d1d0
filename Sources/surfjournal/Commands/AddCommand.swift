import PipelineEngine
import SurfJournal

struct AddCommand: Command {
  static let name = "add"
  static let takesAddresses = true
  static let storeWord = StoreWord.option
  static let usage = """
    Usage: surfjournal add STORE [--date DATE] [--height TEXT] [options]
           surfjournal add STORE --entity ENTITY --set NAME=VALUE [options]

    Adds an entry to a store, which is created if it does not exist. The entry is
    made on a scratch pad and shown; at a terminal the program asks before it saves.
    Values are parsed as by an import; those left out are nil. With --entity an
    object of another entity is added; what is left out has the model's default.

    Options:
          --store PATH           store to add to; the same as STORE
          \(SharedOptions.objects)
          --date DATE            such as 2014-07-14T07:30:00Z, 2014-07-14 or 7/14/14
          --height TEXT          height of the waves
          --period TEXT          seconds between the waves
          --wind TEXT            the wind
          --location TEXT        the spot
          --rating N             1 to 5
          --set NAME=VALUE       an attribute, or with --entity a relationship: the
                                 IDs that it leads to, with commas between; may be
                                 repeated
      -y, --yes                  save without asking
      -n, --dry-run              show what would be saved, and save nothing
          \(SharedOptions.lockTimeout)
          --json                 print the entry, and whether it is saved, as JSON
      \(SharedOptions.quiet)
      \(SharedOptions.help)

    Examples:
      surfjournal add journal.sqlite --date 2026-11-22T07:30:00Z --location Rincon
      surfjournal add Garage.sqlite --entity Car --set name=Bus --set owner=2

    Exit status 65 says that a value is wrong, 75 that an import is using the store;
    the others are in 'surfjournal help'. Answering no is not an error.

    """

  private let session: EditSession
  private let changes: JournalChanges

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.requireNoOperands()
    let kind = try arguments.objectKind()
    changes = try arguments.journalChanges(kind)
    if changes.isEmpty {
      let example = arguments.isOfEntity ? "--set name=Rincon" : "--date 2014-07-14"
      throw arguments.mistake("no value is given, such as \(example)")
    }
    session = try EditSession(.add, of: kind, arguments)
  }

  func run() async -> ExitCode {
    session.run { editor throws(JournalError) in try editor.add(changes) }
  }
}
