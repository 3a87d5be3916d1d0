import PipelineEngine
import SurfJournal

struct DeleteCommand: Command {
  static let name = "delete"
  static let usage = """
    Usage: surfjournal delete ID... --store PATH [options]

    Deletes entries: all that are named, or none. An ID is the number that
    'surfjournal list' shows, or the entry's URI. The entries are shown; at a
    terminal the program asks before it deletes them. The ledger does not change:
    importing the same log again does not restore them.

    Options:
          --store PATH           store that the entries are in
      -y, --yes                  delete without asking
      -n, --dry-run              show what would be deleted, and delete nothing
          --lock-timeout SECONDS
                                 how long to wait for a store that another program
                                 writes to; by default 10
          --json                 print the entries as JSON
      -q, --quiet                print nothing on success
      -h, --help                 show this help
          --version              show the version

    Exit status 66 says that there is no such entry, 75 that an import is using the
    store or that another program has changed an entry; the others are in
    'surfjournal help'. Answering no is not an error.

    """

  private let session: EditSession
  private let ids: [String]

  init(_ arguments: Arguments) throws(CommandFailure) {
    ids = arguments.operands
    if ids.isEmpty { throw arguments.mistake("an entry's ID must be named") }
    session = try EditSession(.delete, arguments)
  }

  func run() async -> ExitCode {
    session.run { editor throws(JournalError) in try editor.delete(ids) }
  }
}
