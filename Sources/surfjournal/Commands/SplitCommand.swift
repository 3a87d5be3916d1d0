import PipelineEngine
import SurfJournal

struct SplitCommand: Command {
  static let name = "split"
  static let usage = """
    Usage: surfjournal split FILE --rows N --to DIR [options]

    Cuts a large CSV or JSON Lines file into parts, in one pass: each has the header
    and N records, with their text as it was. A compressed file can be read from its
    start only; its parts can be imported at the same time, by 'surfjournal plan' or
    one after the other. Prints the name, the records and the content hash of each
    part, and overwrites nothing. FILE may be -, which is standard input.

    A header that does not match the pipeline is refused: with a wrong delimiter,
    line ends within quotes would be taken for ends of records.

    Options:
          --rows N               records of each part; the last one has the rest
          --to DIR               folder of the parts, which is made if it is missing
          --gzip                 compress the parts
          --pipeline NAME        pipeline that says how the file is read: its name
                                 or the path of its definition; by default surf-log
          --entity ENTITY        with parts: the entity that the file is for
          --json                 print the parts as JSON
      -q, --quiet                print nothing on success
      \(SharedOptions.help)

    Examples:
      surfjournal split big.csv.gz --rows 4000000 --to parts
      surfjournal split big.jsonl.gz --rows 1000000 --to parts --gzip
      surfjournal split notes.csv --rows 1000 --to parts --pipeline ./notes.json

    """

  private let definition: PipelineDefinition
  private let path: String
  private let rows: Int
  private let folder: String
  private let isCompressed: Bool
  private let isJSON: Bool
  private let isQuiet: Bool

  init(_ arguments: Arguments) throws(CommandFailure) {
    path = try arguments.onlyOperand("the file")
    definition = try PipelineDefinition(splitting: path, arguments)
    guard let rows = try arguments.integer("rows", in: 1...Int.max) else {
      throw arguments.mistake("the size of the parts is missing; name it with --rows N")
    }
    guard let folder = arguments.string("to") else {
      throw arguments.mistake("the folder of the parts is missing; name it with --to DIR")
    }
    (self.rows, self.folder) = (rows, folder)
    isCompressed = arguments.has("gzip")
    (isJSON, isQuiet) = (arguments.has("json"), arguments.has("quiet"))
  }

  func run() async -> ExitCode {
    do throws(CommandFailure) {
      let (definition, path, rows, folder, isCompressed) = (definition, path, rows, folder, isCompressed)
      let parts = try await EngineThread.run("split", stopping: "stopping; complete parts stay") { isCancelled in
        try InputSplitter(
          definition, path: path, rowsMax: rows, folder: folder, isCompressed: isCompressed
        ).run(isCancelled: isCancelled)
      }
      if isJSON {
        try Console.print(try Console.json(parts), as: .json)
      } else if !isQuiet {
        let lines = parts.map { part in
          let records = part.records == 1 ? "1 record" : "\(part.records.grouped) records"
          return "\(part.contentHash)  \(records)  \(RawText.oneLine(part.path))\n"
        }
        try Console.print(lines.joined())
      }
      return .ok
    } catch {
      return error.report()
    }
  }
}

extension PipelineDefinition {
  /// The pipeline that says how a file is read that is split.
  fileprivate init(splitting file: String, _ arguments: Arguments) throws(CommandFailure) {
    self = .surfLog
    if let name = arguments.string("pipeline") { self = try PipelineCatalog.find(name) }
    let entity = arguments.string("entity")
    if parts.isEmpty, entity != nil {
      throw arguments.mistake("--entity is for pipelines of several entities; leave it out")
    }
    if let entity { self = try part(of: entity, arguments) }
    guard parts.isEmpty else {
      throw arguments.mistake(
        "the pipeline '\(name)' fills several entities: say which one \(file) is for, such as --entity \(firstEntity)")
    }
    if columns.isEmpty {
      throw CommandFailure(
        "the pipeline '\(name)' declares no columns, so it does not say how files are read; name one that imports",
        .configuration)
    }
  }
}
