import PipelineEngine

struct ImportCommand: Command {
  static let name = "import"
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal import FILE... --store STORE [options]

    Checks every record of CSV or JSON Lines files and saves the good ones as
    entries of a store. A FILE may be compressed (gzip, zstd, xz, bzip2, or a zip
    archive of one file); - is standard input. Records that can't be imported are
    reported and written, as they were, to a rejects file.

    Options:
          --store STORE          store to import into: a file, created if it does
                                 not exist, or the address of a database, such as
                                 postgresql://USER@HOST/DATABASE
          \(SharedOptions.pipeline)
          \(SharedOptions.filledEntity)
          \(SharedOptions.model)
          \(SharedOptions.withoutRelationships)
          \(SharedOptions.incompleteSchema)
          \(ReadingOptions.usage)
          --rejects PATH         file for rejected records; a folder, ending in /,
                                 gets one per input; by default next to the first
                                 report, or else to the store, or in the current
                                 folder for a database
          \(SharedOptions.report)
          \(SharedOptions.chunkRows)
          --stop-on-error        end at the first record that can't be imported;
                                 chunks that were saved stay
          \(SharedOptions.maxErrors)
      -n, --dry-run              store nothing, and report what an import would do,
                                 as 'surfjournal validate' does
          --atomic               import all of the run or, if it does not reach its
                                 end, nothing
          \(SharedOptions.verifyHash)
          \(SharedOptions.replace)
          \(SharedOptions.onlyNew)
          --again                import also what the store's ledger records
          \(SharedOptions.lockTimeout)
          \(SharedOptions.timeout)
          \(SharedOptions.log)
          \(SharedOptions.summaryAsJSON)
      \(SharedOptions.quiet)
          \(SharedOptions.noProgress)
      \(SharedOptions.help)

    Examples:
      surfjournal import surf-log.csv.gz --store journal.sqlite
      surfjournal import july.csv --store journal.sqlite --atomic --report july.html

    Exit status 65 says that records were rejected; the others are in
    'surfjournal help'.

    """

  private let session: RunSession

  init(_ arguments: Arguments) throws(CommandFailure) {
    guard !arguments.operands.isEmpty else {
      throw arguments.mistake("no file is given; name one, or - for standard input")
    }
    let definition = try PipelineDefinition(importing: arguments)
    var options = try RunOptions(arguments)
    try arguments.requireFiles(arguments.operands)
    options.inputs = arguments.operands
    options.again = arguments.has("again")
    options.changedInputs = try arguments.changedInputs()
    options.verifiesHash = arguments.has("verify-hash")
    options.refer(to: arguments)
    options.rejects = arguments.string("rejects")
    let isDryRun = arguments.has("dry-run")
    if !isDryRun, options.store == nil, definition.store == nil {
      throw arguments.mistake("no store is given; name one with --store STORE")
    }
    session = RunSession(definition, kind: isDryRun ? .validate : .import, options: options, arguments: arguments)
  }

  func run() async -> ExitCode { await session.run() }
}
