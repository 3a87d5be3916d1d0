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
          --format FORMAT        table or json; by default table
          \(SharedOptions.jsonFormat)
          \(SharedOptions.damagedLog)
          \(SharedOptions.lockTimeout)
          \(SharedOptions.noPager)
      \(SharedOptions.help)

    Examples:
      surfjournal show journal.sqlite 12
      surfjournal show Garage.sqlite 3 --entity Car --json

    Exit status 66 says that the store or entry was not found; the others are in
    'surfjournal help'.

    """

  private let id: String
  private let store: String
  private let kind: ObjectKind
  enum Format: String, CaseIterable { case table, json }

  private let format: Format
  private let arguments: Arguments
  private let timeoutSeconds: Double
  private let readsDamagedWAL: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    id = try arguments.onlyOperand("an entry's ID")
    store = try arguments.journalStore()
    kind = try arguments.objectKind()
    format = try arguments.format(usual: .table, orOption: ["json"])
    self.arguments = arguments
    timeoutSeconds = try arguments.seconds("lock-timeout") ?? 10
    readsDamagedWAL = try arguments.readsDamagedWAL()
  }

  func run() async -> ExitCode {
    do {
      let journal = try Journal(store: store, kind, timeoutSeconds: timeoutSeconds, readsDamagedWAL: readsDamagedWAL)
      defer { journal.close() }
      let entry = try journal.object(id)
      if format == .json {
        try Console.print(try Console.json(entry), as: .json)
      } else {
        var output = PagedOutput(arguments)
        try output.print(entry.text)
        try output.end()
      }
      return .ok
    } catch {
      return CommandFailure(journal: error).report()
    }
  }
}
