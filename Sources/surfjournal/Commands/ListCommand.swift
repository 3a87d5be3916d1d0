import PipelineEngine
import SurfJournal

struct ListCommand: Command {
  static let name = "list"
  static let storeWord = StoreWord.option
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal list STORE [options]

    Lists the entries of a store, the newest first, each with its ID for the other
    commands. With --entity it lists the objects of another entity. The store is not
    changed.

    Options:
          --store PATH           store to read from; the same as STORE
          \(SharedOptions.objects)
          --where PREDICATE      only entries for which this holds, such as
                                 'rating >= 4 AND location CONTAINS[cd] "rincon"'
          --sort ATTRIBUTE       order of the entries; ATTRIBUTE:desc for the
                                 greatest first; may be repeated; by default
                                 date:desc, and with --entity as stored
          --limit N              list at most N entries
          --csv                  print records with a header, all values whole
          --json                 print an array with an object for each entry
          --explain              print how the entries are found instead of them:
                                 the SQL statement, its values, SQLite's plan, and
                                 what of the predicate this program evaluates
          \(SharedOptions.damagedLog)
          \(SharedOptions.lockTimeout)
      \(SharedOptions.help)

    Examples:
      surfjournal list journal.sqlite --limit 10
      surfjournal list journal.sqlite --where 'location CONTAINS[cd] "rincon"' --csv

    """

  private let store: String
  private let kind: ObjectKind
  private let query: Journal.Query
  private let format: JournalListing.Format
  private let timeoutSeconds: Double
  private let readsDamagedWAL: Bool
  private let isOfEntity: Bool
  private let explains: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.requireNoOperands()
    store = try arguments.journalStore()
    kind = try arguments.objectKind()
    isOfEntity = arguments.isOfEntity
    var query = Journal.Query()
    query.predicate = arguments.string("where")
    let sort = try arguments.sortKeys("sort")
    if !sort.isEmpty || arguments.isOfEntity { query.sort = sort }
    query.limit = try arguments.integer("limit", in: 0...Int.max)
    do {
      try query.check(kind)
    } catch {
      throw arguments.mistake(error.message)
    }
    self.query = query
    if arguments.has("csv"), arguments.has("json") {
      throw arguments.mistake("--csv and --json exclude each other; leave one out")
    }
    explains = arguments.has("explain")
    if explains, arguments.has("csv") || arguments.has("json") {
      throw arguments.mistake("--explain prints text; leave --csv and --json out")
    }
    format = arguments.has("csv") ? .csv : arguments.has("json") ? .json : .text
    timeoutSeconds = try arguments.seconds("lock-timeout") ?? 10
    readsDamagedWAL = try arguments.readsDamagedWAL()
  }

  private var form: Console.Form {
    switch format {
    case .text: .text
    case .json: .json
    case .csv: .data
    }
  }

  func run() async -> ExitCode {
    do {
      let journal = try Journal(store: store, kind, timeoutSeconds: timeoutSeconds, readsDamagedWAL: readsDamagedWAL)
      defer { journal.close() }
      if explains {
        try Console.print(try journal.explanation(query), as: .text)
        return .ok
      }
      var listing = JournalListing(format, kind)
      var failure: (any Error)?
      try journal.walk(query) { records in
        do {
          try Console.print(try listing.next(records), as: form)
          return true
        } catch {
          failure = error
          return false
        }
      }
      if let failure { throw failure }
      try Console.print(try listing.end(), as: form)
      if format == .text, listing.count == 0 {
        Console.report("\(store) has no such \(isOfEntity ? "objects" : "entries")")
      }
      return .ok
    } catch {
      return CommandFailure(journal: error).report()
    }
  }
}
