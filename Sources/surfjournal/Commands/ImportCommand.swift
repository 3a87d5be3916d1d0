import PipelineEngine

struct ImportCommand: Command {
  static let name = "import"
  static let usage = """
    Usage: surfjournal import FILE... --store PATH [options]

    Checks every record of CSV or JSON Lines files and saves the good ones as
    entries of a store. A FILE may be compressed (gzip, zstd, xz, bzip2, or a zip
    archive of one file); - is standard input. Records that can't be imported are
    reported and written, as they were, to a rejects file.

    Options:
          --store PATH           store to import into; created if it does not exist
          --pipeline NAME        what is read and checked: a pipeline's name or the
                                 path of its definition; by default surf-log,
                                 unless an entity is named
          --entity ENTITY        fill the objects of this entity; without a pipeline
                                 every attribute from the column of its name
          --model MODEL          model of the store: a model file (.xcdatamodeld,
                                 .xcdatamodel, .momd, .mom), or a model that is part
                                 of the program; by default the compatible one
          --without-relationships
                                 import although objects need relationships, and
                                 leave them empty
          --incomplete-schema    make a new store even without triggers or indexes
                                 of its model that are not known here
          \(ReadingOptions.usage)
          --rejects PATH         file for rejected records; a folder, ending in /,
                                 gets one per input; by default next to the store
          --report FILE          also write the report to FILE, which ends in .txt,
                                 .json, .xml, .html or .prom; may be repeated
          --chunk-rows N         records per save, 1 to 1000000
          --stop-on-error        end at the first record that can't be imported;
                                 chunks that were saved stay
          --max-errors N         end when more than N records are rejected
          --max-error-percent P  end when more than P percent are rejected
      -n, --dry-run              store nothing, and report what an import would do,
                                 as 'surfjournal validate' does
          --atomic               import all of the run or, if it does not reach its
                                 end, nothing
          --verify-hash          refuse an input that does not match its checksum
                                 file, which an export with --hash writes
          --replace              where an input has changed since it was imported,
                                 replace what it inserted
          --only-new             import only records that the store does not have;
                                 whole records are compared
          --again                import also what the store's ledger records
          --lock-timeout SECONDS
                                 how long to wait for a store that another program
                                 writes to; by default 10
          --timeout SECONDS      end at the next chunk after this time; 0 for never
          --log FILE             append an event log to FILE; - is standard error
          --log-level LEVEL      error, warning, info or debug; by default info
          --log-format FORMAT    text, or json: one object per line; by default text
          --json                 print the summary as JSON
      -q, --quiet                print nothing on success
          --no-progress          show no progress on a terminal
      -h, --help                 show this help
          --version              show the version

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
    options.inputs = arguments.operands
    options.again = arguments.has("again")
    options.changedInputs = try arguments.changedInputs()
    options.verifiesHash = arguments.has("verify-hash")
    options.refer(to: arguments)
    options.rejects = arguments.string("rejects")
    let isDryRun = arguments.has("dry-run")
    if !isDryRun, options.store == nil, definition.store == nil {
      throw arguments.mistake("no store is given; name one with --store PATH")
    }
    session = RunSession(definition, kind: isDryRun ? .validate : .import, options: options, arguments: arguments)
  }

  func run() async -> ExitCode { await session.run() }
}
