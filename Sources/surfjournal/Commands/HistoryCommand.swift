import Foundation
import PipelineEngine

struct HistoryCommand: Command {
  static let name = "history"
  static let storeWord = StoreWord.operand(0)
  static let usage = """
    Usage: surfjournal history STORE [options]

    Lists what was imported into a store: the runs, the newest first, and the inputs
    of each with their counts, as recorded in the store's ledger. The store is not
    changed.

    Options:
          \(SharedOptions.store)
          --limit N              list at most N runs
          --json                 print the list as JSON
      \(SharedOptions.help)

    Examples:
      surfjournal history journal.sqlite
      surfjournal history journal.sqlite --json

    """

  private let store: String
  private let limit: Int
  private let isJSON: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    store = try arguments.onlyOperand("a store")
    limit = try arguments.integer("limit", in: 1...Int.max) ?? .max
    isJSON = arguments.has("json")
  }

  func run() async -> ExitCode {
    do throws(LedgerAccessError) {
      var history = try LedgerHistory(store: store, vocabulary: .journal)
      history.runs = Array(history.runs.prefix(limit))
      return show(history)
    } catch {
      return CommandFailure(error.description, error.exitCode).report()
    }
  }

  private func show(_ history: LedgerHistory) -> ExitCode {
    do throws(CommandFailure) {
      try Console.print(isJSON ? try Console.json(history) : Self.text(history, store), as: isJSON ? .json : .text)
      return .ok
    } catch {
      return error.report()
    }
  }

  private static func text(_ history: LedgerHistory, _ store: String) -> String {
    if history.runs.isEmpty { return "\(store) has no ledger: nothing was imported into it by this program.\n" }
    return history.runs.map { run in
      let code = run.exitCode.map { ", exit status \($0)" } ?? ""
      let lines = run.inputs.map { input in
        let rest = input.state != "partial" ? "" : ", continues at record \(input.nextRecord)"
        let rejects = input.rejects.map { "; rejects in \($0)" } ?? ""
        return "    \(input.path)  \(input.state)\(rest): \(counts(input.counts))\(rejects)\n"
      }
      return "\(run.startedAt)  \(run.pipeline)  \(run.outcome)\(code)  \(run.run)\n" + lines.joined()
    }
    .joined()
  }

  private static func counts(_ counts: RunCounts) -> String {
    let all = [
      (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.unchanged, "unchanged"),
      (counts.duplicate, "duplicate"), (counts.repeated, "repeated"),
      (counts.rejected, "rejected"),
    ]
    return "\(counts.read) read" + all.filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }.joined()
  }
}
