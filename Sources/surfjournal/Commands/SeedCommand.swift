import Foundation
import SystemSupport
import PipelineEngine

struct SeedCommand: Command {
  static let name = "seed"
  static let usage = """
    Usage: surfjournal seed FILE... --output SEED [options]
           surfjournal seed --from ENTITY=FILE... --output SEED [options]

    Makes a store that an app can ship from CSV files or JSON Lines: an import into
    a new store, without a ledger and with a UUID derived from its content.
    SEED.sqlite appears complete or not at all, with its -wal and -shm to ship with
    it, or as one file.

    Options:
          --from FILE            the same as FILE, plain or compressed; - is
                                 standard input; may be repeated. ENTITY=FILE
                                 fills the objects of an entity; those of several
                                 are filled in the order in which they are named,
                                 and a column such as spot.name leads to the
                                 related object with that value
      -o, --output PATH          the seed; it must not exist
          --force                replace an existing seed
          --single-file          one file that can be opened in a read-only folder;
                                 the same content gives the same bytes
          --uuid UUID            the store's UUID, instead of the content's
          \(SharedOptions.pipeline)
          \(SharedOptions.filledEntity)
          --model MODEL          model of the seed: a model file (.xcdatamodeld,
                                 .xcdatamodel, .momd, .mom), or a model that is part
                                 of the program; by default the pipeline's
          \(SharedOptions.withoutRelationships)
          \(SharedOptions.incompleteSchema)
          \(ReadingOptions.usage)
          --rejects PATH         file for rejected records; a folder, ending in /,
                                 gets one per input; by default next to the seed
          \(SharedOptions.report)
          \(SharedOptions.chunkRows)
          --stop-on-error        end at the first record that can't be imported;
                                 no seed is made then
          --max-errors N         make none if more than N records are rejected
          --max-error-percent P  make none if more than P percent are rejected
          \(SharedOptions.verifyHash)
          \(SharedOptions.timeout)
          \(SharedOptions.log)
          \(SharedOptions.summaryAsJSON)
      \(SharedOptions.quiet)
          \(SharedOptions.noProgress)
      \(SharedOptions.help)

    Examples:
      surfjournal seed surf-log.csv -o Seed.sqlite --single-file
      surfjournal seed --pipeline surfing.json --from Spot=spots.csv \\
        --from Board=boards.csv --from Session=sessions.csv -o Surfing.sqlite

    Exit status 65 says that records were rejected, and are not in the seed; the
    others are in 'surfjournal help'.

    """

  private let session: RunSession

  init(_ arguments: Arguments) throws(CommandFailure) {
    let inputs = arguments.strings("from") + arguments.operands
    guard let output = arguments.string("output") else {
      throw arguments.mistake("no path for the seed is given; name one with --output PATH")
    }
    guard output != "-", !output.isEmpty else {
      throw arguments.mistake("--output is '\(output)'; a seed is stored in files; name a path")
    }
    var seed = SeedOptions()
    seed.isSingleFile = arguments.has("single-file")
    seed.replaces = arguments.has("force")
    if let text = arguments.string("uuid") {
      guard let uuid = UUID(uuidString: text) else {
        throw arguments.mistake("--uuid is '\(text)'; expected a UUID, such as \(UUID().uuidString)")
      }
      seed.uuid = uuid
    }
    var options = try RunOptions(arguments)
    options.seed = seed
    options.store = output
    options.verifiesHash = arguments.has("verify-hash")
    options.refer(to: arguments)
    options.rejects = arguments.string("rejects")
    var definition = try PipelineDefinition(importing: arguments)
    let entities = Self.entities(inputs)
    if !definition.parts.isEmpty {
      try definition.setInputs(inputs, of: "from", arguments)
    } else if !entities.isEmpty, !arguments.isGiven("pipeline"), !arguments.isGiven("entity") {
      definition = try Self.definition(of: entities, arguments)
      try definition.setInputs(inputs, of: "from", arguments)
      (options.fillsAttributesByName, options.pipelineReference) = (true, nil)
    } else {
      guard !inputs.isEmpty else { throw arguments.mistake("no file is given; name one with --from FILE") }
      options.inputs = inputs
    }
    session = RunSession(definition, kind: .import, options: options, arguments: arguments)
  }

  /// The entities of inputs that are given as `ENTITY=FILE`, each once; none if one of them is only a file.
  private static func entities(_ inputs: [String]) -> [String] {
    var entities: [String] = []
    for input in inputs {
      guard let name = input.wholeMatch(of: /([A-Za-z_][A-Za-z0-9_]*)=.+/)?.1,
        !mayExist(input)
      else { return [] }
      if !entities.contains(String(name)) { entities.append(String(name)) }
    }
    return entities
  }

  /// A definition that fills each attribute from the column with its name.
  private static func definition(
    of entities: [String], _ arguments: Arguments
  ) throws(CommandFailure) -> PipelineDefinition {
    var definition = try PipelineDefinition(importing: arguments, entity: entities[0])
    definition.name = entities.joined(separator: ", ")
    let part = definition
    definition.parts = entities.map { entity in
      var part = part
      part.entity = entity
      return part
    }
    definition.export = nil
    return definition
  }

  func run() async -> ExitCode { await session.run() }
}
