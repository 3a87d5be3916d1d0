import PipelineEngine

struct ValidateCommand: Command {
  static let name = "validate"
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal validate FILE... [options]

    Does everything that an import does except saving: a dry run. Its counts and
    issues are those of the import.

    Options:
          --store STORE          store that the import would go to; it must be
                                 compatible with the pipeline's model, and is not
                                 changed
          \(SharedOptions.pipeline)
          \(SharedOptions.filledEntity)
          \(SharedOptions.model)
          \(SharedOptions.withoutRelationships)
          \(ReadingOptions.usage)
          --rejects PATH         file for rejected records; a folder, ending in /,
                                 gets one per input; by default none is written
          \(SharedOptions.report)
          --chunk-rows N         records checked at a time, 1 to 1000000
          --stop-on-error        end at the first record that can't be imported
          \(SharedOptions.maxErrors)
          --atomic               as for the import
          \(SharedOptions.verifyHash)
          \(SharedOptions.replace)
          \(SharedOptions.onlyNew)
          --again                check also what the store's ledger records
          \(SharedOptions.lockTimeout)
          \(SharedOptions.timeout)
          \(SharedOptions.log)
          \(SharedOptions.summaryAsJSON)
      \(SharedOptions.quiet)
          \(SharedOptions.noProgress)
      \(SharedOptions.help)

    Examples:
      surfjournal validate surf-log.csv
      surfjournal validate surf-log.csv --store journal.sqlite --report check.html

    Exit status 65 says that records would be rejected; the others are in
    'surfjournal help'.

    """

  private let session: RunSession

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard !arguments.operands.isEmpty else {
      throw arguments.mistake("no file is given; name one, or - for standard input")
    }
    var options = try RunOptions(arguments)
    try arguments.requireFiles(arguments.operands)
    options.inputs = arguments.operands
    options.again = arguments.has("again")
    options.changedInputs = try arguments.changedInputs()
    options.verifiesHash = arguments.has("verify-hash")
    options.refer(to: arguments)
    options.rejects = arguments.string("rejects")
    session = RunSession(
      try PipelineDefinition(importing: arguments), kind: .validate, options: options, arguments: arguments)
  }

  func run() async -> ExitCode { await session.run() }
}
