import PipelineEngine

struct PlanCommand: Command {
  static let name = "plan"
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal plan PIPELINE [FILE...] --store ADDRESS [options]
           surfjournal plan PIPELINE [FILE...] --dry-run -o PLAN [options]

    Plans an import that many workers do, on any number of machines: reads each file
    once, cuts large ones into shards between records, and writes the plan into the
    ledger of a store on a PostgreSQL server. 'surfjournal work' then imports the
    shards, and 'surfjournal report' closes the plan.

    PIPELINE is a name that 'surfjournal pipelines' lists, or the path of a
    definition. FILEs replace its source. Every machine must see the files under
    the same path. Compressed files, and those whose text can't be read from its
    middle, are one shard each; 'surfjournal split' cuts them.

    Options:
          --input ENTITY=FILE    with parts: read this instead of the part's source;
                                 may be repeated
          \(SharedOptions.serverStore)
          --model MODEL          use this model instead of the pipeline's: a
                                 model file, or one that is part of the program
          --dry-run              plan a check by workers that need no store
      -o, --output PLAN          with --dry-run: file for the plan
          --shard-bytes N        about how many bytes a shard has, at least 1000;
                                 by default 67108864
          --writers N            how many workers may write to the server at the
                                 same time; by default all
          --chunk-rows N         records per save, 1 to 1000000; by default the
                                 pipeline's
          --max-errors N         workers end when more than N records of the plan
                                 are rejected
          --max-error-percent P  the same for more than P percent
          --stop-on-error        the same for the first record
          \(SharedOptions.verifyHash)
          --again                plan also what the store's ledger records
          \(SharedOptions.lockTimeout)
          --json                 print the plan as JSON
      -q, --quiet                print only the number of the plan
      \(SharedOptions.help)

    Examples:
      surfjournal plan surf-log logs/*.csv --store postgresql://loader@db/journal
      surfjournal plan nightly.json --store postgresql://loader@db/journal --json

    """

  private let definition: PipelineDefinition
  private let options: RunOptions
  private let shardBytes: Int?
  private let writersMax: Int?
  /// The file of a plan of a check; nil for an import.
  private let output: String?
  private let isJSON: Bool
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard let name = arguments.operands.first else {
      throw arguments.mistake("no pipeline is given; 'surfjournal pipelines' lists those that have a name")
    }
    try arguments.requireFiles(arguments.operands)
    var definition = try PipelineDefinition(arguments, name, model: arguments.string("model"))
    if let rows = try arguments.integer("chunk-rows", in: PipelineDefinition.chunkRowsRange) {
      definition.chunkRows = rows
    }
    try definition.setErrorPolicy(from: arguments)
    let (files, inputs) = (arguments.operands.dropFirst(), arguments.strings("input"))
    if definition.parts.isEmpty {
      guard inputs.isEmpty else {
        throw arguments.mistake("--input is for pipelines of several entities; give the files after the pipeline")
      }
    } else {
      if let file = files.first {
        throw arguments.mistake(
          "the pipeline '\(definition.name)' fills several entities: say which one \(file) is for with --input "
            + "\(definition.parts[0].entity)=FILE")
      }
      try definition.setInputs(inputs, of: "input", arguments)
    }
    self.definition = definition
    var options = RunOptions()
    options.store = arguments.string("store")
    if !files.isEmpty { options.inputs = Array(files) }
    options.verifiesHash = arguments.has("verify-hash")
    options.again = arguments.has("again")
    if let seconds = try arguments.seconds("lock-timeout") { options.lockTimeoutSeconds = seconds }
    (options.notifies, options.programVersion) = (false, ProgramVersion.text)
    options.isQuiet = arguments.has("quiet")
    options.refer(to: arguments, pipeline: name)
    self.options = options
    shardBytes = try arguments.integer("shard-bytes", in: 1000...Int.max)
    writersMax = try arguments.integer("writers", in: 1...10_000)
    output = arguments.string("output")
    guard arguments.has("dry-run") == (output != nil) else {
      throw arguments.mistake("--dry-run needs a file for the plan, and only it has one; give both, or none of them")
    }
    (isJSON, isQuiet) = (arguments.has("json"), arguments.has("quiet"))
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      let (definition, options, shardBytes, writersMax) = (definition, options, shardBytes, writersMax)
      let output = output
      let plan = try await EngineThread.run("plan", stopping: "stopping; nothing is planned") { isCancelled in
        let run = try PlanRun(
          definition, options: options, shardBytes: shardBytes, writersMax: writersMax, isDryRun: output != nil,
          isCancelled: isCancelled)
        return if let output { try run.plan(toFile: output) } else { try run.plan() }
      }
      if isJSON {
        try Console.print(try Console.json(plan), as: .json)
      } else {
        try Console.print(isQuiet ? "\(plan.plan)\n" : text(plan))
      }
      return .ok
    } catch {
      return error.report()
    }
  }

  private func text(_ plan: PlanRun.Result) -> String {
    let files = plan.files.count == 1 ? "one file" : "\(plan.files.count.grouped) files"
    var lines = [
      "Plan \(plan.plan)",
      "\(files), \(plan.shards.grouped) \(plan.shards == 1 ? "shard" : "shards"), \(plan.records.grouped) records",
    ]
    lines += plan.files.compactMap { file in
      file.uncut.map { "\(file.path) is one shard: \($0); 'surfjournal split' cuts it" }
    }
    lines += plan.known.map { "\($0) was imported before" }
    lines += plan.notes
    return (lines + next(plan)).map { RawText.oneLine($0) + "\n" }.joined()
  }

  /// What to type next.
  private func next(_ plan: PlanRun.Result) -> [String] {
    guard let output else {
      return [
        "Next, any number of times and anywhere:", "  surfjournal work --plan \(plan.plan) --store ADDRESS",
      ]
    }
    let file = ShellWord.quoted(output)
    let report = "surfjournal report --plan \(file) --from"
    if plan.shards == 0 { return ["Next:", "  \(report) /dev/null"] }
    let number = plan.shards == 1 ? "0" : "N"
    let each = ", for each shard N from 0 to \(plan.shards - 1), each into a file of its own"
    return [
      "Next, anywhere\(plan.shards == 1 ? "" : each):",
      "  surfjournal work --dry-run --plan \(file) --shard \(number) >results-\(number).jsonl", "Then:",
      "  cat results-*.jsonl | \(report) -",
    ]
  }
}
