import PipelineEngine

struct RunCommand: Command {
  static let name = "run"
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal run PIPELINE [options]

    Runs a pipeline as its definition says. PIPELINE is a name that 'surfjournal
    pipelines' lists, or the path of a definition. A pipeline with a source or an
    inbox imports; one with an export section and neither exports.

    Options:
          --input FILE           read this instead of the pipeline's source or
                                 inbox; may be repeated; - is standard input. With
                                 parts: ENTITY=FILE
          --store STORE          use this store instead of the pipeline's
          --model MODEL          use this model instead of the pipeline's: a
                                 model file, or one that is part of the program
          \(SharedOptions.withoutRelationships)
          \(SharedOptions.incompleteSchema)
      -o, --output FILE          export to this file instead of the pipeline's
          --dry-run              check what would be imported, and store nothing
          \(SharedOptions.verifyHash)
          \(SharedOptions.replace)
          \(SharedOptions.onlyNew)
          --again                import also what the store's ledger records
          --rejects PATH         file or folder for rejected records
          --report FILE          write the report here instead of where the pipeline
                                 says; ends in .txt, .json, .xml, .html or .prom;
                                 may be repeated
          --no-notify            notify nothing of this run
          \(SharedOptions.lockTimeout)
          \(SharedOptions.timeout)
          \(SharedOptions.log)
          \(SharedOptions.summaryAsJSON)
      \(SharedOptions.quiet)
          \(SharedOptions.noProgress)
      \(SharedOptions.help)

    Examples:
      surfjournal run nightly-inbox --quiet
      surfjournal run nightly.json --dry-run

    Exit status 65 says that records were rejected; the others are in
    'surfjournal help'.

    """

  private let session: RunSession

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard let name = arguments.operands.first else {
      throw arguments.mistake("no pipeline is given; 'surfjournal pipelines' lists those that have a name")
    }
    if arguments.operands.count > 1 { throw arguments.unexpected(arguments.operands[1]) }
    try arguments.requireFiles([name])
    var definition = try PipelineDefinition(arguments, name)
    let kind = try Self.kind(of: definition, arguments)
    var options = try RunOptions(arguments)
    let inputs = arguments.strings("input")
    if !definition.parts.isEmpty {
      try definition.setInputs(inputs, of: "input", arguments)
    } else if !inputs.isEmpty {
      options.inputs = inputs
    }
    options.output = arguments.string("output")
    options.again = arguments.has("again")
    options.changedInputs = try arguments.changedInputs()
    options.verifiesHash = arguments.has("verify-hash")
    options.refer(to: arguments, pipeline: name)
    options.rejects = arguments.string("rejects")
    options.notifies = !arguments.has("no-notify")
    if kind != .validate, options.store == nil, definition.store == nil {
      throw arguments.mistake("the pipeline '\(definition.name)' names no store; add --store PATH")
    }
    session = RunSession(definition, kind: kind, options: options, arguments: arguments)
  }

  private static func kind(
    of definition: PipelineDefinition, _ arguments: Arguments
  ) throws(CommandFailure) -> RunSummary.Kind {
    let hasSource =
      !definition.parts.isEmpty || !definition.source.isEmpty || definition.inbox != nil || arguments.has("input")
    if hasSource {
      if arguments.has("output") {
        throw arguments.mistake("--output is for exports, and this pipeline imports; leave it out")
      }
      return arguments.has("dry-run") || definition.dryRun ? .validate : .import
    }
    guard definition.export != nil else {
      throw arguments.mistake("the pipeline '\(definition.name)' names no source; add --input FILE")
    }
    for option in ["dry-run", "rejects", "again", "replace", "only-new", "verify-hash"] where arguments.has(option) {
      throw arguments.mistake(
        "--\(option) is for imports, and this pipeline exports; add --input FILE to import")
    }
    return .export
  }

  func run() async -> ExitCode { await session.run() }
}
