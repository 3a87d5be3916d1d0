import PipelineEngine
import SurfJournal

struct ShowCommand: Command {
  static let name = "show"
  static let storeWord = StoreWord.optionBeforeIDs
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal show STORE ID [options]

    Shows every attribute of an entry. ID is the number that 'surfjournal list'
    shows, or the entry's URI. With --entity it shows an object of another entity,
    and the objects that its relationships lead to. The store is not changed.

    Options:
          --store PATH           store to read from; the same as STORE
          \(SharedOptions.objects)
          --json                 print the entry as a JSON object
          \(SharedOptions.damagedLog)
          \(SharedOptions.lockTimeout)
      \(SharedOptions.help)

    Examples:
      surfjournal show journal.sqlite 12
      surfjournal show Garage.sqlite 3 --entity Car --json

    Exit status 66 says that there is no such store or entry; the others are in
    'surfjournal help'.

    """

  private let id: String
  private let store: String
  private let kind: ObjectKind
  private let isJSON: Bool
  private let timeoutSeconds: Double
  private let readsDamagedWAL: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    id = try arguments.onlyOperand("an entry's ID")
    store = try arguments.journalStore()
    kind = try arguments.objectKind()
    isJSON = arguments.has("json")
    timeoutSeconds = try arguments.seconds("lock-timeout") ?? 10
    readsDamagedWAL = try arguments.readsDamagedWAL()
  }

  func run() async -> ExitCode {
    do {
      let journal = try Journal(store: store, kind, timeoutSeconds: timeoutSeconds, readsDamagedWAL: readsDamagedWAL)
      defer { journal.close() }
      let entry = try journal.object(id)
      try Console.print(isJSON ? try Console.json(entry) : entry.text, as: isJSON ? .json : .text)
      return .ok
    } catch {
      return CommandFailure(journal: error).report()
    }
  }
}
