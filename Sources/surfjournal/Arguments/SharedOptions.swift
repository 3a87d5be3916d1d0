/// The texts of options that several commands have, for their usage texts: without the indentation of the first line.
enum SharedOptions {
  /// The last options of every command.
  static let help = """
    -h, --help                 show this help
          --color WHEN           use colours: auto (on a terminal), always or never
          --version              show the version
    """

  static let jsonFormat = "--json                 the same as --format json"
  static let noPager = "--no-pager             print a long result without a pager"

  static let storeModel = """
    --model PATH           the store's model: .xcdatamodeld, .xcdatamodel,
                                 .momd or .mom; by default the one found in this
                                 program or in the store
    """

  static let lockTimeout = """
    --lock-timeout SECONDS
                                 how long to wait for a store that another program
                                 writes to; by default 10
    """
  static let quiet = "-q, --quiet                print nothing on success"
  static let timeout = "--timeout SECONDS      end at the next chunk after this time; 0 for never"
  static let noProgress = "--no-progress          show no progress on a terminal"

  static let verifyHash = """
    --verify-hash          refuse an input that does not match its checksum
                                 file, which an export with --hash writes
    """

  /// Where a run writes its event log.
  static let log = """
    --log FILE             append an event log to FILE; - is standard error
          --log-level LEVEL      error, warning, info or debug; by default info
          --log-format FORMAT    text, or json: one object per line; by default text
    """

  /// The objects that a command on single objects works with.
  static let objects = """
    --entity ENTITY        objects of this entity and its subentities, of
                                 whatever model the store has
          --model MODEL          with --entity: model of the store: a model file
                                 (.xcdatamodeld, .xcdatamodel, .momd, .mom); by
                                 default the one found in the store
    """

  /// The store of a command that also takes it as its operand.
  static let store = "--store PATH           the same as STORE"

  static let damagedLog = """
    --damaged-log ACTION   refuse a store whose write-ahead log is damaged, or
                                 ignore the transactions that are lost with it; by
                                 default refuse
    """
  /// The store of a plan.
  static let serverStore = "--store ADDRESS        store on a server, postgresql://USER@HOST/DATABASE"
  static let summaryAsJSON = "--json                 print the summary as JSON"

  static let filledEntity = """
    --entity ENTITY        fill the objects of this entity; without a pipeline
                                 every attribute from the column of its name
    """

  static let model = """
    --model MODEL          model of the store: a model file (.xcdatamodeld,
                                 .xcdatamodel, .momd, .mom), or a model that is part
                                 of the program; by default the compatible one
    """

  static let report = """
    --report FILE          also write the report to FILE, which ends in .txt,
                                 .json, .xml, .html or .prom; may be repeated
    """

  static let pipeline = """
    --pipeline NAME        what is read and checked: a pipeline's name or the
                                 path of its definition; by default surf-log,
                                 unless an entity is named
    """

  static let withoutRelationships = """
    --without-relationships
                                 import although objects need relationships, and
                                 leave them empty
    """
  static let chunkRows = "--chunk-rows N         records per save, 1 to 1000000"

  static let maxErrors = """
    --max-errors N         end when more than N records are rejected
          --max-error-percent P  end when more than P percent are rejected
    """

  static let replace = """
    --replace              where an input has changed since it was imported,
                                 replace what it inserted
    """

  static let onlyNew = """
    --only-new             import only records that the store does not have;
                                 whole records are compared
    """

  static let incompleteSchema = """
    --incomplete-schema    make a new store even without triggers or indexes
                                 of its model that are not known here
    """
}
