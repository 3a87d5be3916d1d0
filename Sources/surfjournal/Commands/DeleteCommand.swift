import PipelineEngine
import SurfJournal

struct DeleteCommand: Command {
  static let name = "delete"
  static let takesAddresses = true
  static let storeWord = StoreWord.optionBeforeIDs
  static let usage = """
    Usage: surfjournal delete STORE ID... [options]
           surfjournal delete STORE --where PREDICATE [options]

    Deletes entries: all that are named, or all for which a predicate holds, or
    none. An ID is the number that 'surfjournal list' shows, or the entry's URI. The
    entries are shown; at a terminal the program asks before it deletes them. The
    ledger does not change: importing the same log again does not restore them. With
    --entity objects of another entity are deleted. The delete rules of the model
    take other objects along, or remove links to the deleted ones; the number for
    each entity is shown before the question.

    Options:
          --store PATH           store that the entries are in
          \(SharedOptions.objects)
          --where PREDICATE      the entries for which this holds, such as
                                 'rating < 2 AND location == "Malibu"'
      -y, --yes                  delete without asking
      -n, --dry-run              show what would be deleted, and delete nothing
          \(SharedOptions.lockTimeout)
          --json                 print the entries as JSON
      \(SharedOptions.quiet)
      \(SharedOptions.help)

    Examples:
      surfjournal delete journal.sqlite 12 13
      surfjournal delete journal.sqlite --where 'rating = 0' --dry-run

    Exit status 66 says that an entry was not found, 75 that an import is using the
    store or that another program has changed an entry; the others are in
    'surfjournal help'. Answering no is not an error.

    """

  private let session: EditSession
  private let ids: [String]
  private let predicate: String?

  init(_ arguments: Arguments) throws(CommandFailure) {
    (ids, predicate) = (arguments.operands, arguments.string("where"))
    if ids.isEmpty == (predicate == nil) {
      throw arguments.mistake(
        ids.isEmpty
          ? "no entry is given; name entries by their IDs, or by --where"
          : "IDs and --where exclude each other; "
            + "leave one out")
    }
    session = try EditSession(.delete, of: try arguments.objectKind(), arguments)
  }

  func run() async -> ExitCode {
    session.run { editor throws(JournalError) in
      if let predicate { try editor.delete(where: predicate) } else { try editor.delete(ids) }
    }
  }
}
