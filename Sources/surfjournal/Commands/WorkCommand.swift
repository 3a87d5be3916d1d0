import PipelineEngine
import SurfJournal

struct WorkCommand: Command {
  static let name = "work"
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal work --plan ID --store ADDRESS [options]
           surfjournal work --dry-run --plan PLAN [options]

    Imports the shards of a plan that 'surfjournal plan' has made: all that are not
    complete, or one. It may run any number of times, anywhere, and several times at
    once, also on the same shard: each record is imported once. A worker that is
    killed leaves nothing to clean up; another one goes on from its last save.

    It ends with the exit status 0 only when the ledger says that its shards are
    complete, also if records were rejected: these are in the report.

    With --dry-run it checks the shards of a plan that 'surfjournal plan --dry-run'
    has written, needs no store, and prints a line of JSON for each shard. Give each
    worker a file of its own for them, and all files to 'surfjournal report --from'.

    Options:
          --plan ID              number of the plan, or its beginning; for a dry run
                                 the file of the plan
          --dry-run              check the shards, and store nothing
          \(SharedOptions.serverStore)
          --shard N              import this shard only; the first one is 0. Of
                                 several entities, those before it come first
          --list                 import nothing; print the numbers of the shards
                                 that are not complete, a line each; of all shards
                                 with --dry-run
          --retry-seconds N      how long to try again while the server can't be
                                 reached or is busy; by default 60
          \(SharedOptions.lockTimeout)
          --json                 print a line of JSON for each shard
      -q, --quiet                print nothing on success
      \(SharedOptions.help)

    Examples:
      surfjournal work --plan 7f3a --store postgresql://loader@db/journal
      surfjournal work --plan 7f3a --store postgresql://loader@db/journal --shard 12

    """

  private let plan: String
  private let shard: Int?
  private let onlyLists: Bool
  private let isDryRun: Bool
  private let options: RunOptions
  private let retrySeconds: Double
  private let isJSON: Bool
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.requireNoOperands()
    (plan, options) = try arguments.plannedRun()
    isDryRun = arguments.has("dry-run")
    shard = try arguments.integer("shard", in: 0...Int.max)
    onlyLists = arguments.has("list")
    if onlyLists, shard != nil { throw arguments.mistake("--list prints all open shards; leave --shard out") }
    retrySeconds = try arguments.seconds("retry-seconds") ?? 60
    (isJSON, isQuiet) = (arguments.has("json"), arguments.has("quiet"))
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      let (plan, shard, options, retrySeconds) = (plan, shard, options, retrySeconds)
      let (isJSON, isQuiet, onlyLists) = (isJSON, isQuiet, onlyLists)
      if isDryRun { return try await check() }
      try await EngineThread.run("work", stopping: "stopping at the next chunk; what is saved stays") { isCancelled in
        let worker = try ShardWorker(
          plan: plan, options: options, vocabulary: .journal, retrySeconds: retrySeconds, isCancelled: isCancelled)
        defer { worker.close() }
        if onlyLists {
          return try Console.print(try worker.unfinishedShards().map { "\($0)\n" }.joined())
        }
        try worker.work(on: shard) { done in Self.show(done, isJSON: isJSON, isQuiet: isQuiet) }
      }
      return .ok
    } catch {
      return error.report()
    }
  }

  /// Checks shards of a plan in a file.
  private func check() async throws(CommandFailure) -> ExitCode {
    let (plan, shard, options, onlyLists) = (plan, shard, options, onlyLists)
    try await EngineThread.run("work", stopping: "stopping at the next chunk") { isCancelled in
      let checks = try ShardChecks(planFile: plan, options: options, vocabulary: .journal, isCancelled: isCancelled)
      if onlyLists { return try Console.print(checks.shardNumbers.map { "\($0)\n" }.joined()) }
      var failure: CommandFailure?
      try checks.check(shard) { found in
        do throws(CommandFailure) {
          try Console.print(try Console.jsonLine(found), as: .json)
        } catch {
          failure = failure ?? error
        }
      }
      if let failure { throw failure }
    }
    return .ok
  }

  private static func show(_ done: ShardWorker.Completed, isJSON: Bool, isQuiet: Bool) {
    if isJSON, let line = try? Console.jsonLine(done) {
      try? Console.print(line, as: .json)
    } else if !isQuiet {
      let counts = done.counts
      let rejected = counts.rejected > 0 ? ", \(counts.rejected.grouped) rejected" : ""
      let other = done.isOwn ? "" : " by another worker"
      Console.report(
        "shard \(done.shard) of \(done.path) is complete\(other): \(counts.read.grouped) records read, "
          + "\(counts.inserted.grouped) inserted\(rejected)")
    }
  }
}

extension Arguments {
  /// The options of the commands that work on a plan.
  func plannedRun() throws(CommandFailure) -> (plan: String, options: RunOptions) {
    guard let plan = string("plan"), !plan.isEmpty else { throw mistake("no plan is given; name one with --plan ID") }
    let needsStore = !(isDeclared("from") && has("from")) && !(isDeclared("dry-run") && has("dry-run"))
    if needsStore, string("store") == nil { throw mistake("no store is given; name one with --store ADDRESS") }
    var options = RunOptions()
    options.store = needsStore ? string("store") : nil
    if let seconds = try seconds("lock-timeout") { options.lockTimeoutSeconds = seconds }
    (options.notifies, options.programVersion, options.isQuiet) = (false, ProgramVersion.text, has("quiet"))
    return (plan, options)
  }
}
