import PipelineEngine
import SurfJournal

struct EditCommand: Command {
  static let name = "edit"
  static let takesAddresses = true
  static let storeWord = StoreWord.optionBeforeIDs
  static let usage = """
    Usage: surfjournal edit STORE ID [--rating N] [options]
           surfjournal edit STORE ID --entity ENTITY --set NAME=VALUE

    Changes an entry. ID is the number that 'surfjournal list' shows, or the entry's
    URI. The entry is edited on a scratch pad and shown before and after; at a
    terminal the program asks before it saves. Values are parsed as by an import;
    those left out do not change. With --entity an object of another entity is
    changed.

    Options:
          --store PATH           store that the entry is in
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
          --clear ATTRIBUTE      remove its value, or what a relationship leads to;
                                 may be repeated
      -y, --yes                  save without asking
      -n, --dry-run              show what would be saved, and save nothing
          \(SharedOptions.lockTimeout)
          --json                 print the entry before and after as JSON
      \(SharedOptions.quiet)
      \(SharedOptions.help)

    Examples:
      surfjournal edit journal.sqlite 12 --rating 5 --clear wind
      surfjournal edit journal.sqlite 12 --height '1.5 m' --dry-run

    Exit status 65 says that a value is wrong, 66 that an entry was not found, 75
    that an import is using the store or that another program has changed the entry;
    the others are in 'surfjournal help'. Answering no is not an error.

    """

  private let session: EditSession
  private let id: String
  private let changes: JournalChanges

  init(_ arguments: Arguments) throws(CommandFailure) {
    id = try arguments.onlyOperand("an entry's ID")
    let kind = try arguments.objectKind()
    var changes = try arguments.journalChanges(kind)
    for attribute in arguments.strings("clear") {
      if arguments.isSet(attribute) {
        throw arguments.mistake("a value and --clear \(attribute) exclude each other; leave one out")
      }
      do {
        try changes.clear(attribute)
      } catch {
        throw arguments.mistake("--clear: \(error.message)")
      }
    }
    if changes.isEmpty { throw arguments.mistake("no change is given; name a value, such as --rating 5") }
    self.changes = changes
    session = try EditSession(.edit, of: kind, arguments)
  }

  func run() async -> ExitCode {
    session.run { editor throws(JournalError) in try editor.edit(id, changes) }
  }
}
