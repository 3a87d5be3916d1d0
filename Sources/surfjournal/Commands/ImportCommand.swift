import PipelineEngine

struct ImportCommand: Command {
  static let name = "import"
  static let usage = """
    Usage: surfjournal import FILE... --store PATH [options]

    Checks every record of CSV files and saves the good ones as entries of a store.
    A FILE may be gzipped; - is standard input. Records that can't be imported are
    reported and written, as they were, to a rejects file.

    Options:
          --store PATH           store to import into; made if there is none
          --pipeline NAME        what is read and checked: a pipeline's name or the
                                 path of its definition; without it surf-log,
                                 unless an entity is named
          --entity ENTITY        fill the objects of this entity; without a pipeline
                                 every attribute from the column of its name
          --model MODEL          model of the store: a model file (.xcdatamodeld,
                                 .xcdatamodel, .momd, .mom), or a model that is part
                                 of the program; without it the one that fits
          --without-relationships
                                 import also where objects need relationships, and
                                 leave those empty
          --null TEXT            what stands unquoted for no value, such as '\\N'; an
                                 empty field is an empty text then
          --rejects PATH         file for rejected records; a folder, ending in /,
                                 gets one per input; without it beside the store
          --report FILE          also write the report to FILE, which ends in .txt,
                                 .json, .xml, .html or .prom; may be repeated
          --chunk-rows N         records per save, 1 to 1000000
          --stop-on-error        end at the first record that can't be imported;
                                 what was saved before stays
          --max-errors N         end when more than N records are rejected
          --max-error-percent P  end when more than P percent are rejected
          --atomic               all of the run or, where it does not reach its end,
                                 nothing
          --verify-hash          refuse an input that is not as its hash file says,
                                 which an export with --hash writes
          --again                import also what the store's ledger knows already
          --lock-timeout SECONDS
                                 how long to wait for a store that another program
                                 writes to; without it 10
          --timeout SECONDS      end at the next chunk after so long; 0 for never
          --log FILE             add a log of the run to FILE; - is standard error
          --log-level LEVEL      error, warning, info or debug; without it info
          --log-format FORMAT    text, or json: an object a line; without it text
          --json                 print the summary as JSON
      -q, --quiet                print nothing if nothing is wrong
          --no-progress          show no progress on a terminal
      -h, --help                 show this help
          --version              show the version

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
    options.verifiesHash = arguments.has("verify-hash")
    options.refer(to: arguments)
    options.rejects = arguments.string("rejects")
    if options.store == nil, definition.store == nil {
      throw arguments.mistake("no store is given; name one with --store PATH")
    }
    session = RunSession(definition, kind: .import, options: options, arguments: arguments)
  }

  func run() async -> ExitCode { await session.run() }
}
