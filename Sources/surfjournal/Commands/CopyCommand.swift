import PipelineEngine
import SurfJournal

struct CopyCommand: Command {
  static let name = "copy"
  static let storeWord = StoreWord.operand(0)
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal copy STORE STORE [options]

    Copies all objects of the first store into the second, which must be new or
    empty: from a SQLite file into a database of a PostgreSQL server, or back. The
    objects keep their numbers, versions, values and relationships. The copy is
    complete, or there is none.

    A store of a server is named by an address, postgresql://USER@HOST/DATABASE, as
    the programs of PostgreSQL take it. Keep the password in the file that
    PGPASSFILE names, not in the address.

    The ledger is copied too: a file that was imported into the first store is known
    in the second, and 'undo' takes it back there. Files of rejects stay those of
    the first store: 'replay --store' imports them into the second. A persistent
    history is not copied. A store with an open plan is not copied: close the plan
    with 'report' before.

    Options:
          \(SharedOptions.store)
          \(SharedOptions.storeModel)
          \(SharedOptions.lockTimeout)
      -q, --quiet                print nothing
      \(SharedOptions.help)

    Examples:
      surfjournal copy journal.sqlite postgresql://loader@db.example/journal
      surfjournal copy postgresql://loader@db.example/journal copy.sqlite

    """

  private let source: String
  private let target: String
  private let model: String?
  private let timeoutSeconds: Double
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard arguments.operands.count == 2 else {
      throw arguments.mistake("name two stores: the one that is copied, and the copy")
    }
    (source, target) = (arguments.operands[0], arguments.operands[1])
    model = arguments.string("model")
    timeoutSeconds = try arguments.seconds("lock-timeout") ?? 10
    isQuiet = arguments.has("quiet")
  }

  func run() async -> ExitCode {
    do throws(StoreCopy.Failure) {
      let count = try StoreCopy.copy(
        source, to: target, model: model, vocabulary: .journal, timeoutSeconds: timeoutSeconds)
      if !isQuiet { Console.report("\(count) \(count == 1 ? "object" : "objects") copied") }
      return .ok
    } catch {
      return CommandFailure(error.message, error.exitCode).report()
    }
  }
}
