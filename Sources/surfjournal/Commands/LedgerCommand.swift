import PipelineEngine

struct LedgerCommand: Command {
  static let name = "ledger"
  static let usage = """
    Usage: surfjournal ledger drop STORE [options]

    Removes the ledger from a store: the tables in which this program records what
    was imported. Nothing else changes. Afterwards no input counts as imported:
    importing one again duplicates its entries, unless the pipeline has a key.

    Options:
          --lock-timeout SECONDS
                                 how long to wait for a store that another program
                                 writes to; by default 10
      -q, --quiet                print nothing
      -h, --help                 show this help
          --version              show the version

    """

  private let store: String
  private let timeoutSeconds: Double
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard let verb = arguments.operands.first else { throw arguments.mistake("say what to do: ledger drop STORE") }
    guard verb == "drop" else { throw arguments.mistake("there is no action '\(verb)' for a ledger; use drop") }
    store = try arguments.onlyOperand("a store", after: 1)
    timeoutSeconds = try arguments.seconds("lock-timeout") ?? 10
    isQuiet = arguments.has("quiet")
  }

  func run() async -> ExitCode {
    do throws(LedgerAccessError) {
      let existed = try LedgerHistory.drop(store: store, vocabulary: .journal, timeoutSeconds: timeoutSeconds)
      if !isQuiet { Console.report(existed ? "the ledger of \(store) is removed" : "\(store) has no ledger") }
      return .ok
    } catch {
      return CommandFailure(error.description, error.exitCode).report()
    }
  }
}
