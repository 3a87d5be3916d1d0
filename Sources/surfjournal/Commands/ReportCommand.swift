import PipelineEngine
import SurfJournal

struct ReportCommand: Command {
  static let name = "report"
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal report --plan ID --store ADDRESS [options]
           surfjournal report --from RESULTS --plan PLAN [options]

    Closes a plan whose shards are all complete: prints and writes one report, with
    the lines and records of the files, and one file of rejects for 'surfjournal
    replay', and records each file in the ledger as an import does. Before that,
    exit status 75 says that shards are not complete, and which. A closed plan stays
    as it is: the command prints what the ledger has kept of its summary, ends with
    the same status, and writes only reports that are not there.

    Options:
          --plan ID              number of the plan, or its beginning; with --from
                                 the file of the plan
          --from RESULTS         add up what 'surfjournal work --dry-run' printed;
                                 may be repeated, and - is standard input
          \(SharedOptions.serverStore)
          --rejects PATH         file for rejected records, or a folder, ending in /
          --report FILE          write the report here instead of where the pipeline
                                 says; ends in .txt, .json, .xml, .html or .prom;
                                 may be repeated
          --abandon              end a plan that can't be completed; what workers
                                 have saved stays until 'surfjournal undo' takes it
                                 back
          \(SharedOptions.lockTimeout)
          \(SharedOptions.summaryAsJSON)
      \(SharedOptions.quiet)
          \(SharedOptions.noProgress)
      \(SharedOptions.help)

    Examples:
      surfjournal report --plan 7f3a --store postgresql://loader@db/journal
      surfjournal report --plan 7f3a --store postgresql://loader@db/journal \\
        --report run.html --rejects rejects.csv

    Exit status 65 says that records were rejected; the others are in
    'surfjournal help'.

    """

  private let arguments: Arguments
  private let plan: String
  private let options: RunOptions
  private let isAbandoned: Bool
  /// The files with the results of a check; none for an import.
  private let results: [String]

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.requireNoOperands()
    self.arguments = arguments
    let run = try arguments.plannedRun()
    plan = run.plan
    var options = run.options
    options.rejects = arguments.string("rejects")
    options.reports = try arguments.reports()
    self.options = options
    isAbandoned = arguments.has("abandon")
    results = arguments.strings("from")
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      let (plan, options, isAbandoned, results) = (plan, options, isAbandoned, results)
      let message = "stopping; the plan stays open"
      if isAbandoned {
        let left = try await EngineThread.run("report", stopping: message) { isCancelled in
          try PlanReport(plan: plan, options: options, vocabulary: .journal, isCancelled: isCancelled).abandon()
        }
        Console.report(text(left))
        return .ok
      }
      let summary = try await EngineThread.run("report", stopping: message) { isCancelled in
        if !results.isEmpty {
          return try ShardChecks(
            planFile: plan, options: options, vocabulary: .journal, isCancelled: isCancelled
          ).report(from: results)
        }
        return try PlanReport.summary(
          ofPlan: plan, options: options, vocabulary: .journal, isCancelled: isCancelled)
      }
      return RunSession(.surfLog, kind: results.isEmpty ? .import : .validate, options: options, arguments: arguments)
        .present(summary)
    } catch {
      return error.report()
    }
  }

  private func text(_ left: AbandonedPlan) -> String {
    if left.recordsRead == 0 { return "the plan is ended; its workers had read nothing" }
    let store = ShellWord.quoted(StoreLocation(options.store ?? "").shown)
    let read =
      left.wasComplete
      ? "the plan is ended without a report and without rejects, although all its shards were complete: without "
        + "--abandon, 'report' closes such a plan and prints its summary. Its workers had read"
      : "the plan is ended; its workers had read"
    return "\(read) \(left.recordsRead.grouped) records. Take them back with 'surfjournal undo \(store) \(plan)', and "
      + "with --model FILE if the pipeline has a model of its own"
      + (left.wasComplete ? "; then plan the files again" : "")
  }
}
