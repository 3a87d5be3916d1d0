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
    changed. On a terminal it lists the first 100, unless --limit says otherwise.

    Options:
          --store PATH           store to read from; the same as STORE
          \(SharedOptions.objects)
          --where PREDICATE      only entries for which this holds, such as
                                 'rating >= 4 AND location CONTAINS[cd] "rincon"'
          --sort ATTRIBUTE       order of the entries; ATTRIBUTE:desc for the
                                 greatest first; may be repeated; by default
                                 date:desc, and with --entity as stored
          --columns LIST         what to list of each entry, in this order, such as
                                 id,date,rating; by default its ID (with --entity
                                 its key) and every attribute. With --entity also
                                 relationships, such as boards, and attributes of
                                 the object that one leads to, such as spot.name
          --limit N              list at most N entries
          --format FORMAT        table, csv, tsv, json (an array) or jsonl (an
                                 object in each line); all but the table have
                                 every value whole; by default table
          --csv                  the same as --format csv
          \(SharedOptions.jsonFormat)
          --explain              print how the entries are found instead of them:
                                 the SQL statement, its values, SQLite's plan, and
                                 what of the predicate this program evaluates
          \(SharedOptions.damagedLog)
          \(SharedOptions.lockTimeout)
          \(SharedOptions.noPager)
      \(SharedOptions.help)

    Examples:
      surfjournal list journal.sqlite --limit 10
      surfjournal list journal.sqlite --where 'location CONTAINS[cd] "rincon"' --csv

    """

  private let store: String
  private let kind: ObjectKind
  private let query: Journal.Query
  private let columns: [ListedColumn]?
  private let format: JournalListing.Format
  private let timeoutSeconds: Double
  private let readsDamagedWAL: Bool
  private let isOfEntity: Bool
  private let explains: Bool
  private let arguments: Arguments
  /// The entries that a terminal gets without a limit.
  private static let entriesOnTerminal = 100

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.requireNoOperands()
    self.arguments = arguments
    store = try arguments.journalStore()
    kind = try arguments.objectKind()
    isOfEntity = arguments.isOfEntity
    var query = Journal.Query()
    query.predicate = arguments.string("where")
    let sort = try arguments.sortKeys("sort")
    if !sort.isEmpty || arguments.isOfEntity { query.sort = sort }
    query.limit = try arguments.integer("limit", in: 0...Int.max)
    let names = try arguments.attributeList("columns")
    do {
      try query.check(kind)
      if let names { columns = try kind.listedColumns(names) } else { columns = nil }
    } catch {
      throw arguments.mistake(error.message)
    }
    self.query = query
    format = try arguments.format(usual: .text, orOption: ["csv", "json"])
    explains = arguments.has("explain")
    if explains, format != .text { throw arguments.mistake("--explain prints text; leave the format out") }
    if explains, names != nil { throw arguments.mistake("--explain lists no entries; leave --columns out") }
    timeoutSeconds = try arguments.seconds("lock-timeout") ?? 10
    readsDamagedWAL = try arguments.readsDamagedWAL()
  }

  private var form: Console.Form {
    switch format {
    case .text: .text
    case .json, .jsonl: .json
    case .csv, .tsv: .data
    }
  }

  func run() async -> ExitCode {
    do {
      let journal = try Journal(store: store, kind, timeoutSeconds: timeoutSeconds, readsDamagedWAL: readsDamagedWAL)
      defer { journal.close() }
      if explains {
        try Console.print(try journal.explanation(query), as: .text)
      } else if format == .text {
        try showTable(journal)
      } else {
        var listing = JournalListing(format, kind, columns: columns)
        try walk(query, of: journal) { records in try Console.print(try listing.next(records), as: form) }
        try Console.print(try listing.end(), as: form)
      }
      return .ok
    } catch {
      return CommandFailure(journal: error).report()
    }
  }

  private func walk(_ query: Journal.Query, of journal: Journal, _ body: ([JournalRecord]) throws -> Void) throws {
    var failure: (any Error)?
    try journal.walk(query, columns: columns ?? []) { records in
      do {
        try body(records)
        return true
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
  }

  // MARK: The table

  private func showTable(_ journal: Journal) throws {
    let columnsMax = TerminalSettings.outputColumns
    var shown = query
    if columnsMax != nil, query.limit == nil { shown.limit = Self.entriesOnTerminal }
    var listing = JournalListing(.text, kind, columns: columns, columnsMax: columnsMax)
    var output = PagedOutput(arguments)
    try walk(shown, of: journal) { records in
      let isFirst = listing.count == 0
      var text = StyledText()
      let lines = try listing.next(records)
      let heading = isFirst && !records.isEmpty ? listing.heading : ""
      if !heading.isEmpty { text.append(line: heading, styling: String(heading.dropLast()), .heading) }
      text.append(String(lines.dropFirst(heading.count)))
      try output.print(text)
    }
    for note in try notes(listing, limit: shown.limit, of: journal) {
      var text = StyledText(note, .quiet)
      text.append("\n")
      try output.print(text)
    }
    try output.end()
    if listing.count == 0 {
      Console.report("\(StoreLocation(store).shown) has no such \(isOfEntity ? "objects" : "entries")\(caseHint)")
    }
  }

  /// What a table on a terminal does not show.
  private func notes(_ listing: JournalListing, limit: Int?, of journal: Journal) throws -> [String] {
    var notes: [String] = []
    if !listing.leftOut.isEmpty {
      let names = listing.leftOut.joined(separator: ", ")
      notes.append("The terminal is too narrow for \(names); --format json has every value.")
    }
    if query.limit == nil, listing.count == limit {
      let all = try journal.count(query)
      let more = all - listing.count
      if more > 0 { notes.append("… and \(more.grouped) more; list all with --limit \(all)") }
    }
    return notes
  }

  /// A comparison of texts that found nothing may have missed them by the case of their letters.
  private var caseHint: String {
    let words = ["LIKE", "CONTAINS", "BEGINSWITH", "ENDSWITH"]
    let text = (query.predicate ?? "").uppercased()
    guard let word = words.first(where: text.contains), !text.contains("[") else { return "" }
    return "; \(word) distinguishes upper and lower case, and \(word)[c] does not"
  }
}
