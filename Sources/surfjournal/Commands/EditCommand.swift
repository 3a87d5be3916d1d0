import PipelineEngine
import SurfJournal

struct EditCommand: Command {
  static let name = "edit"
  static let usage = """
    Usage: surfjournal edit ID --store PATH [--rating N] [options]

    Changes an entry. ID is the number that 'surfjournal list' shows, or the entry's
    URI. The entry is edited on a scratch pad and shown before and after; at a
    terminal you are asked before it is saved. Values are read as an import of a log
    reads them; those left out stay as they are.

    Options:
          --store PATH           store that the entry is in
          --date DATE            such as 2014-07-14T07:30:00Z, 2014-07-14 or 7/14/14
          --height TEXT          how high the waves were
          --period TEXT          seconds between them
          --wind TEXT            the wind
          --location TEXT        where it was
          --rating N             1 to 5
          --clear ATTRIBUTE      take its value away; may be repeated
      -y, --yes                  save without asking
      -n, --dry-run              show what would be saved, and save nothing
          --lock-timeout SECONDS
                                 how long to wait for a store that another program
                                 writes to; without it 10
          --json                 print the entry before and after as JSON
      -q, --quiet                print nothing if nothing is wrong
      -h, --help                 show this help
          --version              show the version

    Exit status 65 says that a value is wrong, 66 that there is no such entry, 75
    that an import has the store or that another program has changed the entry
    meanwhile; the others are in 'surfjournal help'. Answering no is no error.

    """

  private let session: EditSession
  private let id: String
  private let changes: JournalChanges

  init(_ arguments: Arguments) throws(CommandFailure) {
    id = try arguments.onlyOperand("an entry's ID")
    var changes = try arguments.journalChanges()
    for attribute in arguments.strings("clear") {
      if arguments.isGiven(attribute) {
        throw arguments.mistake("--\(attribute) and --clear \(attribute) exclude each other; leave one out")
      }
      do {
        try changes.clear(attribute)
      } catch {
        throw arguments.mistake("--clear: \(error.message)")
      }
    }
    if changes.isEmpty { throw arguments.mistake("nothing is to be changed; name a value, such as --rating 5") }
    self.changes = changes
    session = try EditSession(.edit, arguments)
  }

  func run() async -> ExitCode {
    session.run { editor throws(JournalError) in try editor.edit(id, changes) }
  }
}
