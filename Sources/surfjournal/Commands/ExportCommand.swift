import Foundation
import PipelineEngine
import SurfJournal

struct ExportCommand: Command {
  static let name = "export"
  static let storeWord = StoreWord.option
  static let takesAddresses = true
  static let usage = """
    Usage: surfjournal export STORE [--output FILE] [options]
           surfjournal export STORE --all-entities --output FOLDER

    Writes the entries of a store as CSV, TSV or JSON Lines: to FILE, which appears
    complete or not at all, or to standard output; the summary then goes to standard
    error. The store is not changed.

    Options:
          --store PATH           store to export from; the same as STORE
      -o, --output FILE          file to write; gzipped if it ends in .gz; - is
                                 standard output
          --entity ENTITY        the objects of this entity and its
                                 subentities; without a pipeline all attributes
                                 that this entity has
          --all-entities         a file for each entity, with columns that name
                                 related objects, and pipeline.json, which imports
                                 them into a new store
          --force                with --all-entities: replace files of the folder
          --model MODEL          model of the store: a model file (.xcdatamodeld,
                                 .xcdatamodel, .momd, .mom), or a model that is part
                                 of the program; by default the compatible one, or
                                 the one found in the store
          --guess-model          if the store's model is unknown, use the names and
                                 types that its tables have
          --without-metadata     read a store whose metadata can't be used, if its
                                 tables are exactly those of --model MODEL
          --where PREDICATE      only entries for which this holds, such as
                                 'rating >= 4 AND location CONTAINS[cd] "rincon"'
          --sort ATTRIBUTE       order of the entries; ATTRIBUTE:desc for the
                                 greatest first; may be repeated; by default as
                                 stored
          --columns LIST         attributes to write, such as date,location,rating;
                                 author.name is an attribute of the object that the
                                 relationship author refers to; those of several
                                 objects are joined with ;
          --date-format FORMAT   iso8601, seconds (since 2001), unix (since 1970),
                                 journal-app, or a pattern such as
                                 'yyyy-MM-dd HH:mm'; by default iso8601, exactly
          --limit N              write at most N entries
          --readers N            read a store on a server over N connections, which
                                 see one state of it; by default 1
          --format FORMAT        csv, tsv (tabs) or jsonl (JSON Lines); by default
                                 what FILE ends in, and csv for -
          --dialect NAME         rfc4180, or journal-app: no header, short dates,
                                 no quotes
          --null TEXT            text for no value, such as '\\N', so that it differs
                                 from an empty text
          --gzip                 compress whatever the output's name is
          --split-rows N         a file for every N entries; {part} in FILE is its
                                 number, by default inserted before the extension
          --split-month ATTRIBUTE
                                 a file for every month of this date; {month} in
                                 FILE is the month
          --incremental          only what was added since the last such export to
                                 this FILE; {date} and {time} in it are the run's
          --hash                 write FILE.xxh128 next to the output: its hash for
                                 xxhsum -c, its count and its content's hash
          --guard-formulas       put an apostrophe before texts that a spreadsheet
                                 would run: those that begin with = + - @, a tab, a
                                 carriage return or an apostrophe
          --pipeline NAME        take the export settings of a pipeline: its name or
                                 the path of its definition
          \(SharedOptions.report)
          \(SharedOptions.damagedLog)
          --missing-external ACTION
                                 refuse values whose files next to the store are
                                 missing, or leave them out and warn; by default
                                 refuse
          \(SharedOptions.lockTimeout)
          \(SharedOptions.timeout)
          \(SharedOptions.log)
          --json                 show the summary as JSON
      -q, --quiet                show nothing if nothing is wrong
          \(SharedOptions.noProgress)
      \(SharedOptions.help)

    Examples:
      surfjournal export journal.sqlite --output journal.csv.gz
      surfjournal export journal.sqlite --where 'rating >= 4' -o best.csv

    Exit status 65 says that entries were left out because the output can't
    represent them; the others are in 'surfjournal help'.

    """

  private enum Work {
    case entity(RunSession)
    case all(FolderExport)
  }

  private let work: Work

