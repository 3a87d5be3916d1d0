import Foundation
import PipelineEngine

struct HistoryCommand: Command {
  static let name = "history"
  static let storeWord = StoreWord.operand(0)
  static let usage = """
    Usage: surfjournal history STORE [options]

    Lists what was imported into a store: the runs, the newest first, and the inputs
    of each with their counts, as recorded in the store's ledger. WAITING are
    rejected records whose file is still there, to be corrected and replayed. The
    store is not changed.

    Options:
          \(SharedOptions.store)
          --limit N              list at most N runs
          --pending              list only the runs with rejects that wait for a
                                 correction, and the command that replays them
          --json                 print the list as JSON
      \(SharedOptions.help)

    Examples:
      surfjournal history journal.sqlite
      surfjournal history journal.sqlite --pending

    """

  private let store: String
  private let limit: Int
  private let isJSON: Bool
  private let showsPending: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    store = try arguments.onlyOperand("a store")
    limit = try arguments.integer("limit", in: 1...Int.max) ?? .max
    isJSON = arguments.has("json")
    showsPending = arguments.has("pending")
  }

  func run() async -> ExitCode {
    do throws(LedgerAccessError) {
      var history = try LedgerHistory(store: store, vocabulary: .journal)
      if showsPending { history.runs.removeAll { run in run.inputs.allSatisfy { $0.waiting == 0 } } }
      history.runs = Array(history.runs.prefix(limit))
      return show(history)
    } catch {
      return CommandFailure(error.description, error.exitCode).report()
    }
  }

  private func show(_ history: LedgerHistory) -> ExitCode {
    do throws(CommandFailure) {
      try Console.print(isJSON ? try Console.json(history) : text(history), as: isJSON ? .json : .text)
      return .ok
    } catch {
      return error.report()
    }
  }

  private func text(_ history: LedgerHistory) -> String {
    if history.runs.isEmpty {
      return showsPending
        ? "No rejected records of \(store) wait for a correction.\n"
        : "\(store) has no ledger: nothing was imported into it by this program.\n"
    }
    let rows = history.runs.map(Self.row)
    let widths = (Self.labels.indices).map { column in ([Self.labels] + rows).map { $0[column].count }.max() ?? 0 }
    var text = Self.line(Self.labels, widths)
    for (run, row) in zip(history.runs, rows) {
      text += Self.line(row, widths)
      for input in run.inputs where !showsPending || input.waiting > 0 {
        let rest = input.state != "partial" ? "" : ", continues at record \(input.nextRecord)"
        let rejects = input.rejects.map { "; rejects in \($0)" } ?? ""
        text += "    \(input.path)  \(input.state)\(rest): \(Self.counts(input.counts))\(rejects)\n"
      }
    }
    let waiting = history.waitingRejects.map(ShellWord.quoted)
    if !waiting.isEmpty {
      text += "\nNext: correct the rejected records, then run: surfjournal replay \(waiting.joined(separator: " "))\n"
    }
    return text
  }

  private static let labels = ["RUN", "STARTED", "PIPELINE", "OUTCOME", "READ", "NEW", "REJECTED", "WAITING"]
  /// The columns of numbers are aligned on the right.
  private static let firstNumber = 4

  /// The number of the run is shortened: 'undo' takes its beginning.
  private static func row(_ run: LedgerHistory.Run) -> [String] {
    let outcome = run.outcome + (run.exitCode.map { $0 == 0 ? "" : ", status \($0)" } ?? "")
    let counts =
      run.counts.map { [$0.read, $0.inserted, $0.rejected] }
      ?? run.inputs.reduce(into: [0, 0, 0]) {
        ($0[0], $0[1], $0[2]) = ($0[0] + $1.counts.read, $0[1] + $1.counts.inserted, $0[2] + $1.counts.rejected)
      }
    let numbers = counts + [run.inputs.reduce(0) { $0 + $1.waiting }]
    return [String(run.run.prefix(8)), run.startedAt, RawText.oneLine(run.pipeline), outcome]
      + numbers.map(TextTable.grouped)
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    let padded = zip(cells, widths).enumerated().map { index, cell in
      let gap = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return index < firstNumber ? cell.0 + gap : gap + cell.0
    }
    return padded.joined(separator: "  ") + "\n"
  }

  private static func counts(_ counts: RunCounts) -> String {
    let all = [
      (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.unchanged, "unchanged"),
      (counts.duplicate, "duplicate"), (counts.repeated, "repeated"),
      (counts.rejected, "rejected"),
    ]
    return "\(TextTable.grouped(counts.read)) read"
      + all.filter { $0.0 > 0 }.map { ", \(TextTable.grouped($0.0)) \($0.1)" }.joined()
  }
}
