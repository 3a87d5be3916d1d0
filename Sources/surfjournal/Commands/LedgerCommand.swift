import PipelineEngine

struct LedgerCommand: Command {
  static let name = "ledger"
  static let takesAddresses = true
  static let storeWord = StoreWord.operand(1)
  static let usage = """
    Usage: surfjournal ledger compact STORE [options]
           surfjournal ledger drop STORE [options]

    The ledger is the tables of a store in which this program records what was
    imported. Nothing else of the store changes.

    compact removes what is only needed for old imports: 'history' no longer lists
    them, and they can't be undone or replaced. Their inputs are still recognised,
    so none is imported twice. With --forget, inputs that are older still are not
    recognised any more: one that comes again is imported again, unless the pipeline
    has a key, or the store has more than half of its records.

    drop removes the ledger. Afterwards no input counts as imported: importing one
    again duplicates its entries, unless the pipeline has a key. At a terminal the
    program asks first.

    Options:
          \(SharedOptions.store)
          --keep DAYS            compact: days for which imports are listed and can
                                 be undone, 1 to 36500; by default 365
          --forget DAYS          compact: days for which inputs are recognised, at
                                 least as many as with --keep; by default for ever
      -y, --yes                  drop: remove the ledger without asking
          \(SharedOptions.lockTimeout)
      -q, --quiet                print nothing
      \(SharedOptions.help)

    Examples:
      surfjournal ledger compact journal.sqlite --keep 365
      surfjournal ledger drop journal.sqlite

    """

  private enum Action: Sendable {
    case compact(historyDays: Int, inputsDays: Int?)
    case drop
  }

  private let action: Action
  private let store: String
  /// Without a password.
  private var shownStore: String { StoreLocation(store).shown }
  private let timeoutSeconds: Double
  private let isQuiet: Bool
  private let asks: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard let verb = arguments.operands.first else {
      throw arguments.mistake("no action is given; use ledger compact STORE, or ledger drop STORE")
    }
    let (keep, forget) = (
      try arguments.integer("keep", in: 1...36_500), try arguments.integer("forget", in: 1...36_500)
    )
    switch verb {
    case "compact":
      if let forget, forget < keep ?? 365 {
        throw arguments.mistake("--forget must be at least as many days as --keep, which is \(keep ?? 365)")
      }
      action = .compact(historyDays: keep ?? 365, inputsDays: forget)
    case "drop":
      if keep != nil || forget != nil {
        throw arguments.mistake("--keep and --forget are for ledger compact; leave them out")
      }
      action = .drop
    default: throw arguments.mistake("unknown action '\(verb)' of ledger; use compact or drop")
    }
    store = try arguments.onlyOperand("a store", after: 1)
    timeoutSeconds = try arguments.seconds("lock-timeout") ?? 10
    isQuiet = arguments.has("quiet")
    asks = verb == "drop" && !arguments.has("yes") && Console.isInputTerminal
  }

  func run() async -> ExitCode {
    if asks {
      Console.show(
        "Afterwards no import into \(RawText.oneLine(shownStore)) can be undone, and its files would be imported again.\n"
      )
      guard Console.ask("Remove the ledger? [y/N] ") else {
        Console.report("cancelled; nothing was changed")
        return .ok
      }
    }
    do throws(LedgerAccessError) {
      let done =
        switch action {
        case .compact(let historyDays, let inputsDays): try compact(historyDays, inputsDays)
        case .drop:
          try LedgerHistory.drop(store: store, vocabulary: .journal, timeoutSeconds: timeoutSeconds)
            ? "the ledger of \(shownStore) is removed" : nil
        }
      if !isQuiet { Console.report(done ?? "\(shownStore) has no ledger") }
      return .ok
    } catch {
      return CommandFailure(error.description, error.exitCode).report()
    }
  }

  /// - Returns: What was done; nil for a store without a ledger.
  private func compact(_ historyDays: Int, _ inputsDays: Int?) throws(LedgerAccessError) -> String? {
    let compaction = try LedgerHistory.compact(
      store: store, vocabulary: .journal, historyDays: historyDays, inputsDays: inputsDays,
      timeoutSeconds: timeoutSeconds)
    guard let compaction else { return nil }
    return "the ledger of \(shownStore) has \(compaction.runs.grouped) of "
      + "\((compaction.runs + compaction.runsRemoved).grouped) runs "
      + "and \(compaction.inputs.grouped) of \((compaction.inputs + compaction.inputsRemoved).grouped) inputs left"
  }
}