  init(_ arguments: Arguments) throws(CommandFailure) {
    try arguments.requireNoOperands()
    if arguments.has("all-entities") {
      work = .all(try FolderExport(arguments))
      return
    }
    if arguments.has("force") {
      throw arguments.mistake("--force is for --all-entities; the file of one entity is replaced without it")
    }
    var definition = try PipelineDefinition(arguments)
    if !definition.parts.isEmpty {
      throw arguments.mistake(
        "the pipeline '\(definition.name)' fills several entities; name the one to export with --entity")
    }
    definition.export = try Self.settings(definition.export ?? ExportDefinition(), arguments)
    var options = try RunOptions(arguments)
    options.output = arguments.string("output")
    options.joinsLists = arguments.isGiven("columns")
    if let readers = try arguments.integer("readers", in: 1...64) { options.readers = readers }
    options.readsDamagedWAL = try arguments.readsDamagedWAL()
    options.leavesOutMissingValues = try arguments.leavesOutMissingValues()
    if options.leavesOutMissingValues, definition.export?.incremental == true {
      throw arguments.mistake(
        "an incremental export writes no entry again, also when its missing file is back; leave --incremental or "
          + "--missing-external=warn out")
    }
    options.ignoresMetadata = try Self.ignoresMetadata(arguments, definition)
    options.guessesModel = arguments.has("guess-model")
    if options.store == nil, definition.store == nil {
      throw arguments.mistake("no store is given; name one with --store PATH")
    }
    if let export = definition.export, let option = ["dialect", "null"].first(where: arguments.isGiven),
      export.format(of: options.output ?? export.output ?? "-") == .jsonl
    {
      throw arguments.mistake("--\(option) is for CSV, and the output is JSON Lines; leave it out")
    }
    work = .entity(RunSession(definition, kind: .export, options: options, arguments: arguments))
  }

  /// The value of `--without-metadata`, which needs a model, and excludes what compares with the metadata.
  private static func ignoresMetadata(
    _ arguments: Arguments, _ definition: PipelineDefinition
  ) throws(CommandFailure) -> Bool {
    guard arguments.has("without-metadata") else { return false }
    if definition.model == nil {
      throw arguments.mistake("--without-metadata needs the store's model; name it with --model MODEL")
    }
    if definition.export?.incremental == true {
      throw arguments.mistake("--incremental needs the store's metadata; leave it or --without-metadata out")
    }
    return true
  }

  /// `export` with the changes of the options.
  private static func settings(
    _ original: ExportDefinition, _ arguments: Arguments
  ) throws(CommandFailure) -> ExportDefinition {
    var export = original
    if let name = arguments.string("dialect") {
      let dialects = DefinitionVocabulary.journal.namedDialects
      guard let dialect = dialects.first(where: { $0.name == name }) else {
        let names = dialects.map(\.name)
        let hint = NearestName.hint(for: name, in: names)
        throw arguments.mistake(
          "--dialect is '\(name)'; known are \(names.joined(separator: ", "))\(hint)")
      }
      export.dialect = dialect
      // Short dates are part of the journal app's dialect.
      if name == DialectDefinition.journalApp.name { export.dateFormat = [name] }
    }
    try export.dialect.setNull(from: arguments)
    if let format = arguments.string("date-format") {
      do {
        _ = try DateFormat(format, named: DefinitionVocabulary.journal.dateFormats)
      } catch {
        throw arguments.mistake("--date-format is '\(format)': \(error.message)\(StrftimePattern.hint(for: format))")
      }
      export.dateFormat = [format]
    }
    if let predicate = arguments.string("where") { export.predicate = predicate }
    let keys = try arguments.sortKeys("sort")
    if !keys.isEmpty { export.sort = keys }
    if let names = try arguments.attributeList("columns") { export.columns = names.map { ExportDefinition.Column($0) } }
    if let limit = try arguments.integer("limit", in: 0...Int.max) { export.limit = limit }
    if let format = try arguments.choice("format", ExportDefinition.Format.self) { export.format = format }
    if arguments.has("gzip") { export.gzip = true }
    let rows = try arguments.integer("split-rows", in: 1...Int.max)
    if let rows { export.split = .rows(rows) }
    if let attribute = arguments.string("split-month") {
      if rows != nil { throw arguments.mistake("--split-rows and --split-month exclude each other; leave one out") }
      export.split = .month(attribute)
    }
    if arguments.has("incremental") { export.incremental = true }
    if arguments.has("hash") { export.hash = true }
    if arguments.has("guard-formulas") { export.guardFormulas = true }
    return export
  }

  func run() async -> ExitCode {
    switch work {
    case .entity(let session): await session.run()
    case .all(let export): await export.run()
    }
  }
}
