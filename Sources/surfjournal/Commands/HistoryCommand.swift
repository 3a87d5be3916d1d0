import Foundation
import PipelineEngine

struct HistoryCommand: Command {
  static let name = "history"
  static let takesAddresses = true
  static let storeWord = StoreWord.operand(0)
  static let usage = """
    Usage: surfjournal history STORE [options]

    Lists what was imported into a store: the runs, the newest first, and the inputs
    of each with their counts, as recorded in the store's ledger. Runs that failed,
    were stopped or were cancelled are listed with the reason. WAITING are rejected
    records whose file is still there, to be corrected and replayed. The store is
    not changed. On a terminal it lists the last 20 runs, unless --limit says
    otherwise.

    Options:
          \(SharedOptions.store)
          --limit N              list at most N runs
          --pending              list only the runs with rejects that wait for a
                                 correction, and the command that replays them
          --format FORMAT        table, csv, json or jsonl (an object for each run
                                 in a line of its own); by default table
          \(SharedOptions.jsonFormat)
          \(SharedOptions.noPager)
      \(SharedOptions.help)

    Examples:
      surfjournal history journal.sqlite
      surfjournal history journal.sqlite --pending

    """

  enum Format: String, CaseIterable { case table, csv, json, jsonl }

  private let store: String
  /// Without a password.
  private var shownStore: String { StoreLocation(store).shown }
  private let limit: Int?
  private let format: Format
  private let showsPending: Bool
  private let arguments: Arguments
  /// The runs that a terminal gets without a limit.
  private static let runsOnTerminal = 20

  init(_ arguments: Arguments) throws(CommandFailure) {
    store = try arguments.onlyOperand("a store")
    limit = try arguments.integer("limit", in: 1...Int.max)
    format = try arguments.format(usual: .table, orOption: ["json"])
    showsPending = arguments.has("pending")
    self.arguments = arguments
  }

  func run() async -> ExitCode {
    do throws(LedgerAccessError) {
      var history = try LedgerHistory(store: store, vocabulary: .journal)
      if showsPending { history.runs.removeAll { run in run.inputs.allSatisfy { $0.waiting == 0 } } }
      let all = history.runs.count
      let isOnTerminal = format == .table && TerminalSettings.outputColumns != nil
      history.runs = Array(history.runs.prefix(limit ?? (isOnTerminal ? Self.runsOnTerminal : .max)))
      return show(history, of: all)
    } catch {
      return CommandFailure(error.description, error.exitCode).report()
    }
  }

  /// - Parameter all: The number of runs without a limit.
  private func show(_ history: LedgerHistory, of all: Int) -> ExitCode {
    do throws(CommandFailure) {
      switch format {
      case .json: try Console.print(try Console.json(history), as: .json)
      case .jsonl:
        for run in history.runs { try Console.print(try Console.jsonLine(run), as: .json) }
      case .csv: try Console.print(try csv(history), as: .data)
      case .table:
        var output = PagedOutput(arguments)
        try output.print(text(history, of: all))
        try output.end()
      }
      return .ok
    } catch {
      return error.report()
    }
  }

  private func csv(_ history: LedgerHistory) throws(CommandFailure) -> String {
    do {
      return try history.csv()
    } catch {
      throw CommandFailure("the history can't be written as CSV: \(error). This is a fault of the program", .software)
    }
  }

  // MARK: The table

  private static let columns = [
    FittedTable.Column("RUN"), FittedTable.Column("STARTED"), FittedTable.Column("OUTCOME"),
    FittedTable.Column("READ", isNumber: true), FittedTable.Column("NEW", isNumber: true),
    FittedTable.Column("REJECTED", isNumber: true), FittedTable.Column("WAITING", isNumber: true),
    FittedTable.Column("PIPELINE"),
  ]

  private func text(_ history: LedgerHistory, of all: Int) -> StyledText {
    if history.runs.isEmpty {
      return StyledText(
        showsPending
          ? "No rejected records of \(shownStore) wait for a correction.\n"
          : "\(shownStore) has no ledger: this program has not imported anything into it.\n")
    }
    let columns = TerminalSettings.outputColumns
    let rows = history.runs.map(Self.row)
    var table = FittedTable(Self.columns, columnsMax: columns)
    table.fit(rows)
    var text = StyledText()
    text.append(line: table.heading, styling: String(table.heading.dropLast()), .heading)
    for (run, row) in zip(history.runs, rows) {
      text.append(line: table.line(row), styling: row[2], Self.style(run))
      text.append(details(run, columns: columns))
    }
    if all > history.runs.count {
      let count = all - history.runs.count
      let more = "\(count.grouped) earlier \(count == 1 ? "run" : "runs")"
      text.append("… and \(more); list all with --limit \(all)", .quiet)
      text.append("\n")
    }
    let waiting = history.waitingRejects.map(ShellWord.quoted)
    if !waiting.isEmpty {
      text.append("\n")
      text.append("Next:", .heading)
      text.append(
        " correct the rejected records, then run: surfjournal replay \(waiting.joined(separator: " "))\n")
    }
    return text
  }

  /// The number of the run is shortened: 'undo' takes its beginning.
  private static func row(_ run: LedgerHistory.Run) -> [String] {
    let counts =
      run.counts.map { [$0.read, $0.inserted, $0.rejected] }
      ?? run.inputs.reduce(into: [0, 0, 0]) {
        ($0[0], $0[1], $0[2]) = ($0[0] + $1.counts.read, $0[1] + $1.counts.inserted, $0[2] + $1.counts.rejected)
      }
    let numbers = counts + [run.inputs.reduce(0) { $0 + $1.waiting }]
    return [String(run.run.prefix(8)), run.startedAt, outcome(run)] + numbers.map(\.grouped)
      + [RawText.oneLine(run.pipeline)]
  }

  private static func outcome(_ run: LedgerHistory.Run) -> String {
    guard run.outcome == RunSummary.Outcome.completed.rawValue else { return run.outcome }
    return run.exitCode == 0 ? "clean" : "with errors"
  }

  private static func style(_ run: LedgerHistory.Run) -> StyledText.Style {
    switch RunSummary.Outcome(rawValue: run.outcome) {
    case .completed: run.exitCode == 0 ? .good : .caution
    case .failed, .stopped: .bad
    case .cancelled: .caution
    case nil: .quiet
    }
  }

  /// The reason of a run that did not reach its end, and its inputs.
  private func details(_ run: LedgerHistory.Run, columns: Int?) -> String {
    var lines: [String] = []
    if let message = run.message, !showsPending {
      let status = run.exitCode.map { " (exit status \($0))" } ?? ""
      lines += TextLayout.lines([RawText.oneLine(message) + status], after: "    ", columns: columns ?? .max)
    }
    for input in run.inputs where !showsPending || input.waiting > 0 {
      let rest = input.state == "partial" ? ", continues at record \(input.nextRecord.grouped)" : ""
      let rejects = input.rejects.map { "; rejects in \($0)" } ?? ""
      lines.append(
        RawText.oneLine("    \(input.path)  \(input.state)\(rest): \(Self.counts(input.counts))\(rejects)"))
    }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func counts(_ counts: RunCounts) -> String {
    let all = [
      (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.unchanged, "unchanged"),
      (counts.duplicate, "duplicate"), (counts.repeated, "repeated"),
      (counts.rejected, "rejected"),
    ]
    return "\(counts.read.grouped) read" + all.filter { $0.0 > 0 }.map { ", \($0.0.grouped) \($0.1)" }.joined()
  }
}
